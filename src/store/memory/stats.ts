import { addCauses, addCounts, failedOf, okOf } from '../../stats/columns.js'
import { STATS_STEPS, type StatsStep } from '../../stats/slots.js'
import type {
  StatsBatch,
  StatsQuery,
  StatsRetention,
  StatsRow,
  StatsTotals,
} from '../../stats/stats-store.js'
import { innerMap } from './state.js'

/** Rows kept at most, some 300 bytes each; above it the oldest slots are removed, minutes before hours. */
const MAX_ROWS = 100_000

interface Row {
  readonly accountId: string
  readonly webhookId: string
  readonly counts: number[]
  causes: Record<string, number> | undefined
}

/** The rows of each slot, by series. */
type Slots = Map<number, Map<string, Row>>

interface Writer {
  number: number
  /** Start of the newest slot that it wrote. */
  startMs: number
}

/** The port of statistics. */
export function memoryStats(maxRows = MAX_ROWS) {
  const steps: Readonly<Record<StatsStep, Slots>> = { 60: new Map(), 3600: new Map() }
  const writers = new Map<string, Writer>()
  let size = 0

  const nameOf = (accountId: string, webhookId: string) => `${accountId}\0${webhookId}`

  function addRow({ accountId, webhookId, step, startMs, counts, causes }: StatsRow): void {
    const rows = innerMap(steps[step], startMs)
    const name = nameOf(accountId, webhookId)
    const row = rows.get(name)
    if (row) {
      addCounts(row.counts, counts)
      row.causes = addCauses(row.causes, causes)
    } else {
      rows.set(name, { accountId, webhookId, counts: counts.slice(), causes: addCauses(undefined, causes) })
      size += 1
    }
  }

  /** Removes up to `limit` rows of the slots that begin before a time. */
  function removeBefore(step: StatsStep, beforeMs: number, limit: number): number {
    let removed = 0
    for (const [startMs, rows] of steps[step]) {
      if (startMs >= beforeMs) continue
      for (const name of rows.keys()) {
        if (removed >= limit) break
        rows.delete(name)
        removed += 1
      }
      if (rows.size === 0) steps[step].delete(startMs)
    }
    size -= removed
    return removed
  }

  function removeExcess(): void {
    for (const step of STATS_STEPS) {
      while (size > maxRows && steps[step].size > 1) {
        removeBefore(step, Math.min(...steps[step].keys()) + 1, Number.POSITIVE_INFINITY)
      }
    }
  }

  return {
    add({ writer, number, rows }: StatsBatch): void {
      const known = writers.get(writer)
      if (known && known.number >= number) return
      for (const row of rows) addRow(row)
      const startMs = Math.max(known?.startMs ?? 0, ...rows.map((row) => row.startMs))
      writers.set(writer, { number, startMs })
      if (size > maxRows) removeExcess()
    },
    read({ series, step, slots }: StatsQuery): readonly StatsRow[] {
      const found: StatsRow[] = []
      for (const startMs of new Set(slots)) {
        const rows = steps[step].get(startMs)
        if (!rows) continue
        for (const { accountId, webhookId } of series) {
          const row = rows.get(nameOf(accountId, webhookId))
          if (!row) continue
          const causes = addCauses(undefined, row.causes)
          const counts = row.counts.slice()
          found.push({ accountId, webhookId, step, startMs, counts, ...(causes && { causes }) })
        }
      }
      return found
    },
    totals({ series, step, slots }: StatsQuery): readonly StatsTotals[] {
      return series.map(({ accountId, webhookId }) => {
        const name = nameOf(accountId, webhookId)
        const counts = slots.map((startMs) => steps[step].get(startMs)?.get(name)?.counts)
        return {
          ok: counts.map((row) => (row ? okOf(row) : 0)),
          failed: counts.map((row) => (row ? failedOf(row) : 0)),
        }
      })
    },
    prune({ beforeMs }: StatsRetention, limit: number): number {
      let removed = 0
      for (const step of STATS_STEPS) removed += removeBefore(step, beforeMs[step], limit - removed)
      for (const [writer, { startMs }] of writers) if (startMs < beforeMs[3600]) writers.delete(writer)
      return removed
    },
  }
}
