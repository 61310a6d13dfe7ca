/** Statistics of a webhook as series for the plots, with their totals. Pure. */
import { percentFormat } from './formats.js'
import { fromGregorian } from './gregorian-time.js'

/** `GET webhooks/{webhook_id}/stats`. */
export interface StatsDocument {
  readonly step: number
  readonly start: readonly number[]
  readonly ok: readonly number[]
  readonly failed: readonly number[]
  readonly outcomes: Readonly<Record<string, readonly number[]>>
  readonly latency_ms: {
    readonly p50: readonly (number | null)[]
    readonly p95: readonly (number | null)[]
    readonly p99: readonly (number | null)[]
  }
  readonly complete_to?: number
}

export interface HealthSeries {
  /** Unix seconds, as plots count. */
  readonly times: readonly number[]
  /** Percent of successful attempts; `null` without attempts. */
  readonly okPercent: readonly (number | null)[]
  readonly p50: readonly (number | null)[]
  readonly p95: readonly (number | null)[]
  readonly p99: readonly (number | null)[]
  readonly total: number
  readonly totalOkPercent: number | undefined
  /** Failures by cause, the most frequent first. */
  readonly causes: readonly { readonly cause: string; readonly count: number }[]
}

/** Outcomes that are no failures. */
const SUCCESS = new Set(['delivered', 'success', 'ok', 'http_2xx'])

export function healthSeries(stats: StatsDocument): HealthSeries {
  const ok = sum(stats.ok)
  const total = ok + sum(stats.failed)
  const causes = Object.entries(stats.outcomes)
    .filter(([cause]) => !SUCCESS.has(cause))
    .map(([cause, counts]) => ({ cause, count: sum(counts) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
  return {
    times: stats.start.map((start) => fromGregorian(start) / 1_000),
    okPercent: stats.ok.map((count, index) => percent(count, count + (stats.failed[index] ?? 0)) ?? null),
    p50: stats.latency_ms.p50,
    p95: stats.latency_ms.p95,
    p99: stats.latency_ms.p99,
    total,
    totalOkPercent: percent(ok, total),
    causes,
  }
}

/** `undefined` of nothing. */
export function percent(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : (part / whole) * 100
}

export const sum = (counts: readonly (number | null)[]): number =>
  counts.reduce<number>((total, count) => total + (count ?? 0), 0)

/** `100 %` and `0 %` only where they are exact: 99.99 % is no success rate of 100 %. */
export function percentText(value: number, language: string): string {
  const rounded = Math.round(value * 10) / 10
  const shown = rounded === 100 && value < 100 ? 99.9 : rounded === 0 && value > 0 ? 0.1 : rounded
  return `${percentFormat(language).format(shown)} %`
}
