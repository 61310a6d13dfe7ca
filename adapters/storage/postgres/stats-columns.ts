/** The columns of counts, in the order of `StatsRow.counts`; part of the schema. The last one is a bigint. */
const OUTCOMES = 12
const BUCKETS = 12

/** Successes, as SQL. @param row alias of a row of `stat` */
export const okSum = (row: string) => `${row}.o0`
/** Other attempts, as SQL. */
export const failedSum = (row: string) =>
  Array.from({ length: OUTCOMES - 1 }, (_, index) => `${row}.o${index + 1}::float8`).join(' + ')

const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

export const COUNT_COLUMNS: readonly string[] = [
  ...numbered('o', OUTCOMES),
  ...numbered('d', BUCKETS),
  'sum_ms',
]
