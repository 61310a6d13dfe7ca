/** How an endpoint has answered of late. Stored beside the webhook, absent when clean. */
export interface Health {
  /** Charged failures since the last success. */
  readonly failuresInRow: number
  /** Nothing is sent before this moment (store time, ms): the receiver asked for patience. */
  readonly pausedUntilMs?: number
}

/** What an attempt says of its endpoint; faults of ours say nothing. */
export type Verdict = 'success' | 'charged' | 'not charged'

/**
 * The health after an attempt; the same object when nothing changes, so that a healthy endpoint is never written.
 *
 * @param now store time, ms
 * @param pauseUntilMs store time until which the receiver asked to be left alone
 */
export function nextHealth(
  health: Health | undefined,
  verdict: Verdict,
  now: number,
  pauseUntilMs: number | undefined,
): Health | undefined {
  if (verdict === 'not charged' || (verdict === 'success' && health === undefined)) return health
  const until = Math.max(pauseUntilMs ?? 0, health?.pausedUntilMs ?? 0)
  // A success that began before the receiver asked for patience does not end the pause.
  const paused = until > now ? { pausedUntilMs: until } : undefined
  if (verdict === 'success') return paused ? { failuresInRow: 0, ...paused } : undefined
  return { failuresInRow: (health?.failuresInRow ?? 0) + 1, ...paused }
}
