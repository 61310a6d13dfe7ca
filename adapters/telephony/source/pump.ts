/**
 * Publishes events at the service's pace: the events of a leg one after the other, those of different legs side by
 * side. What the service cannot take now (`QueueFull`, the store is out) is tried again until it can, and everything
 * behind it on its leg waits. Nothing is dropped: who fills the pump asks `isFull` and stops reading.
 */
import { setMaxListeners } from 'node:events'
import { type ChannelEvent, type Clock, errorCode, type Random } from 'hookswitch'
import { retryDelayMs } from './retry-delay.js'

/** An event that the service refuses for good. */
export interface Rejected {
  readonly event: ChannelEvent
  /** What `publish` threw; `undefined`: the source was closed before. */
  readonly error: unknown
}

/** What a pump needs. */
export interface PumpDoors {
  readonly publish: (event: ChannelEvent) => Promise<unknown>
  readonly clock: Clock
  readonly random: Random
  /** Told of an event that will not be published. */
  readonly onRejected: (rejected: Rejected) => void
  /** Told when an event could not be taken and is tried again. */
  readonly onPostponed: (error: unknown, attempt: number) => void
  /** Told of an event that was published before, seen a little differently: its key is known. */
  readonly onKnown: (event: ChannelEvent) => void
  /** Told when there is room again after `isFull`. */
  readonly onRoom: () => void
}

export interface Pump {
  put(event: ChannelEvent): void
  /** Too much waits: stop reading until `onRoom`. */
  isFull(): boolean
  /** Events that were given and are not published yet. */
  size(): number
  /** Resolves when everything is published, or after `ms`. */
  drain(ms: number): Promise<void>
  /** Ends it; what is left is rejected, also what is being published just now. */
  close(): void
}

/** Most publishes at once: as many as a durable store writes in one commit, and again as many that gather. */
const MAX_IN_FLIGHT = 256
/** Full from here on, and room again below the half. */
const FULL = 1_024

/** A service that has room again should not be left idle. */
const LONGEST_PAUSE_MS = 2_000

/** What says nothing of the event: the service may take it later. */
const LATER: ReadonlySet<string | undefined> = new Set(['QueueFull', 'StoreUnavailable', 'Closing'])
/** What may (a fault of ours, an error of the host's own `publish`): tried so often, some ten seconds. */
const MAYBE: ReadonlySet<string | undefined> = new Set(['Internal', undefined])
const MAYBE_TRIES = 10

export function pump(doors: PumpDoors): Pump {
  const { publish, clock, random, onRejected, onPostponed, onKnown, onRoom } = doors
  /** By leg: what waits, its first in flight where the leg is running. */
  const lanes = new Map<string, ChannelEvent[]>()
  /** Legs whose turn has not come, in order. */
  const idle: string[] = []
  const ending = new AbortController()
  // Each event that is tried again listens to it.
  setMaxListeners(MAX_IN_FLIGHT + 1, ending.signal)
  let inFlight = 0
  let size = 0
  let wasFull = false
  let emptied: (() => void) | undefined

  const startMore = () => {
    while (inFlight < MAX_IN_FLIGHT && idle.length > 0 && !ending.signal.aborted) {
      void run(idle.shift() as string)
    }
  }

  /** One event of the leg; then the leg goes to the end of the line. */
  async function run(callId: string): Promise<void> {
    const lane = lanes.get(callId) as ChannelEvent[]
    const event = lane[0] as ChannelEvent
    inFlight += 1
    const error = await publishUntilTaken(event)
    if (ending.signal.aborted) return
    inFlight -= 1
    lane.shift()
    if (lane.length === 0) lanes.delete(callId)
    else idle.push(callId)
    size -= 1
    if (error) onRejected({ event, error: error.thrown })
    if (wasFull && size < FULL / 2) {
      wasFull = false
      onRoom()
    }
    if (size === 0) emptied?.()
    startMore()
  }

  /** What was thrown for good; `undefined`: it is published. */
  async function publishUntilTaken(event: ChannelEvent): Promise<{ thrown: unknown } | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await publish(event)
        return undefined
      } catch (thrown) {
        const code = errorCode(thrown)
        // Another body under the same key: another connection, or this one before a restart, has published it.
        if (code === 'Conflict') {
          onKnown(event)
          return undefined
        }
        const again = LATER.has(code) || (MAYBE.has(code) && attempt < MAYBE_TRIES)
        if (!again || ending.signal.aborted) return { thrown }
        onPostponed(thrown, attempt)
        await clock.sleep(retryDelayMs(attempt, random.fraction(), LONGEST_PAUSE_MS), ending.signal)
        if (ending.signal.aborted) return { thrown }
      }
    }
  }

  return {
    put(event) {
      if (ending.signal.aborted) return onRejected({ event, error: undefined })
      size += 1
      const lane = lanes.get(event.callId)
      if (lane) lane.push(event)
      else {
        lanes.set(event.callId, [event])
        idle.push(event.callId)
        startMore()
      }
    },
    isFull() {
      if (ending.signal.aborted) return false
      if (size >= FULL) wasFull = true
      return wasFull
    },
    size: () => size,
    async drain(ms) {
      if (size === 0) return
      const done = new AbortController()
      emptied = () => done.abort()
      await clock.sleep(ms, done.signal)
      emptied = undefined
    },
    close() {
      if (ending.signal.aborted) return
      ending.abort()
      for (const lane of lanes.values()) for (const event of lane) onRejected({ event, error: undefined })
      lanes.clear()
      size = 0
    },
  }
}
