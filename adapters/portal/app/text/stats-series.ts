/** Statistics of a webhook as bars, lines and totals. Pure. */
import { fromGregorian } from './gregorian-time.js'
import { sum } from './health-series.js'
import type { Bar } from './plot-geometry.js'

/** `GET webhooks/{webhook_id}/stats`. */
export interface StatsDocument {
  /** Length of a slot in seconds. */
  readonly step: number
  /** Starts of the slots, Gregorian seconds. */
  readonly start: readonly number[]
  readonly ok: readonly number[]
  readonly failed: readonly number[]
  /** Failed attempts by status or code of the cause. */
  readonly causes: Readonly<Record<string, readonly number[]>>
  readonly latency_ms: {
    readonly p50: readonly (number | null)[]
    readonly p95: readonly (number | null)[]
  }
}

/** Failures of one cause. */
export interface CauseCount {
  /** A status, or a code. */
  readonly cause: string
  readonly count: number
}

export interface HealthSeries {
  /** Length of a bar, ms. */
  readonly barMs: number
  readonly bars: readonly Bar[]
  /** Middles of the slots of the lines, Unix ms. */
  readonly times: readonly number[]
  readonly p50: readonly (number | null)[]
  readonly p95: readonly (number | null)[]
  readonly ok: number
  readonly failed: number
  /** The most frequent first. */
  readonly causes: readonly CauseCount[]
}

/** How many slots of the statistics a bar may have: each divides an hour, or a day. */
const MERGED = [1, 2, 3, 5, 6, 10, 12, 15, 20, 24]

/** @param mostBars the bars are as narrow as this number of them allows */
export function healthSeries(stats: StatsDocument, mostBars: number): HealthSeries {
  const stepMs = stats.step * 1_000
  const starts = stats.start.map(fromGregorian)
  const merged = MERGED.find((slots) => starts.length / slots <= mostBars) ?? MERGED.at(-1)!
  return {
    barMs: merged * stepMs,
    bars: barsOf(stats, starts, merged * stepMs, stepMs),
    times: starts.map((start) => start + stepMs / 2),
    p50: stats.latency_ms.p50,
    p95: stats.latency_ms.p95,
    ok: sum(stats.ok),
    failed: sum(stats.failed),
    causes: Object.entries(stats.causes)
      .map(([cause, counts]) => ({ cause, count: sum(counts) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
  }
}

/** Bars that begin at multiples of their length; the first and the last one may be shorter. */
function barsOf(
  stats: StatsDocument,
  starts: readonly number[],
  barMs: number,
  stepMs: number,
): readonly Bar[] {
  const bars: { -readonly [Name in keyof Bar]: Bar[Name] }[] = []
  starts.forEach((start, index) => {
    const ok = stats.ok[index] ?? 0
    const failed = stats.failed[index] ?? 0
    const last = bars.at(-1)
    if (last && Math.floor(last.fromMs / barMs) === Math.floor(start / barMs)) {
      last.toMs = start + stepMs
      last.ok += ok
      last.failed += failed
    } else bars.push({ fromMs: start, toMs: start + stepMs, ok, failed })
  })
  return bars
}

/**
 * The time within which half of the answers came, ms: the middle of those of the slots, by their attempts, so it is near the
 * true one. `undefined`: no answers.
 *
 * @param beforeMs only slots that end before this time. Default: all
 */
export function typicalAnswerMs(
  stats: StatsDocument,
  beforeMs: number = Number.POSITIVE_INFINITY,
): number | undefined {
  const slots = stats.start
    .map((start, index) => ({
      endMs: fromGregorian(start) + stats.step * 1_000,
      ms: stats.latency_ms.p50[index],
      count: (stats.ok[index] ?? 0) + (stats.failed[index] ?? 0),
    }))
    .filter(({ endMs, ms }) => ms != null && endMs <= beforeMs)
    .sort((a, b) => a.ms! - b.ms!)
  let rest = sum(slots.map(({ count }) => count)) / 2
  for (const { ms, count } of slots) {
    rest -= count
    if (rest <= 0) return ms!
  }
  return undefined
}
