/** Stores counts of attempts. */
import {
  addCauses,
  type CauseCounts,
  STATS_STEPS,
  type StatsRow,
  type StatsSeriesKey,
  type StatsStep,
  type StatsStore,
} from 'hookswitch/store'
import type { Statements } from './query.js'
import { COUNT_COLUMNS, FAILED_SUM, OK_SUM } from './stats-columns.js'
import type { Synchronous } from './synchronous.js'

const MINUTE_MS = 60_000

type CountRow = { readonly slot: number; readonly causes: string | null } & Readonly<Record<string, number>>

/** A series in one of the slots of a JSON array: a look-up in the primary key for each. */
const READ_SERIES_SQL = `select slot, causes, ${COUNT_COLUMNS.join(', ')} from hookswitch_stat
  where step = ? and slot in (select value from json_each(?)) and account_id = ? and webhook_id = ?`

/** The same with the totals only. */
const READ_TOTALS_SQL = `select slot, ${OK_SUM} as ok, ${FAILED_SUM} as failed from hookswitch_stat
  where step = ? and slot in (select value from json_each(?)) and account_id = ? and webhook_id = ?`

interface TotalsRow {
  readonly slot: number
  readonly ok: number
  readonly failed: number
}

export function createStatsStore({ prepareQuery, prepareChange }: Statements): Synchronous<StatsStore> {
  const names = COUNT_COLUMNS.join(', ')
  const add =
    prepareChange(`insert into hookswitch_stat (step, slot, account_id, webhook_id, causes, ${names})
    values (?, ?, ?, ?, ?, ${COUNT_COLUMNS.map(() => '?').join(', ')})
    on conflict (step, slot, account_id, webhook_id) do update set causes = coalesce(excluded.causes, causes),
    ${COUNT_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`)
  const causesOf = prepareQuery<{ readonly causes: string | null }>(`select causes from hookswitch_stat
    where step = ? and slot = ? and account_id = ? and webhook_id = ?`)
  const advance = prepareChange(`insert into hookswitch_stat_writer (writer, number, slot) values (?, ?, ?)
    on conflict (writer) do update set number = excluded.number, slot = max(slot, excluded.slot)
    where number < excluded.number`)
  const read = prepareQuery<CountRow>(READ_SERIES_SQL)
  const readTotals = prepareQuery<TotalsRow>(READ_TOTALS_SQL)
  const remove = prepareChange(`delete from hookswitch_stat where (step, slot, account_id, webhook_id) in (
      select step, slot, account_id, webhook_id from hookswitch_stat where step = ? and slot < ? limit ? + 0
    )`)
  const removeWriters = prepareChange('delete from hookswitch_stat_writer where slot < ?')

  function readSeries({ accountId, webhookId }: StatsSeriesKey, step: StatsStep, slots: string): StatsRow[] {
    return read.all(step, slots, accountId, webhookId).map((row) => ({
      accountId,
      webhookId,
      step,
      startMs: row.slot * MINUTE_MS,
      counts: COUNT_COLUMNS.map((column) => row[column]!),
      ...(row.causes !== null && { causes: JSON.parse(row.causes) as CauseCounts }),
    }))
  }

  /** The causes of a row with those that are stored, as JSON. */
  function addedCauses({ step, startMs, accountId, webhookId, causes }: StatsRow): string | null {
    if (!causes) return null
    const stored = causesOf.get(step, startMs / MINUTE_MS, accountId, webhookId)?.causes ?? null
    return JSON.stringify(stored === null ? causes : addCauses(JSON.parse(stored), causes))
  }

  return {
    add({ writer, number, rows }) {
      const newest = Math.max(0, ...rows.map(({ startMs }) => startMs / MINUTE_MS))
      if (advance(writer, number, newest) === 0) return
      for (const row of rows) {
        const { step, startMs, accountId, webhookId, counts } = row
        add(step, startMs / MINUTE_MS, accountId, webhookId, addedCauses(row), ...counts)
      }
    },
    read({ series, step, slots }) {
      const minutes = JSON.stringify(slots.map((startMs) => startMs / MINUTE_MS))
      return series.flatMap((key) => readSeries(key, step, minutes))
    },
    totals({ series, step, slots }) {
      const minutes = slots.map((startMs) => startMs / MINUTE_MS)
      const list = JSON.stringify(minutes)
      return series.map(({ accountId, webhookId }) => {
        const rows = readTotals.all(step, list, accountId, webhookId)
        const bySlot = new Map(rows.map((row) => [row.slot, row]))
        return {
          ok: minutes.map((slot) => bySlot.get(slot)?.ok ?? 0),
          failed: minutes.map((slot) => bySlot.get(slot)?.failed ?? 0),
        }
      })
    },
    prune({ beforeMs }, limit) {
      let removed = 0
      for (const step of STATS_STEPS)
        if (removed < limit) removed += remove(step, beforeMs[step] / MINUTE_MS, limit - removed)
      removeWriters(beforeMs[3600] / MINUTE_MS)
      return removed
    },
  }
}
