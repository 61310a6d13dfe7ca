import { ATTEMPT_OUTCOMES, type Metrics } from '../metrics.js'
import type { AttemptRecord } from './attempt-record.js'
import type { DeliveryEnd, Tell } from './delivery-events.js'
import type { Settled, Settlement } from './delivery-store.js'
import { type Delivery, type DeliveryState, isTerminal } from './lifecycle.js'

export interface AnnounceDoors {
  readonly tell: Tell
  readonly metrics?: Metrics | undefined
}

type Ended = Exclude<DeliveryState, 'waiting' | 'in_flight'>
type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/** What became of the request of a record, in the words of the metrics. */
export function attemptOutcome({ result, clientError, reason }: AttemptRecord): AttemptOutcome {
  if (result === 'success') return 'delivered'
  if (reason === 'interrupted') return 'interrupted'
  const known = ATTEMPT_OUTCOMES.find((outcome) => outcome === clientError)
  return known ?? 'http'
}

/**
 * Tells the host, and counts, what one settlement did.
 *
 * @param record of the attempt, kept or not
 * @param now store time, ms
 */
export function announce(
  { tell, metrics }: AnnounceDoors,
  delivery: Delivery,
  settlement: Settlement,
  record: AttemptRecord | undefined,
  settled: Settled,
  now: number,
): void {
  if (settled.kind === 'fenced') return
  const { next } = settlement
  if (record?.attempt !== undefined) {
    metrics?.count('hookswitch_attempts_total', 1, attemptOutcome(record))
    if (record.durationMs !== undefined)
      metrics?.observe('hookswitch_attempt_duration_seconds', record.durationMs / 1000)
    tell('attempt', record)
  }
  if (isTerminal(next.state)) {
    const state = next.state as Ended
    metrics?.count('hookswitch_deliveries_ended_total', 1, state)
    if (state === 'delivered') {
      metrics?.observe('hookswitch_delivery_latency_seconds', Math.max(0, now - delivery.acceptedMs) / 1000)
    }
    const end: { -readonly [Name in keyof DeliveryEnd]: DeliveryEnd[Name] } = {
      deliveryId: delivery.id,
      webhookId: delivery.webhookId,
      accountId: delivery.accountId,
      eventId: delivery.eventId,
      hook: delivery.hook,
      attempts: next.attempts,
    }
    if (delivery.callId !== undefined) end.callId = delivery.callId
    if (next.reason !== undefined) end.reason = next.reason
    tell(state, end)
  }
  if (settled.disabled) {
    const { id: webhookId, accountId, disableReason = '' } = settled.disabled
    metrics?.count('hookswitch_webhooks_disabled_total', 1, disableReason === 'gone' ? 'gone' : 'failing')
    tell('webhook_disabled', { webhookId, accountId, reason: disableReason })
  }
}
