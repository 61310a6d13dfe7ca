import { type Health, type HealthRules, judgeHealth } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Attempted } from './attempt.js'
import type { AttemptRecord } from './attempt-record.js'
import type { Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import { type Outcome, outcomeOf } from './outcome.js'
import { attemptRecord, interruptedRecord, unsentRecord } from './record.js'
import {
  afterCut,
  afterInterruption,
  afterWithdrawal,
  endUnsent,
  type NextDelivery,
  nextDelivery,
  type RetryRules,
} from './retry.js'

/** What every settlement needs besides its delivery: values, so that the decision stays one. */
export interface SettleContext {
  readonly owner: string
  readonly recordId: string
  readonly webhook: Webhook
  readonly rules: RetryRules
  readonly healthRules: HealthRules
  /** We seem to be cut off: no endpoint is blamed. */
  readonly outage: boolean
  /** Store time, ms. */
  readonly now: number
  /** Wall clock, Unix ms. */
  readonly wallMs: number
  /** In [0, 1), for jitter. */
  readonly roll: number
}

/** The pause is the endpoint's, not the delivery's. */
function withoutPause({ pauseUntilMs: _, ...written }: NextDelivery): Settlement['next'] {
  return written
}

function settlement(
  delivery: Delivery,
  next: NextDelivery,
  record: AttemptRecord | undefined,
  context: SettleContext,
): Settlement {
  const { owner } = context
  const { id: deliveryId, webhookId, fence } = delivery
  const expect = { state: delivery.state === 'waiting' ? 'waiting' : 'in_flight', fence } as const
  const written = next.pauseUntilMs === undefined ? next : withoutPause(next)
  return record
    ? { owner, deliveryId, webhookId, expect, next: written, record }
    : { owner, deliveryId, webhookId, expect, next: written }
}

function endpointChange(
  outcome: Outcome,
  next: NextDelivery,
  health: Health | undefined,
  context: SettleContext,
): Settlement['endpoint'] {
  // Nothing changes where all is well.
  if (outcome.kind === 'delivered' && health === undefined) return undefined
  const { webhook, wallMs, now, healthRules, outage, roll } = context
  const blamed = outcome.kind === 'failed' && !outage
  const { pauseUntilMs } = next
  const judged = judgeHealth(
    health,
    {
      kind: outcome.kind === 'delivered' ? 'success' : blamed ? 'charged' : 'not charged',
      exhausted: next.state === 'exhausted',
      roll,
      ...(pauseUntilMs !== undefined && { pauseUntilMs }),
    },
    now,
    healthRules,
  )
  const reason = outcome.kind === 'failed' && outcome.gone ? 'gone' : judged.disable
  if (judged.health === health && reason === undefined) return undefined
  return {
    epoch: webhook.epoch,
    ...(judged.health !== health && { health: judged.health ?? null }),
    ...(reason !== undefined && { disable: { reason, atMs: wallMs } }),
  }
}

/** An attempt's outcome, and its settlement: next state, record and the endpoint's health in one. */
export function settleAttempt(
  delivery: Delivery,
  attempted: Attempted,
  health: Health | undefined,
  context: SettleContext,
): { readonly outcome: Outcome; readonly settlement: Settlement } {
  const { webhook, rules, now, wallMs, roll } = context
  const outcome = outcomeOf(attempted.observation, wallMs)
  const next = nextDelivery(delivery, outcome, rules, now, roll, context.outage)
  const record = attemptRecord(context.recordId, delivery, webhook, attempted, outcome, next, rules)
  const settled = settlement(delivery, next, record, context)
  const endpoint = endpointChange(outcome, next, health, context)
  return { outcome, settlement: endpoint ? { ...settled, endpoint } : settled }
}

/** A delivery whose node is gone (`lost`), or stopped in good order before it was done (`cut`). */
export function settleInterrupted(
  delivery: Delivery,
  how: 'lost' | 'cut',
  context: SettleContext,
): Settlement {
  const next = how === 'lost' ? afterInterruption(delivery, context.now) : afterCut(delivery, context.now)
  const { recordId, webhook, rules, wallMs } = context
  const recordOf = next.state === 'quarantined' ? unsentRecord : interruptedRecord
  const record = recordOf(recordId, delivery, webhook, next, rules, wallMs)
  return settlement(delivery, next, record, context)
}

/** A delivery whose webhook was withdrawn before a byte was sent: there is no attempt to record. */
export function settleWithdrawn(delivery: Delivery, context: SettleContext): Settlement {
  return settlement(delivery, afterWithdrawal(delivery, context.now), undefined, context)
}

/** A delivery that is not to be sent any more: too old, or its webhook is disabled or deleted. */
export function settleUnsent(
  delivery: Delivery,
  why: 'aged' | 'withdrawn',
  context: SettleContext,
): Settlement {
  const next = endUnsent(delivery, why)
  const { recordId, webhook, rules, wallMs } = context
  const record = unsentRecord(recordId, delivery, webhook, next, rules, wallMs)
  return settlement(delivery, next, record, context)
}
