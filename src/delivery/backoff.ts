import { DEFAULT_CAP_MS, MAX_DELAY_MS, type RetryPolicy } from './policy.js'

/** The smallest and the largest delay of a policy, jitter left out: also what a `Retry-After` is clamped to. */
export function delayBounds(policy: RetryPolicy): { readonly baseMs: number; readonly capMs: number } {
  switch (policy.kind) {
    case 'exponential':
      return { baseMs: policy.baseMs, capMs: policy.capMs }
    case 'constant':
      return { baseMs: policy.delayMs, capMs: Math.max(policy.delayMs, DEFAULT_CAP_MS) }
    case 'schedule':
      return { baseMs: policy.delaysMs[0]!, capMs: Math.max(...policy.delaysMs, DEFAULT_CAP_MS) }
    case 'custom':
      return { baseMs: 1000, capMs: DEFAULT_CAP_MS }
  }
}

function plainDelay(policy: Exclude<RetryPolicy, { kind: 'custom' }>, tries: number): number {
  switch (policy.kind) {
    case 'exponential':
      // 0 × Infinity is no delay.
      return policy.baseMs === 0 ? 0 : Math.min(policy.capMs, policy.baseMs * policy.factor ** (tries - 1))
    case 'constant':
      return policy.delayMs
    case 'schedule':
      return policy.delaysMs[Math.min(tries, policy.delaysMs.length) - 1]!
  }
}

/**
 * How long to wait after the `tries`-th failure: the policy's delay, spread by its jitter, never above its cap.
 *
 * @param tries 1, 2, …
 * @param roll in [0, 1)
 */
export function backoffMs(
  policy: Exclude<RetryPolicy, { kind: 'custom' }>,
  tries: number,
  roll: number,
): number {
  const { capMs } = delayBounds(policy)
  const delay = plainDelay(policy, tries)
  return Math.min(capMs, Math.round(delay * (1 + policy.jitter * (2 * roll - 1))))
}

/** What a policy function answered, made safe: never NaN, negative or above a week. */
export function safeDelayMs(answer: unknown): number | undefined {
  if (typeof answer !== 'number' || Number.isNaN(answer)) return undefined
  return Math.min(MAX_DELAY_MS, Math.max(0, Math.round(answer)))
}

/** A `Retry-After` in milliseconds, clamped to what the policy allows. */
export function clampPause(askedMs: number, policy: RetryPolicy): number {
  const { baseMs, capMs } = delayBounds(policy)
  return Math.min(capMs, Math.max(baseMs, askedMs))
}
