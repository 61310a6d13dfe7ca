/** Settles deliveries: the SQL of `DeliveryStore.settle`. */
import {
  applyEndpointChange,
  applySettlement,
  isTerminal,
  type Settlement,
  type SettlementResult,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { CachedEndpoint } from './endpoints.js'
import { invalidateDue, noteDueHead } from './lanes.js'
import { prepareChange, prepareQuery } from './query.js'
import type { LocatedDelivery } from './rows.js'
import { stateCode } from './state-codes.js'

export function createSettle(
  context: EngineContext,
): (settlements: readonly Settlement[], now: number) => readonly SettlementResult[] {
  const { db, state, endpoints, rows, lanes, stale, attemptCounts, inFlight, notify } = context
  const updateEnded = prepareChange(
    db,
    `update hookswitch_delivery set state = ?, due_ms = null, attempts = ?, tries = ?, interruptions = ?, term = null,
      lane_key = null, reason = ?, ended_ms = ?, last_attempt = ?
    where position = ?`,
  )
  const updateWaiting = prepareChange(
    db,
    `update hookswitch_delivery set state = ?, due_ms = ?, attempts = ?, tries = ?, interruptions = ?, term = null,
      reason = ?, last_attempt = ?
    where position = ?`,
  )
  const insertAttempt = prepareChange(
    db,
    `insert into hookswitch_attempt (position, webhook, call, delivery, before, at_ms, doc)
    values (?, ?, ?, ?, ?, ?, ?)`,
  )
  const anyWaiting = prepareQuery<object>(
    db,
    'select 1 from hookswitch_delivery indexed by hookswitch_delivery_queue where webhook = ? and state <= 1 limit 1',
  )

  /** Returns the delivery, or `undefined` if the settlement is fenced: another owner, state or fence. */
  function findExpected({ owner, deliveryId, expect }: Settlement): LocatedDelivery | undefined {
    if (state.owner !== owner) return undefined
    const row = inFlight.get(deliveryId) ?? rows.byId(deliveryId)
    if (row?.delivery.state !== expect.state || row.delivery.fence !== expect.fence) return undefined
    return row
  }

  /** Inserts the attempt record, if any, and returns the position of the delivery's newest record. */
  function recordAttempt(
    row: LocatedDelivery,
    endpoint: CachedEndpoint,
    { record: attempt }: Settlement,
  ): number | null {
    if (!attempt) return row.lastAttempt
    const position = state.nextPosition()
    const doc = JSON.stringify(attempt)
    insertAttempt(position, endpoint.key, row.call, row.position, row.lastAttempt, attempt.atMs, doc)
    attemptCounts.added(endpoint.key)
    return position
  }

  function settleDelivery(
    row: LocatedDelivery,
    endpoint: CachedEndpoint,
    settlement: Settlement,
    now: number,
  ): void {
    const { delivery: before, isHead } = row
    inFlight.delete(before.id)
    if (before.state === 'waiting' && isHead) invalidateDue(endpoint, before.epoch, before.attempts)
    const lastAttempt = recordAttempt(row, endpoint, settlement)
    const after = applySettlement(before, settlement.next, isHead, now)
    const { attempts, tries, interruptions, reason = null, dueMs, endedMs = null } = after
    const code = stateCode(after.state, attempts)
    if (!isTerminal(after.state)) {
      updateWaiting(code, dueMs ?? null, attempts, tries, interruptions, reason, lastAttempt, row.position)
      if (dueMs !== undefined) noteDueHead(endpoint, after.epoch, attempts, dueMs)
      return
    }
    updateEnded(code, attempts, tries, interruptions, reason, endedMs, lastAttempt, row.position)
    state.pending -= 1
    if (isHead) lanes.promote(row, endpoint, now)
  }

  /** Updates the webhook's health and epoch. Returns whether waiting deliveries have become stale. */
  function updateEndpoint(row: LocatedDelivery, endpoint: CachedEndpoint, settlement: Settlement): boolean {
    const before = endpoint.webhook
    const after = applyEndpointChange(before, settlement.endpoint)
    if (after.epoch !== before.epoch) endpoints.replace(endpoint, after)
    else if (after !== before) endpoints.replaceHealth(endpoint, after)
    const isStale = settlement.next.state === 'waiting' && row.delivery.epoch < after.epoch
    if (!isStale && (after.epoch === before.epoch || !anyWaiting.get(endpoint.key))) return false
    stale.add(endpoint.key)
    return true
  }

  return (settlements, now) => {
    state.noteTime(now)
    let hasStale = false
    const results = settlements.map((settlement): SettlementResult => {
      const row = findExpected(settlement)
      const endpoint = row && endpoints.byKey(row.webhook)
      if (endpoint?.webhook.id !== settlement.webhookId) return { kind: 'fenced' }
      const { epoch } = endpoint.webhook
      settleDelivery(row!, endpoint, settlement, now)
      if (updateEndpoint(row!, endpoint, settlement)) hasStale = true
      const readiness = endpoints.readiness(endpoint)
      const { webhook } = endpoint
      return webhook.epoch === epoch
        ? { kind: 'settled', endpoint: readiness }
        : { kind: 'settled', endpoint: readiness, disabled: webhook }
    })
    if (hasStale) notify(undefined)
    return results
  }
}
