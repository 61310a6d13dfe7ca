/** Removes for good what is stored of calls or of an account, and searches stored bodies for a number or name. */
import { type Erasure, isMentioned, type Mentions, shardOf } from 'hookswitch/store'
import { int4Array, int8Array } from './binary-arrays.js'
import { ALL_SHARDS, createOwnerVersions, type OwnerChange } from './owner-versions.js'
import { removedOn, type Transaction } from './session.js'
import type { Deps, Queries, Queue } from './session-deps.js'
import { type ErasedRow, eraseStatements } from './sql/erase.js'
import { liveStatements } from './sql/live.js'
import { type BodiesRow, mentionStatements } from './sql/mentions.js'
import { pruneStatements } from './sql/prune.js'

export function postgresErasure(
  deps: Deps,
  queue: Pick<Queue, 'memory' | 'notify'>,
): Pick<Queries, 'erase' | 'mentions' | 'scrub'> {
  const { session, schema } = deps
  const sql = eraseStatements(schema)
  const shared = pruneStatements(schema)
  const live = liveStatements(schema)
  const versions = createOwnerVersions(schema)
  const removedBy = removedOn(session)

  /**
   * Runs `remove`, which reports what it removed, with the versions of all nodes raised: their groups that are under way
   * are committed before, and later ones are outdated, so that none brings back what is removed.
   */
  async function withVersions(
    hasWork: () => Promise<boolean>,
    remove: (
      tx: Transaction,
    ) => Promise<{ readonly count: number; readonly changes: readonly OwnerChange[] }>,
  ): Promise<number> {
    if (!(await hasWork())) return 0
    let changed: readonly OwnerChange[] = []
    const count = await session.transaction(async (tx) => {
      const raised = await versions.raise(tx, ALL_SHARDS)
      const removed = await remove(tx)
      await versions.record(tx, raised, removed.changes)
      changed = removed.changes
      return removed.count
    })
    // Numbers of erased calls begin again.
    queue.memory.numbers.clear()
    for (const shard of new Set(changed.map(({ webhookId }) => shardOf(webhookId)))) queue.notify(shard)
    return count
  }

  /**
   * Deliveries to remove next. Of an account: those to its webhooks, then those of its first events, which are removed before
   * the next ones are looked at: no event is examined twice, however many there are.
   */
  async function selectDeliveries(
    on: Transaction,
    { accountId, callIds }: Erasure,
    limit: number,
  ): Promise<readonly ErasedRow[]> {
    if (callIds) return on.query<ErasedRow>(sql.ofCalls, [accountId, callIds, limit])
    const received = await on.query<ErasedRow>(sql.ofWebhooks, [accountId, limit])
    return received.length > 0 ? received : on.query<ErasedRow>(sql.ofEvents, [accountId, limit, limit])
  }

  /** Removes deliveries with their attempts. */
  const eraseDeliveries = (erasure: Erasure, limit: number) =>
    withVersions(
      async () => (await selectDeliveries(session, erasure, limit)).length > 0,
      async (tx) => {
        const rows = await selectDeliveries(tx, erasure, limit)
        if (rows.length === 0) return { count: 0, changes: [] }
        await tx.query(sql.deliveries, [
          int4Array(rows.map(({ webhookKey }) => webhookKey)),
          int8Array(rows.map(({ position }) => position)),
          int8Array(rows.map(({ event }) => event)),
        ])
        const byWebhook = new Map<string, number[]>()
        for (const { webhookId, position } of rows) {
          const positions = byWebhook.get(webhookId)
          if (positions) positions.push(position)
          else byWebhook.set(webhookId, [position])
        }
        const changes = Array.from(byWebhook, ([webhookId, positions]) => ({ webhookId, positions }))
        return { count: rows.length, changes }
      },
    )

  /** Removes the events of the account, and with them numbers and legs of its calls. */
  const eraseEvents = (
    { accountId, callIds = null }: { accountId: string; callIds?: readonly string[] | null },
    limit: number,
  ) =>
    withVersions(
      async () => (await session.query(sql.events, [accountId, callIds, 1])).length > 0,
      async (tx) => {
        const rows = await tx.query<{ position: number }>(sql.events, [accountId, callIds, limit])
        const positions = int8Array(rows.map(({ position }) => position))
        if (callIds) await tx.query(sql.keepLegs, [callIds, positions])
        await tx.query(shared.lockEvents, [positions])
        return { count: await removedOn(tx)(shared.events, [positions]), changes: [] }
      },
    )

  const eraseDeletedWebhooks = (accountId: string, limit: number) =>
    withVersions(
      async () => (await session.query(sql.hasDeleted, [accountId])).length > 0,
      async (tx) => {
        const rows = await tx.query<{ key: number; id: string }>(sql.lockDeleted, [accountId, limit])
        const count = await removedOn(tx)(shared.webhooks, [rows.map(({ key }) => key)])
        for (const { id } of rows) queue.memory.webhookKeys.delete(id)
        return { count, changes: rows.map(({ id }) => ({ webhookId: id })) }
      },
    )

  /** Removes the account's change mark, which is not counted. */
  async function eraseChangeMark(accountId: string): Promise<number> {
    await session.query(sql.changes, [accountId])
    return 0
  }

  /** Erases live items, which are not counted. The events are gone: a batch that is written later does not contain them. */
  const eraseLiveItems = (accountId: string, callIds: readonly string[] | null) =>
    session.transaction(async (tx) => {
      await tx.query(live.lock, [])
      await tx.query(live.erase, [accountId, callIds])
      return 0
    })

  return {
    async erase(erasure, limit) {
      const { accountId, callIds = null } = erasure
      let removed = 0
      for (const step of [
        (left: number) => eraseDeliveries(erasure, left),
        (left: number) => eraseEvents(erasure, left),
        (left: number) => (callIds ? removedBy(sql.unlinkLegs, [accountId, callIds, left]) : 0),
        (left: number) => removedBy(sql.keys, [accountId, callIds, left]),
        (left: number) => removedBy(sql.inbox, [accountId, callIds, left]),
        (left: number) => (callIds ? 0 : eraseDeletedWebhooks(accountId, left)),
        () => (callIds ? 0 : eraseChangeMark(accountId)),
        () => eraseLiveItems(accountId, callIds),
      ]) {
        if (removed < limit) removed += await step(limit - removed)
      }
      return removed
    },
    mentions: createMentionSearch(deps),
    // Removed rows stay in their pages until VACUUM. Remains in the gaps of a page, in the write-ahead log and in
    // backups are the server's to overwrite; VACUUM FULL does so for the tables.
    async scrub() {
      await deps.maintenanceSession().query(sql.vacuum, [])
    },
  }
}

