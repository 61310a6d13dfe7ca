/** Replays a recorded call stream at its own pace. */
import type { ChannelEvent, Clock } from 'hookswitch'
import type { CheckedEvent } from '../../delivery/event.js'
import { errorCode, HookswitchError } from '../../errors.js'
import { invalidOption, objectWithMethods, oneOf, type Validator } from '../../options/validators.js'
import { systemClock } from '../../runtime/clock.js'
import { aFunction, checkOptions } from '../check-options.js'

/** Options of a recording's `replay`. */
export interface ReplayOptions {
  /** `hs.publish`, or another function that accepts an event. Awaited before the next event. */
  readonly publish: (event: ChannelEvent) => unknown
  /** Clock of the pauses. Default is the system clock. A `manualClock` must be advanced by `lengthMs / speed`. */
  readonly clock?: Pick<Clock, 'now' | 'monotonic' | 'sleep'> | undefined
  /** Speed factor: 2 is twice as fast, `Infinity` is without pauses. Default is 1. */
  readonly speed?: number | undefined
  /** `timestampMs` of the events. `shifted`: when they are published. `recorded`: unchanged. Default is `shifted`. */
  readonly times?: 'shifted' | 'recorded' | undefined
  /** Replaces each event, for example with one of another account; undefined skips it. Default is no change. */
  readonly map?:
    | ((event: ChannelEvent & { readonly timestampMs: number }) => ChannelEvent | undefined)
    | undefined
  /** Ends the replay early when aborted; `replay` then resolves. */
  readonly signal?: AbortSignal | undefined
}

/** Result of a replay. */
export interface ReplayResult {
  /** Number of events that were published. */
  readonly events: number
  /** Number of their call legs. */
  readonly calls: number
}

const VALIDATORS: Readonly<Record<keyof ReplayOptions, Validator>> = {
  publish: aFunction,
  clock: objectWithMethods('now', 'monotonic', 'sleep'),
  speed: (field, value) => {
    if (typeof value !== 'number' || !(value > 0)) throw invalidOption(field, 'must be a number above 0')
  },
  times: oneOf('shifted', 'recorded'),
  map: aFunction,
  signal: (field, value) => {
    if (!(value instanceof AbortSignal)) throw invalidOption(field, 'must be an AbortSignal')
  },
}

/** Publishes the events at their times, each after the previous one was accepted. */
export async function replayCalls(
  events: readonly { readonly line: number; readonly atMs: number; readonly event: CheckedEvent }[],
  options: ReplayOptions,
): Promise<ReplayResult> {
  checkOptions('replay', options, VALIDATORS, ['publish'])
  const { publish, clock = systemClock(), speed = 1, times = 'shifted', map, signal } = options
  const firstMs = events[0]!.atMs
  const startMs = clock.monotonic()
  const startWallMs = clock.now()
  const calls = new Set<string>()
  let published = 0
  for (const { line, atMs, event } of events) {
    const afterMs = (atMs - firstMs) / speed
    const waitMs = startMs + afterMs - clock.monotonic()
    if (waitMs > 0) await clock.sleep(waitMs, signal)
    if (signal?.aborted) break
    // The planned time, not the clock's: a publish that is late must not change when the event happened.
    const timestampMs = times === 'recorded' ? event.timestampMs : Math.round(startWallMs + afterMs)
    // A kind that the host registers is in no type.
    const timed = { ...event, timestampMs } as ChannelEvent & { readonly timestampMs: number }
    const mapped = map ? map(timed) : timed
    if (mapped === undefined) continue
    try {
      await publish(mapped)
    } catch (thrown) {
      throw withLine(line, event, thrown)
    }
    published += 1
    calls.add(`${mapped.accountId}/${mapped.callId}`)
  }
  return { events: published, calls: calls.size }
}

/** Adds the position in the recording to an error's message, and keeps its code. */
function withLine(line: number, { hook, callId }: CheckedEvent, thrown: unknown): Error {
  const original = thrown instanceof Error ? thrown.message : String(thrown)
  const message = `line ${line} (${hook} of call ${callId}): ${original}`
  const code = errorCode(thrown)
  if (code === undefined) return new Error(message, { cause: thrown })
  const { field } = thrown as HookswitchError
  return new HookswitchError(code, message, { cause: thrown, ...(field === undefined ? {} : { field }) })
}
