import type { StatsBatch, StatsRow, StatsStore } from '../../../src/stats/stats-store.js'
import { faultsOf, type StoreFault } from './store-fault.js'

const fault = faultsOf('statistics', 'stats')

const onRows = (change: (rows: readonly StatsRow[]) => readonly StatsRow[]) => (store: StatsStore) => ({
  add: (batch: StatsBatch) => store.add({ ...batch, rows: change(batch.rows) }),
})

/** Defects of statistics. */
export const brokenStats: readonly StoreFault[] = [
  fault('totals leave out the last outcome', (store) => ({
    async totals(query) {
      const rows = await store.read(query)
      const totals = await store.totals(query)
      return totals.map(({ ok, failed }, index) => ({
        ok,
        failed: failed.map((count, slot) => {
          const { accountId, webhookId } = query.series[index]!
          const row = rows.find(
            (row) =>
              row.accountId === accountId && row.webhookId === webhookId && row.startMs === query.slots[slot],
          )
          return count - (row?.counts[11] ?? 0)
        }),
      }))
    },
  })),
  fault('the account of a series is ignored', (store) => ({
    read: async (query) => {
      const series = query.series.map((key) =>
        key.accountId === 'other' ? { ...key, accountId: 'account' } : key,
      )
      return (await store.read({ ...query, series })).map((row, index) => ({
        ...row,
        ...query.series[index],
      }))
    },
  })),
  fault('a later writer replaces the counts', (store) => {
    const writers = new Set<string>()
    return {
      async add(batch) {
        writers.add(batch.writer)
        if (writers.size < 2 || batch.writer === [...writers][0]) return store.add(batch)
        const before = await store.read({ series: batch.rows, step: 60, slots: [batch.rows[0]!.startMs] })
        const old = before[0]?.counts ?? []
        return store.add({
          ...batch,
          rows: batch.rows.map((row) => ({ ...row, counts: row.counts.map((n, i) => n - (old[i] ?? 0)) })),
        })
      },
    }
  }),
  fault('only the last batch of a writer is recognized', (store) => {
    const last = new Map<string, number>()
    let number = 0
    return {
      async add(batch) {
        if (last.get(batch.writer) === batch.number) return
        last.set(batch.writer, batch.number)
        number += 1
        return store.add({ ...batch, writer: 'all', number })
      },
    }
  }),
  fault(
    'causes are not stored',
    onRows((rows) => rows.map(({ causes: _lost, ...row }) => row)),
  ),
  fault('causes of a later batch replace those before', (store) => {
    const last = new Map<string, StatsRow['causes']>()
    const nameOf = ({ webhookId, startMs, step }: StatsRow) => `${webhookId}/${startMs}/${step}`
    return {
      async add(batch) {
        await store.add(batch)
        for (const row of batch.rows) if (row.causes) last.set(nameOf(row), row.causes)
      },
      read: async (query) =>
        (await store.read(query)).map((row) => {
          const causes = last.get(nameOf(row))
          return causes ? { ...row, causes } : row
        }),
    }
  }),
  fault(
    'a batch has at most 100 rows',
    onRows((rows) => rows.slice(0, 100)),
  ),
  fault('sums of durations have 32 bits', (store) => ({
    read: async (query) =>
      (await store.read(query)).map((row) => ({ ...row, counts: row.counts.map((count) => count | 0) })),
  })),
  fault('a slot is pruned that begins at the time', (store) => ({
    prune: ({ beforeMs }, limit) =>
      store.prune({ beforeMs: { 60: beforeMs[60] + 60_000, 3600: beforeMs[3600] + 3_600_000 } }, limit),
  })),
  fault('every prune forgets all writers', (store) => {
    let prunes = 0
    return {
      add: (batch) => store.add({ ...batch, writer: `${batch.writer}/${prunes}` }),
      prune(retention, limit) {
        prunes += 1
        return store.prune(retention, limit)
      },
    }
  }),
]