/**
 * Searches bodies for a number or name, at most `limit` rows per call: the account's events, then events of other accounts
 * that were sent to its webhooks, then inbox entries. The cursor is a position of an event, the negative position of a
 * delivery, or the position of an inbox entry plus a half.
 */
function createMentionSearch({ session, schema }: Pick<Deps, 'session' | 'schema'>): Queries['mentions'] {
  const sql = mentionStatements(schema)
  const searches = [
    { statement: sql.events, cursorOf: (position: number) => position },
    { statement: sql.received, cursorOf: (position: number) => -position - 1 },
    { statement: sql.inbox, cursorOf: (position: number) => position + 0.5 },
  ]
  const startOf = (cursor: number) => {
    if (cursor < 0) return { index: 1, after: -cursor - 1 }
    return { index: Number.isInteger(cursor) ? 0 : 2, after: Math.floor(cursor) }
  }

  return async (accountId, text, cursor, limit): Promise<Mentions> => {
    const found = new Set<string>()
    let { index, after } = startOf(cursor ?? 0)
    for (let left = limit; index < searches.length; index += 1, after = 0) {
      const { statement, cursorOf } = searches[index]!
      const rows = await session.query<BodiesRow>(statement, [accountId, after, left])
      for (const { callId, bodies } of rows) {
        if (callId === null || found.has(callId)) continue
        if ((JSON.parse(bodies) as string[]).some((body) => isMentioned(body, text))) found.add(callId)
      }
      if (rows.length >= left) return { callIds: [...found], cursor: cursorOf(rows.at(-1)!.position) }
      left -= rows.length
    }
    return { callIds: [...found], cursor: undefined }
  }
}
