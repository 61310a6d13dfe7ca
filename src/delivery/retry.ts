import { backoffMs, clampPause, safeDelayMs } from './backoff.js'
import { after, type Delivery, type DeliveryState, type DeliveryStep } from './lifecycle.js'
import type { Outcome } from './outcome.js'
import { POLICY_PRESETS, type PolicyFunction, type RetryPolicy } from './policy.js'

/** Claims in a row that end with their node before a delivery is set aside: it may be what kills them. */
export const MAX_INTERRUPTIONS = 3
/** Pause after a fault of ours, spread by ±50 %: no port or no file handle is free at once. */
export const OWN_FAULT_PAUSE_MS = 1000
/** It doubles with each that a delivery meets, up to this. */
const MAX_OWN_FAULT_PAUSE_MS = 400_000

/** An outage that lasts longer spends budgets again: where nobody ever answers, deliveries must end too. */
export const OUTAGE_PATIENCE_MS = 86_400_000

/** How a delivery goes on. */
export interface NextDelivery {
  readonly state: DeliveryState
  /** Store time; present iff `state` is `waiting`. */
  readonly dueMs?: number
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  readonly reason?: string
  /** The whole endpoint sends nothing before this store time. */
  readonly pauseUntilMs?: number
}

/** What decides besides the outcome. Functions of the host are looked up by name here, never stored. */
export interface RetryRules {
  readonly policy: RetryPolicy
  readonly functions: Readonly<Record<string, PolicyFunction>>
  /** The webhook's, as it is now. */
  readonly retries: number
}

/** How many charged tries a webhook allows. */
export function maxTries(rules: Pick<RetryRules, 'policy' | 'retries'>): number {
  return rules.policy.retriesCountTries ? Math.max(1, rules.retries) : 1 + rules.retries
}

function step(delivery: Delivery, name: DeliveryStep): DeliveryState {
  const state = after(delivery.state, name)
  if (state === undefined) throw new Error(`a delivery that is ${delivery.state} cannot be ${name}`)
  return state
}

/** Milliseconds until the next try; `undefined`: the policy does not try again. */
function delayOf(delivery: Delivery, outcome: Outcome & { kind: 'failed' }, rules: RetryRules, roll: number) {
  const { policy } = rules
  const tries = delivery.tries + 1
  if (policy.kind !== 'custom') return backoffMs(policy, tries, roll)
  try {
    const answer = rules.functions[policy.name]?.({
      tries,
      webhookId: delivery.webhookId,
      hook: delivery.hook,
      failure: outcome.failure,
      roll,
      ...(outcome.status === undefined ? {} : { status: outcome.status }),
    })
    if (answer === null) return undefined
    // Nothing waits for a promise: one that rejects must not end the process.
    if ((answer as unknown) instanceof Promise) (answer as unknown as Promise<unknown>).catch(() => {})
    const delay = safeDelayMs(answer)
    if (delay !== undefined) return delay
  } catch {
    // A policy of the host that throws, or answers nonsense, must not lose the delivery: the default takes over.
  }
  return backoffMs(POLICY_PRESETS.telephony, tries, roll)
}

/**
 * How a delivery in flight goes on after an attempt.
 *
 * @param now store time, ms
 * @param roll in [0, 1), for jitter
 * @param outage we seem to be cut off: what got no answer is not charged to the budget, but tried again as a default
 *   policy would, however often it was tried
 */
