import type { Statement } from '../statement.js'

/** The tables of the history: the bytes of a row without its texts, and its texts. */
const TABLES = {
  event: { bytes: 64, texts: ['id', 'account_id', 'call_id', 'other_leg', 'hook', 'traceparent', 'body'] },
  body: { bytes: 48, texts: ['body'] },
  waiting: { bytes: 112, texts: ['id', 'replay_of', 'reason'] },
  attempt: { bytes: 140, texts: ['id', 'replay_of', 'reason', 'doc'] },
} as const

const SAMPLED_PAGES = 64
/** More than a page has: the shortest rows have 68 bytes. */
const ROWS_PER_PAGE = 120
/** A longer text is stored elsewhere. */
const LONGEST_IN_ROW = 2_000
/** A text that is stored elsewhere, in its row. */
const POINTER_BYTES = 18

const bytesOf = (text: string) =>
  `coalesce(case when pg_column_size(${text}) > ${LONGEST_IN_ROW} then ${POINTER_BYTES} else pg_column_size(${text}) end, 0)`

/** Which part of its pages the table fills with rows, from 0 to 1. */
const filledPart = (s: string, table: keyof typeof TABLES) => {
  const { bytes, texts } = TABLES[table]
  const block = `current_setting('block_size')::int`
  const pages = `pg_relation_size('${s}.${table}') / ${block}`
  return `(
      select least(1, coalesce(sum(${[bytes, ...texts.map(bytesOf)].join(' + ')}), 0)::float8
        / (greatest(least(${pages}, ${SAMPLED_PAGES}), 1) * ${block}))
      from ${s}.${table} where ctid = any (array(
        select format('(%s,%s)', page, row)::tid from (
          select distinct (i * 2 + 1) * pages / (2 * ${SAMPLED_PAGES}) as page
          from (select ${pages} as pages) p cross join generate_series(0, ${SAMPLED_PAGES} - 1) i where pages > 0
        ) sampled cross join generate_series(1, ${ROWS_PER_PAGE}) row
      ))
    )`
}

/**
 * About how many bytes events, attempts and deliveries take. Files keep their size when rows are removed. So each file, with its
 * indexes and what is stored elsewhere, counts by the part of 64 of its pages, at equal distances, that is filled with rows: those
 * pages are read, whatever the size of the table, and neither VACUUM nor the statistics of the server have to be up to date.
 */
export const historyStatement = (s: string): Statement => ({
  name: 'history_bytes',
  text: `select (${(Object.keys(TABLES) as (keyof typeof TABLES)[])
    .map((table) => `pg_total_relation_size('${s}.${table}') * ${filledPart(s, table)}`)
    .join('\n + ')})::float8 as bytes`,
})
