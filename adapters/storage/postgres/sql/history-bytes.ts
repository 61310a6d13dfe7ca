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
/** What a row has of a text that is stored elsewhere. */
const POINTER_BYTES = 18

const sizeOf = (text: string) => `coalesce(pg_column_size(${text}), 0)`
const sizeInRow = (text: string) =>
  `case when ${sizeOf(text)} > ${LONGEST_IN_ROW} then ${POINTER_BYTES} else ${sizeOf(text)} end`

/** Rows of the sampled pages, as if all pages were like them, and of the indexes the part that the rows have of the pages. */
const bytesOf = (s: string, table: keyof typeof TABLES) => {
  const { bytes, texts } = TABLES[table]
  const block = `current_setting('block_size')::int`
  const pages = `pg_relation_size('${s}.${table}') / ${block}`
  const sampled = `greatest(least(${pages}, ${SAMPLED_PAGES}), 1)`
  const sum = (size: (text: string) => string) =>
    `coalesce(sum(${[bytes, ...texts.map(size)].join(' + ')}), 0)::float8`
  return `(
      select ${sum(sizeOf)} / ${sampled} * (${pages})
        + least(1, ${sum(sizeInRow)} / (${sampled} * ${block})) * pg_indexes_size('${s}.${table}')
      from ${s}.${table} where ctid = any (array(
        select format('(%s,%s)', page, row)::tid from (
          select distinct (i * 2 + 1) * pages / (2 * ${SAMPLED_PAGES}) as page
          from (select ${pages} as pages) p cross join generate_series(0, ${SAMPLED_PAGES} - 1) i where pages > 0
        ) sampled cross join generate_series(1, ${ROWS_PER_PAGE}) row
      ))
    )`
}

/**
 * About how many bytes events, attempts and deliveries take. Files keep their size when rows are removed. So the rows of 64 pages
 * at equal distances are read, whatever the size of the table, and stand for all: neither VACUUM nor the statistics of the server
 * have to be up to date. An index counts by the part of the pages of its table that is filled.
 */
export const historyStatement = (s: string): Statement => ({
  name: 'history_bytes',
  text: `select (${(Object.keys(TABLES) as (keyof typeof TABLES)[])
    .map((table) => bytesOf(s, table))
    .join('\n + ')})::float8 as bytes`,
})
