/**
 * Decides the next state of a delivery after an attempt, an interruption or a skip. The endpoint's health and
 * the attempt record are decided in settle.ts.
 */
import { backoffMs, clampRetryAfterMs, sanitizeDelayMs, scheduleLengthMs } from './backoff.js'
import { type Delivery, type DeliveryState, type DeliveryStep, transition } from './lifecycle.js'
import type { Outcome } from './outcome.js'
import { POLICY_PRESETS, type PolicyFunction, type RetryPolicy } from './policy.js'

/** Interrupted attempts in a row before a delivery is quarantined: it may be what crashes the nodes. */
export const MAX_INTERRUPTIONS = 3
/** Pause after an internal fault, ms, ±50 %: ports and file handles become free quickly. */
export const OWN_FAULT_PAUSE_MS = 1000
/** The pause doubles with each internal fault of the delivery, up to this, ms. */
const MAX_OWN_FAULT_PAUSE_MS = 400_000

/** Age above which every attempt is charged, ms. */
const UNCHARGED_AGE_MS = 86_400_000

/** The next state of a delivery. */
export interface NextDelivery {
  /** The next state. */
  readonly state: DeliveryState
  /** Store time, ms; present iff `state` is `waiting`. */
  readonly dueMs?: number
  /** Attempts so far, charged or not. */
  readonly attempts: number
  /** Charged tries so far. */
  readonly tries: number
  /** Interrupted attempts in a row. */
  readonly interruptions: number
  /** Why the delivery ended, or why it waits. */
  readonly reason?: string
  /** Store time of its first failure that its receiver had a part in, ms; absent: there was none. */
  readonly failedMs?: number
  /** Store time until which the whole endpoint sends nothing, ms. */
  readonly pauseUntilMs?: number
}

/** The retry settings of a webhook. Policy functions of the host are looked up by name, never stored. */
export interface RetryRules {
  /** The retry policy. */
  readonly policy: RetryPolicy
  /** The host’s policy functions by name. */
  readonly functions: Readonly<Record<string, PolicyFunction>>
  /** The webhook's current setting. */
  readonly retries: number
}

/** The number of charged tries that a webhook allows. */
export function maxTries(rules: Pick<RetryRules, 'policy' | 'retries'>): number {
  return rules.policy.retriesCountTries ? Math.max(1, rules.retries) : 1 + rules.retries
}

/**
 * How long a delivery lives while its receiver fails: from its first try to its last, without jitter, in milliseconds.
 * Pauses of the endpoint prolong it. `undefined`: a function of the host decides.
 */
export function deliveryLifetimeMs(rules: RetryRules): number | undefined {
  const { policy } = rules
  return policy.kind === 'custom' ? undefined : scheduleLengthMs(policy, maxTries(rules))
}

function nextState(delivery: Delivery, step: DeliveryStep): DeliveryState {
  const state = transition(delivery.state, step)
  if (state === undefined)
    throw new Error(`a delivery in the state '${delivery.state}' has no step '${step}'`)
  return state
}

/** Milliseconds until the next try; `undefined`: the policy does not retry. */
function retryDelayMs(
  delivery: Delivery,
  outcome: Outcome & { kind: 'failed' },
  rules: RetryRules,
  random: number,
): number | undefined {
  const { policy } = rules
  const tries = delivery.tries + 1
  if (policy.kind !== 'custom') return backoffMs(policy, tries, random)
  try {
    const result = rules.functions[policy.name]?.({
      tries,
      webhookId: delivery.webhookId,
      hook: delivery.hook,
      failure: outcome.failure,
      random: random,
      ...(outcome.status === undefined ? {} : { status: outcome.status }),
    })
    if (result === null) return undefined
    // Nobody awaits a promise: its rejection must not end the process.
    if ((result as unknown) instanceof Promise) (result as unknown as Promise<unknown>).catch(() => {})
    const delay = sanitizeDelayMs(result)
    if (delay !== undefined) return delay
  } catch {
    // A policy function of the host that throws or returns an invalid value must not lose the delivery: the
    // default policy applies.
  }
  return backoffMs(POLICY_PRESETS.telephony, tries, random)
}

/** Whether its attempts may be free of charge: deliveries to receivers that never answer must end too. */
function isUncharged(delivery: Delivery, now: number): boolean {
  return now - delivery.acceptedMs < UNCHARGED_AGE_MS
}

/**
 * The next state of a delivery in flight after an attempt.
 *
 * @param now store time, ms
 * @param random in [0, 1), for jitter
 * @param isOutage this node seems to be cut off: an attempt without an answer is not charged to the budget,
 *   and is retried as the default policy would, whatever the number of attempts
 * @param isBriefProbe the attempt probed an endpoint that has been down briefly, on behalf of all deliveries that wait:
 *   its failure costs no try, unless the webhook allows a single one
 */
