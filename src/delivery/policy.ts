/**
 * Retry policies are data: they can be shown, compared and stored. A function of the host is registered under a
 * name (option `policies`) and referred to by it.
 */

/** When a failed delivery is tried again. `jitter` 0.2 = ±20 %. */
export type RetryPolicy = Delays & {
  readonly jitter: number
  /** `transport`: an HTTP answer of any status ends the delivery (KAZOO's rule). */
  readonly retryOn: 'failure' | 'transport'
  /** True: a webhook's `retries` counts all tries, at least one (KAZOO's rule), not those after the first. */
  readonly retriesCountTries: boolean
}

type Policy<Kind extends Delays['kind']> = Extract<RetryPolicy, { kind: Kind }>

type Delays =
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number; readonly capMs: number }
  | { readonly kind: 'constant'; readonly delayMs: number }
  /** The last delay repeats. */
  | { readonly kind: 'schedule'; readonly delaysMs: readonly number[] }
  | { readonly kind: 'custom'; readonly name: string }

/** What a policy function of the host is told. */
export interface RetryContext {
  /** Tries charged so far, 1 or more. */
  readonly tries: number
  readonly webhookId: string
  readonly hook: string
  /** HTTP status of the failure, or its class: `timeout`, `connection`, `dns`, `tls`, `protocol`, `blocked_address`. */
  readonly status?: number
  readonly failure: string
  /** A number in [0, 1) for jitter. */
  readonly roll: number
}

/** Milliseconds to wait, or null: do not try again. */
export type PolicyFunction = (context: RetryContext) => number | null

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Longest delay where a policy names none. */
export const DEFAULT_CAP_MS = 10 * MINUTE_MS
/** Longest delay at all: no policy waits longer than a week. */
export const MAX_DELAY_MS = 7 * 24 * HOUR_MS

const common = { jitter: 0.2, retryOn: 'failure', retriesCountTries: false } as const

/** `baseMs` × `factor`^n, at most `capMs`. Defaults: 2 s, 3, 10 min, ±20 %. */
export function exponential(
  options: { baseMs?: number; factor?: number; capMs?: number; jitter?: number } = {},
): Policy<'exponential'> {
  const { baseMs = 2000, factor = 3, capMs = Math.max(DEFAULT_CAP_MS, baseMs), jitter = 0.2 } = options
  return checkPolicy({ kind: 'exponential', baseMs, factor, capMs, ...common, jitter })
}

/** The same delay before every retry. Default jitter ±20 %. */
export function constant(delayMs: number, options: { jitter?: number } = {}): Policy<'constant'> {
  return checkPolicy({ kind: 'constant', delayMs, ...common, jitter: options.jitter ?? 0.2 })
}

/** These delays one after the other; the last repeats. Default jitter ±20 %. */
export function schedule(delaysMs: readonly number[], options: { jitter?: number } = {}): Policy<'schedule'> {
  return checkPolicy({ kind: 'schedule', delaysMs: [...delaysMs], ...common, jitter: options.jitter ?? 0.2 })
}

/** A function that the host registers under this name in the option `policies`. */
export function custom(name: string): Policy<'custom'> {
  return checkPolicy({ kind: 'custom', name, ...common, jitter: 0 })
}

/** Policies by name. */
export const POLICY_PRESETS = Object.freeze({
  /** Calls are short: 2 s × 3^n, at most 10 min. The default. */
  telephony: exponential(),
  /** KAZOO: every 2 s, transport errors only, `retries` counts tries. */
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
 * The policy itself when it is well-formed.
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
        throw new RangeError('retryPolicy.name must be a name')
      break
    default:
      throw new RangeError("retryPolicy.kind must be 'exponential', 'constant', 'schedule' or 'custom'")
  }
  if (!(policy.jitter >= 0 && policy.jitter <= 1))
    throw new RangeError('retryPolicy.jitter must be from 0 to 1')
  if (policy.retryOn !== 'failure' && policy.retryOn !== 'transport') {
    throw new RangeError("retryPolicy.retryOn must be 'failure' or 'transport'")
  }
  return policy
}
