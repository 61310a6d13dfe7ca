/**
 * Retry policies as data: they can be displayed, compared and stored. The host registers a policy function
 * under a name (option `policies`); a policy refers to it by this name.
 */
import { checkOptionNames } from '../errors.js'

/**
 * When a failed delivery is retried. Delays are in milliseconds, from 0 to one week.
 *
 * - `exponential`: `baseMs` × `factor`^n, at most `capMs`; `factor` is from 1 to 100
 * - `constant`: `delayMs` before every retry
 * - `schedule`: `delaysMs` one after the other; the last one repeats
 * - `custom`: the function with this name in the option `policies`
 */
export type RetryPolicy = (
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number; readonly capMs: number }
  | { readonly kind: 'constant'; readonly delayMs: number }
  | { readonly kind: 'schedule'; readonly delaysMs: readonly number[] }
  | { readonly kind: 'custom'; readonly name: string }
) & {
  /** Random part of each delay, 0 to 1: 0.2 means ±20 %. */
  readonly jitter: number
  /**
   * `failure`: every failure is retried. `transport`: an HTTP answer of any status ends the delivery (KAZOO's
   * rule).
   */
  readonly retryOn: 'failure' | 'transport'
  /**
   * True: a webhook's `retries` counts all tries, at least one (KAZOO's rule). False: those after the first.
   */
  readonly retriesCountTries: boolean
}

/** Returns the delay in milliseconds; null: no retry. */
export type PolicyFunction = (context: {
  /** Tries charged so far, 1 or more. */
  readonly tries: number
  /** Id of the webhook. */
  readonly webhookId: string
  /** Kind of the event, such as `channel_create`. */
  readonly hook: string
  /** HTTP status of the answer; absent without an answer. */
  readonly status?: number
  /**
   * Class of the failure: `http`, `redirect`, `timeout`, `connection`, `dns`, `tls`, `protocol`,
   * `blocked_address`.
   */
  readonly failure: string
  /** Random number in [0, 1), for jitter. */
  readonly random: number
}) => number | null

/** The argument of a host's policy function. */
export type RetryContext = Parameters<PolicyFunction>[0]

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Longest delay of a policy without its own `capMs`, ms. */
const DEFAULT_CAP_MS = 10 * MINUTE_MS
/** Longest delay of any policy: one week, ms. */
export const MAX_DELAY_MS = 7 * 24 * HOUR_MS

const common = { jitter: 0.2, retryOn: 'failure', retriesCountTries: false } as const

/**
 * `baseMs` × `factor`^n, at most `capMs`. Default is 2 s, factor 3, cap 10 min, jitter ±20 %.
 *
 * @throws RangeError naming the field; `InvalidOption` for an unknown option
 */
export function exponential(
  options: {
    baseMs?: number | undefined
    factor?: number | undefined
    capMs?: number | undefined
    jitter?: number | undefined
  } = {},
): Extract<RetryPolicy, { kind: 'exponential' }> {
  checkOptionNames('exponential', options, ['baseMs', 'factor', 'capMs', 'jitter'])
  const { baseMs = 2000, factor = 3, capMs = Math.max(DEFAULT_CAP_MS, baseMs), jitter = 0.2 } = options
  return checkPolicy({ kind: 'exponential', baseMs, factor, capMs, ...common, jitter })
}

/**
 * The same delay before every retry. Default jitter is ±20 %.
 *
 * @throws RangeError naming the field; `InvalidOption` for an unknown option
 */
export function constant(
  delayMs: number,
  options: { jitter?: number | undefined } = {},
): Extract<RetryPolicy, { kind: 'constant' }> {
  checkOptionNames('constant', options, ['jitter'])
  return checkPolicy({ kind: 'constant', delayMs, ...common, jitter: options.jitter ?? 0.2 })
}

/**
 * These delays one after the other; the last one repeats. Default jitter is ±20 %.
 *
 * @throws RangeError naming the field; `InvalidOption` for an unknown option
 */
export function schedule(
  delaysMs: readonly number[],
  options: { jitter?: number | undefined } = {},
): Extract<RetryPolicy, { kind: 'schedule' }> {
  checkOptionNames('schedule', options, ['jitter'])
  return checkPolicy({ kind: 'schedule', delaysMs: [...delaysMs], ...common, jitter: options.jitter ?? 0.2 })
}

/**
 * The policy function that the host registers under this name in the option `policies`.
 *
 * @throws RangeError for an empty name
 */
export function custom(name: string): Extract<RetryPolicy, { kind: 'custom' }> {
  return checkPolicy({ kind: 'custom', name, ...common, jitter: 0 })
}

/** Policies by name. */
export const POLICY_PRESETS = Object.freeze({
  /** The default: 5 s, 30 s, 2 min, 10 min, 30 min, then every hour. */
  standard: schedule([5000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS]),
  /** KAZOO's: every 2 s, transport errors only, `retries` counts tries. */
  kazoo: { kind: 'constant', delayMs: 2000, jitter: 0, retryOn: 'transport', retriesCountTries: true },
  /** The schedule of Standard Webhooks 1.0.0: up to 24 h apart. */
  patient: schedule([
    5000,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ]),
} satisfies Record<string, RetryPolicy>)

function checkMs(name: string, value: unknown): void {
  if (typeof value !== 'number' || !(value >= 0 && value <= MAX_DELAY_MS)) {
    throw new RangeError(`retryPolicy.${name} must be a number of milliseconds from 0 to ${MAX_DELAY_MS}`)
  }
}

/**
 * Validates a policy and returns it.
 *
 * @throws RangeError naming the field
 */
export function checkPolicy<P extends RetryPolicy>(policy: P): P {
  switch (policy.kind) {
    case 'exponential':
      checkMs('baseMs', policy.baseMs)
      checkMs('capMs', policy.capMs)
      if (policy.capMs < policy.baseMs) throw new RangeError('retryPolicy.capMs must not be below baseMs')
      if (!(policy.factor >= 1 && policy.factor <= 100))
        throw new RangeError('retryPolicy.factor must be from 1 to 100')
      break
    case 'constant':
      checkMs('delayMs', policy.delayMs)
      break
    case 'schedule':
      if (!Array.isArray(policy.delaysMs) || policy.delaysMs.length === 0) {
        throw new RangeError('retryPolicy.delaysMs must be a list of at least one delay')
      }
      policy.delaysMs.forEach((delay, index) => {
        checkMs(`delaysMs[${index}]`, delay)
      })
      break
    case 'custom':
      if (typeof policy.name !== 'string' || policy.name === '')
        throw new RangeError('retryPolicy.name must be a non-empty string')
      break
    default:
      throw new RangeError("retryPolicy.kind must be 'exponential', 'constant', 'schedule' or 'custom'")
  }
  if (policy.jitter === undefined)
    throw new RangeError(`retryPolicy.jitter is missing: make the policy with ${policy.kind}()`)
  if (!(policy.jitter >= 0 && policy.jitter <= 1))
    throw new RangeError('retryPolicy.jitter must be from 0 to 1')
  if (policy.retryOn !== 'failure' && policy.retryOn !== 'transport') {
    throw new RangeError("retryPolicy.retryOn must be 'failure' or 'transport'")
  }
  return policy
}