export function nextDelivery(
  delivery: Delivery,
  outcome: Outcome,
  rules: RetryRules,
  now: number,
  random: number,
  isOutage = false,
  isBriefProbe = false,
): NextDelivery {
  const attempts = delivery.attempts + 1
  if (outcome.kind === 'own_fault') {
    // The pause grows: a lasting fault must not be retried every second forever.
    const faults = Math.min(attempts - delivery.tries, 20)
    const pauseMs = Math.min(OWN_FAULT_PAUSE_MS * 2 ** (faults - 1), MAX_OWN_FAULT_PAUSE_MS)
    const dueMs = now + Math.round(pauseMs * (0.5 + random))
    return {
      state: nextState(delivery, 'returned'),
      dueMs,
      attempts,
      tries: delivery.tries,
      interruptions: 0,
      reason: 'own fault',
    }
  }
  if (
    isOutage &&
    isUncharged(delivery, now) &&
    outcome.kind === 'failed' &&
    outcome.status === undefined &&
    outcome.failure !== 'blocked_address'
  ) {
    const dueMs = now + backoffMs(POLICY_PRESETS.telephony, attempts, random)
    const { tries } = delivery
    return {
      state: nextState(delivery, 'returned'),
      dueMs,
      attempts,
      tries,
      interruptions: 0,
      reason: outcome.cause ?? outcome.failure,
    }
  }
  const isFree =
    isBriefProbe &&
    isUncharged(delivery, now) &&
    maxTries(rules) > 1 &&
    outcome.kind === 'failed' &&
    outcome.failure !== 'blocked_address'
  const tries = delivery.tries + 1
  const counts = { attempts, tries, interruptions: 0 }
  if (outcome.kind === 'delivered') return { state: nextState(delivery, 'succeeded'), ...counts }

  const reason =
    outcome.status === undefined ? (outcome.cause ?? outcome.failure) : `status ${outcome.status}`
  if (outcome.gone) return { state: nextState(delivery, 'cancelled'), ...counts, reason: 'gone' }
  const pauseMs = outcome.throttled ? clampRetryAfterMs(outcome.retryAfterMs ?? 0, rules.policy) : undefined
  const pause = pauseMs === undefined ? {} : { pauseUntilMs: now + pauseMs }
  const isRetried = rules.policy.retryOn === 'failure' || outcome.status === undefined
  const delay =
    isRetried && (isFree || tries < maxTries(rules))
      ? retryDelayMs(delivery, outcome, rules, random)
      : undefined
  if (delay === undefined)
    return { state: nextState(delivery, 'retries_exhausted'), ...counts, reason, ...pause }
  return {
    state: nextState(delivery, 'failed'),
    dueMs: now + Math.max(delay, pauseMs ?? 0),
    ...counts,
    ...(isFree && { tries: delivery.tries }),
    reason,
    ...pause,
  }
}

/**
 * The next state of a delivery whose node crashed. It may have been sent, so it counts as an attempt.
 * Quarantining it does not count: that is an end without a request.
 */
export function nextAfterInterruption(delivery: Delivery, now: number): NextDelivery {
  const { attempts, tries } = delivery
  const interruptions = delivery.interruptions + 1
  if (interruptions >= MAX_INTERRUPTIONS) {
    const reason = `${interruptions} interrupted attempts in a row`
    return { state: nextState(delivery, 'crash_looped'), attempts, tries, interruptions, reason }
  }
  const state = nextState(delivery, 'returned')
  return { state, dueMs: now, attempts: attempts + 1, tries, interruptions, reason: 'interrupted' }
}

/** The next state of a delivery whose request `close` aborted: sent or not, it is due at once. */
export function nextAfterAbort(delivery: Delivery, now: number): NextDelivery {
  const attempts = delivery.attempts + 1
  const { tries, interruptions } = delivery
  return {
    state: nextState(delivery, 'returned'),
    dueMs: now,
    attempts,
    tries,
    interruptions,
    reason: 'interrupted',
  }
}

/** Why a delivery ends without being sent: it is too old, its webhook was disabled or deleted, or too many wait. */
export type SkipReason = 'expired' | 'cancelled' | 'displaced'

/** The reason of deliveries that expire because too many wait. */
export const QUEUE_FULL = 'queue_full'

const SKIPS: Readonly<Record<SkipReason, { readonly step: DeliveryStep; readonly reason: string }>> = {
  expired: { step: 'expired', reason: 'older than max_age_seconds' },
  cancelled: { step: 'cancelled', reason: 'the webhook was disabled or deleted' },
  displaced: { step: 'expired', reason: QUEUE_FULL },
}

/** The end of a delivery that is not sent. */
export function skipDelivery(delivery: Delivery, why: SkipReason): NextDelivery {
  const { attempts, tries, interruptions } = delivery
  const { step, reason } = SKIPS[why]
  return { state: nextState(delivery, step), attempts, tries, interruptions, reason }
}

/** Whether an event is too old to be sent. Wall clock, Unix ms. */
export function isExpired(
  eventTimestampMs: number,
  maxAgeSeconds: number | undefined,
  nowMs: number,
): boolean {
  return maxAgeSeconds !== undefined && nowMs - eventTimestampMs > maxAgeSeconds * 1000
}
