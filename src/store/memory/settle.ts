import type { Settled, Settlement } from '../../delivery/delivery-store.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import { promoted, settledAs, webhookAfter } from '../transitions.js'
import { keepAttempt, keepEnded } from './kept.js'
import { becomeDue, isHead, leaveLane, readiness, startWaiting, stopWaiting } from './lanes.js'
import { holds } from './leases.js'
import type { Row, State } from './state.js'
import { wake } from './wake.js'

export function settle(state: State, settlements: readonly Settlement[], now: number): readonly Settled[] {
  let cancelled = false
  const results = settlements.map((settlement): Settled => {
    const row = state.rows.get(settlement.deliveryId)
    if (!row || !isExpected(state, row, settlement, now)) return { kind: 'fenced' }
    const { endpoint } = row
    goOn(state, row, settlement.next, now)
    if (settlement.record) keepAttempt(state, row, settlement.record, now)

    const before = endpoint.webhook
    endpoint.webhook = webhookAfter(before, settlement.endpoint)
    const disabled = endpoint.webhook.epoch !== before.epoch
    const stale = row.delivery.state === 'waiting' && row.delivery.epoch < endpoint.webhook.epoch
    if (stale || (disabled && endpoint.queues.some((queue) => queue.oldest))) {
      state.stale.add(endpoint)
      cancelled = true
    }
    const standing = readiness(endpoint)
    if (!disabled) return { kind: 'settled', endpoint: standing }
    return { kind: 'settled', endpoint: standing, disabled: endpoint.webhook }
  })
  if (cancelled) wake(state, undefined)
  return results
}

function isExpected(state: State, row: Row, settlement: Settlement, now: number): boolean {
  const { delivery, endpoint } = row
  const { owner, webhookId, expect } = settlement
  return (
    delivery.webhookId === webhookId &&
    delivery.state === expect.state &&
    delivery.fence === expect.fence &&
    holds(state, owner, endpoint.shard, now)
  )
}

function goOn(state: State, row: Row, next: Settlement['next'], now: number): void {
  if (row.delivery.state === 'waiting') stopWaiting(row)
  else state.shards[row.endpoint.shard]!.inFlight.delete(row)
  row.delivery = settledAs(row.delivery, next, isHead(row), now)
  if (!isTerminal(next.state)) {
    startWaiting(row)
    return
  }
  const following = leaveLane(row)
  if (following) becomeDue(following, promoted(following.delivery, now))
  state.pending -= 1
  keepEnded(state, row)
}
