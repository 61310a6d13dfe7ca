/** Removes for good what is stored of calls or of an account, and searches stored bodies for a number or name. */
import { type Erasure, isMentioned, type Mentions } from 'hookswitch/store'
import type { Transaction } from './session.js'
import type { Deps, Queries, Queue } from './session-deps.js'
import { type ErasedRow, eraseStatements, type RemovedRow } from './sql/erase.js'
import { type BodiesRow, mentionStatements } from './sql/mentions.js'
import { pruneStatements } from './sql/prune.js'
import type { Statement } from './statement.js'

interface RemovedCount {
  readonly removed: number
}

/** Slots of the count of pending deliveries. */
const SLOTS = 64

export function postgresErasure(
  deps: Deps,
  queue: Pick<Queue, 'notify'>,
): Pick<Queries, 'erase' | 'mentions' | 'scrub'> {
  const { session, schema } = deps
  const sql = eraseStatements(schema)
  const shared = pruneStatements(schema)
  const removedBy = async (statement: Statement, values: readonly unknown[]) =>
    (await session.query<RemovedCount>(statement, values))[0]!.removed

  /** Removes deliveries with their attempts and calls and, with the last delivery of an event, its bodies. */
  async function eraseDeliveries({ accountId, callIds }: Erasure, limit: number): Promise<number> {
    const webhookIds = new Set<string>()
    const count = await session.transaction(async (tx) => {
      webhookIds.clear()
      const selected = callIds
        ? await tx.query<ErasedRow>(sql.ofCalls, [accountId, callIds, limit])
        : await selectOfAccount(tx, accountId, limit)
      if (selected.length === 0) return 0
      const ids = [...new Set(selected.map(({ id }) => id))]
      const events = [...new Set(selected.map(({ event }) => event))]
      await tx.query(shared.lockEvents, [events])
      await tx.query(sql.lockLanes, [ids])
      const removed = await tx.query<RemovedRow>(sql.deliveries, [ids])
      await advanceLanes(tx, removed)
      await tx.query(shared.events, [events])
      await eraseAttemptsAndCalls(tx, selected)
      for (const { webhookId } of selected) webhookIds.add(webhookId)
      await tx.query(sql.nudge, [[...webhookIds]])
      return removed.length
    })
    for (const webhookId of webhookIds) queue.notify(webhookId, false)
    return count
  }

  async function selectOfAccount(
    tx: Transaction,
    accountId: string,
    limit: number,
  ): Promise<readonly ErasedRow[]> {
    const received = await tx.query<ErasedRow>(sql.ofWebhooks, [accountId, limit])
    return received.length > 0 ? received : tx.query<ErasedRow>(sql.ofEvents, [accountId, limit])
  }

  /** Takes the removed deliveries out of their lanes, whose rows are locked; the next ones are due. */
  async function advanceLanes(tx: Transaction, removed: readonly RemovedRow[]): Promise<void> {
    const byLane = new Map<
      string,
      { key: number; lane: string; removed: number; headMs: number | undefined }
    >()
    for (const { key, lane, pending, head, acceptedMs } of removed) {
      if (!pending) continue
      const name = `${key}/${lane}`
      const change = byLane.get(name) ?? { key, lane, removed: 0, headMs: undefined }
      change.removed += 1
      if (head) change.headMs = acceptedMs
      byLane.set(name, change)
    }
    if (byLane.size === 0) return
    const lanes = [...byLane.values()]
    const headless = lanes.filter(({ headMs }) => headMs !== undefined)
    const names = [lanes.map(({ key }) => key), lanes.map(({ lane }) => lane)]
    await tx.query(sql.shorten, [...names, lanes.map((lane) => lane.removed)])
    await tx.query(sql.removeEmpty, names)
    await tx.query(sql.promote, [
      headless.map(({ key }) => key),
      headless.map(({ lane }) => lane),
      headless.map(({ headMs }) => headMs),
    ])
    const count = lanes.reduce((sum, lane) => sum + lane.removed, 0)
    await tx.query(sql.lowerPending, [Math.floor(Math.random() * SLOTS), count])
  }

  /** Removes the attempts of these deliveries, and their calls as recorded for the accounts of their webhooks. */
  async function eraseAttemptsAndCalls(tx: Transaction, selected: readonly ErasedRow[]): Promise<void> {
    const withCall = selected.filter(({ callId }) => callId !== null)
    const withoutCall = selected.filter(({ callId }) => callId === null)
    const accounts = withCall.map(({ accountId }) => accountId)
    const calls = withCall.map(({ callId }) => callId)
    if (withCall.length > 0) {
      await tx.query(sql.attemptsOfCalls, [withCall.map(({ id }) => id), accounts, calls])
      await tx.query(sql.calls, [accounts, calls])
    }
    if (withoutCall.length > 0) {
      const values = [withoutCall.map(({ id }) => id), withoutCall.map(({ webhookId }) => webhookId)]
      await tx.query(sql.attemptsOfWebhooks, values)
    }
  }

  async function eraseCalls({ accountId, callIds }: Erasure, limit: number): Promise<number> {
    const rows = await session.query<{ id: string }>(sql.someCalls, [accountId, callIds ?? null, limit])
    const ids = rows.map(({ id }) => id)
    return removedBy(sql.calls, [ids.map(() => accountId), ids])
  }

  const eraseDeletedWebhooks = (accountId: string, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<{ key: number }>(sql.lockDeleted, [accountId, limit])
      if (rows.length === 0) return 0
      return (await tx.query<RemovedCount>(shared.webhooks, [rows.map(({ key }) => key)]))[0]!.removed
    })

  /** Removes the account's change mark, which is not counted. */
  async function eraseChangeMark(accountId: string): Promise<number> {
    await session.query(sql.changes, [accountId])
    return 0
  }

  return {
    async erase(erasure, limit) {
      const { accountId, callIds = null } = erasure
      let removed = 0
      for (const step of [
        (left: number) => eraseDeliveries(erasure, left),
        (left: number) => removedBy(sql.attempts, [accountId, callIds, left]),
        (left: number) => eraseCalls(erasure, left),
        (left: number) => removedBy(sql.keys, [accountId, callIds, left]),
        (left: number) => removedBy(sql.inbox, [accountId, callIds, left]),
        (left: number) => (callIds ? 0 : eraseDeletedWebhooks(accountId, left)),
        () => (callIds ? 0 : eraseChangeMark(accountId)),
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
 * The tables that are searched one after the other: the account's events; events of other accounts that were sent to
 * its webhooks; inbox entries that are not relayed yet. A cursor is a position in one of them.
 */
const SEARCHED = ['events', 'received', 'inbox'] as const

/** Searches bodies for a number or name, at most `limit` rows per call. */
function createMentionSearch({ session, schema }: Pick<Deps, 'session' | 'schema'>): Queries['mentions'] {
  const sql = mentionStatements(schema)

  return async (accountId, text, cursor = 0, limit): Promise<Mentions> => {
    const found = new Set<string>()
    let table = cursor % SEARCHED.length
    let after = Math.floor(cursor / SEARCHED.length)
    for (let left = limit; table < SEARCHED.length; table += 1, after = 0) {
      const rows = await session.query<BodiesRow>(sql[SEARCHED[table]!], [accountId, after, left])
      for (const { callId, bodies } of rows) {
        if (callId === null || found.has(callId)) continue
        if ((JSON.parse(bodies) as string[]).some((body) => isMentioned(body, text))) found.add(callId)
      }
      if (rows.length >= left) {
        return { callIds: [...found], cursor: rows[rows.length - 1]!.position * SEARCHED.length + table }
      }
      left -= rows.length
    }
    return { callIds: [...found], cursor: undefined }
  }
}
