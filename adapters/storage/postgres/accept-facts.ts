import type { AcceptCall, Facts, StoredEvent } from './accept-decide.js'
import { keyName } from './accept-decide.js'
import { textArray } from './rows-arrays.js'
import type { Transaction } from './session.js'
import type { acceptStatements, BodyRow, HeldRow } from './sql/accept.js'
import type { inboxStatements } from './sql/inbox.js'
import type { KeyRow, keyStatements } from './sql/keys.js'
import type { orphanStatements } from './sql/orphans.js'

/** Keys that this group took, though it may not use them. */
export interface Taken {
  readonly account: string
  readonly key: string
}

export interface FactStatements {
  readonly accept: ReturnType<typeof acceptStatements>
  readonly keys: ReturnType<typeof keyStatements>
  readonly inbox: ReturnType<typeof inboxStatements>
  readonly stale: Pick<ReturnType<typeof orphanStatements>, 'mark'>
}

/** Reads what a group of calls asks of the tables, and holds it: inbox, keys, webhooks, events, in this order. */
export async function gatherFacts(
  tx: Transaction,
  sql: FactStatements,
  calls: readonly AcceptCall[],
): Promise<{ readonly facts: Facts; readonly taken: readonly Taken[] }> {
  const staged = await holdStaged(tx, sql, calls)
  const { keys, taken } = await takeKeys(tx, sql, calls)
  const webhookIds = new Set<string>()
  const repeated = new Set<string>()
  for (const { acceptance } of calls) {
    const own = new Set(acceptance.events.map(({ id }) => id))
    for (const { webhookId, eventId, replayOf } of acceptance.deliveries) {
      webhookIds.add(webhookId)
      if (replayOf !== undefined && !own.has(eventId)) repeated.add(replayOf)
    }
  }
  const held =
    webhookIds.size === 0 ? [] : await tx.query<HeldRow>(sql.accept.hold, [textArray([...webhookIds])])
  const events = repeated.size === 0 ? [] : await tx.query<BodyRow>(sql.accept.holdEvents, [[...repeated]])
  const facts: Facts = {
    staged,
    keys,
    webhooks: new Map(held.map((row) => [row.id, row])),
    events: eventsOf(events),
    pending: held[0]?.pending ?? 0,
  }
  return { facts, taken }
}

function eventsOf(bodies: readonly BodyRow[]): ReadonlyMap<string, StoredEvent> {
  const events = new Map<string, StoredEvent>()
  for (const { id, eventId, position } of bodies) {
    const known = events.get(id)
    if (known) known.bodies += 1
    else events.set(id, { id: eventId, position, bodies: 1 })
  }
  return events
}

async function holdStaged(
  tx: Transaction,
  { inbox }: FactStatements,
  calls: readonly AcceptCall[],
): Promise<ReadonlySet<string>> {
  const ids = calls.flatMap(({ acceptance }) => acceptance.admits ?? [])
  if (ids.length === 0) return new Set()
  return new Set((await tx.query<{ id: string }>(inbox.hold, [ids])).map(({ id }) => id))
}

/** Keys are taken before anything else is looked at: who comes second waits here, and then reads what the first did. */
async function takeKeys(tx: Transaction, { keys: sql }: FactStatements, calls: readonly AcceptCall[]) {
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
  if (wanted.size === 0) return { keys: new Map<string, KeyRow>(), taken: [] }
  const rows = [...wanted.values()]
  const column = (index: number) => rows.map((row) => row[index])
  const columns = [column(0), column(1), column(2), column(3), column(4), column(5)]
  const taken = await tx.query<Taken>(sql.take, [...columns, now])
  for (const { account, key } of taken) wanted.delete(keyName(account, key))
  const others = [...wanted.values()]
  const known =
    others.length === 0
      ? []
      : await tx.query<KeyRow>(sql.read, [others.map(([account]) => account), others.map(([, key]) => key)])
  return { keys: new Map(known.map((row) => [keyName(row.account, row.key), row])), taken }
}