export function nextDelivery(
  delivery: Delivery,
  outcome: Outcome,
  rules: RetryRules,
  now: number,
  roll: number,
  outage = false,
): NextDelivery {
  const attempts = delivery.attempts + 1
  if (outcome.kind === 'own_fault') {
    // The more of them, the longer: what does not pass must not be tried once a second for ever.
    const faults = Math.min(attempts - delivery.tries, 20)
    const pauseMs = Math.min(OWN_FAULT_PAUSE_MS * 2 ** (faults - 1), MAX_OWN_FAULT_PAUSE_MS)
    const dueMs = now + Math.round(pauseMs * (0.5 + roll))
    return {
      state: step(delivery, 'returned'),
      dueMs,
      attempts,
      tries: delivery.tries,
      interruptions: 0,
      reason: 'own fault',
    }
  }
  const isPatient = outage && now - delivery.acceptedMs < OUTAGE_PATIENCE_MS
  if (
    isPatient &&
    outcome.kind === 'failed' &&
    outcome.status === undefined &&
    outcome.failure !== 'blocked_address'
  ) {
    const dueMs = now + backoffMs(POLICY_PRESETS.telephony, attempts, roll)
    const { tries } = delivery
    return {
      state: step(delivery, 'returned'),
      dueMs,
      attempts,
      tries,
      interruptions: 0,
      reason: outcome.failure,
    }
  }
  const tries = delivery.tries + 1
  const ended = { attempts, tries, interruptions: 0 }
  if (outcome.kind === 'delivered') return { state: step(delivery, 'succeeded'), ...ended }

  const reason = outcome.status === undefined ? outcome.failure : `status ${outcome.status}`
  if (outcome.gone) return { state: step(delivery, 'withdrawn'), ...ended, reason: 'gone' }
  const pauseMs = outcome.throttled ? clampPause(outcome.retryAfterMs ?? 0, rules.policy) : undefined
  const pause = pauseMs === undefined ? {} : { pauseUntilMs: now + pauseMs }
  const repeats = rules.policy.retryOn === 'failure' || outcome.status === undefined
  const delay = repeats && tries < maxTries(rules) ? delayOf(delivery, outcome, rules, roll) : undefined
  if (delay === undefined) return { state: step(delivery, 'spent'), ...ended, reason, ...pause }
  return {
    state: step(delivery, 'failed'),
    dueMs: now + Math.max(delay, pauseMs ?? 0),
    ...ended,
    reason,
    ...pause,
  }
}

/**
 * How a delivery goes on whose node went away with it: it may have been sent, so that counts as an attempt. Setting it
 * aside does not: that is an end without a request.
 */
export function afterInterruption(delivery: Delivery, now: number): NextDelivery {
  const { attempts, tries } = delivery
  const interruptions = delivery.interruptions + 1
  if (interruptions >= MAX_INTERRUPTIONS) {
    const reason = `${interruptions} interrupted claims in a row`
    return { state: step(delivery, 'poisoned'), attempts, tries, interruptions, reason }
  }
  const state = step(delivery, 'returned')
  return { state, dueMs: now, attempts: attempts + 1, tries, interruptions, reason: 'interrupted' }
}

/** How a delivery goes on that was in flight when its node stopped in good order: sent or not, it is free at once. */
export function afterCut(delivery: Delivery, now: number): NextDelivery {
  const attempts = delivery.attempts + 1
  const { tries, interruptions } = delivery
  return {
    state: step(delivery, 'returned'),
    dueMs: now,
    attempts,
    tries,
    interruptions,
    reason: 'interrupted',
  }
}

/**
 * How a delivery goes on of whose request no byte was sent, since its webhook was withdrawn: as if it had not been
 * claimed. The store knows whether it is cancelled.
 */
export function afterWithdrawal(delivery: Delivery, now: number): NextDelivery {
  const { attempts, tries, interruptions } = delivery
  return {
    state: step(delivery, 'returned'),
    dueMs: now + OWN_FAULT_PAUSE_MS,
    attempts,
    tries,
    interruptions,
  }
}

/** How a delivery ends that is not to be sent any more. */
export function endUnsent(delivery: Delivery, why: 'aged' | 'withdrawn'): NextDelivery {
  const { attempts, tries, interruptions } = delivery
  const reason = why === 'aged' ? 'older than max_age_seconds' : 'the webhook was disabled or deleted'
  return { state: step(delivery, why), attempts, tries, interruptions, reason }
}

/** Whether an event is too old to be sent now. Wall clock, Unix ms. */
export function isExpired(
  eventTimestampMs: number,
  maxAgeSeconds: number | undefined,
  nowMs: number,
): boolean {
  return maxAgeSeconds !== undefined && nowMs - eventTimestampMs > maxAgeSeconds * 1000
}
