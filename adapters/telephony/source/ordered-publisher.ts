/**
 * Publishes events at the pace of the service: events of one leg one after the other, legs concurrently. An event that
 * the service cannot take now (`QueueFull`, store unavailable) is retried, and later events of its leg wait behind it.
 * Nothing is dropped: callers check `isFull` and stop reading.
 */
import { setMaxListeners } from 'node:events'
import { type ChannelEvent, type Clock, errorCode } from 'hookswitch'
import type { Random } from 'hookswitch/adapter'
import { retryDelayMs } from './retry-delay.js'

/** An event that is not published. */
export interface Rejected {
  /** The event. */
  readonly event: ChannelEvent
  /** The error of `publish`; `undefined`: the source was closed first. */
  readonly error: unknown
}

/** Dependencies of an ordered publisher. */
interface OrderedPublisherDeps {
  readonly publish: (event: ChannelEvent) => Promise<unknown>
  readonly clock: Clock
  readonly random: Random
  /** Called with an event that is published. */
  readonly onPublished: (event: ChannelEvent) => void
  /** Called with an event that will not be published. */
  readonly onRejected: (rejected: Rejected) => void
  /** Called before an event is retried; `attempt` counts from 1. */
  readonly onRetry: (error: unknown, attempt: number) => void
  /**
   * Called with an event whose idempotency key is already in use for a slightly different body, before it counts as
   * published.
   */
  readonly onDuplicate: (event: ChannelEvent) => void
  /** Called when `isFull` becomes false. */
  readonly onCapacity: () => void
}

/** A queue of events with one lane per leg. */
interface OrderedPublisher {
  /** Adds an event behind the others of its leg; rejects it after `close`. */
  enqueue(event: ChannelEvent): void
  /** Whether too many events wait: stop reading until `onCapacity`. */
  isFull(): boolean
  /** Number of events that are not published yet. */
  size(): number
  /** Whether an event of this leg is not published yet. */
  isWaiting(callId: string): boolean
  /** When the oldest event that is not published yet happened at the switch, Unix milliseconds. */
  oldestMs(): number | undefined
  /** Resolves when everything is published, or after `ms` milliseconds. */
  drain(ms: number): Promise<void>
  /** Stops publishing; rejects all remaining events, including those in flight. */
  close(): void
}

/** Maximum number of concurrent publishes: two commits of a durable store, so that the next batch can fill. */
const MAX_IN_FLIGHT = 256
/** The queue is full from this size on, and has capacity again below half of it. */
const FULL_SIZE = 1_024

/** Upper bound of the backoff: short, so that a service with capacity is not left idle. */
const MAX_DELAY_MS = 2_000

/** Codes that do not concern the event: retried until the source is closed. */
const TRANSIENT_CODES: ReadonlySet<string | undefined> = new Set(['QueueFull', 'StoreUnavailable', 'Closing'])
/** Codes that may concern the event (an internal fault, an error of the host's own `publish`). */
const AMBIGUOUS_CODES: ReadonlySet<string | undefined> = new Set(['Internal', undefined])
/** Attempts after an ambiguous error, about ten seconds in total. */
const MAX_AMBIGUOUS_ATTEMPTS = 10

/** Creates an empty queue that publishes at once. */
export function createOrderedPublisher(deps: OrderedPublisherDeps): OrderedPublisher {
  const { publish, clock, random, onPublished, onRejected, onRetry, onDuplicate, onCapacity } = deps
  /** Waiting events by leg; the first is in flight while the leg is not in `runnable`. */
  const lanes = new Map<string, ChannelEvent[]>()
  /** Legs with waiting events and none in flight, in order. */
  const runnable: string[] = []
  const closing = new AbortController()
  // Every event that is retried adds a listener.
  setMaxListeners(MAX_IN_FLIGHT + 1, closing.signal)
  let inFlight = 0
  let size = 0
  let wasFull = false
  let onEmpty: (() => void) | undefined

  const startMore = () => {
    while (inFlight < MAX_IN_FLIGHT && runnable.length > 0 && !closing.signal.aborted) {
      void publishHead(runnable.shift() as string)
    }
  }

  /** Publishes the first event of the leg; then the leg moves to the end of `runnable`. */
  async function publishHead(callId: string): Promise<void> {
    const lane = lanes.get(callId) as ChannelEvent[]
    const event = lane[0] as ChannelEvent
    inFlight += 1
    const failure = await publishWithRetries(event)
    if (closing.signal.aborted) return
    inFlight -= 1
    lane.shift()
    if (lane.length === 0) lanes.delete(callId)
    else runnable.push(callId)
    size -= 1
    if (failure) onRejected({ event, error: failure.thrown })
    else onPublished(event)
    if (wasFull && size < FULL_SIZE / 2) {
      wasFull = false
      onCapacity()
    }
    if (size === 0) onEmpty?.()
    startMore()
  }

  /** Returns the final error; `undefined`: the event is published. */
  async function publishWithRetries(event: ChannelEvent): Promise<{ thrown: unknown } | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await publish(event)
        return undefined
      } catch (thrown) {
        const code = errorCode(thrown)
        // The key exists with another body: another connection, or this host before a restart, published the event.
        if (code === 'Conflict') {
          onDuplicate(event)
          return undefined
        }
        const isRetryable =
          TRANSIENT_CODES.has(code) || (AMBIGUOUS_CODES.has(code) && attempt < MAX_AMBIGUOUS_ATTEMPTS)
        if (!isRetryable || closing.signal.aborted) return { thrown }
        onRetry(thrown, attempt)
        await clock.sleep(retryDelayMs(attempt, random.fraction(), MAX_DELAY_MS), closing.signal)
        if (closing.signal.aborted) return { thrown }
      }
    }
  }

  return {
    enqueue(event) {
      if (closing.signal.aborted) return onRejected({ event, error: undefined })
      size += 1
      const lane = lanes.get(event.callId)
      if (lane) lane.push(event)
      else {
        lanes.set(event.callId, [event])
        runnable.push(event.callId)
        startMore()
      }
    },
    isFull() {
      if (closing.signal.aborted) return false
      if (size >= FULL_SIZE) wasFull = true
      return wasFull
    },
    size: () => size,
    isWaiting: (callId) => lanes.has(callId),
    oldestMs() {
      let oldestMs: number | undefined
      for (const [first] of lanes.values()) {
        const firstMs = first?.timestampMs
        if (firstMs !== undefined) oldestMs = Math.min(firstMs, oldestMs ?? firstMs)
      }
      return oldestMs
    },
    async drain(ms) {
      if (size === 0) return
      const done = new AbortController()
      onEmpty = () => done.abort()
      await clock.sleep(ms, done.signal)
      onEmpty = undefined
    },
    close() {
      if (closing.signal.aborted) return
      closing.abort()
      for (const lane of lanes.values()) for (const event of lane) onRejected({ event, error: undefined })
      lanes.clear()
      size = 0
    },
  }
}
