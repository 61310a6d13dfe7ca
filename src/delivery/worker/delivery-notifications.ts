/** Emits events to the host, and counts metrics, for settlements that the store has written. */
import { ATTEMPT_OUTCOMES, type Metrics } from '../../metrics.js'
import { isFailureCause } from '../../values/failure-cause.js'
import type { AttemptRecord } from '../attempt-record.js'
import type { DeliveryEnd, Emit } from '../delivery-events.js'
import { type DeliveryState, isTerminal } from '../lifecycle.js'
import type { EndedResult } from '../queue-store.js'
import type { DecidedSettlement } from './settlement-decider.js'

export interface NotificationDeps {
  readonly emit: Emit
  readonly metrics?: Metrics | undefined
  /** Counts a recorded attempt, or one that would be recorded with `recordSuccesses`. Must not throw. */
  readonly countAttempt?: ((record: AttemptRecord) => void) | undefined
}

type TerminalState = Exclude<DeliveryState, 'waiting' | 'in_flight'>
type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/** The metric label for the outcome of a recorded attempt. */
export function attemptOutcome({ result, clientError, reason }: AttemptRecord): AttemptOutcome {
  if (result === 'success') return 'delivered'
  if (reason === 'interrupted') return 'interrupted'
  const found = ATTEMPT_OUTCOMES.find((outcome) => outcome === clientError)
  return found ?? 'http'
}

/** Outcomes of requests that got no usable answer, by the fault of their receiver. */
const UNANSWERED: ReadonlySet<AttemptOutcome> = new Set([
  'timeout',
  'connection',
  'dns',
  'tls',
  'protocol',
  'blocked_address',
])

/**
 * Emits and counts the effects of one settlement.
 *
 * @param now store time, ms
 */
export function notifySettlement(
  { emit, metrics, countAttempt }: NotificationDeps,
  { delivery, settlement, unstoredRecord, pauseChange, reports }: DecidedSettlement,
  result: EndedResult,
  now: number,
): void {
  if (result.kind === 'fenced') return
  const { next, record = unstoredRecord } = settlement
  if (record?.attempt !== undefined) {
    countAttempt?.(record)
    const outcome = attemptOutcome(record)
    metrics?.count('hookswitch_attempts_total', 1, outcome)
    if (UNANSWERED.has(outcome)) {
      const { cause } = record
      metrics?.count('hookswitch_attempts_failed_total', 1, isFailureCause(cause) ? cause : 'other')
    }
    if (record.durationMs !== undefined)
      metrics?.observe('hookswitch_attempt_duration_seconds', record.durationMs / 1000)
    emit('attempt', record, delivery)
  }
  if (isTerminal(next.state)) {
    const state = next.state as TerminalState
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
    if (record?.detail !== undefined) end.detail = record.detail
    emit(state, end, delivery)
  }
  const detail = record?.detail === undefined ? {} : { detail: record.detail }
  if (pauseChange) {
    const { webhookId, accountId } = delivery
    if (pauseChange.kind === 'closed') emit('webhook_resumed', { webhookId, accountId })
    else {
      const { failuresInRow, pausedUntilMs } = pauseChange
      const reason = next.reason === undefined ? {} : { reason: next.reason }
      emit(
        'webhook_paused',
        { webhookId, accountId, failuresInRow, pausedUntilMs, ...reason, ...detail },
        delivery,
      )
    }
  }
  if (reports) {
    const { webhookId, accountId } = delivery
    const { failuresInRow = 0, failingSinceMs = now } = settlement.endpoint?.health ?? {}
    const reason = next.reason === undefined ? {} : { reason: next.reason }
    emit(
      'webhook_failing',
      { webhookId, accountId, failingSinceMs, failuresInRow, ...reason, ...detail },
      delivery,
    )
  }
  if (result.disabled) {
    const { id: webhookId, accountId, disableReason = '' } = result.disabled
    metrics?.count('hookswitch_webhooks_disabled_total', 1, disableReason === 'gone' ? 'gone' : 'failing')
    emit('webhook_disabled', { webhookId, accountId, reason: disableReason, ...detail }, delivery)
  }
}
