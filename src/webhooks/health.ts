/**
 * The health of an endpoint: failure counts, circuit breaker and automatic disabling. Pure; the store writes health
 * together with the attempt that changes it.
 */

import type { FailureCause } from '../values/failure-cause.js'

/** Stored beside the webhook, absent when clean. Times are store time, ms. */
export interface Health {
  /** Charged failures since the last success. */
  readonly failuresInRow: number
  /** Nothing is sent before this time: the receiver sent `Retry-After`, or the breaker is open. */
  readonly pausedUntilMs?: number
  /** How often the breaker has opened since the last success. Above 0, deliveries are probes, one at a time. */
  readonly openings?: number
  /** Time of the first failure since the last success. */
  readonly failingSinceMs?: number
  /** Deliveries exhausted since the last success. */
  readonly exhausted?: number
  /** Times of the last failures, when the auto-disable rule counts failures in a time window. */
  readonly failedAtMs?: readonly number[]
}

/** Whether an endpoint is paused, and when its webhook is disabled. Plain data, like retry policies. */
export interface HealthRules {
  /** Whether failing endpoints are paused. */
  readonly pauses: boolean
  /** null: never. */
  readonly autoDisable: AutoDisableRule | null
}

/**
 * `silent`: no success for `afterMs` with at least `exhausted` exhausted deliveries.
 * `burst`: `failures` failures within `withinMs`.
 */
export type AutoDisableRule =
  | { readonly kind: 'silent'; readonly afterMs: number; readonly exhausted: number }
  | { readonly kind: 'burst'; readonly failures: number; readonly withinMs: number }

/** Whether the endpoint is only probed: the breaker has opened, and no delivery has succeeded since. */
export function isProbed(health: Health | undefined): boolean {
  return (health?.openings ?? 0) > 0
}

/** Whether the last charged attempt failed. */
export function isFailing(health: Health | undefined): boolean {
  return (health?.failuresInRow ?? 0) > 0
}

/** Whether nothing is sent at the moment. @param now store time, ms */
export function isPaused(health: Health | undefined, now: number): boolean {
  return (health?.pausedUntilMs ?? 0) > now
}

/**
 * The health after somebody has ended its pause. Everything else stays, so a breaker that was open probes with the next
 * delivery.
 */
export function endPause(health: Health): Health | undefined {
  const { pausedUntilMs: _, ...rest } = health
  return rest.failuresInRow === 0 ? undefined : rest
}

/** The first opening of the breaker since the last success, or its closing. */
export type BreakerChange =
  | { readonly kind: 'opened'; readonly failuresInRow: number; readonly pausedUntilMs: number }
  | { readonly kind: 'closed' }

/** The change of the breaker between two states of health, if any. Failed probes prolong the pause: no change. */
export function breakerChangeOf(
  before: Health | undefined,
  after: Health | undefined,
): BreakerChange | undefined {
  if (isProbed(before) === isProbed(after)) return undefined
  if (!after || !isProbed(after)) return { kind: 'closed' }
  const { failuresInRow, pausedUntilMs = 0 } = after
  return { kind: 'opened', failuresInRow, pausedUntilMs }
}

/** Whether events reach a webhook: `ok` also before the first one; `disabled` by its owner or by the service. */
export type EndpointState = 'ok' | 'failing' | 'paused' | 'disabled'

/** The health of a webhook as its owner sees it. */
export interface EndpointHealth {
  /** `paused`: nothing is sent before `pausedUntilMs`. `failing`: the last attempt failed. */
  readonly state: EndpointState
  /** Failures since the last success; those in an outage of this service do not count. */
  readonly failuresInRow: number
  /** Time of the first failure since the last success, in Unix milliseconds. */
  readonly failingSinceMs?: number
  /** End of the pause, in Unix milliseconds; only with the state `paused`. */
  readonly pausedUntilMs?: number
  /**
   * Time of the last success, in Unix milliseconds. Absent: none among the newest 1,000 attempts that are kept (the option
   * `recordSuccesses` may keep none).
   */
  readonly lastSuccessMs?: number
  /**
   * Time when the service last tried to connect to the receiver without sending a request, in Unix milliseconds. It does so
   * during a pause of a receiver that cannot be reached.
   */
  readonly checkedMs?: number
  /** Why that failed; absent: the connection stood. */
  readonly checkCause?: FailureCause
}

/**
 * The health of a webhook as its owner sees it.
 *
 * @param now store time, ms
 * @param lastSuccessMs time of the last success; default: unknown
 */
export function endpointHealthOf(
  webhook: { readonly settings: { readonly enabled: boolean }; readonly health?: Health },
  now: number,
  lastSuccessMs?: number,
): EndpointHealth {
  const { failuresInRow = 0, failingSinceMs, pausedUntilMs = 0 } = webhook.health ?? {}
  const state = endpointStateOf(webhook.settings.enabled, failuresInRow, pausedUntilMs > now)
  return {
    state,
    failuresInRow,
    ...(failingSinceMs !== undefined && { failingSinceMs }),
    ...(state === 'paused' && { pausedUntilMs }),
    ...(lastSuccessMs !== undefined && { lastSuccessMs }),
  }
}

function endpointStateOf(isEnabled: boolean, failuresInRow: number, isPaused: boolean): EndpointState {
  if (!isEnabled) return 'disabled'
  if (isPaused) return 'paused'
  return failuresInRow > 0 ? 'failing' : 'ok'
}

const HOUR_MS = 3_600_000

