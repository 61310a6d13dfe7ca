/**
 * The protocol of one AMI connection, without sockets: banner, login, list of open channels, events. The list starts
 * after the login, and events arrive at the same time; the mapping reconciles the two.
 */
import type { MappedBatch } from '../source/mapped-events.js'
import { sanitizeText } from '../source/sanitize.js'
import type { SwitchProtocol } from '../source/tcp-session.js'
import { isRelevantEvent, parseAmiChannel, parseAmiEvent, timestampOf } from './ami-event.js'
import { createAmiFrameReader } from './ami-frames.js'
import { type AmiMessage, createAmiMessage, eventNameOf } from './ami-message.js'
import type { Mapping, RegistrySnapshot } from './mapping.js'
import type { ListedChannel } from './switch-event.js'

/** Credentials and dependencies of a session. */
export interface AmiSessionDeps {
  readonly username: string
  readonly secret: string
  readonly eventMask: string
  readonly mapping: Mapping
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

/** Maximum number of channels in a list. */
const MAX_LISTED = 200_000

const LOGIN_ID = 'hookswitch-login'
const LIST_ID = 'hookswitch-list'

/** Creates the protocol of one connection; it logs in after the banner. */
export function createAmiSession(deps: AmiSessionDeps): AmiSession {
  const { mapping, push, nowMs } = deps
  let settleReady: { resolve: () => void; reject: (error: Error) => void } | undefined
  const ready = new Promise<void>((resolve, reject) => {
    settleReady = { resolve, reject }
  })
  // A session that is lost before its caller awaits `ready` must not cause an unhandled rejection.
  ready.catch(() => {})
  let listing: { readonly snapshot: RegistrySnapshot; readonly listed: ListedChannel[] } | undefined
  let hasReportedTimestamp = false

  const sendAction = (action: string, id: string, ...lines: readonly string[]) =>
    deps.write(`${[`Action: ${action}`, `ActionID: ${id}`, ...lines].join('\r\n')}\r\n\r\n`)

  const onResponse = (message: AmiMessage): void => {
    const id = message.get('ActionID')
    const isError = message.get('Response') === 'Error'
    // The response may echo the secret.
    const reason = () => sanitizeText(message.get('Message') ?? 'no reason given', deps.secret)
    if (id === LOGIN_ID) {
      if (isError) throw new Error(`the switch refused the login: ${reason()}`)
      listing = { snapshot: mapping.snapshot(), listed: [] }
      sendAction('CoreShowChannels', LIST_ID)
    } else if (id === LIST_ID && isError) {
      throw new Error(`the switch refused CoreShowChannels: ${reason()} (the user needs write = reporting)`)
    }
  }

  const pushMalformed = (reason: string): void =>
    push({ updates: [], problems: [{ kind: 'malformed', message: reason }] })

  const onEvent = (message: AmiMessage): void => {
    if (!hasReportedTimestamp && timestampOf(message) === undefined) {
      hasReportedTimestamp = true
      pushMalformed(
        'events have no Timestamp, so their arrival time is used: manager.conf needs timestampevents = yes',
      )
    }
    const event = parseAmiEvent(message, nowMs())
    if (typeof event === 'string') pushMalformed(`${message.event}: ${event}`)
    else if (event) {
      const batch = mapping.map(event)
      if (batch.updates.length > 0 || batch.problems.length > 0) push(batch)
    }
  }

  const isOwnList = (message: AmiMessage) => listing !== undefined && message.get('ActionID') === LIST_ID

  const onListed = (message: AmiMessage): void => {
    const channel = isOwnList(message) ? parseAmiChannel(message) : undefined
    if (!channel) return
    if (listing?.listed.push(channel) === MAX_LISTED)
      throw new Error(`a list of more than ${MAX_LISTED} channels`)
  }

  const onListComplete = (message: AmiMessage): void => {
    if (!listing || !isOwnList(message)) return
    push(mapping.reconcile(listing.snapshot, listing.listed, nowMs()))
    listing = undefined
    settleReady?.resolve()
  }

  const login = () =>
    sendAction(
      'Login',
      LOGIN_ID,
      `Username: ${deps.username}`,
      `Secret: ${deps.secret}`,
      `Events: ${deps.eventMask}`,
    )
  const frames = createAmiFrameReader(login, (bytes) => {
    const event = eventNameOf(bytes)
    if (event === '') onResponse(createAmiMessage(bytes))
    else if (isRelevantEvent(event)) onEvent(createAmiMessage(bytes))
    else if (event === 'CoreShowChannel') onListed(createAmiMessage(bytes))
    else if (event === 'CoreShowChannelsComplete') onListComplete(createAmiMessage(bytes))
  })

  return {
    ready,
    receive: (chunk) => frames.receive(chunk),
    probe: () => sendAction('Ping', 'hookswitch-ping'),
    onDisconnected: (reason) => settleReady?.reject(new Error(reason)),
  }
}
