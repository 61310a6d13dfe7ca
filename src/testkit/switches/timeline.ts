/** Replays recorded events, step by step or at their recorded pace, independent of clients. */
import type { Clock } from 'hookswitch'

/** An event with a time. */
export interface TimedEvent {
  /** When it happened, Unix milliseconds. */
  readonly atMs: number
}

/** The replay of one recording. */
export interface Timeline {
  /** Number of events that have been replayed. */
  readonly position: number
  /** Number of events. */
  readonly length: number
  /** Replays the next `count` events (default 1) at once. Resolves when all subscribers have received them. */
  advance(count?: number): Promise<void>
  /** Replays the remaining events at their pace. Resolves at the end of the recording, and on `close`. */
  play(options?: PlayOptions): Promise<void>
  /** Goes back to the first event. */
  rewind(): void
  close(): void
}

/** How a recording is played. */
export interface PlayOptions {
  /** Factor of the recorded pace: 2 is twice as fast, `Infinity` without pauses. Default: the fake's option `speed`. */
  readonly speed?: number | undefined
}

/** Dependencies of a timeline. */
interface TimelineDeps<Event> {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
  /** Default speed of `play`. */
  readonly speed: number
  /** Delivers an event to the subscribers; resolves when they can receive another. */
  readonly onEvent: (event: Event) => Promise<void>
  /** Called after each `advance` and before each pause of `play`: sends what `onEvent` has batched. */
  readonly flush?: (() => Promise<void>) | undefined
}

export function createTimeline<Event extends TimedEvent>(
  events: readonly Event[],
  { clock, speed: defaultSpeed, onEvent, flush = async () => {} }: TimelineDeps<Event>,
): Timeline {
  const controller = new AbortController()
  const { signal } = controller
  let position = 0
  let lastStep: Promise<unknown> = Promise.resolve()

  /** Runs steps one after the other: concurrent ones would interleave their events. */
  const serialize = (step: () => Promise<void>): Promise<void> => {
    const done = lastStep.then(step)
    lastStep = done.catch(() => {})
    return done
  }
  const next = async () => {
    const event = events[position]
    if (!event || signal.aborted) return
    position += 1
    await onEvent(event)
  }

  return {
    get position() {
      return position
    },
    length: events.length,
    advance: (count = 1) =>
      serialize(async () => {
        for (let left = count; left > 0 && position < events.length && !signal.aborted; left -= 1)
          await next()
        await flush()
      }),
    async play({ speed = defaultSpeed } = {}) {
      let dueMs = clock.monotonic()
      for (let event = events[position]; event && !signal.aborted; event = events[position]) {
        const previousMs = events[position - 1]?.atMs ?? event.atMs
        dueMs += Math.max(0, event.atMs - previousMs) / speed
        const waitMs = dueMs - clock.monotonic()
        if (waitMs > 0) {
          await serialize(flush)
          await clock.sleep(waitMs, signal)
        }
        // An `advance` during the pause may have replayed it already.
        await serialize(async () => {
          if (events[position] === event) await next()
        })
      }
      await serialize(flush)
    },
    rewind() {
      position = 0
    },
    close: () => controller.abort(),
  }
}
