/**
 * The path from a mapping to `publish`, with its log lines and events. Every source has one.
 *
 * Theory of operation:
 *
 *     session → mapping → push → account buffer → truncate → ordered publisher → publish
 *
 * - A mapping turns each message of the switch into a `MappedBatch`; `push` takes it synchronously.
 * - The account buffer holds the events of a leg until its account is known. One background task, which runs only while
 *   the buffer is not empty, expires legs that wait too long, or has the switch queried for their accounts.
 * - The ordered publisher publishes the events of a leg one after the other and retries while the service is full.
 * - Backpressure: once 1,024 events wait, `isFull` is true, and the session stops reading from the switch. `onCapacity`
 *   listeners resume it.
 * - Every event ends in exactly one way: published, `rejected`, or `account_unknown`; the counters add up: `read` is
 *   `published` plus `refused` plus `held`. No event is stored: those in memory are lost in a crash, and the resync of
 *   the next connection finds the legs that began or ended meanwhile. Open legs are stored (`open-legs.ts`).
 */
import type { ChannelEvent, Clock, Log } from 'hookswitch'
import {
  createEventBus,
  type EventHub,
  limitLog,
  type Metrics,
  type Random,
  safeLog,
} from 'hookswitch/adapter'
import { type AccountBufferLimits, createAccountBuffer, type UnknownAccount } from './account-buffer.js'
import { createConnectionReport } from './connection-report.js'
import type { LegUpdate, MappedBatch, Problem } from './mapped-events.js'
import type { OpenLegRecorder } from './open-legs.js'
import type { SourceOptions } from './options.js'
import { createOrderedPublisher, type Rejected } from './ordered-publisher.js'
import { sanitizeError } from './sanitize.js'
import { type ConnectionState, type PipelineCounts, sourceReadings } from './source-figures.js'
import { truncateEvent } from './truncate.js'

/** Events of a source, by name. */
export type SourceEvents = {
  /** Logged in and subscribed to the switch `peer`. The first channel events may have arrived already. */
  connected: { readonly peer: string }
  /** Not connected to `peer`, and why; the next attempt starts in `retryInMs` milliseconds. */
  disconnected: { readonly peer: string; readonly reason: string; readonly retryInMs: number }
  /** Events of a leg whose account did not become known; they are not published. */
  account_unknown: UnknownAccount
  /**
   * An event that the service refused for good. Without an `error`: it was still unpublished when the source was closed,
   * because the service was full, unavailable or closed first.
   */
  rejected: Rejected
  /** A message that could not be used. */
  problem: Problem
}

const EVENT_NAMES: readonly string[] = [
  'connected',
  'disconnected',
  'account_unknown',
  'rejected',
  'problem',
] satisfies readonly (keyof SourceEvents)[]

/** Dependencies of an event pipeline. @internal */
export interface EventPipelineDeps {
  /** `hs.publish`, or a function that wraps it. */
  readonly publish: SourceOptions['publish']
  readonly clock: Clock
  readonly random: Random
  readonly log: Log | undefined
  /** Receives the figures of the source. */
  readonly metrics: Pick<Metrics, 'watch'> | undefined
  /** The log field `source`: `freeswitch 127.0.0.1:8021`. */
  readonly name: string
  /**
   * Called with ids of legs whose account is overdue: their events wait until the account is known or the leg ends. Default:
   * such legs are given up.
   */
  readonly requestAccounts?: ((callIds: readonly string[]) => void) | undefined
  /** Keeps the open legs in the store. Default: nothing does. */
  readonly openLegs?: Pick<OpenLegRecorder, 'touch' | 'keep'>
}

/** Publishes the events of one source and reports to its host. */
export interface EventPipeline {
  /** Where the host listens. */
  readonly events: EventHub<SourceEvents>
  /** Takes everything that one message of the switch yields. */
  push(batch: MappedBatch): void
  /** Whether too many events wait: stop reading from the switch until `onCapacity`. */
  isFull(): boolean
  /** Adds a listener that is called whenever `isFull` becomes false, and at the close. */
  onCapacity(listener: () => void): void
  /** Logs and emits `connected`. */
  reportConnected(peer: string): void
  /** Logs and emits `disconnected`. A reason that repeats is logged every ten minutes. */
  reportDisconnected(peer: string, reason: string, retryInMs: number): void
  /** Whether an event of this leg is not published yet. */
  isWaiting(callId: string): boolean
  /** The state of the connection for `status()`. */
  connection(): ConnectionState
  /** Counters for `status()`. */
  counts(): PipelineCounts
  /** Publishes waiting events for at most `drainMs` milliseconds; emits the rest as `rejected` and `account_unknown`. */
  close(drainMs: number): Promise<void>
}

