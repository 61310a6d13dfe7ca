/** Stores counts of attempts. */
import {
  type CauseCounts,
  STATS_STEPS,
  type StatsQuery,
  type StatsRow,
  type StatsStore,
} from 'hookswitch/store'
import { int2Array, int4Array, int8Array, textArray } from './binary-arrays.js'
import type { Deps } from './session-deps.js'
import { statsStatements } from './sql/stats.js'
import { COUNT_COLUMNS } from './stats-columns.js'

const MINUTE_MS = 60_000

type CountRow = Pick<StatsRow, 'accountId' | 'webhookId'> & {
  readonly slot: number
  readonly causes: string | null
} & Readonly<Record<string, unknown>>

interface TotalsRow {
  readonly place: number
  readonly slot: number
  readonly ok: number
  readonly failed: number
}

/** The values of the statements `read` and `totals`. */
const valuesOf = ({ series, step, slots }: StatsQuery) => [
  textArray(series.map(({ accountId }) => accountId)),
  textArray(series.map(({ webhookId }) => webhookId)),
  step,
  int4Array(slots.map((startMs) => startMs / MINUTE_MS)),
]

export function postgresStats({ session, schema }: Pick<Deps, 'session' | 'schema'>): StatsStore {
  const sql = statsStatements(schema)

  return {
    async add({ writer, number, rows }) {
      const slots = rows.map(({ startMs }) => startMs / MINUTE_MS)
      await session.query(sql.add, [
        writer,
        number,
        Math.max(0, ...slots),
        int2Array(rows.map(({ step }) => step)),
        int4Array(slots),
        textArray(rows.map(({ accountId }) => accountId)),
        textArray(rows.map(({ webhookId }) => webhookId)),
        int8Array(rows.flatMap(({ counts }) => counts)),
        textArray(rows.map(({ causes }) => (causes ? JSON.stringify(causes) : null))),
      ])
    },
    async read(query) {
      const { step } = query
      const rows = await session.query<CountRow>(sql.read, valuesOf(query))
      return rows.map((row) => ({
        accountId: row.accountId,
        webhookId: row.webhookId,
        step,
        startMs: row.slot * MINUTE_MS,
        counts: COUNT_COLUMNS.map((column) => row[column] as number),
        ...(row.causes !== null && { causes: JSON.parse(row.causes) as CauseCounts }),
      }))
    },
    async totals(query) {
      const rows = await session.query<TotalsRow>(sql.totals, valuesOf(query))
      const byPlace = new Map(rows.map((row) => [`${row.place}/${row.slot}`, row]))
      return query.series.map((_, index) => {
        const found = query.slots.map((startMs) => byPlace.get(`${index + 1}/${startMs / MINUTE_MS}`))
        return { ok: found.map((row) => row?.ok ?? 0), failed: found.map((row) => row?.failed ?? 0) }
      })
    },
    async prune({ beforeMs }, limit) {
      let removed = 0
      for (const step of STATS_STEPS) {
        if (removed >= limit) break
        const [row] = await session.query<{ readonly removed: number }>(sql.prune, [
          step,
          Math.ceil(beforeMs[step] / MINUTE_MS),
          limit - removed,
        ])
        removed += row!.removed
      }
      await session.query(sql.pruneWriters, [Math.ceil(beforeMs[3600] / MINUTE_MS)])
      return removed
    },
  }
}
