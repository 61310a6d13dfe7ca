/** Records the events of a service as a call stream that `recordedCalls` reads. */
import type { ChannelEvent, HookswitchEvents, PublishedEvent } from 'hookswitch'
import type { EventHub } from 'hookswitch/adapter'
import { objectWithMethods } from '../../options/validators.js'
import { aFunction, checkOptions } from '../check-options.js'

/** Options of `callRecorder`. */
export interface RecorderOptions {
  /**
   * Replaces each event, for example to remove names and numbers; undefined omits it. Default records events
   * unchanged.
   */
  readonly map?: ((event: ChannelEvent) => ChannelEvent | undefined) | undefined
}

/** A running recorder. */
export interface CallRecorder {
  /** Number of lines written. */
  readonly events: number
  /**
   * Stops recording.
   *
   * @throws the first error of `write` or `map`: the recording has a gap
   */
  stop(): void
}

/**
 * Writes every event that a service accepts as one line of JSON, in the format of `recordedCalls`.
 *
 * @param events `hs.events`
 * @param write receives one line with its line feed, for example `(line) => file.write(line)`
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
  const validators = { events: objectWithMethods('on', 'off'), write: aFunction }
  checkOptions('callRecorder', { events, write }, validators, ['events', 'write'])
  checkOptions('callRecorder', options, { map: aFunction })
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
      // A kind that the host registers is in no type.
      const mapped = map ? map(event as ChannelEvent) : event
      if (mapped === undefined) return
      write(`${JSON.stringify(mapped)}\n`)
      written += 1
    } catch (thrown) {
      // `stop` throws it: the service would only log it.
      failed ??= { thrown }
    }
  }
}