/** The delay of the last published event counts as the lag for this long. */
const RECENT_MS = 60_000

/** Number of truncated fields that are remembered. */
const MAX_TRUNCATED = 1_000

/** Log sentences of problems that are not an unusable message. */
const PROBLEM_MESSAGES: Partial<Record<Problem['kind'], string>> = {
  callback_failed: 'a function of the host failed',
  overflow: 'too many legs are open',
  truncated: 'a value of the switch was cut',
  lost: 'a connection was lost',
  refused: 'a connection was refused',
  restarted: 'the switch was restarted',
  clock: 'the clock of the switch was changed',
  misconfigured: 'a setting of the switch is wrong',
}

/** The longest `source` that `publish` takes. */
const MAX_SOURCE_LENGTH = 255

/** Returns the part of a call id that an event can hold: a switch may send any. */
const loggedId = (callId: string) => callId.slice(0, 255)

/** Creates the pipeline of one source. */
export function createEventPipeline(deps: EventPipelineDeps, limits: AccountBufferLimits): EventPipeline {
  const { publish, clock, random, name, requestAccounts, openLegs } = deps
  const source = { source: name.slice(0, MAX_SOURCE_LENGTH) }
  // A switch that sends ten thousand useless messages must not fill the log.
  const log = limitLog(safeLog(deps.log), clock, ({ kind = '' }) => String(kind))
  const events = createEventBus<SourceEvents>(
    (thrown, event) =>
      log.error({ source: name, event, error: sanitizeError(thrown) }, 'a listener of the source threw'),
    EVENT_NAMES,
  )
  const connection = createConnectionReport({ clock, log, source: name })
  const buffer = createAccountBuffer({ ...limits, waitsForEnd: requestAccounts !== undefined })
  const closing = new AbortController()
  const ended = new AbortController()
  const listeners: (() => void)[] = []
  /** Truncated fields of legs that were reported, oldest first. */
  const truncated = new Set<string>()
  let read = 0
  let published = 0
  let refused = 0
  let lastDelayMs = 0
  let lastPublishedMs = Number.NEGATIVE_INFINITY
  let isExpiring = false

  const publisher = createOrderedPublisher({
    clock,
    random,
    publish: (event) => publish(event, source),
    onPublished({ callId, timestampMs }) {
      published += 1
      openLegs?.touch(callId)
      lastPublishedMs = clock.monotonic()
      lastDelayMs = timestampMs === undefined ? 0 : clock.now() - timestampMs
    },
    onRejected(rejected) {
      refused += 1
      const { hook, callId } = rejected.event
      if (rejected.error === undefined) openLegs?.keep(callId)
      // Its leg has ended, and its end will never be published.
      else if (hook === 'channel_destroy') openLegs?.touch(callId)
      const error = rejected.error === undefined ? 'the source was closed' : sanitizeError(rejected.error)
      log.error({ source: name, hook, callId: loggedId(callId), error }, 'an event is not published')
      events.emit('rejected', rejected)
    },
    onRetry(error, attempt) {
      if (attempt > 1) return
      log.warn({ source: name, error: sanitizeError(error) }, 'publish failed: the event is retried')
    },
    onDuplicate: ({ hook, callId }) =>
      log.debug({ source: name, hook, callId }, 'the event was published before'),
    onCapacity: () => {
      for (const listener of listeners) listener()
    },
  })

  const reportUnknown = (all: readonly UnknownAccount[]) => {
    for (const unknown of all) {
      const { callId, reason } = unknown
      refused += unknown.events.length
      const fields = { source: name, callId: loggedId(callId), reason, events: unknown.events.length }
      const message = 'the account of a leg is not known: its events are not published'
      log.warn(fields, message)
      events.emit('account_unknown', unknown)
    }
  }

  /** Expires buffered legs; ends when the buffer is empty. */
  const expireLegs = async () => {
    if (isExpiring) return
    isExpiring = true
    for (
      let next = buffer.nextExpiryMs();
      next !== undefined && !closing.signal.aborted;
      next = buffer.nextExpiryMs()
    ) {
      await clock.sleep(Math.max(1, next - clock.monotonic()), closing.signal)
      // A busy process runs its timers before it reads what has arrived meanwhile, which may have the account.
      await clock.yield()
      const { unknown, overdue } = buffer.expire(clock.monotonic())
      reportUnknown(unknown)
      if (overdue.length > 0) requestAccounts?.(overdue)
    }
    isExpiring = false
  }

  const addUpdate = (update: LegUpdate) => {
    read += update.events.length
    const { ready, unknown } = buffer.add(update, clock.monotonic())
    for (const event of ready) publisher.enqueue(truncateEvent(event, reportTruncated))
    if (unknown.length > 0) reportUnknown(unknown)
  }

  const reportProblem = (problem: Problem) => {
    // `message` is the log record's own field, so the problem's is logged as `reason`.
    const { kind, message: reason, callId } = problem
    const fields = {
      source: name,
      kind,
      ...(callId === undefined ? {} : { callId: loggedId(callId) }),
      reason,
    }
    const message = PROBLEM_MESSAGES[kind] ?? 'a message of the switch could not be used'
    log.warn(fields, message)
    // The mapping dropped the leg.
    if (kind === 'overflow' && callId !== undefined) openLegs?.touch(callId)
    events.emit('problem', problem)
  }
  /** Reports a field once a leg: each event of the leg has it. */
  const reportTruncated = (field: string, { callId }: ChannelEvent) => {
    const key = `${loggedId(callId)} ${field}`
    if (truncated.has(key)) return
    const [oldest = key] = truncated
    if (truncated.size >= MAX_TRUNCATED) truncated.delete(oldest)
    truncated.add(key)
    reportProblem({ kind: 'truncated', message: `${field} is longer than an event can hold`, callId })
  }

  const counts = (): PipelineCounts => {
    const buffered = buffer.held()
    const waiting = publisher.size()
    const nowMs = clock.now()
    const oldestMs = Math.min(publisher.oldestMs() ?? nowMs, buffered.oldestMs ?? nowMs)
    const isRecent = clock.monotonic() - lastPublishedMs <= RECENT_MS
    return {
      read,
      published,
      refused,
      held: waiting + buffered.events,
      lagMs: Math.max(0, nowMs - oldestMs, isRecent ? lastDelayMs : 0),
      waiting,
      legsWithoutAccount: buffer.size(),
    }
  }
  try {
    deps.metrics?.watch(
      async () => sourceReadings(name, counts(), connection.hasTried() ? connection.state() : undefined),
      ended.signal,
    )
  } catch (thrown) {
    log.warn({ source: name, reason: sanitizeError(thrown) }, 'metrics failed')
  }

  return {
    events,
    push({ updates, problems }) {
      for (const update of updates) addUpdate(update)
      for (const problem of problems) reportProblem(problem)
      if (!isExpiring && buffer.size() > 0) void expireLegs()
    },
    isFull: () => publisher.isFull(),
    onCapacity(listener) {
      listeners.push(listener)
    },
    reportConnected(peer) {
      connection.onConnected()
      events.emit('connected', { peer })
    },
    reportDisconnected(peer, reason, retryInMs) {
      connection.onDisconnected(reason, retryInMs)
      events.emit('disconnected', { peer, reason, retryInMs })
    },
    isWaiting: publisher.isWaiting,
    connection: connection.state,
    counts,
    async close(drainMs) {
      connection.onClosed()
      closing.abort()
      // `clock.sleep` does not keep the process alive: without this timer it could exit before events are reported.
      const keepAlive = setInterval(() => {}, 60_000)
      await publisher.drain(drainMs)
      clearInterval(keepAlive)
      publisher.close()
      // Connections push the events that they hold back for capacity, so that those are reported too.
      for (const listener of listeners) listener()
      reportUnknown(buffer.flush())
      log.close()
      ended.abort()
    },
  }
}
