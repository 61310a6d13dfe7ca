/** The layout of a realistic backlog: most of its deliveries wait for dead endpoints whose circuit breaker is open. */

export const PER_ACCOUNT = 10
const DEAD_SHARE = 0.9
/** Smaller backlogs have proportionally fewer endpoints, so that each has deliveries. */
const FULL_SCALE_PENDING = 200_000
const DEAD_ACCOUNTS = 1_000
const HEALTHY_ACCOUNTS = 100
/** A smaller backlog has too few healthy accounts for a group of 100 deliveries. */
export const MIN_PENDING = (FULL_SCALE_PENDING * 10) / HEALTHY_ACCOUNTS

/**
 * 10,000 dead endpoints have 90 % of the deliveries, 1,000 healthy ones have the rest. An account has ten endpoints and
 * a call ten events, so an event has ten deliveries and a lane holds ten.
 *
 * @param {number} pending
 */
export function backlogLayout(pending) {
  const scale = Math.min(1, pending / FULL_SCALE_PENDING)
  const group = (accounts, share) => {
    const count = Math.max(1, Math.round(accounts * scale))
    return { accounts: count, events: Math.max(1, Math.round((pending * share) / (count * PER_ACCOUNT))) }
  }
  return { dead: group(DEAD_ACCOUNTS, DEAD_SHARE), healthy: group(HEALTHY_ACCOUNTS, 1 - DEAD_SHARE) }
}
