/**
 * The path from a mapping to `publish`, with its log lines and events. Every source has one.
 *
 * Theory of operation:
 *
 *     session → mapping → push → account buffer → truncate → ordered publisher → publish
 *
 * - A mapping turns each message of the switch into a `MappedBatch`; `push` takes it synchronously.
 * - The account buffer holds the events of a leg until its account is known. One background task, which runs only while
 *   the buffer is not empty, expires legs that wait too long.
 * - The ordered publisher publishes the events of a leg one after the other and retries while the service is full.
 * - Backpressure: once 1,024 events wait, `isFull` is true, and the session stops reading from the switch. `onCapacity`
 *   listeners resume it.
 * - Every event ends in exactly one way: published, `rejected`, or `account_unknown`. Nothing is stored: events in memory
 *   are lost in a crash, and the resync of the next connection finds the legs that began or ended meanwhile.
 */
import type { ChannelEvent, Clock, EventHub, Log, Random } from 'hookswitch'
import { createEventBus, safeLog } from 'hookswitch/adapter'
import { type AccountBufferLimits, createAccountBuffer, type UnknownAccount } from './account-buffer.js'
import type { LegUpdate, MappedBatch, Problem } from './mapped-events.js'
import { createOrderedPublisher, type Rejected } from './ordered-publisher.js'
import { sanitizeError } from './sanitize.js'
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

/** Dependencies of an event pipeline. */
export interface EventPipelineDeps {
  /** `hs.publish`, or a function that wraps it. */
  readonly publish: (event: ChannelEvent) => Promise<unknown>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log | undefined
  /** The log field `source`: `freeswitch 127.0.0.1:8021`. */
  readonly name: string
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
  /** Logs and emits `disconnected`. */
  reportDisconnected(peer: string, reason: string, retryInMs: number): void
  /** Counters for `status()`. */
  counts(): PipelineCounts
  /** Publishes waiting events for at most `drainMs` milliseconds; emits the rest as `rejected` and `account_unknown`. */
  close(drainMs: number): Promise<void>
}

/** Counters of a source. */
export interface PipelineCounts {
  /** Events that `publish` accepted. */
  readonly published: number
  /** Events that wait for earlier ones of their leg, or are being published. */
  readonly waiting: number
  /** Legs whose account is not known yet. */
  readonly legsWithoutAccount: number
}

/** Log sentences of problems that are not an unusable message. */
const PROBLEM_MESSAGES: Partial<Record<Problem['kind'], string>> = {
  callback_failed: 'a function of the host failed',
  overflow: 'too many legs are open',
  lost: 'a connection was lost',
  refused: 'a connection was refused',
}

/** Creates the pipeline of one source. */
export function createEventPipeline(deps: EventPipelineDeps, limits: AccountBufferLimits): EventPipeline {
  const { publish, clock, random, name } = deps
  const log = safeLog(deps.log)
  const events = createEventBus<SourceEvents>((thrown, event) =>
    log.error({ source: name, event, error: sanitizeError(thrown) }, 'a listener of the source threw'),
  )
  const buffer = createAccountBuffer(limits)
  const closing = new AbortController()
  const listeners: (() => void)[] = []
  let published = 0
  let isExpiring = false

  const publisher = createOrderedPublisher({
    clock,
    random,
    publish: async (event) => {
      await publish(event)
      published += 1
    },
    onRejected(rejected) {
      const { hook, callId } = rejected.event
      const error = rejected.error === undefined ? 'the source was closed' : sanitizeError(rejected.error)
      log.error({ source: name, hook, callId, error }, 'an event is not published')
      events.emit('rejected', rejected)
    },
    onRetry(error, attempt) {
      if (attempt === 1)
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
      const fields = { source: name, callId, reason, events: unknown.events.length }
      log.warn(fields, 'the account of a leg is not known: its events are not published')
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
      reportUnknown(buffer.expire(clock.monotonic()))
    }
    isExpiring = false
  }

  const addUpdate = (update: LegUpdate) => {
    const { ready, unknown } = buffer.add(update, clock.monotonic())
    for (const event of ready) publisher.enqueue(truncateEvent(event))
    if (unknown.length > 0) reportUnknown(unknown)
  }

  return {
    events,
    push({ updates, problems }) {
      for (const update of updates) addUpdate(update)
      for (const problem of problems) {
        // `message` is the log record's own field, so the problem's is logged as `reason`.
        const { message: reason, ...fields } = problem
        log.warn(
          { source: name, ...fields, reason },
          PROBLEM_MESSAGES[problem.kind] ?? 'a message of the switch could not be used',
        )
        events.emit('problem', problem)
      }
      if (!isExpiring && buffer.size() > 0) void expireLegs()
    },
    isFull: () => publisher.isFull(),
    onCapacity(listener) {
      listeners.push(listener)
    },
    reportConnected(peer) {
      log.info({ source: name }, 'connected to the switch')
      events.emit('connected', { peer })
    },
    reportDisconnected(peer, reason, retryInMs) {
      log.warn({ source: name, reason, retryInMs }, 'not connected to the switch')
      events.emit('disconnected', { peer, reason, retryInMs })
    },
    counts: () => ({ published, waiting: publisher.size(), legsWithoutAccount: buffer.size() }),
    async close(drainMs) {
      closing.abort()
      // `clock.sleep` does not keep the process alive: without this timer it could exit before events are reported.
      const keepAlive = setInterval(() => {}, 60_000)
      await publisher.drain(drainMs)
      clearInterval(keepAlive)
      publisher.close()
      // Connections push the events that they hold back for capacity, so that those are reported too.
      for (const listener of listeners) listener()
      reportUnknown(buffer.flush())
    },
  }
}
