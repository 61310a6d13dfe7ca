/**
 * The standing of an account or a zone: what its endpoints' answers say about those that were never tried.
 *
 * A request to an endpoint that was not known as slow or silent is a strike against its account and its zone when
 * nothing answers it in time. A fast answer clears the strikes, at most once in `CLEAR_INTERVAL_MS`: a clearing may
 * move many queued endpoints.
 */
export interface Standing {
  /** Strikes since the last fast answer that cleared them. */
  strikes: number
  /** Store time of the last strike, ms; -Infinity: none. */
  lastStrikeMs: number
  /** Store time of the last fast answer, ms; -Infinity: none. */
  lastFastMs: number
  /** Store time at which strikes were last cleared, ms; -Infinity: never. */
  lastClearedMs: number
}

/** A fast answer proves something about a receiver for this long, ms. */
export const TRUST_MS = 6 * 3_600_000
/** Strikes are forgiven when the last one is this old, ms. */
const FORGIVE_MS = 60_000
/** Strikes are cleared at most once in this period, ms. */
const CLEAR_INTERVAL_MS = 1_000
/** Strikes from which an account is suspect. Endpoints of one account have less in common than those of one zone. */
const MAX_ACCOUNT_STRIKES = 3

export function createStanding(): Standing {
  const never = Number.NEGATIVE_INFINITY
  return { strikes: 0, lastStrikeMs: never, lastFastMs: never, lastClearedMs: never }
}

/** Whether the standing says anything. */
export function isBlank({ strikes, lastFastMs }: Standing): boolean {
  return strikes === 0 && lastFastMs === Number.NEGATIVE_INFINITY
}

/** A request got no answer in time. */
export function addStrike(standing: Standing, now: number): void {
  standing.strikes = isCurrent(standing, now) ? standing.strikes + 1 : 1
  standing.lastStrikeMs = now
}

/** A request to an endpoint that was known as silent got no answer either: the strikes are still true. */
export function confirmStrikes(standing: Standing, now: number): void {
  if (isCurrent(standing, now)) standing.lastStrikeMs = now
}

/** A request got a fast answer. Returns whether this cleared strikes. */
export function addFastAnswer(standing: Standing, now: number): boolean {
  standing.lastFastMs = now
  if (standing.strikes === 0 || Math.abs(now - standing.lastClearedMs) < CLEAR_INTERVAL_MS) return false
  standing.strikes = 0
  standing.lastClearedMs = now
  return true
}

/** Whether never-tried endpoints of this account may be expected not to answer. */
export function isSuspectAccount(standing: Standing, now: number): boolean {
  return standing.strikes >= MAX_ACCOUNT_STRIKES && isCurrent(standing, now)
}

/** Whether never-tried endpoints in this zone must be expected not to answer. */
export function isSuspectZone(standing: Standing, now: number): boolean {
  return standing.strikes > 0 && isCurrent(standing, now)
}

/** Whether an endpoint of this zone has answered fast, at most `TRUST_MS` ago, and none has failed to answer since. */
export function isProvenZone(standing: Standing, now: number): boolean {
  return now - standing.lastFastMs <= TRUST_MS && !isSuspectZone(standing, now)
}

const isCurrent = ({ strikes, lastStrikeMs }: Standing, now: number) =>
  strikes > 0 && Math.abs(now - lastStrikeMs) < FORGIVE_MS
