/** Computes when a failing delivery is retried, with the service's own decisions but without a service or clock. */
import type { Delivery } from 'hookswitch'
import type { Observation, TransportFailure } from 'hookswitch/adapter'
import { outcomeOf } from '../../delivery/outcome.js'
import { custom } from '../../delivery/policy.js'
import { nextDelivery, type RetryRules } from '../../delivery/retry.js'
import { invalidOption, type Validator, wholeNumber } from '../../options/validators.js'
import { MAX_RETRIES } from '../../webhooks/webhook-schema.js'
import { badOption, checkOptions, nonEmptyText } from '../check-options.js'
import { type AnyPolicy, checkAnyPolicy } from './retry-policy.js'

/** How an attempt fails: a status, a status with Retry-After, or why there was no response. */
export type SimulatedFailure =
  | number
  | { readonly status: number; readonly retryAfterSeconds: number }
  | TransportFailure

/** Options of `simulateRetries`. */
export interface RetrySimulationOptions {
  /** The webhook's `retries`, 0 to 30. Default is 30. */
  readonly retries?: number | undefined
  /**
   * Random number in [0, 1) for jitter: one for all attempts, or one per attempt of which the last repeats. Default is
   * 0.5.
   */
  readonly random?: number | readonly number[] | undefined
  /** Argument `hook` of the policy. Default is `channel_create`. */
  readonly hook?: string | undefined
  /** Argument `webhookId` of the policy. Default is `webhook-1`. */
  readonly webhookId?: string | undefined
}

/** One attempt of a simulated delivery. */
export interface SimulatedAttempt {
  /** Attempt number, 1, 2, … */
  readonly attempt: number
  /** Milliseconds since the first attempt. */
  readonly afterMs: number
  /** `status 503`, `timeout`, … */
  readonly outcome: string
}

/** A simulated delivery, from its first attempt to its final state. */
export interface RetrySimulation {
  /** All attempts in order. */
  readonly attempts: readonly SimulatedAttempt[]
  /** Final state. `cancelled`: after a 410. */
  readonly state: 'delivered' | 'exhausted' | 'cancelled'
  /** Milliseconds from the first attempt to the last. */
  readonly durationMs: number
}

const TRANSPORT_FAILURES: readonly TransportFailure[] = [
  'timeout',
  'connection',
  'dns',
  'tls',
  'protocol',
  'blocked_address',
]
const isRandom = (value: unknown) => typeof value === 'number' && value >= 0 && value < 1
const VALIDATORS: Readonly<Record<keyof RetrySimulationOptions, Validator>> = {
  retries: wholeNumber(0, MAX_RETRIES),
  random: (field, value) => {
    const numbers: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (numbers.length === 0 || !numbers.every(isRandom))
      throw invalidOption(field, 'must be numbers from 0 to below 1')
  },
  hook: nonEmptyText,
  webhookId: nonEmptyText,
}

/**
 * Simulates the attempts of a delivery that fails in this way; the attempt after the last failure succeeds. Attempts
 * take no time. If the policy throws or returns an invalid delay, hookswitch uses its default policy, and so does
 * the simulation; `provePolicy` finds such policies.
 *
 * @param failures failure of the first attempt, of the second, …
 * @throws `InvalidOption` naming the argument or option
 * @example
 * const { attempts } = simulateRetries(exponential({ baseMs: 2_000 }), [503, 'timeout'])
 * attempts.map(({ afterMs }) => afterMs) // [0, 2000, 8000]
 */
export function simulateRetries(
  policy: AnyPolicy,
  failures: readonly SimulatedFailure[],
  options: RetrySimulationOptions = {},
): RetrySimulation {
  checkOptions('simulateRetries', options, VALIDATORS)
  const { retries = MAX_RETRIES, random = 0.5, hook = 'channel_create', webhookId = 'webhook-1' } = options
  const checked = checkAnyPolicy('simulateRetries', policy)
  const randoms = typeof random === 'number' ? [random] : random
  const rules: RetryRules =
    typeof checked === 'function'
      ? { policy: custom('own'), functions: { own: checked }, retries }
      : { policy: checked, functions: {}, retries }
  const results = toObservations(failures)

  const attempts: SimulatedAttempt[] = []
  let delivery: Delivery = { ...FIRST_ATTEMPT, hook, webhookId }
  for (let nowMs = 0; ; ) {
    const [outcome, observation] = results[attempts.length] ?? DELIVERED
    attempts.push({ attempt: attempts.length + 1, afterMs: nowMs, outcome })
    const randomNumber = randoms[Math.min(attempts.length, randoms.length) - 1]!
    const decided = outcomeOf(observation, nowMs)
    const next = nextDelivery(delivery, decided, rules, nowMs, randomNumber)
    const { state, dueMs, tries } = next
    if (state === 'delivered' || state === 'exhausted' || state === 'cancelled') {
      return { attempts, state, durationMs: nowMs }
    }
    const askedMs = decided.kind === 'failed' ? (decided.retryAfterMs ?? 0) : 0
    nowMs = Math.max(dueMs!, nowMs + askedMs)
    delivery = { ...delivery, attempts: next.attempts, tries }
  }
}

const responseWith = (status: number, headers: readonly string[] = []): Observation => ({
  kind: 'response',
  status,
  headers,
  body: '',
  bodyEnd: 'complete',
})
const DELIVERED = ['status 200', responseWith(200)] as const

/** Validates failures, and converts each to a description and an observation. */
function toObservations(failures: readonly SimulatedFailure[]): readonly (readonly [string, Observation])[] {
  const invalid = (field: string, rule: string) => badOption('simulateRetries', field, rule)
  if (!Array.isArray(failures)) throw invalid('failures', 'must be an array')
  return failures.map((failure: SimulatedFailure, index) => {
    const field = `failures[${index}]`
    if (typeof failure === 'string') {
      if (!TRANSPORT_FAILURES.includes(failure))
        throw invalid(field, `must be a status or one of ${TRANSPORT_FAILURES.join(', ')}`)
      return [failure, { kind: 'no_response', failure, detail: '' }]
    }
    const { status, retryAfterSeconds } =
      typeof failure === 'object' && failure !== null
        ? failure
        : { status: failure, retryAfterSeconds: undefined }
    if (!Number.isSafeInteger(status) || (status >= 200 && status < 300)) {
      throw invalid(field, `must be a status other than 2xx, or one of ${TRANSPORT_FAILURES.join(', ')}`)
    }
    if (retryAfterSeconds === undefined) return [`status ${status}`, responseWith(status)]
    if (!Number.isSafeInteger(retryAfterSeconds) || retryAfterSeconds < 0) {
      throw invalid(`${field}.retryAfterSeconds`, 'must be a whole number of at least 0')
    }
    const description = `status ${status}, retry after ${retryAfterSeconds} s`
    return [description, responseWith(status, ['retry-after', String(retryAfterSeconds)])]
  })
}

/** A delivery that is in flight for the first time. */
const FIRST_ATTEMPT: Delivery = {
  id: 'delivery-1',
  accountId: 'acme',
  webhookId: 'webhook-1',
  eventId: 'event-1',
  eventAccountId: 'acme',
  hook: 'channel_create',
  eventTimestampMs: 0,
  variant: 0,
  encoding: 'json',
  httpVerb: 'post',
  lane: 'acme/call-1',
  epoch: 1,
  state: 'in_flight',
  attempts: 0,
  tries: 0,
  interruptions: 0,
  acceptedMs: 0,
}
