/** A backlog as it comes to be: most of it waits for endpoints that are dead and left alone. */

export const PER_ACCOUNT = 10
const DEAD_SHARE = 0.9
/** Below this many deliveries there are fewer endpoints, that each has some. */
const WHOLE = 200_000
const DEAD_ACCOUNTS = 1_000
const HEALTHY_ACCOUNTS = 100
/** Fewer healthy accounts cannot fill a claim of 100. */
export const LEAST = (WHOLE * 10) / HEALTHY_ACCOUNTS

/**
 * 10,000 dead endpoints with 90 % of the deliveries, 1,000 healthy ones with the rest, ten of each account, calls of ten
 * events: so every event is ten deliveries, and every lane holds ten.
 *
 * @param {number} pending
 */
export function backlogOf(pending) {
  const scale = Math.min(1, pending / WHOLE)
  const kind = (accounts, share) => {
    const count = Math.max(1, Math.round(accounts * scale))
    return { accounts: count, events: Math.max(1, Math.round((pending * share) / (count * PER_ACCOUNT))) }
  }
  return { dead: kind(DEAD_ACCOUNTS, DEAD_SHARE), healthy: kind(HEALTHY_ACCOUNTS, 1 - DEAD_SHARE) }
}
