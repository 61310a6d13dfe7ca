/**
 * Reads and locks the rows that decide about a group of `accept` calls: inbox, keys, webhooks, events, in this order.
 */
import type { AcceptCall, AcceptContext, StoredEvent } from './accept-plan.js'
import { keyName } from './accept-plan.js'
import { textArray } from './binary-arrays.js'
import type { Transaction } from './session.js'
import type { AcceptWebhookRow, acceptStatements, StoredBodyRow } from './sql/accept.js'
import type { inboxStatements } from './sql/inbox.js'
import type { KeyRow, keyStatements } from './sql/keys.js'
import type { orphanStatements } from './sql/orphans.js'

/** A key that this group acquired; its call may still be rejected. */
export interface AcquiredKey {
  readonly account: string
  readonly key: string
}

export interface AcceptStatements {
  readonly accept: ReturnType<typeof acceptStatements>
  readonly keys: ReturnType<typeof keyStatements>
  readonly inbox: ReturnType<typeof inboxStatements>
  readonly stale: Pick<ReturnType<typeof orphanStatements>, 'mark'>
}

export async function readContext(
  tx: Transaction,
  sql: AcceptStatements,
  calls: readonly AcceptCall[],
): Promise<{ readonly context: AcceptContext; readonly acquired: readonly AcquiredKey[] }> {
  const inboxIds = await lockInboxEntries(tx, sql, calls)
  const { keys, acquired } = await acquireKeys(tx, sql, calls)
  const webhookIds = new Set<string>()
  const replayed = new Set<string>()
  for (const { acceptance } of calls) {
    const own = new Set(acceptance.events.map(({ id }) => id))
    for (const { webhookId, eventId, replayOf } of acceptance.deliveries) {
      webhookIds.add(webhookId)
      if (replayOf !== undefined && !own.has(eventId)) replayed.add(replayOf)
    }
  }
  const webhooks =
    webhookIds.size === 0
      ? []
      : await tx.query<AcceptWebhookRow>(sql.accept.lockWebhooks, [textArray([...webhookIds])])
  const bodies =
    replayed.size === 0 ? [] : await tx.query<StoredBodyRow>(sql.accept.lockEvents, [[...replayed]])
  const context: AcceptContext = {
    inboxIds,
    keys,
    webhooks: new Map(webhooks.map((row) => [row.id, row])),
    events: eventsOf(bodies),
    pending: webhooks[0]?.pending ?? 0,
  }
  return { context, acquired }
}

function eventsOf(bodies: readonly StoredBodyRow[]): ReadonlyMap<string, StoredEvent> {
  const events = new Map<string, StoredEvent>()
  for (const { id, eventId, position } of bodies) {
    const event = events.get(id)
    if (event) event.bodyCount += 1
    else events.set(id, { id: eventId, position, bodyCount: 1 })
  }
  return events
}

async function lockInboxEntries(
  tx: Transaction,
  { inbox }: AcceptStatements,
  calls: readonly AcceptCall[],
): Promise<ReadonlySet<string>> {
  const ids = calls.flatMap(({ acceptance }) => acceptance.inboxIds ?? [])
  if (ids.length === 0) return new Set()
  return new Set((await tx.query<{ id: string }>(inbox.lock, [ids])).map(({ id }) => id))
}

/** Keys come before everything else: the second transaction waits here, and then reads what the first has written. */
async function acquireKeys(tx: Transaction, { keys: sql }: AcceptStatements, calls: readonly AcceptCall[]) {
  const wanted = new Map<string, readonly [string, string, string, string, number, string | null]>()
  let now = Number.POSITIVE_INFINITY
  for (const call of calls) {
    for (const { id, accountId, callId = null, idempotency } of call.acceptance.events) {
      if (!idempotency) continue
      const { key, bodyHash, untilMs } = idempotency
      const name = keyName(accountId, key)
      if (!wanted.has(name)) wanted.set(name, [accountId, key, id, bodyHash, untilMs, callId])
      now = Math.min(now, call.now)
    }
  }
  if (wanted.size === 0) return { keys: new Map<string, KeyRow>(), acquired: [] }
  const rows = [...wanted.values()]
  const column = (index: number) => rows.map((row) => row[index])
  const columns = [column(0), column(1), column(2), column(3), column(4), column(5)]
  const acquired = await tx.query<AcquiredKey>(sql.acquire, [...columns, now])
  for (const { account, key } of acquired) wanted.delete(keyName(account, key))
  const others = [...wanted.values()]
  const existing =
    others.length === 0
      ? []
      : await tx.query<KeyRow>(sql.read, [others.map(([account]) => account), others.map(([, key]) => key)])
  return { keys: new Map(existing.map((row) => [keyName(row.account, row.key), row])), acquired }
}
