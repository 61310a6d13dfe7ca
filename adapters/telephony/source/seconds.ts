/** Durations of calls, in whole seconds. */
import type { ChannelEvent } from 'hookswitch'
import type { Problem } from './mapped-events.js'

/** Longest duration that an event can hold. Longer ones, caused by a clock change, are capped. */
export const MAX_SECONDS = 2_147_483_647

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
export type LegDurations = Pick<ChannelEvent, 'durationSeconds' | 'ringingSeconds' | 'billingSeconds'>

/** A clock that was set back by less is only rounded differently, milliseconds. */
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
 * Returns the durations of an ended leg; none if the clock of the switch was set back during it. `ringingSeconds` is the time before the answer, or the whole time of a leg that
 * was never answered. Where all three are known, `durationSeconds` is `ringingSeconds` plus `billingSeconds`: the duration
 * and the billed time are rounded, and the time before the answer is the rest. A time that the switch reports less
 * than a second before an earlier one counts as the same time.
 */
export function durationsOf(times: LegTimes): LegDurations {
  if (isClockSetBack(times)) return {}
  const { createdMs, answeredMs, endedMs } = times
  const durationSeconds = knownSeconds(createdMs, endedMs)
  if (answeredMs === 'unknown') return defined({ durationSeconds })
  if (answeredMs === undefined) {
    const billingSeconds = endedMs === 'unknown' ? undefined : 0
    return defined({ durationSeconds, ringingSeconds: durationSeconds, billingSeconds })
  }
  const billed = knownSeconds(answeredMs, endedMs)
  if (durationSeconds === undefined || billed === undefined) {
    return defined({ ringingSeconds: knownSeconds(createdMs, answeredMs), billingSeconds: billed })
  }
  const billingSeconds = Math.min(billed, durationSeconds)
  return { durationSeconds, ringingSeconds: durationSeconds - billingSeconds, billingSeconds }
}

/** Returns the rounded seconds between two times in milliseconds; 0 if the switch reports them out of order. */
function secondsBetween(fromMs: number, toMs: number): number {
  return Math.min(MAX_SECONDS, Math.max(0, Math.round((toMs - fromMs) / 1000)))
}

function knownSeconds(fromMs: number | 'unknown', toMs: number | 'unknown'): number | undefined {
  return fromMs === 'unknown' || toMs === 'unknown' ? undefined : secondsBetween(fromMs, toMs)
}

function defined({
  durationSeconds,
  ringingSeconds,
  billingSeconds,
}: { readonly [Name in keyof LegDurations]: number | undefined }): LegDurations {
  const known: { -readonly [Name in keyof LegDurations]: number } = {}
  if (durationSeconds !== undefined) known.durationSeconds = durationSeconds
  if (ringingSeconds !== undefined) known.ringingSeconds = ringingSeconds
  if (billingSeconds !== undefined) known.billingSeconds = billingSeconds
  return known
}
