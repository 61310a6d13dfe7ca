/** What is counted of attempts: the numbers of one row of statistics, and their order. Pure. */
import type { AttemptRecord } from '../delivery/attempt-record.js'
import { attemptOutcome } from '../delivery/worker/delivery-notifications.js'
import { METRICS } from '../metrics.js'
import { isFailureCause } from '../values/failure-cause.js'

/** Outcomes of attempts: those of the metric `hookswitch_attempts_total`, with `http` split by the status of the response. */
export const STATS_OUTCOMES = Object.freeze([
  'delivered',
  /** A status that is neither 2xx, 3xx nor 5xx. */
  'http_4xx',
  'http_5xx',
  'redirect',
  'timeout',
  'connection',
  'dns',
  'tls',
  'protocol',
  'blocked_address',
  'own_fault',
  'interrupted',
] as const)

/** An outcome of an attempt. */
export type StatsOutcome = (typeof STATS_OUTCOMES)[number]

/** Upper bounds of the duration buckets, ms; a duration above the last one is in a further bucket. */
export const DURATION_BOUNDS_MS: readonly number[] = Object.freeze(
  METRICS.hookswitch_attempt_duration_seconds.buckets.map((seconds) => seconds * 1000),
)

/** Index of the first duration bucket in a row of counts. */
export const FIRST_BUCKET = STATS_OUTCOMES.length
/** Index of the sum of all durations, ms. */
const SUM_MS = FIRST_BUCKET + DURATION_BOUNDS_MS.length + 1
/** Numbers in one row: 12 outcomes, 12 duration buckets, the sum of the durations. @internal */
export const COUNTS = SUM_MS + 1

const INDEXES: ReadonlyMap<string, number> = new Map(STATS_OUTCOMES.map((name, index) => [name, index]))

/** Index of the outcome of a recorded attempt in a row of counts. @internal */
export function outcomeIndex(record: AttemptRecord): number {
  const outcome = attemptOutcome(record)
  if (outcome === 'delivered') return 0
  if (outcome === 'http') return (record.status ?? 0) >= 500 ? 2 : 1
  return INDEXES.get(outcome)!
}

/** Index of the bucket of a duration in a row of counts: the first bucket whose bound is not exceeded. @internal */
export function bucketIndex(durationMs: number): number {
  let bucket = 0
  while (bucket < DURATION_BOUNDS_MS.length && durationMs > DURATION_BOUNDS_MS[bucket]!) bucket += 1
  return FIRST_BUCKET + bucket
}

/** An empty row of counts. */
export function newCounts(): number[] {
  return new Array<number>(COUNTS).fill(0)
}

/** Adds the counts of `from` to `to`. */
export function addCounts(to: number[], from: readonly number[]): void {
  for (let index = 0; index < COUNTS; index += 1) to[index]! += from[index]!
}

/** Adds one attempt to a row of counts. An attempt without a known duration (interrupted) is in no bucket. */
export function countAttempt(counts: number[], record: AttemptRecord): void {
  counts[outcomeIndex(record)]! += 1
  const { durationMs } = record
  if (durationMs === undefined) return
  counts[bucketIndex(durationMs)]! += 1
  counts[SUM_MS]! += durationMs
}

/** The cause of everything that no other cause counts. */
export const OTHER_CAUSE = 'other'

/** Statuses that are counted by themselves: the registered ones, and those that proxies in wide use send. */
const COUNTED_STATUSES: readonly (readonly [first: number, last: number])[] = [
  [300, 308],
  [400, 451],
  [494, 499],
  [500, 511],
  [520, 530],
  [598, 599],
]

/**
 * Why an attempt failed, more exactly than its outcome: its status, a cause of `FAILURE_CAUSES`, `own_fault` or `interrupted`.
 * What a receiver can answer is a closed list, so that nobody fills the store; the rest is `other`.
 */
export function causeOf({ status, cause, clientError, reason }: AttemptRecord): string {
  if (status !== undefined) {
    const isCounted = COUNTED_STATUSES.some(([first, last]) => status >= first && status <= last)
    return isCounted ? String(status) : OTHER_CAUSE
  }
  if (isFailureCause(cause)) return cause
  if (reason === 'interrupted') return reason
  return clientError === 'own_fault' ? clientError : OTHER_CAUSE
}

/** Failed attempts by cause. */
export type CauseCounts = Readonly<Record<string, number>>

/** Adds failed attempts by cause to those of `to`, which may have none. Returns `to`, or a new object. */
export function addCauses(
  to: Record<string, number> | undefined,
  from: CauseCounts | undefined,
): Record<string, number> | undefined {
  if (!from) return to
  const sum = to ?? {}
  for (const [cause, count] of Object.entries(from)) sum[cause] = (sum[cause] ?? 0) + count
  return sum
}

/** Delivered attempts of a row of counts. */
export const okOf = (counts: readonly number[]): number => counts[0]!

/** Other attempts of a row of counts. */
export function failedOf(counts: readonly number[]): number {
  let failed = 0
  for (let index = 1; index < STATS_OUTCOMES.length; index += 1) failed += counts[index]!
  return failed
}
