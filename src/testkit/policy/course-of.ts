import type { Delivery } from '../../delivery/lifecycle.js'
import { outcomeOf } from '../../delivery/outcome.js'
import { custom } from '../../delivery/policy.js'
import { nextDelivery, type RetryRules } from '../../delivery/retry.js'
import { HookswitchError } from '../../errors.js'
import { type Check, invalid, whole } from '../../option-checks.js'
import type { Observation, TransportFailure } from '../../ports.js'
import { checkGiven, text } from '../handler/given-options.js'
import { type AnyPolicy, checkAnyPolicy } from './retry-policy.js'

/** How one attempt fails: a status, a status that asks to come back later, or why there is no answer. */
export type CourseFailure =
  | number
  | { readonly status: number; readonly retryAfterSeconds: number }
  | TransportFailure

/** Options of `courseOf`. */
export interface CourseOptions {
  /** The webhook's, 0 to 10; default 10. */
  readonly retries?: number
  /** For jitter, in [0, 1): one for all, or one for each attempt, the last for all that follow; default 0.5. */
  readonly roll?: number | readonly number[]
  /** What the policy is told; default `channel_create`. */
  readonly hook?: string
  /** What the policy is told; default `webhook-1`. */
  readonly webhookId?: string
}

export interface CourseAttempt {
  /** 1, 2, … */
  readonly attempt: number
  /** Milliseconds since the first. */
  readonly afterMs: number
  /** `status 503`, `timeout`, … */
  readonly seen: string
}

/** A delivery from its first attempt to its end. */
export interface RetryCourse {
  readonly attempts: readonly CourseAttempt[]
  /** `cancelled`: after a 410. */
  readonly state: 'delivered' | 'exhausted' | 'cancelled'
  /** Milliseconds from the first attempt to the last. */
  readonly tookMs: number
}

const FAILURES: readonly TransportFailure[] = [
  'timeout',
  'connection',
  'dns',
  'tls',
  'protocol',
  'blocked_address',
]
const isRoll = (value: unknown) => typeof value === 'number' && value >= 0 && value < 1
const CHECKS: Readonly<Record<keyof CourseOptions, Check>> = {
  retries: whole(0, 10),
  roll: (field, value) => {
    const rolls: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (rolls.length === 0 || !rolls.every(isRoll)) throw invalid(field, 'must be numbers from 0 to below 1')
  },
  hook: text,
  webhookId: text,
}

/**
 * When hookswitch sends each attempt of a delivery that fails like this; the attempt after the last failure succeeds.
 * Attempts take no time here. Where the policy throws or answers no delay, hookswitch takes its default, so it does
 * here: `provePolicy` finds such policies.
 *
 * @param failures of the first attempt, the second, …
 * @throws `InvalidOption` naming the argument or option
 * @example
 * courseOf(exponential({ baseMs: 2_000 }), [503, 'timeout']).attempts.map(({ afterMs }) => afterMs) // [0, 2000, 8000]
 */
export function courseOf(
  policy: AnyPolicy,
  failures: readonly CourseFailure[],
  options: CourseOptions = {},
): RetryCourse {
  checkGiven('courseOf', options, CHECKS)
  const { retries = 10, roll = 0.5, hook = 'channel_create', webhookId = 'webhook-1' } = options
  const known = checkAnyPolicy('courseOf', policy)
  const rolls = typeof roll === 'number' ? [roll] : roll
  const rules: RetryRules =
    typeof known === 'function'
      ? { policy: custom('own'), functions: { own: known }, retries }
      : { policy: known, functions: {}, retries }
  const seen = checkFailures(failures)

  const attempts: CourseAttempt[] = []
  let delivery: Delivery = { ...CLAIMED, hook, webhookId }
  for (let nowMs = 0; ; ) {
    const [words, observation] = seen[attempts.length] ?? DELIVERED
    attempts.push({ attempt: attempts.length + 1, afterMs: nowMs, seen: words })
    const chance = rolls[Math.min(attempts.length, rolls.length) - 1]!
    const next = nextDelivery(delivery, outcomeOf(observation, nowMs), rules, nowMs, chance)
    const { state, dueMs, tries } = next
    if (state === 'delivered' || state === 'exhausted' || state === 'cancelled') {
      return { attempts, state, tookMs: nowMs }
    }
    nowMs = dueMs!
    delivery = { ...delivery, attempts: next.attempts, tries }
  }
}

const answer = (status: number, headers: readonly string[] = []): Observation => ({
  kind: 'response',
  status,
  headers,
  body: '',
  bodyEnd: 'complete',
})
const DELIVERED = ['status 200', answer(200)] as const

function checkFailures(failures: readonly CourseFailure[]): readonly (readonly [string, Observation])[] {
  const wrong = (field: string, rule: string) =>
    new HookswitchError('InvalidOption', `courseOf: ${field} ${rule}`, { field })
  if (!Array.isArray(failures)) throw wrong('failures', 'must be a list')
  return failures.map((failure: CourseFailure, index) => {
    const field = `failures[${index}]`
    if (typeof failure === 'string') {
      if (!FAILURES.includes(failure)) throw wrong(field, `must be a status or one of ${FAILURES.join(', ')}`)
      return [failure, { kind: 'no_response', failure, detail: '' }]
    }
    const { status, retryAfterSeconds } =
      typeof failure === 'object' && failure !== null
        ? failure
        : { status: failure, retryAfterSeconds: undefined }
    if (!Number.isSafeInteger(status) || (status >= 200 && status < 300)) {
      throw wrong(field, `must be a status that is no success, or one of ${FAILURES.join(', ')}`)
    }
    if (retryAfterSeconds === undefined) return [`status ${status}`, answer(status)]
    if (!Number.isSafeInteger(retryAfterSeconds) || retryAfterSeconds < 0) {
      throw wrong(`${field}.retryAfterSeconds`, 'must be a whole number from 0 up')
    }
    const words = `status ${status}, retry after ${retryAfterSeconds} s`
    return [words, answer(status, ['retry-after', String(retryAfterSeconds)])]
  })
}

/** As a claim finds it at its first attempt. */
const CLAIMED: Delivery = {
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
  fence: 1,
  acceptedMs: 0,
}
