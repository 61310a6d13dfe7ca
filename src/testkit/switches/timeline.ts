import type { Clock } from '../../ports.js'

/** Something that happened on the switch. */
export interface Moment {
  /** When, Unix milliseconds. */
  readonly atMs: number
}

/** A recording that happens again, whether or not somebody listens. */
export interface Timeline {
  /** How many of the events have happened. */
  readonly position: number
  /** How many there are. */
  readonly length: number
  /**
   * The next `count` events (default 1) happen, at once. Resolves when everybody who listens has taken them, or is gone.
   */
  advance(count?: number): Promise<void>
  /** The others happen at their pace; resolves at the end of the recording, and when the fake is closed. */
  play(options?: PlayOptions): Promise<void>
  /** Begins again. */
  rewind(): void
  close(): void
}

/** How a recording is played. */
export interface PlayOptions {
  /** 2: twice as fast; `Infinity`: without a pause. Default: the fake's own `speed`. */
  readonly speed?: number
}

/** What happens to an event, and how. */
export interface TimelineDoors<Event> {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
  /** Where `play` names none. */
  readonly speed: number
  /** Gives the event to those who listen; resolves when they have room for another. */
  readonly happen: (event: Event) => Promise<void>
  /** At the end of a move: what `happen` has kept together goes out. */
  readonly settle?: (() => Promise<void>) | undefined
}

export function timeline<Event extends Moment>(
  events: readonly Event[],
  { clock, speed: usual, happen, settle = async () => {} }: TimelineDoors<Event>,
): Timeline {
  const { signal, ...ending } = abortable()
  let position = 0
  let moving: Promise<unknown> = Promise.resolve()

  /** One move at a time, or two would send their events in each other's midst. */
  const inTurn = (move: () => Promise<void>): Promise<void> => {
    const done = moving.then(move)
    moving = done.catch(() => {})
    return done
  }
  const next = async () => {
    const event = events[position]
    if (!event || signal.aborted) return
    position += 1
    await happen(event)
  }

  return {
    get position() {
      return position
    },
    length: events.length,
    advance: (count = 1) =>
      inTurn(async () => {
        for (let left = count; left > 0 && position < events.length && !signal.aborted; left -= 1)
          await next()
        await settle()
      }),
    async play({ speed = usual } = {}) {
      let dueMs = clock.monotonic()
      for (let event = events[position]; event && !signal.aborted; event = events[position]) {
        const beforeMs = events[position - 1]?.atMs ?? event.atMs
        dueMs += Math.max(0, event.atMs - beforeMs) / speed
        const waitMs = dueMs - clock.monotonic()
        if (waitMs > 0) {
          await inTurn(settle)
          await clock.sleep(waitMs, signal)
        }
        // Somebody may have advanced meanwhile: then it has happened already.
        await inTurn(async () => {
          if (events[position] === event) await next()
        })
      }
      await inTurn(settle)
    },
    rewind() {
      position = 0
    },
    close: ending.abort,
  }
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
