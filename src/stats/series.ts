/** The statistics of a webhook, an account or the service over time: which slots are shown, and their numbers. Pure. */
import {
  addCauses,
  addCounts,
  type CauseCounts,
  failedOf,
  newCounts,
  OTHER_CAUSE,
  okOf,
  STATS_OUTCOMES,
} from './columns.js'
import { FLUSH_INTERVAL_MS } from './flush.js'
import { quantileMs } from './quantile.js'
import { MAX_SLOTS, type StatsStep, slotCount, slotOf } from './slots.js'
import type { StatsRow } from './stats-store.js'

/** Which slots to return. */
export interface StatsRange {
  /** Length of a slot, in seconds: 60, kept for 3 hours, or 3600, kept for 35 days. Default 3600. */
  readonly step?: 60 | 3600
  /** First moment, in Unix milliseconds. Default: 24 hours before `toMs` with `step: 3600`, 1 hour with 60. */
  readonly fromMs?: number
  /** Last moment, in Unix milliseconds. Default: now. At most 900 slots after `fromMs`. */
  readonly toMs?: number
}

/**
 * Attempts by slot: every list has one entry per slot. An attempt counts in the slot in which it was sent, once its outcome is
 * stored; deliveries that ended without a request do not count.
 */
export interface StatsSeries {
  /** Length of each slot, in seconds. */
  readonly step: 60 | 3600
  /** Starts of the slots, in Unix milliseconds, ascending: those of the range whose counts are still kept. */
  readonly startMs: readonly number[]
  /** Attempts that were delivered. */
  readonly ok: readonly number[]
  /** All other attempts, interrupted ones included. */
  readonly failed: readonly number[]
  /** Failed attempts by cause. A cause that does not occur in the range is absent. */
  readonly outcomes: Readonly<
    Partial<
      Record<
        | 'http_4xx'
        | 'http_5xx'
        | 'redirect'
        | 'timeout'
        | 'connection'
        | 'dns'
        | 'tls'
        | 'protocol'
        | 'blocked_address'
        | 'own_fault'
        | 'interrupted',
        readonly number[]
      >
    >
  >
  /**
   * Failed attempts by status (`'503'`), or else by their cause, `own_fault` or `interrupted`: the 20 that are most frequent in
   * the range, and the rest under `other`. One that does not occur in the range is absent.
   */
  readonly causes: Readonly<Record<string, readonly number[]>>
  /** Percentiles of the durations, in milliseconds, interpolated from 12 buckets; null: no duration is known. */
  readonly latencyMs: {
    /** Half of the durations are at most this long. */
    readonly p50: readonly (number | null)[]
    /** 95 % of the durations are at most this long. */
    readonly p95: readonly (number | null)[]
    /** 99 % of the durations are at most this long. */
    readonly p99: readonly (number | null)[]
  }
  /** Slots that end at or before this time are complete, in Unix milliseconds; later ones may still grow. */
  readonly completeToMs: number
}

/** Causes of a series, besides `other`. */
const MAX_CAUSES = 20

/** Failed attempts by cause and slot; those that are rarer in all slots together count as `other`. */
function causeSeries(
  slots: readonly (CauseCounts | undefined)[],
): Readonly<Record<string, readonly number[]>> {
  const totals = slots.reduce<Record<string, number> | undefined>(addCauses, undefined) ?? {}
  const named = Object.keys(totals)
    .filter((cause) => cause !== OTHER_CAUSE)
    .sort((a, b) => totals[b]! - totals[a]!)
    .slice(0, MAX_CAUSES)
  const series = named.map((cause) => [cause, slots.map((causes) => causes?.[cause] ?? 0)] as const)
  const rest = slots.map(
    (causes) => sumOf(causes) - named.reduce((sum, cause) => sum + (causes?.[cause] ?? 0), 0),
  )
  return Object.fromEntries(rest.some((count) => count > 0) ? [...series, [OTHER_CAUSE, rest]] : series)
}

const sumOf = (causes: CauseCounts = {}) => Object.values(causes).reduce((sum, count) => sum + count, 0)

const HOUR_MS = 3_600_000
const DEFAULT_SPAN_MS: Readonly<Record<StatsStep, number>> = { 60: HOUR_MS, 3600: 24 * HOUR_MS }

/** The range with its defaults. `latestToMs`: the last moment that `toMs` may be with this `fromMs`, Unix ms. */
export function completeRange(range: StatsRange, nowMs: number) {
  const { step = 3600, toMs = nowMs } = range
  const { fromMs = toMs - DEFAULT_SPAN_MS[step] } = range
  const latestToMs = slotOf(step, fromMs) + MAX_SLOTS * step * 1000 - 1
  return { step, fromMs, toMs, latestToMs, isTooLong: slotCount(step, fromMs, toMs) > MAX_SLOTS }
}

/**
 * The time up to which all attempts are counted: those sent before it have ended, and every node has written its counts, unless
 * the store was out.
 *
 * @param attemptTimeoutMs longest duration of an attempt
 * @param oldestUnwrittenMs start of the oldest minute that this node has not written, Unix ms
 */
export function completeToMs(
  nowMs: number,
  attemptTimeoutMs: number,
  oldestUnwrittenMs: number | undefined,
): number {
  // A node writes its counts within one interval; the second interval allows for a slow store and for clocks that differ.
  const writtenMs = slotOf(60, nowMs - attemptTimeoutMs - 2 * FLUSH_INTERVAL_MS)
  return Math.min(writtenMs, oldestUnwrittenMs ?? writtenMs)
}

/** @param slots starts of the slots, Unix ms */
export function seriesOf(
  rows: readonly StatsRow[],
  step: StatsStep,
  slots: readonly number[],
  completeMs: number,
): StatsSeries {
  const bySlot = new Map(rows.map((row) => [row.startMs, row]))
  const empty = newCounts()
  const counts = slots.map((slot) => bySlot.get(slot)?.counts ?? empty)
  const total = newCounts()
  for (const row of counts) addCounts(total, row)
  const outcomes = STATS_OUTCOMES.flatMap((name, index) =>
    index > 0 && total[index]! > 0 ? [[name, counts.map((row) => row[index]!)] as const] : [],
  )
  const percentile = (fraction: number) => counts.map((row) => quantileMs(row, fraction) ?? null)
  return {
    step,
    startMs: slots,
    ok: counts.map(okOf),
    failed: counts.map(failedOf),
    outcomes: Object.fromEntries(outcomes),
    causes: causeSeries(slots.map((slot) => bySlot.get(slot)?.causes)),
    latencyMs: { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) },
    completeToMs: completeMs,
  }
}
