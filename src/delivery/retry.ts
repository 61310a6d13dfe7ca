/**
 * Decides the next state of a delivery after an attempt, an interruption or a skip. The endpoint's health and
 * the attempt record are decided in settle.ts.
 */
import type { Delivery, PolicyFunction, RetryPolicy } from 'hookswitch'
import type { DeliveryState } from 'hookswitch/store'
import { probeDelayMs } from '../webhooks/health.js'
import { backoffMs, sanitizeDelayMs } from './backoff.js'
import { type DeliveryStep, transition } from './lifecycle.js'
import type { Outcome } from './outcome.js'
import { POLICY_PRESETS } from './policy.js'

/** Interrupted attempts in a row before a delivery is quarantined: it may be what crashes the nodes. */
const MAX_INTERRUPTIONS = 3
/** Pause after an internal fault, ms, ±50 %: ports and file handles become free quickly. */
export const OWN_FAULT_PAUSE_MS = 1000
/** The pause doubles with each internal fault of the delivery, up to this, ms. */
const MAX_OWN_FAULT_PAUSE_MS = 400_000

/** The reason of a delivery that could not be sent because of an internal fault. */
const OWN_FAULT = 'own fault'

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
  attempts: number,
  random: number,
): number | undefined {
  const { policy } = rules
  const tries = Math.max(1, attempts)
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
  return backoffMs(POLICY_PRESETS.standard, tries, random)
}

/** What decides about a failure besides the delivery. */
export interface FailureContext {
  /** Whether the attempt was a probe, opened a pause, or was under way when it opened: a rejection then costs no try. */
  readonly isFree: boolean
  /** Whether the endpoint is paused because it fails. */
  readonly isPaused: boolean
  /**
   * The retry policy alone decides when it is due: the receiver has taken other deliveries since the first failure of this one,
   * or nothing pauses the endpoint and the delivery was tried as often as `retries` says.
   */
  readonly followsPolicy: boolean
  /** This node seems to be cut off: an attempt without an answer is not charged. */
  readonly isOutage: boolean
  /** No connection could be made by a probe: nothing was sent, and it is no attempt. */
  readonly isCheck: boolean
}

const NO_CONTEXT: FailureContext = {
  isFree: false,
  isPaused: false,
  followsPolicy: false,
  isOutage: false,
  isCheck: false,
}

/**
 * The next state of a delivery in flight after an attempt.
 *
 * - A delivery that is rejected is retried as often as `retries` says.
 * - One that its receiver could not take costs no try: it ends by its age alone. As long as the receiver takes nothing it is
 *   retried soon; what a pause holds is due at once, and waits for the end of the pause.
 * - Without retries nothing is sent twice: the delivery ends when the receiver may have got the request.
 * - Policies that retry transport errors only (KAZOO) know one kind of failure: no answer costs a try, any answer ends it.
 *
 * @param now store time, ms
 * @param random in [0, 1), for jitter
 */
export function nextDelivery(
  delivery: Delivery,
  outcome: Outcome,
  rules: RetryRules,
  now: number,
  random: number,
  context: FailureContext = NO_CONTEXT,
): NextDelivery {
  const { failedMs } = delivery
  const attempts = delivery.attempts + (context.isCheck ? 0 : 1)
  const counts = { attempts, tries: delivery.tries, interruptions: 0 }
  const since = failedMs === undefined ? {} : { failedMs }
  if (outcome.kind === 'own_fault') {
    // The pause grows: a lasting fault must not be retried every second forever.
    const faults = delivery.reason === OWN_FAULT ? Math.min(attempts - delivery.tries, 20) : 1
    const pauseMs = Math.min(OWN_FAULT_PAUSE_MS * 2 ** (faults - 1), MAX_OWN_FAULT_PAUSE_MS)
    const dueMs = now + Math.round(pauseMs * (0.5 + random))
    return { state: nextState(delivery, 'returned'), dueMs, ...counts, ...since, reason: OWN_FAULT }
  }
  if (outcome.kind === 'delivered')
    return { state: nextState(delivery, 'succeeded'), ...counts, tries: counts.tries + 1 }
  const reason =
    outcome.status === undefined ? (outcome.cause ?? outcome.failure) : `status ${outcome.status}`
  if (outcome.gone) return { state: nextState(delivery, 'cancelled'), ...counts, reason: 'gone' }

  const onlyTransport = rules.policy.retryOn === 'transport'
  const { isUnavailable, isThrottled, isSent } = outcome
  const mayBeCharged = onlyTransport
    ? outcome.status === undefined && !context.isOutage && !context.isCheck
    : !isUnavailable
  const isCharged = mayBeCharged && !context.isFree
  const tries = delivery.tries + (isCharged ? 1 : 0)
  const isOver = onlyTransport
    ? outcome.status !== undefined || tries >= maxTries(rules)
    : rules.retries === 0
      ? !isUnavailable || (isSent && !isThrottled)
      : tries >= maxTries(rules)
  const ended = { ...counts, tries, ...since, reason }
  if (isOver && !context.isCheck) return { state: nextState(delivery, 'retries_exhausted'), ...ended }
  const state = nextState(delivery, isCharged ? 'failed' : 'returned')
  const waiting = { ...ended, state, failedMs: failedMs ?? Math.floor(now) }
  if (context.isPaused) return { ...waiting, dueMs: now }
  // The pause has ended meanwhile.
  if (context.isCheck) return { ...waiting, dueMs: now + probeDelayMs(0) }
  const delayMs = retryDelayMs(delivery, outcome, rules, attempts, random)
  if (delayMs === undefined) return { state: nextState(delivery, 'retries_exhausted'), ...ended }
  const isAway = isUnavailable && !isThrottled && !onlyTransport && !context.followsPolicy
  return { ...waiting, dueMs: now + (isAway ? Math.min(delayMs, probeDelayMs(attempts - 1)) : delayMs) }
}

/**
 * The next state of a delivery whose node crashed. It may have been sent, so it counts as an attempt.
 * Quarantining it does not count: that is an end without a request.
 */
export function nextAfterInterruption(delivery: Delivery, now: number): NextDelivery {
  const { attempts, tries } = delivery
  const since = delivery.failedMs === undefined ? {} : { failedMs: delivery.failedMs }
  const interruptions = delivery.interruptions + 1
  if (interruptions >= MAX_INTERRUPTIONS) {
    const reason = `${interruptions} interrupted attempts in a row`
    return { state: nextState(delivery, 'crash_looped'), attempts, tries, interruptions, reason }
  }
  const state = nextState(delivery, 'returned')
  return { state, dueMs: now, attempts: attempts + 1, tries, interruptions, ...since, reason: 'interrupted' }
}

/** The next state of a delivery whose request `close` aborted: sent or not, it is due at once. */
export function nextAfterAbort(delivery: Delivery, now: number): NextDelivery {
  const attempts = delivery.attempts + 1
  const { tries, interruptions, failedMs } = delivery
  return {
    state: nextState(delivery, 'returned'),
    dueMs: now,
    attempts,
    tries,
    interruptions,
    ...(failedMs !== undefined && { failedMs }),
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

/** Whether a delivery is too old to be sent. @param acceptedMs when it was accepted, or replayed; store time, ms */
export function isExpired(acceptedMs: number, maxAgeMs: number, now: number): boolean {
  return now - acceptedMs > maxAgeMs
}
