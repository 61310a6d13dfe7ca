import { systemClock } from '../../clock.js'
import type { ChannelEvent, CheckedEvent } from '../../delivery/event.js'
import { errorCode, HookswitchError } from '../../errors.js'
import { type Check, door, invalid, oneOf } from '../../option-checks.js'
import type { Clock } from '../../ports.js'
import { callable, checkGiven } from '../handler/given-options.js'

/** Options of a recording's `replay`. */
export interface ReplayOptions {
  /** `hs.publish`, or anything that takes an event. Each is waited for before the next one comes. */
  readonly publish: (event: ChannelEvent) => unknown
  /** Default the machine's. With a `manualClock` somebody has to move it: by `lengthMs / speed`. */
  readonly clock?: Pick<Clock, 'now' | 'monotonic' | 'sleep'>
  /** 2: twice as fast, `Infinity`: without a pause; default 1. */
  readonly speed?: number
  /** `shifted` (default): an event says that it happens when it is published. `recorded`: it keeps its time. */
  readonly times?: 'shifted' | 'recorded'
  /** Another event in the place of each, say of another account; undefined: none. */
  readonly map?: (event: CheckedEvent) => ChannelEvent | undefined
  /** Ends the replay early. */
  readonly signal?: AbortSignal
}

/** What was replayed. */
export interface Replayed {
  readonly events: number
  /** Call legs that they belong to. */
  readonly calls: number
}

const CHECKS: Readonly<Record<keyof ReplayOptions, Check>> = {
  publish: callable,
  clock: door('now', 'monotonic', 'sleep'),
  speed: (field, value) => {
    if (typeof value !== 'number' || !(value > 0)) throw invalid(field, 'must be a number above 0')
  },
  times: oneOf('shifted', 'recorded'),
  map: callable,
  signal: (field, value) => {
    if (!(value instanceof AbortSignal)) throw invalid(field, 'must be an AbortSignal')
  },
}

/** Publishes the events at their pace, each after the one before was taken. */
export async function replayCalls(
  events: readonly { readonly line: number; readonly atMs: number; readonly event: CheckedEvent }[],
  options: ReplayOptions,
): Promise<Replayed> {
  checkGiven('replay', options, CHECKS, ['publish'])
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
    // Not the clock's: what was late by a little must not look as if it had happened late.
    const timestampMs = times === 'recorded' ? event.timestampMs : Math.round(startWallMs + afterMs)
    const timed = { ...event, timestampMs }
    const mapped = map ? map(timed) : timed
    if (mapped === undefined) continue
    try {
      await publish(mapped)
    } catch (thrown) {
      throw atLine(line, event, thrown)
    }
    published += 1
    calls.add(`${mapped.accountId}/${mapped.callId}`)
  }
  return { events: published, calls: calls.size }
}

/** The same error, its code kept, with the place in the recording. */
function atLine(line: number, { hook, callId }: CheckedEvent, thrown: unknown): Error {
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  const message = `line ${line} (${hook} of call ${callId}): ${said}`
  const code = errorCode(thrown)
  if (code === undefined) return new Error(message, { cause: thrown })
  const { field } = thrown as HookswitchError
  return new HookswitchError(code, message, { cause: thrown, ...(field === undefined ? {} : { field }) })
}
