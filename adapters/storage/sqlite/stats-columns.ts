/** The columns of counts, in the order of `StatsRow.counts`; part of the schema. */
const OUTCOMES = 12
const BUCKETS = 12

/** Successes, as SQL. */
export const OK_SUM = 'o0'
/** Other attempts, as SQL. */
export const FAILED_SUM = Array.from({ length: OUTCOMES - 1 }, (_, index) => `o${index + 1}`).join(' + ')

const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

export const COUNT_COLUMNS: readonly string[] = [
  ...numbered('o', OUTCOMES),
  ...numbered('d', BUCKETS),
  'sum_ms',
]
