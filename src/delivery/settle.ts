/**
 * Decides the settlement of a delivery: next state, attempt record and endpoint health, which the store
 * writes together. Pure: time, randomness and ids are in the context.
 */
import {
  type AttemptEffect,
  afterSilentProbe,
  countGivenUp,
  disableReasonOf,
  type Health,
  type HealthRules,
  type HealthUpdate,
  isOvertaken,
  isProbed,
  updateHealth,
} from '../webhooks/health.js'
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
  maxTries,
  type NextDelivery,
  nextAfterAbort,
  nextAfterInterruption,
  nextDelivery,
  type RetryRules,
  type SkipReason,
  skipDelivery,
} from './retry.js'

/** What is settled: a delivery with its position. @internal */
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

/** What the settlement of an attempt depends on besides. @internal */
export interface AttemptContext {
  /** The attempt was a probe of a paused endpoint. */
  readonly isProbe: boolean
  /** How old the delivery may become, ms. */
  readonly maxAgeMs: number
  /**
   * Counts a 429, or a 503 with `Retry-After`. Returns how long nothing is sent to the receiver, ms. Not called where only this
   * delivery waits.
   */
  throttle(askedMs: number | undefined): number
  /** Whether a rejection of this kind of event says something about the receiver as a whole. */
  readonly isInformative: boolean
}

/** The settlement of an attempt. */
interface SettledAttempt {
  readonly outcome: Outcome
  readonly settlement: Settlement
  /** The webhook has been failing for so long that its owner is to be informed. */
  readonly reports?: true
}

function settlement(
  delivery: SettledDelivery,
  next: NextDelivery,
  record: AttemptRecord | undefined,
): Settlement {
  const { id: deliveryId, webhookId, position, attempts } = delivery
  return { deliveryId, webhookId, position, expect: { attempts }, next, ...(record && { record }) }
}

/** From the third 429 on only the delivery waits, if its receiver takes others. */
const MAX_THROTTLED = 3

/** The effect of an attempt on the health of its endpoint; `undefined`: it says nothing about the receiver. */
function effectOf(
  delivery: SettledDelivery,
  outcome: Outcome,
  result: AttemptResult,
  health: Health | undefined,
  context: SettleContext,
  attempt: AttemptContext,
): AttemptEffect | undefined {
  const { rules, healthRules, now, isOutage } = context
  const { isProbe } = attempt
  const lateMs = result.isLate ? result.durationMs : undefined
  if (outcome.kind === 'delivered') return { kind: 'success', lateMs }
  if (outcome.kind === 'own_fault' || outcome.failure === 'blocked_address') return undefined
  const { isUnavailable, isThrottled, isSent, retryAfterMs } = outcome
  const overtaken = isOvertaken(health, delivery.failedMs)
  const attempts = delivery.attempts + 1
  const isAsked = healthRules.pauses && (isThrottled || retryAfterMs !== undefined)
  const waitsAlone = overtaken && (!isThrottled || attempts >= MAX_THROTTLED)
  const waitMs =
    !isAsked || waitsAlone ? undefined : isThrottled ? attempt.throttle(retryAfterMs) : retryAfterMs
  if (overtaken && !(isProbe || waitMs !== undefined)) return undefined
  return {
    kind: isUnavailable ? 'unavailable' : 'rejected',
    isProbe,
    isFirst: delivery.attempts === 0 && attempt.isInformative,
    ...probeOf(result, context, attempt),
    isHeld: isUnavailable && !overtaken && rules.policy.retryOn === 'failure' && attempts >= maxTries(rules),
    isThrottled,
    waitUntilMs: waitMs === undefined ? undefined : now + waitMs,
    checkCause: isProbe && isUnavailable && !isSent ? (outcome.cause ?? 'connection_failed') : undefined,
    isOutage: isOutage && outcome.status === undefined,
    lateMs,
  }
}

/** What the time of the next probe depends on, if the attempt was one. */
const probeOf = (
  { durationMs }: AttemptResult,
  { now, random }: SettleContext,
  { maxAgeMs }: AttemptContext,
) => ({
  sentMs: now - durationMs,
  random,
  maxAgeMs,
})

function endpointChange(
  health: Health | undefined,
  updated: Health | undefined,
  disable: string | undefined,
  { webhook, wallMs }: SettleContext,
): Settlement['endpoint'] {
  if (updated === health && disable === undefined) return undefined
  return {
    epoch: webhook.epoch,
    ...(updated !== health && { health: updated ?? null }),
    ...(disable !== undefined && { disable: { reason: disable, atMs: wallMs } }),
  }
}

/** The outcome of an attempt and its settlement: next state, record and endpoint health. */
export function settleAttempt(
  delivery: SettledDelivery,
  result: AttemptResult,
  health: Health | undefined,
  context: SettleContext,
  attempt: AttemptContext,
): SettledAttempt {
  const { webhook, rules, healthRules, now, wallMs, random, isOutage } = context
  const outcome = outcomeOf(result.observation, wallMs)
  const effect = effectOf(delivery, outcome, result, health, context, attempt)
  const isSilentProbe = !effect && attempt.isProbe
  const update: HealthUpdate = effect
    ? updateHealth(health, effect, now, healthRules)
    : { health: isSilentProbe ? afterSilentProbe(health, probeOf(result, context, attempt), now) : health }
  const isCheck = effect !== undefined && effect.kind !== 'success' && effect.checkCause !== undefined
  const next = nextDelivery(delivery, outcome, rules, now, random, {
    isFree: isProbed(health) || update.opensPause === true,
    isPaused: isProbed(update.health),
    followsPolicy:
      isOvertaken(health, delivery.failedMs) || (!healthRules.pauses && delivery.attempts >= rules.retries),
    isOutage: isOutage && outcome.kind === 'failed' && outcome.status === undefined,
    isCheck,
  })
  const after = next.state === 'exhausted' ? countGivenUp(update.health) : update.health
  const isGone = outcome.kind === 'failed' && outcome.gone
  const disable = isGone
    ? 'gone'
    : effect && effect.kind !== 'success'
      ? disableReasonOf(after, now, healthRules)
      : undefined
  // Nothing was sent: a probe that only found out that no connection can be made is no attempt.
  const record = isCheck
    ? undefined
    : buildAttemptRecord(context.recordId, delivery, webhook, result, outcome, next, rules)
  const settled = settlement(delivery, next, record)
  const endpoint = endpointChange(health, after, disable, context)
  return {
    outcome,
    settlement: endpoint ? { ...settled, endpoint } : settled,
    ...(update.reports && { reports: true }),
  }
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

/**
 * Settles a delivery that is not sent: it is too old, displaced, or its webhook is disabled or deleted.
 *
 * @param health the newest health of its endpoint
 */
export function settleSkipped(
  delivery: SettledDelivery,
  why: SkipReason,
  health: Health | undefined,
  context: SettleContext,
): Settlement {
  const next = skipDelivery(delivery, why)
  const { recordId, webhook, rules, wallMs } = context
  const record = buildSkippedRecord(recordId, delivery, webhook, next, rules, wallMs)
  const settled = settlement(delivery, next, record)
  const isCounted = why === 'expired' && !context.isOutage
  const endpoint = isCounted ? endpointChange(health, countGivenUp(health), undefined, context) : undefined
  return endpoint ? { ...settled, endpoint } : settled
}