/** Health rules by name. */
export const HEALTH_PRESETS = Object.freeze({
  /** Pauses. Disabled after 5 days with 20 exhausted deliveries. */
  standard: {
    pauses: true,
    autoDisable: { kind: 'silent', afterMs: 120 * HOUR_MS, exhausted: 20 },
  },
  /** KAZOO (`webhooks_disabler`): disabled after 6 failed tries in 60 s, no pauses. */
  kazoo: {
    pauses: false,
    autoDisable: { kind: 'burst', failures: 6, withinMs: 60_000 },
  },
} satisfies Record<string, HealthRules>)

/**
 * The breaker opens after `failures` in a row. Pauses last `pauseMs` ± 20 % while the endpoint has failed for less than
 * 5 minutes, then twice as long each time, at most `capMs`.
 */
const BREAKER = { failures: 10, pauseMs: 12_500, capMs: 600_000 }

/**
 * How long an endpoint counts as briefly down, ms: the breaker pauses it for the shortest time only, and a failed probe
 * costs its delivery no try.
 */
const BRIEF_MS = 300_000

/** Whether a failed attempt is a probe of an endpoint that has been down briefly. @param now store time, ms */
export function isBriefProbe(health: Health | undefined, now: number): boolean {
  return isProbed(health) && now - (health?.failingSinceMs ?? now) < BRIEF_MS
}

/** Pauses vary by up to this share in either direction. */
const JITTER = 0.2

/** KAZOO's wording, shown as `disable_reason`. */
const DISABLE_REASON = 'too many failed attempts'

/**
 * The effect of an attempt on its endpoint's health. Internal faults and failures in a global outage are `not charged`.
 */
export interface AttemptEffect {
  readonly kind: 'success' | 'charged' | 'not charged'
  /** The attempt exhausted its delivery. */
  readonly exhausted?: boolean
  /** Store time until which the receiver asked for a pause (`Retry-After`). */
  readonly pauseUntilMs?: number
  /** In [0, 1), for jitter: endpoints that failed together must not be probed together. Default 0.5: no jitter. */
  readonly random?: number
}

/** The health after an attempt, and the reason to disable the webhook, if any. */
export interface HealthUpdate {
  /** The same object when nothing changes, so that a healthy endpoint is never written. */
  readonly health: Health | undefined
  readonly disable?: string
}

/** Applies the effect of an attempt. @param now store time, ms */
export function updateHealth(
  health: Health | undefined,
  effect: AttemptEffect,
  now: number,
  rules: HealthRules,
): HealthUpdate {
  if (effect.kind === 'not charged' || (effect.kind === 'success' && health === undefined)) return { health }
  const until = Math.max(effect.pauseUntilMs ?? 0, health?.pausedUntilMs ?? 0)
  // A success that started before the receiver asked for a pause does not end the pause, but it closes the breaker.
  if (effect.kind === 'success') {
    const isPaused = health?.openings === undefined && until > now
    return { health: isPaused ? { failuresInRow: 0, pausedUntilMs: until } : undefined }
  }
  const failuresInRow = (health?.failuresInRow ?? 0) + 1
  const opening = openBreaker(health, failuresInRow, now, rules, effect.random)
  const pausedUntilMs = Math.max(until, opening?.untilMs ?? 0)
  const openings = opening?.openings ?? health?.openings
  const exhausted = (health?.exhausted ?? 0) + (effect.exhausted ? 1 : 0)
  const failedAtMs = recentFailures(health, now, rules)
  const next: Health = {
    failuresInRow,
    ...(pausedUntilMs > now && { pausedUntilMs }),
    ...(openings !== undefined && { openings }),
    failingSinceMs: health?.failingSinceMs ?? now,
    ...(exhausted > 0 && { exhausted }),
    ...(failedAtMs && { failedAtMs }),
  }
  return mustDisable(next, now, rules) ? { health: next, disable: DISABLE_REASON } : { health: next }
}

/** The opening of the breaker by this failure, if any. An open breaker is not reopened by a late response. */
function openBreaker(
  health: Health | undefined,
  failuresInRow: number,
  now: number,
  { pauses }: HealthRules,
  random = 0.5,
) {
  if (!pauses || failuresInRow < BREAKER.failures) return undefined
  const before = health?.openings ?? 0
  if (before > 0 && (health?.pausedUntilMs ?? 0) > now) return undefined
  // Pauses as long as the time since the endpoint stopped counting as briefly down: each is twice the one before.
  const beyondMs = now - (health?.failingSinceMs ?? now) - BRIEF_MS
  const grown = Math.min(beyondMs, BREAKER.pauseMs * 2 ** before)
  const pauseMs = Math.min(BREAKER.capMs, Math.max(BREAKER.pauseMs, grown))
  const jittered = Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random))
  return { openings: before + 1, untilMs: now + Math.min(BREAKER.capMs, jittered) }
}

function recentFailures(health: Health | undefined, now: number, { autoDisable }: HealthRules) {
  if (autoDisable?.kind !== 'burst') return undefined
  const recent = (health?.failedAtMs ?? []).filter((atMs) => now - atMs < autoDisable.withinMs)
  return [...recent, now].slice(-autoDisable.failures)
}

function mustDisable(health: Health, now: number, { autoDisable }: HealthRules): boolean {
  if (!autoDisable) return false
  if (autoDisable.kind === 'burst') return (health.failedAtMs ?? []).length >= autoDisable.failures
  const silentMs = now - (health.failingSinceMs ?? now)
  return silentMs >= autoDisable.afterMs && (health.exhausted ?? 0) >= autoDisable.exhausted
}
