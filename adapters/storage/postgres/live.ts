/** Items of live streams on their way to other nodes. A NOTIFY is only a hint: nodes also read and poll once a second. */
import type { LiveStore, LiveWatch, StoredLiveBatch } from 'hookswitch/store'
import { int8Array, textArray } from './binary-arrays.js'
import type { Deps, Queue } from './session-deps.js'
import { BATCHES_PER_READ, liveStatements } from './sql/live.js'

interface WatchRow {
  readonly isChange: boolean
}

interface BatchRow {
  readonly writer: string
  readonly number: number
  /** JSON array. */
  readonly accountIds: string
  /** JSON array; null: erased. */
  readonly items: string
}

function batchOf({ writer, number, accountIds, items }: BatchRow): StoredLiveBatch {
  const accounts = JSON.parse(accountIds) as readonly string[]
  const texts = JSON.parse(items) as readonly (string | null)[]
  return {
    writer,
    number,
    items: texts.flatMap((json, index) => (json === null ? [] : [{ accountId: accounts[index]!, json }])),
  }
}

export function postgresLive(
  { session, schema }: Pick<Deps, 'session' | 'schema'>,
  queue: Pick<Queue, 'notifyLive' | 'subscribeLive'>,
): LiveStore {
  const sql = liveStatements(schema)
  return {
    async watch(reader, watches, ttlMs) {
      const [row] =
        watches.length === 0
          ? await session.query<WatchRow>(sql.unwatch, [reader])
          : await session.query<WatchRow>(sql.watch, [reader, JSON.stringify(watches), ttlMs])
      if (row?.isChange) queue.notifyLive('watched')
    },
    async watched(writer) {
      const rows = await session.query<{ watches: string }>(sql.watched, [writer])
      return rows.flatMap(({ watches }) => JSON.parse(watches) as readonly LiveWatch[])
    },
    async put({ writer, number, items }, forget) {
      await session.query(sql.put, [
        writer,
        number,
        forget,
        textArray(items.map(({ accountId }) => accountId)),
        // An id of a call is not empty.
        textArray(items.map(({ callId = '' }) => callId)),
        textArray(items.map(({ eventId = null }) => eventId)),
        textArray(items.map(({ json }) => json)),
      ])
      queue.notifyLive('items')
    },
    async forget(writer, number) {
      await session.query(sql.forget, [writer, number])
    },
    async ends(reader) {
      const rows = await session.query<{ writer: string; number: number }>(sql.ends, [reader])
      return new Map(rows.map(({ writer, number }) => [writer, number]))
    },
    async read(reader, after) {
      const rows = await session.query<BatchRow>(sql.read, [
        reader,
        textArray([...after.keys()]),
        int8Array([...after.values()]),
      ])
      return { batches: rows.map(batchOf), hasMore: rows.length === BATCHES_PER_READ }
    },
    subscribe: queue.subscribeLive,
  }
}
