/**
 * The protocol of one AMI connection, without sockets: banner, login, check of the settings, resync, events. The resync
 * starts after the login, and events arrive at the same time; the mapping reconciles the two.
 */
import type { MappedBatch, Problem } from '../source/mapped-events.js'
import { sanitizeText } from '../source/sanitize.js'
import type { SwitchProtocol } from '../source/tcp-session.js'
import { mayBeResult } from './ami-call-report.js'
import { DIAL_PLAN_STEP, isRelevantEvent, parseAmiEvent, timestampOf, VARIABLE_SET } from './ami-event.js'
import { createAmiFrameReader } from './ami-frames.js'
import { type AmiMessage, createAmiMessage, eventNameOf, uniqueIdOf } from './ami-message.js'
import { createAmiResync, RESYNC_EVENTS } from './ami-resync.js'
import { NO_TIMESTAMPS, settingsCheck } from './ami-settings.js'
import type { Mapping } from './mapping.js'

/** Credentials and dependencies of a session. */
interface AmiSessionDeps {
  readonly username: string
  readonly secret: string
  readonly eventMask: string
  /** Event classes of which the host has selected hooks. */
  readonly selectedClasses: readonly string[]
  readonly mapping: Mapping
  /** Wrong settings that were reported; each is reported once per source. */
  readonly reportedSettings: Set<string>
  /** Takes what the mapping yields. */
  readonly push: (batch: MappedBatch) => void
  /** Sends a text to the switch. */
  readonly write: (text: string) => void
  /** The current time, Unix milliseconds. */
  readonly nowMs: () => number
}

/** A session. */
export interface AmiSession extends SwitchProtocol {
  /** Resolves when the list of open channels is reconciled; rejects with the reason why it is not. */
  readonly ready: Promise<void>
}

const LOGIN_ID = 'hookswitch-login'
const READ_ID = 'hookswitch-read'
const TIMESTAMPS_ID = 'hookswitch-timestampevents'

/** Creates the protocol of one connection; it logs in after the banner. */
export function createAmiSession(deps: AmiSessionDeps): AmiSession {
  const { mapping, push, nowMs, reportedSettings } = deps
  let settleReady: { resolve: () => void; reject: (error: Error) => void } | undefined
  const ready = new Promise<void>((resolve, reject) => {
    settleReady = { resolve, reject }
  })
  // A session that is lost before its caller awaits `ready` must not cause an unhandled rejection.
  ready.catch(() => {})
  const settings = settingsCheck(deps.username, deps.eventMask, deps.selectedClasses)
  let readClasses: string | undefined
  /** What was skipped after the first time. */
  let skips = 0
  let skippedBytes = 0

  const sendAction = (action: string, id: string, ...lines: readonly string[]) =>
    deps.write(`${[`Action: ${action}`, `ActionID: ${id}`, ...lines].join('\r\n')}\r\n\r\n`)

  const pushProblem = (kind: Problem['kind'], message: string): void =>
    push({ updates: [], problems: [{ kind, message }] })

  const reportSetting = (message: string): void => {
    if (reportedSettings.has(message)) return
    reportedSettings.add(message)
    pushProblem('misconfigured', message)
  }

  const resync = createAmiResync({
    mapping,
    sendAction,
    nowMs,
    onReconciled(batch) {
      push(batch)
      settleReady?.resolve()
    },
  })

  const onLoggedIn = (): void => {
    if (settings) {
      sendAction('Getvar', READ_ID, `Variable: ${settings.variables.read}`)
      sendAction('Getvar', TIMESTAMPS_ID, `Variable: ${settings.variables.timestampevents}`)
    }
    resync.start()
  }

  const onResponse = (message: AmiMessage): void => {
    const id = message.get('ActionID')
    // The response may echo the secret.
    const reason = () => sanitizeText(message.get('Message') ?? 'no reason given', deps.secret)
    if (id === LOGIN_ID) {
      if (message.get('Response') === 'Error') throw new Error(`the switch refused the login: ${reason()}`)
      onLoggedIn()
    } else if (id === READ_ID) readClasses = message.get('Value')
    else if (id === TIMESTAMPS_ID) {
      const values = { read: readClasses, timestampevents: message.get('Value') }
      for (const problem of settings?.problems(values) ?? []) reportSetting(problem)
    } else resync.onResponse(message, reason)
  }

  const onEvent = (message: AmiMessage): void => {
    if (timestampOf(message) === undefined) reportSetting(NO_TIMESTAMPS)
    const event = parseAmiEvent(message, nowMs())
    if (typeof event === 'string') pushProblem('malformed', `${message.event}: ${event}`)
    else if (event) {
      const batch = mapping.map(event)
      if (batch.updates.length > 0 || batch.problems.length > 0) push(batch)
    }
  }

  const login = () =>
    sendAction(
      'Login',
      LOGIN_ID,
      `Username: ${deps.username}`,
      `Secret: ${deps.secret}`,
      `Events: ${deps.eventMask}`,
    )
  const onMessage = (bytes: Buffer): void => {
    const event = eventNameOf(bytes)
    if (event === '') onResponse(createAmiMessage(bytes))
    else if (event === VARIABLE_SET) {
      if (mapping.isUnsettled(uniqueIdOf(bytes)) || mayBeResult(bytes)) onEvent(createAmiMessage(bytes))
    } else if (event === DIAL_PLAN_STEP) {
      if (mapping.isUnsettled(uniqueIdOf(bytes))) onEvent(createAmiMessage(bytes))
    } else if (isRelevantEvent(event)) onEvent(createAmiMessage(bytes))
    else if (RESYNC_EVENTS.has(event)) resync.onEvent(createAmiMessage(bytes))
  }

  /** Reports the first bytes that are skipped, and all further ones together at the end of the connection. */
  const onSkipped = (reason: string, bytes: number): void => {
    if (skips === 0) pushProblem('malformed', `${reason}: ${bytes} bytes are skipped`)
    else skippedBytes += bytes
    skips += 1
  }
  const frames = createAmiFrameReader(login, onMessage, onSkipped)

  return {
    ready,
    receive: (chunk) => frames.receive(chunk),
    probe: () => sendAction('Ping', 'hookswitch-ping'),
    onDisconnected(reason) {
      settleReady?.reject(new Error(reason))
      if (skips > 1)
        pushProblem(
          'malformed',
          `${skippedBytes} more bytes were skipped at ${skips - 1} places of the connection`,
        )
    },
  }
}
