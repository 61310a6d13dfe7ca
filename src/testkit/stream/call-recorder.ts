import type { HookswitchEvents, PublishedEvent } from '../../core.js'
import type { ChannelEvent } from '../../delivery/event.js'
import type { EventHub } from '../../events.js'
import { door } from '../../option-checks.js'
import { callable, checkGiven } from '../handler/given-options.js'

/** Options of `callRecorder`. */
export interface RecorderOptions {
  /**
   * Another event in the place of each, say without the names and numbers of people; undefined: it is left out.
   */
  readonly map?: (event: ChannelEvent) => ChannelEvent | undefined
}

/** A recorder at work. */
export interface CallRecorder {
  /** Lines written so far. */
  readonly events: number
  /**
   * Records no more.
   *
   * @throws the first error of `write` or `map`: the recording has a gap
   */
  stop(): void
}

/**
 * Writes every event that a service accepts as one line of JSON, as `recordedCalls` reads it.
 *
 * @param events `hs.events`
 * @param write takes one line with its line feed: `(line) => file.write(line)`
 * @throws `InvalidOption` naming the argument or option
 * @example
 * const file = createWriteStream('calls.ndjson')
 * const recorder = callRecorder(hs.events, (line) => file.write(line))
 */
export function callRecorder(
  events: Pick<EventHub<HookswitchEvents>, 'on' | 'off'>,
  write: (line: string) => unknown,
  options: RecorderOptions = {},
): CallRecorder {
  const doors = { events: door('on', 'off'), write: callable }
  checkGiven('callRecorder', { events, write }, doors, ['events', 'write'])
  checkGiven('callRecorder', options, { map: callable })
  const { map } = options
  let written = 0
  let failed: { readonly thrown: unknown } | undefined

  events.on('event', record)
  return {
    get events() {
      return written
    },
    stop() {
      events.off('event', record)
      if (failed) throw failed.thrown
    },
  }

  function record({ eventId: _, sequence: __, ...event }: PublishedEvent): void {
    try {
      const mapped = map ? map(event) : event
      if (mapped === undefined) return
      write(`${JSON.stringify(mapped)}\n`)
      written += 1
    } catch (thrown) {
      // Told at the end: the service would only log it.
      failed ??= { thrown }
    }
  }
}
