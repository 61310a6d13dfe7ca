/**
 * The reputation of an account or a zone predicts how its never-tried endpoints answer.
 *
 * An unanswered request to an endpoint that was not known as slow or silent is a failure of its account and its zone. A fast answer clears the failures, at most once in `CLEAR_INTERVAL_MS`: a clearing may
 * move many queued endpoints.
 */
export interface Reputation {
  /** Failures since the last fast answer that cleared them. */
  failures: number
  /** Store time of the last failure, ms; -Infinity: none. */
  lastFailureMs: number
  /** Store time of the last fast answer, ms; -Infinity: none. */
  lastFastMs: number
  /** Store time at which failures were last cleared, ms; -Infinity: never. */
  lastClearedMs: number
}

/** A fast answer proves something about a receiver for this long, ms. */
export const TRUST_MS = 6 * 3_600_000
/** Failures are forgotten when the last one is this old, ms. */
const FORGET_MS = 60_000
/** Failures are cleared at most once in this period, ms. */
const CLEAR_INTERVAL_MS = 1_000
/** Failures from which an account is doubtful. Endpoints of one account have less in common than those of one zone. */
const MAX_ACCOUNT_FAILURES = 3

export function createReputation(): Reputation {
  const never = Number.NEGATIVE_INFINITY
  return { failures: 0, lastFailureMs: never, lastFastMs: never, lastClearedMs: never }
}

/** Whether there is neither a failure nor a fast answer. */
export function isEmpty({ failures, lastFastMs }: Reputation): boolean {
  return failures === 0 && lastFastMs === Number.NEGATIVE_INFINITY
}

/** A request got no answer in time. */
export function addFailure(reputation: Reputation, now: number): void {
  reputation.failures = isCurrent(reputation, now) ? reputation.failures + 1 : 1
  reputation.lastFailureMs = now
}

/** A request to an endpoint that was known as silent got no answer either: the failures stay current. */
export function confirmFailures(reputation: Reputation, now: number): void {
  if (isCurrent(reputation, now)) reputation.lastFailureMs = now
}

/** A request got a fast answer. Returns whether this cleared failures. */
export function addFastAnswer(reputation: Reputation, now: number): boolean {
  reputation.lastFastMs = now
  if (reputation.failures === 0 || Math.abs(now - reputation.lastClearedMs) < CLEAR_INTERVAL_MS) return false
  reputation.failures = 0
  reputation.lastClearedMs = now
  return true
}

/** Whether never-tried endpoints of this account may be expected not to answer. */
export function isDoubtfulAccount(reputation: Reputation, now: number): boolean {
  return reputation.failures >= MAX_ACCOUNT_FAILURES && isCurrent(reputation, now)
}

/** Whether never-tried endpoints in this zone must be expected not to answer. */
export function isDoubtfulZone(reputation: Reputation, now: number): boolean {
  return reputation.failures > 0 && isCurrent(reputation, now)
}

/** Whether an endpoint of this zone has answered fast, at most `TRUST_MS` ago, and none has failed to answer since. */
export function isProvenZone(reputation: Reputation, now: number): boolean {
  return now - reputation.lastFastMs <= TRUST_MS && !isDoubtfulZone(reputation, now)
}

const isCurrent = ({ failures, lastFailureMs }: Reputation, now: number) =>
  failures > 0 && Math.abs(now - lastFailureMs) < FORGET_MS
