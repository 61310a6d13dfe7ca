/**
 * Decides the settlement of a delivery: next state, attempt record and endpoint health, which the store
 * writes together. Pure: time, randomness and ids are in the context.
 */
import { type Health, type HealthRules, isBriefProbe, updateHealth } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import {
  type AttemptRecord,
  type AttemptResult,
  buildAttemptRecord,
  buildInterruptedRecord,
  buildSkippedRecord,
} from './attempt-record.js'
import type { Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import { type Outcome, outcomeOf } from './outcome.js'
import type { QueuedDelivery } from './queue/queued-delivery.js'
import {
  type NextDelivery,
  nextAfterAbort,
  nextAfterInterruption,
  nextDelivery,
  type RetryRules,
  type SkipReason,
  skipDelivery,
} from './retry.js'

/** What is settled: a delivery with its position. */
export type SettledDelivery = Pick<QueuedDelivery, 'position'> & Delivery

/** What a settlement depends on besides its delivery and the attempt. */
export interface SettleContext {
  readonly recordId: string
  readonly webhook: Webhook
  readonly rules: RetryRules
  readonly healthRules: HealthRules
  /** This node seems to be cut off from the network: failures are not charged to endpoints. */
  readonly isOutage: boolean
  /** Store time, ms. */
  readonly now: number
  /** Wall clock, Unix ms. */
  readonly wallMs: number
  /** In [0, 1), for jitter. */
  readonly random: number
}

/** Removes the pause, which is stored with the endpoint and not with the delivery. */
function withoutPause({ pauseUntilMs: _, ...next }: NextDelivery): Settlement['next'] {
  return next
}

function settlement(delivery: SettledDelivery, next: NextDelivery, record: AttemptRecord): Settlement {
  const { id: deliveryId, webhookId, position, attempts } = delivery
  const written = next.pauseUntilMs === undefined ? next : withoutPause(next)
  return { deliveryId, webhookId, position, expect: { attempts }, next: written, record }
}

function endpointChange(
  outcome: Outcome,
  next: NextDelivery,
  health: Health | undefined,
  context: SettleContext,
): Settlement['endpoint'] {
  // A success leaves a healthy endpoint unchanged.
  if (outcome.kind === 'delivered' && health === undefined) return undefined
  const { webhook, wallMs, now, healthRules, isOutage, random } = context
  const isCharged = outcome.kind === 'failed' && !isOutage
  const { pauseUntilMs } = next
  const updated = updateHealth(
    health,
    {
      kind: outcome.kind === 'delivered' ? 'success' : isCharged ? 'charged' : 'not charged',
      exhausted: next.state === 'exhausted',
      random,
      ...(pauseUntilMs !== undefined && { pauseUntilMs }),
    },
    now,
    healthRules,
  )
  const reason = outcome.kind === 'failed' && outcome.gone ? 'gone' : updated.disable
  if (updated.health === health && reason === undefined) return undefined
  return {
    epoch: webhook.epoch,
    ...(updated.health !== health && { health: updated.health ?? null }),
    ...(reason !== undefined && { disable: { reason, atMs: wallMs } }),
  }
}

/** The outcome of an attempt and its settlement: next state, record and endpoint health. */
export function settleAttempt(
  delivery: SettledDelivery,
  result: AttemptResult,
  health: Health | undefined,
  context: SettleContext,
): { readonly outcome: Outcome; readonly settlement: Settlement } {
  const { webhook, rules, now, wallMs, random } = context
  const outcome = outcomeOf(result.observation, wallMs)
  const isProbe = isBriefProbe(health, now)
  const next = nextDelivery(delivery, outcome, rules, now, random, context.isOutage, isProbe)
  const record = buildAttemptRecord(context.recordId, delivery, webhook, result, outcome, next, rules)
  const settled = settlement(delivery, next, record)
  const endpoint = endpointChange(outcome, next, health, context)
  return { outcome, settlement: endpoint ? { ...settled, endpoint } : settled }
}

/**
 * Settles a delivery without an outcome: its node crashed (`crashed`), or `close` aborted its request
 * (`aborted`).
 */
export function settleInterrupted(
  delivery: SettledDelivery,
  how: 'crashed' | 'aborted',
  context: SettleContext,
): Settlement {
  const next =
    how === 'crashed' ? nextAfterInterruption(delivery, context.now) : nextAfterAbort(delivery, context.now)
  const { recordId, webhook, rules, wallMs } = context
  const buildRecord = next.state === 'quarantined' ? buildSkippedRecord : buildInterruptedRecord
  const record = buildRecord(recordId, delivery, webhook, next, rules, wallMs)
  return settlement(delivery, next, record)
}

/** Settles a delivery that is not sent: its event is too old, or its webhook is disabled or deleted. */
export function settleSkipped(
  delivery: SettledDelivery,
  why: SkipReason,
  context: SettleContext,
): Settlement {
  const next = skipDelivery(delivery, why)
  const { recordId, webhook, rules, wallMs } = context
  const record = buildSkippedRecord(recordId, delivery, webhook, next, rules, wallMs)
  return settlement(delivery, next, record)
}
