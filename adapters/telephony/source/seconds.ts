/** Durations of calls. */
import type { ChannelEvent } from 'hookswitch'
import type { Problem } from './mapped-events.js'

/** Longest duration that an event can hold. Longer ones, caused by a clock change, are capped. */
export const MAX_SECONDS = 2_147_483_647
const MAX_MS = MAX_SECONDS * 1000

/** Times of an ended leg, Unix milliseconds. What is `unknown` is left out of the durations, never invented. */
export interface LegTimes {
  /** When the leg began. */
  readonly createdMs: number | 'unknown'
  /** When it was answered; `undefined`: it never was. */
  readonly answeredMs: number | undefined | 'unknown'
  /** When it ended. */
  readonly endedMs: number | 'unknown'
}

/** The durations of a `channel_destroy`; those that are not known are absent. */
export type LegDurations = Pick<
  ChannelEvent,
  'durationSeconds' | 'ringingSeconds' | 'billingSeconds' | 'durationMs' | 'ringingMs' | 'billingMs'
>

/** Times that are out of order by less are not a clock that was set back, milliseconds. */
const CLOCK_TOLERANCE_MS = 1_000

/** Whether a leg ended before it began or was answered, or was answered before it began, by the clock of the switch. */
export function isClockSetBack({ createdMs, answeredMs, endedMs }: LegTimes): boolean {
  const times = [createdMs, answeredMs, endedMs].filter((time) => typeof time === 'number')
  return times.some((time, index) => time + CLOCK_TOLERANCE_MS < (times[index - 1] ?? time))
}

/** Returns the problem of a leg during which the clock was set back. */
export function clockProblem(callId: string): Problem {
  const message = 'the clock of the switch was set back during a leg: its durations are left out'
  return { kind: 'clock', message, callId }
}

/**
 * Returns the durations of an ended leg; none if the clock of the switch was set back during it. `ringingMs` is the time
 * before the answer, or the whole time of a leg that was never answered: `durationMs` is `ringingMs` plus `billingMs`. Whole
 * seconds are rounded down, as in the call detail records of the switches, and the time before the answer is the rest. A time
 * that the switch reports less than a second before an earlier one counts as the same time.
 */
export function durationsOf(times: LegTimes): LegDurations {
  if (isClockSetBack(times)) return {}
  const { createdMs, answeredMs, endedMs } = times
  const durationMs = msBetween(createdMs, endedMs)
  if (answeredMs === 'unknown') return inSeconds(durationMs, undefined, undefined)
  if (answeredMs === undefined)
    return inSeconds(durationMs, durationMs, endedMs === 'unknown' ? undefined : 0)
  const billedMs = msBetween(answeredMs, endedMs)
  if (durationMs === undefined || billedMs === undefined)
    return inSeconds(undefined, msBetween(createdMs, answeredMs), billedMs)
  const billingMs = Math.min(billedMs, durationMs)
  return inSeconds(durationMs, durationMs - billingMs, billingMs)
}

/** Returns the time between two times; 0 if the switch reports them out of order. */
function msBetween(fromMs: number | 'unknown', toMs: number | 'unknown'): number | undefined {
  if (fromMs === 'unknown' || toMs === 'unknown') return undefined
  // Times with microseconds as fractions: their difference is off by less than one.
  const us = Math.round((toMs - fromMs) * 1000)
  return Math.min(MAX_MS, Math.max(0, Math.floor(us / 1000)))
}

/** Returns the known durations, and the same in seconds. */
function inSeconds(
  durationMs: number | undefined,
  ringingMs: number | undefined,
  billingMs: number | undefined,
): LegDurations {
  const known: { -readonly [Name in keyof LegDurations]: number } = {}
  if (durationMs !== undefined) known.durationSeconds = Math.floor(durationMs / 1000)
  if (ringingMs !== undefined) {
    known.ringingSeconds =
      durationMs === undefined || billingMs === undefined
        ? Math.floor(ringingMs / 1000)
        : Math.floor(durationMs / 1000) - Math.floor(billingMs / 1000)
  }
  if (billingMs !== undefined) known.billingSeconds = Math.floor(billingMs / 1000)
  if (durationMs !== undefined) known.durationMs = durationMs
  if (ringingMs !== undefined) known.ringingMs = ringingMs
  if (billingMs !== undefined) known.billingMs = billingMs
  return known
}
