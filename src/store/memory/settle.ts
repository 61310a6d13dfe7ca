import type { Settlement, SettlementResult } from '../../delivery/delivery-store.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import { applyEndpointChange, applySettlement, promote } from '../transitions.js'
import { becomeDue, isHead, leaveLane, readiness, startWaiting, stopWaiting } from './lanes.js'
import { holdsLease } from './leases.js'
import { notifyListeners } from './notify.js'
import { addAttempt, addEnded } from './retention.js'
import type { Row, State } from './state.js'

/** Applies each settlement whose fence holds; the others are `fenced`. */
export function settle(
  state: State,
  settlements: readonly Settlement[],
  now: number,
): readonly SettlementResult[] {
  let cancelled = false
  const results = settlements.map((settlement): SettlementResult => {
    const row = state.rows.get(settlement.deliveryId)
    if (!row || !isExpected(state, row, settlement, now)) return { kind: 'fenced' }
    const { endpoint } = row
    applyNext(state, row, settlement.next, now)
    if (settlement.record) addAttempt(state, row, settlement.record, now)

    const before = endpoint.webhook
    endpoint.webhook = applyEndpointChange(before, settlement.endpoint)
    const disabled = endpoint.webhook.epoch !== before.epoch
    const stale = row.delivery.state === 'waiting' && row.delivery.epoch < endpoint.webhook.epoch
    if (stale || (disabled && endpoint.queues.some((queue) => queue.oldest))) {
      state.stale.add(endpoint)
      cancelled = true
    }
    const readyEndpoint = readiness(endpoint)
    if (!disabled) return { kind: 'settled', endpoint: readyEndpoint }
    return { kind: 'settled', endpoint: readyEndpoint, disabled: endpoint.webhook }
  })
  if (cancelled) notifyListeners(state, undefined)
  return results
}

function isExpected(state: State, row: Row, settlement: Settlement, now: number): boolean {
  const { delivery, endpoint } = row
  const { owner, webhookId, expect } = settlement
  return (
    delivery.webhookId === webhookId &&
    delivery.state === expect.state &&
    delivery.fence === expect.fence &&
    holdsLease(state, owner, endpoint.shard, now)
  )
}

function applyNext(state: State, row: Row, next: Settlement['next'], now: number): void {
  if (row.delivery.state === 'waiting') stopWaiting(row)
  else state.shards[row.endpoint.shard]!.inFlight.delete(row)
  row.delivery = applySettlement(row.delivery, next, isHead(row), now)
  if (!isTerminal(next.state)) {
    startWaiting(row)
    return
  }
  const nextHead = leaveLane(row)
  if (nextHead) becomeDue(nextHead, promote(nextHead.delivery, now))
  state.pendingCount -= 1
  addEnded(state, row)
}
