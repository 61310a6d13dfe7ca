import type { Erasure } from 'hookswitch/store'
import { postgresMentions } from './erase-mentions.js'
import type { Statement, Transaction } from './session.js'
import type { Doors, Queue, Readback } from './session-doors.js'
import { type ErasedRow, eraseStatements, type RemovedRow } from './sql/erase.js'
import { pruneStatements } from './sql/prune.js'

interface Removed {
  readonly removed: number
}

/** Slots of the count of pending deliveries. */
const SLOTS = 64

/** Removes what is kept of calls or of an account, for good. */
export function postgresErasure(
  doors: Doors,
  queue: Pick<Queue, 'tell'>,
): Pick<Readback, 'erase' | 'mentions' | 'scrub'> {
  const { session, schema } = doors
  const sql = eraseStatements(schema)
  const events = pruneStatements(schema)
  const removedBy = async (statement: Statement, values: readonly unknown[]) =>
    (await session.query<Removed>(statement, values))[0]!.removed

  /** Deliveries with their attempts, their calls and, with the last of an event, its bodies. */
  async function deliveries({ accountId, callIds }: Erasure, limit: number): Promise<number> {
    const touched = new Set<string>()
    const removed = await session.transaction(async (tx) => {
      touched.clear()
      const chosen = callIds
        ? await tx.query<ErasedRow>(sql.ofCalls, [accountId, callIds, limit])
        : await ofAccount(tx, accountId, limit)
      if (chosen.length === 0) return 0
      const ids = [...new Set(chosen.map(({ id }) => id))]
      const eventsOf = [...new Set(chosen.map(({ event }) => event))]
      await tx.query(events.lockEvents, [eventsOf])
      await tx.query(sql.lockLanes, [ids])
      const gone = await tx.query<RemovedRow>(sql.deliveries, [ids])
      await goOn(tx, gone)
      await tx.query(events.events, [eventsOf])
      await alongWith(tx, chosen)
      for (const { webhookId } of chosen) touched.add(webhookId)
      await tx.query(sql.nudge, [[...touched]])
      return gone.length
    })
    for (const webhookId of touched) queue.tell(webhookId, false)
    return removed
  }

  async function ofAccount(tx: Transaction, accountId: string, limit: number): Promise<readonly ErasedRow[]> {
    const received = await tx.query<ErasedRow>(sql.ofWebhooks, [accountId, limit])
    return received.length > 0 ? received : tx.query<ErasedRow>(sql.ofEvents, [accountId, limit])
  }

  /** Lanes go on without what is gone. Their rows are locked. */
  async function goOn(tx: Transaction, gone: readonly RemovedRow[]): Promise<void> {
    const lanes = new Map<string, { key: number; lane: string; gone: number; headMs: number | undefined }>()
    for (const { key, lane, pending, head, acceptedMs } of gone) {
      if (!pending) continue
      const name = `${key}/${lane}`
      const known = lanes.get(name) ?? { key, lane, gone: 0, headMs: undefined }
      known.gone += 1
      if (head) known.headMs = acceptedMs
      lanes.set(name, known)
    }
    if (lanes.size === 0) return
    const all = [...lanes.values()]
    const beheaded = all.filter(({ headMs }) => headMs !== undefined)
    const names = [all.map(({ key }) => key), all.map(({ lane }) => lane)]
    await tx.query(sql.shorten, [...names, all.map((lane) => lane.gone)])
    await tx.query(sql.removeEmpty, names)
    await tx.query(sql.promote, [
      beheaded.map(({ key }) => key),
      beheaded.map(({ lane }) => lane),
      beheaded.map(({ headMs }) => headMs),
    ])
    const count = all.reduce((sum, lane) => sum + lane.gone, 0)
    await tx.query(sql.lessPending, [Math.floor(Math.random() * SLOTS), count])
  }

  /** Attempts of these deliveries, and their calls as the accounts of their webhooks know them. */
  async function alongWith(tx: Transaction, chosen: readonly ErasedRow[]): Promise<void> {
    const ofCall = chosen.filter(({ callId }) => callId !== null)
    const ofNone = chosen.filter(({ callId }) => callId === null)
    const accounts = ofCall.map(({ accountId }) => accountId)
    const calls = ofCall.map(({ callId }) => callId)
    if (ofCall.length > 0) {
      await tx.query(sql.attemptsOfCalls, [ofCall.map(({ id }) => id), accounts, calls])
      await tx.query(sql.calls, [accounts, calls])
    }
    if (ofNone.length > 0) {
      const values = [ofNone.map(({ id }) => id), ofNone.map(({ webhookId }) => webhookId)]
      await tx.query(sql.attemptsOfWebhooks, values)
    }
  }

  async function calls({ accountId, callIds }: Erasure, limit: number): Promise<number> {
    const rows = await session.query<{ id: string }>(sql.someCalls, [accountId, callIds ?? null, limit])
    const some = rows.map(({ id }) => id)
    return removedBy(sql.calls, [some.map(() => accountId), some])
  }

  const deletedWebhooks = (accountId: string, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<{ key: number }>(sql.lockDeleted, [accountId, limit])
      if (rows.length === 0) return 0
      return (await tx.query<Removed>(events.webhooks, [rows.map(({ key }) => key)]))[0]!.removed
    })

  /** Nothing that counts as removed. */
  async function forgetChanges(accountId: string): Promise<number> {
    await session.query(sql.changes, [accountId])
    return 0
  }

  return {
    async erase(what, limit) {
      const { accountId, callIds = null } = what
      let removed = 0
      for (const step of [
        (left: number) => deliveries(what, left),
        (left: number) => removedBy(sql.attempts, [accountId, callIds, left]),
        (left: number) => calls(what, left),
        (left: number) => removedBy(sql.keys, [accountId, callIds, left]),
        (left: number) => removedBy(sql.inbox, [accountId, callIds, left]),
        (left: number) => (callIds ? 0 : deletedWebhooks(accountId, left)),
        () => (callIds ? 0 : forgetChanges(accountId)),
      ]) {
        if (removed < limit) removed += await step(limit - removed)
      }
      return removed
    },
    mentions: postgresMentions(doors),
    // Rows that were removed stay in their pages until these are cleaned. What is left in the gaps of a page, in the
    // write-ahead log and in backups is the server's to write over: VACUUM FULL does it for the tables.
    async scrub() {
      await doors.patient().query(sql.vacuum, [])
    },
  }
}
