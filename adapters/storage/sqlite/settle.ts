import { isTerminal, type Settled, type Settlement, settledAs, webhookAfter } from 'hookswitch/store'
import type { Endpoint } from './endpoints.js'
import { noteDue, noteGone } from './lanes.js'
import { change, query } from './query.js'
import type { Row } from './rows.js'
import { storedState } from './states.js'
import type { Tools } from './tools.js'

export function settler(
  tools: Tools,
): (settlements: readonly Settlement[], now: number) => readonly Settled[] {
  const { db, memory, endpoints, rows, lanes, stale, kept, inFlight, wake } = tools
  const end = change(
    db,
    `update hookswitch_delivery set state = ?, due_ms = null, attempts = ?, tries = ?, interruptions = ?, term = null,
      lane_key = null, reason = ?, ended_ms = ?, last_attempt = ?
    where position = ?`,
  )
  const wait = change(
    db,
    `update hookswitch_delivery set state = ?, due_ms = ?, attempts = ?, tries = ?, interruptions = ?, term = null,
      reason = ?, last_attempt = ?
    where position = ?`,
  )
  const record = change(
    db,
    `insert into hookswitch_attempt (position, webhook, call, delivery, before, at_ms, doc)
    values (?, ?, ?, ?, ?, ?, ?)`,
  )
  const anyWaits = query<object>(
    db,
    'select 1 from hookswitch_delivery indexed by hookswitch_delivery_queue where webhook = ? and state <= 1 limit 1',
  )

  /** The delivery as it must be for this settlement; `undefined`: it is fenced. */
  function expected({ owner, deliveryId, expect }: Settlement): Row | undefined {
    if (memory.owner !== owner) return undefined
    const row = inFlight.get(deliveryId) ?? rows.byId(deliveryId)
    if (row?.delivery.state !== expect.state || row.delivery.fence !== expect.fence) return undefined
    return row
  }

  /** The position of the delivery's newest record. */
  function keepAttempt(row: Row, endpoint: Endpoint, { record: attempt }: Settlement): number | null {
    if (!attempt) return row.lastAttempt
    const position = memory.nextPosition()
    const doc = JSON.stringify(attempt)
    record(position, endpoint.key, row.call, row.position, row.lastAttempt, attempt.atMs, doc)
    kept.added(endpoint.key)
    return position
  }

  function goOn(row: Row, endpoint: Endpoint, settlement: Settlement, now: number): void {
    const { delivery: before, isHead } = row
    inFlight.delete(before.id)
    if (before.state === 'waiting' && isHead) noteGone(endpoint, before.epoch, before.attempts)
    const lastAttempt = keepAttempt(row, endpoint, settlement)
    const after = settledAs(before, settlement.next, isHead, now)
    const { attempts, tries, interruptions, reason = null, dueMs, endedMs = null } = after
    const state = storedState(after.state, attempts)
    if (!isTerminal(after.state)) {
      wait(state, dueMs ?? null, attempts, tries, interruptions, reason, lastAttempt, row.position)
      if (dueMs !== undefined) noteDue(endpoint, after.epoch, attempts, dueMs)
      return
    }
    end(state, attempts, tries, interruptions, reason, endedMs, lastAttempt, row.position)
    memory.pending -= 1
    if (isHead) lanes.promote(row, endpoint, now)
  }

  /** True: something that waits has become stale. */
  function judge(row: Row, endpoint: Endpoint, settlement: Settlement): boolean {
    const before = endpoint.webhook
    const after = webhookAfter(before, settlement.endpoint)
    if (after.epoch !== before.epoch) endpoints.replace(endpoint, after)
    else if (after !== before) endpoints.replaceHealth(endpoint, after)
    const isStale = settlement.next.state === 'waiting' && row.delivery.epoch < after.epoch
    if (!isStale && (after.epoch === before.epoch || !anyWaits.get(endpoint.key))) return false
    stale.note(endpoint.key)
    return true
  }

  return (settlements, now) => {
    memory.storeMs = now
    let cancelled = false
    const results = settlements.map((settlement): Settled => {
      const row = expected(settlement)
      const endpoint = row && endpoints.byKey(row.webhook)
      if (endpoint?.webhook.id !== settlement.webhookId) return { kind: 'fenced' }
      const { epoch } = endpoint.webhook
      goOn(row!, endpoint, settlement, now)
      if (judge(row!, endpoint, settlement)) cancelled = true
      const standing = endpoints.readiness(endpoint)
      const { webhook } = endpoint
      return webhook.epoch === epoch
        ? { kind: 'settled', endpoint: standing }
        : { kind: 'settled', endpoint: standing, disabled: webhook }
    })
    if (cancelled) wake(undefined)
    return results
  }
}
