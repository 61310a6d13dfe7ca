/** Computes the delay before a retry. The number of retries is decided in retry.ts. */
import { MAX_DELAY_MS, type RetryPolicy } from './policy.js'

/** The delay of the policy after the `tries`-th failure, in milliseconds. */
export function delayWithoutJitter(policy: Exclude<RetryPolicy, { kind: 'custom' }>, tries: number): number {
  switch (policy.kind) {
    case 'exponential':
      // 0 × Infinity would be NaN.
      return policy.baseMs === 0 ? 0 : Math.min(policy.capMs, policy.baseMs * policy.factor ** (tries - 1))
    case 'constant':
      return policy.delayMs
    case 'schedule':
      return policy.delaysMs[Math.min(tries, policy.delaysMs.length) - 1]!
  }
}

/**
 * The delay after the `tries`-th failure, in milliseconds: the policy's delay with jitter, never above `capMs` of an
 * exponential policy, and never above a week.
 *
 * @param tries 1, 2, …
 * @param random in [0, 1), for jitter
 */
export function backoffMs(
  policy: Exclude<RetryPolicy, { kind: 'custom' }>,
  tries: number,
  random: number,
): number {
  const capMs = policy.kind === 'exponential' ? policy.capMs : MAX_DELAY_MS
  const delay = delayWithoutJitter(policy, tries)
  return Math.min(capMs, Math.round(delay * (1 + policy.jitter * (2 * random - 1))))
}

/** The result of a host's policy function, clamped to [0, one week]; `undefined` if it is not a number. */
export function sanitizeDelayMs(delay: unknown): number | undefined {
  if (typeof delay !== 'number' || Number.isNaN(delay)) return undefined
  return Math.min(MAX_DELAY_MS, Math.max(0, Math.round(delay)))
}
