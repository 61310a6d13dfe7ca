/**
 * The health of an endpoint: failures in a row, pauses with their probes, and automatic disabling. Pure; the store writes
 * health together with the attempt that changes it.
 *
 * Theory of operation
 *
 * - "In a row" goes by the end of attempts, over all calls. A success forgets everything.
 * - A pause opens after `MAX_UNAVAILABLE` failures in a row of a receiver that could not take anything, or when the first
 *   attempts of `MAX_REJECTED` deliveries in a row were rejected. The first kind ends with any answer that does not say
 *   "not now", the second with a success only.
 * - While a pause lasts, one request at a time is sent, a probe: the next one when `pausedUntilMs` has come.
 * - `Retry-After` also sets `pausedUntilMs`, without a pause: then requests go on as before.
 * - Failures that say nothing about the receiver as a whole are not passed to this file (`settle.ts` decides).
 */

import type { FailureCause } from 'hookswitch/adapter'

/** Why an endpoint is paused. */
export type PauseKind = 'unavailable' | 'rejected'

/** A pause: requests are sent one at a time, as probes. */
export interface Pause {
  /** `unavailable`: the receiver could not be reached, or not take requests. `rejected`: it rejected all of them. */
  readonly kind: PauseKind
  /** Probes that have failed. */
  readonly probes: number
  /** When it began, store time, ms. */
  readonly sinceMs: number
}

/** Stored beside the webhook, absent when clean. Times are store time, ms. */
export interface Health {
  /** Failures since the last success. */
  readonly failuresInRow: number
  /** Those after the last answer that was not "not now"; absent: 0. */
  readonly unavailableInRow?: number
  /** First attempts of deliveries of accepted kinds that were rejected since the last success; absent: 0. */
  readonly rejectedInRow?: number
  /** Present while the endpoint is paused because it fails. */
  readonly pause?: Pause
  /** Nothing is sent before this time: the receiver sent `Retry-After`, or the next probe is due then. */
  readonly pausedUntilMs?: number
  /** Time of the first failure since the last success. */
  readonly failingSinceMs?: number
  /** Time of the first failure since the last success and since the last outage of this service; absent: there was none. */
  readonly countsSinceMs?: number
  /** Deliveries that were given up or became too old since the last success. */
  readonly exhausted?: number
  /** Whether the owner was informed that the webhook has been failing for long. */
  readonly isReported?: true
  /** When a probe last found that no connection can be made. */
  readonly checkedMs?: number
  /** Why that probe could not connect: a code of `FAILURE_CAUSES`. */
  readonly checkCause?: FailureCause
  /** How long the last answer took, ms, if longer than an attempt may take. */
  readonly lateMs?: number
  /** Times of the last failures, when the auto-disable rule counts failures in a time window. */
  readonly failedAtMs?: readonly number[]
}

/** Whether failing endpoints are paused, and when their webhooks are disabled. Plain data, like retry policies. */
export interface HealthRules {
  /** Whether failing endpoints are paused and probed. */
  readonly pauses: boolean
  /** null: never. */
  readonly autoDisable: AutoDisableRule | null
}

/**
 * `silent`: no success for `afterMs` with at least `exhausted` deliveries given up.
 * `burst`: `failures` failures within `withinMs`.
 */
export type AutoDisableRule =
  | { readonly kind: 'silent'; readonly afterMs: number; readonly exhausted: number }
  | { readonly kind: 'burst'; readonly failures: number; readonly withinMs: number }

/** Whether the endpoint is paused because it fails: requests are probes, one at a time. */
export function isProbed(health: Health | undefined): boolean {
  return health?.pause !== undefined
}

/** Whether the last attempt that counts failed. */
export function isFailing(health: Health | undefined): boolean {
  return (health?.failuresInRow ?? 0) > 0
}

/** Whether nothing is sent at the moment. @param now store time, ms */
export function isPaused(health: Health | undefined, now: number): boolean {
  return (health?.pausedUntilMs ?? 0) > now
}

/**
 * Whether the receiver has taken other deliveries since the first failure of one: what fails then is that delivery.
 *
 * @param failedMs first failure of the delivery; `undefined`: it has not failed
 */
export function isOvertaken(health: Health | undefined, failedMs: number | undefined): boolean {
  if (failedMs === undefined) return false
  return health?.failingSinceMs === undefined || failedMs < health.failingSinceMs
}

/** The health after somebody has ended its pause: the count of what is in a row begins anew. */
export function endPause(health: Health): Health | undefined {
  const {
    pause: _pause,
    pausedUntilMs: _until,
    unavailableInRow: _one,
    rejectedInRow: _other,
    ...rest
  } = health
  return rest.failuresInRow === 0 && rest.lateMs === undefined ? undefined : rest
}

/** The begin of a pause, or its end. */
export type PauseChange =
  | { readonly kind: 'opened'; readonly failuresInRow: number; readonly pausedUntilMs: number }
  | { readonly kind: 'closed' }

/** The begin or end of a pause between two states of health. Failed probes prolong the pause: no change. */
export function pauseChangeOf(
  before: Health | undefined,
  after: Health | undefined,
): PauseChange | undefined {
  if (isProbed(before) === isProbed(after)) return undefined
  if (!after || !isProbed(after)) return { kind: 'closed' }
  const { failuresInRow, pausedUntilMs = 0 } = after
  return { kind: 'opened', failuresInRow, pausedUntilMs }
}

/** Whether events reach a webhook: `ok` also before the first one; `disabled` by its owner or by the service. */
export type EndpointState = EndpointHealth['state']

/** The health of a webhook as its owner sees it. */
export interface EndpointHealth {
  /** `paused`: nothing is sent before `pausedUntilMs`. `failing`: the last attempt failed. */
  readonly state: 'ok' | 'failing' | 'paused' | 'disabled'
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
  const {
    failuresInRow = 0,
    failingSinceMs,
    pausedUntilMs = 0,
    pause,
    checkedMs,
    checkCause,
  } = webhook.health ?? {}
  const isHeld = pause !== undefined || pausedUntilMs > now
  const state = endpointStateOf(webhook.settings.enabled, failuresInRow, isHeld)
  return {
    state,
    failuresInRow,
    ...(failingSinceMs !== undefined && { failingSinceMs }),
    ...(state === 'paused' && { pausedUntilMs }),
    ...(lastSuccessMs !== undefined && { lastSuccessMs }),
    ...(checkedMs !== undefined && { checkedMs }),
    ...(checkCause !== undefined && { checkCause }),
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
  /** Failing endpoints are paused; disabled after 5 days without a success in which 20 deliveries were given up. */
  standard: { pauses: true, autoDisable: { kind: 'silent', afterMs: 120 * HOUR_MS, exhausted: 20 } },
  /** KAZOO (`webhooks_disabler`): disabled after 6 failed tries in 60 s, no pauses. */
  kazoo: { pauses: false, autoDisable: { kind: 'burst', failures: 6, withinMs: 60_000 } },
} satisfies Record<string, HealthRules>)

/** Failures in a row of a receiver that could not take a request, after which its endpoint is paused. */
const MAX_UNAVAILABLE = 3
/** Deliveries in a row whose first attempts were rejected, after which the endpoint is paused. */
const MAX_REJECTED = 10
/** Time to the next probe after none, one and more failed ones, counted from the start of the last probe, ms. */
const PROBE_MS = [5_000, 10_000, 15_000] as const
/** The same when the endpoint has failed for longer than `BRIEF_MS`, ms. */
const LONG_PROBE_MS = 60_000
/** How long an endpoint is probed often, from its first failure on, ms. */
const BRIEF_MS = 300_000
/** The part by which the time to the next probe may be shorter. */
const PROBE_JITTER = 0.2
/** How long a webhook fails until its owner is informed, ms. */
const REPORT_AFTER_MS = 24 * HOUR_MS

/** KAZOO's wording, shown as `disable_reason`. */
const DISABLE_REASON = 'too many failed attempts'

/** Whether the endpoint has failed for so long that it is probed less often. @param now store time, ms */
export function isProbedRarely(health: Health | undefined, now: number): boolean {
  return now - (health?.failingSinceMs ?? now) >= BRIEF_MS
}

/**
 * The time to the next request to a receiver that takes nothing, ms.
 *
 * @param failures failures so far, 0 or more
 */
export function probeDelayMs(failures: number): number {
  return PROBE_MS[Math.min(failures, PROBE_MS.length - 1)]!
}

/** The effect of an attempt on its endpoint's health. */
export type AttemptEffect =
  | {
      readonly kind: 'success'
      /** Present if the answer took longer than an attempt may take: how long, ms. */
      readonly lateMs?: number | undefined
    }
  | {
      /** `unavailable`: the receiver could not take it now; `rejected`: it answered, and rejected the delivery. */
      readonly kind: PauseKind
      /** A probe. */
      readonly isProbe: boolean
      /** The first attempt of its delivery, of a kind that the receiver accepts, or of any kind if it accepts none. */
      readonly isFirst: boolean
      /** Store time at which it was sent, ms. */
      readonly sentMs: number
      /** In [0, 1), for jitter: endpoints that failed together must not be probed together. */
      readonly random: number
      /** The delivery was tried often enough: it waits until a probe was answered. */
      readonly isHeld?: boolean
      /** The receiver asked for fewer requests: it is not away. */
      readonly isThrottled?: boolean
      /** Store time until which the receiver asked for a pause (`Retry-After`). */
      readonly waitUntilMs?: number | undefined
      /** No connection could be made: why. Nothing was sent by this probe. */
      readonly checkCause?: FailureCause | undefined
      /** This node is cut off from the receiver's network: the failure counts for pauses alone. */
      readonly isOutage?: boolean
      /** How old a delivery may become, ms: probes are at least as frequent. */
      readonly maxAgeMs?: number | undefined
      /** How long the answer took, ms, if longer than an attempt may take. */
      readonly lateMs?: number | undefined
    }

/** The health after an attempt. */
export interface HealthUpdate {
  /** The same object when nothing changes, so that a healthy endpoint is never written. */
  readonly health: Health | undefined
  /** The attempt has opened a pause. */
  readonly opensPause?: true
  /** The webhook has been failing for so long that its owner is to be informed. */
  readonly reports?: true
}

type MutableHealth = { -readonly [Name in keyof Health]: Health[Name] }

/** Applies the effect of an attempt. @param now store time, ms */
export function updateHealth(
  health: Health | undefined,
  effect: AttemptEffect,
  now: number,
  rules: HealthRules,
): HealthUpdate {
  if (effect.kind === 'success') return { health: afterSuccess(health, effect.lateMs, now) }
  const next: MutableHealth = { ...health, failuresInRow: health?.failuresInRow ?? 0 }
  // Whole milliseconds, as those of deliveries are stored (`isOvertaken`).
  next.failingSinceMs ??= Math.floor(now)
  if (effect.isOutage) delete next.countsSinceMs
  else next.countsSinceMs ??= now
  if (effect.checkCause === undefined) {
    next.failuresInRow++
    delete next.checkedMs
    delete next.checkCause
  } else {
    next.checkedMs = now
    next.checkCause = effect.checkCause
  }
  if (effect.lateMs !== undefined) next.lateMs = effect.lateMs
  else if (effect.kind === 'rejected') delete next.lateMs
  countInRow(next, effect)
  if (effect.waitUntilMs !== undefined)
    next.pausedUntilMs = Math.max(next.pausedUntilMs ?? 0, effect.waitUntilMs)
  const opensPause = rules.pauses && updatePause(next, effect, now)
  if ((next.pausedUntilMs ?? 0) <= now && !next.pause) delete next.pausedUntilMs
  if (rules.autoDisable?.kind === 'burst' && !effect.isOutage)
    next.failedAtMs = recentFailures(health, now, rules.autoDisable)
  const reports = !next.isReported && rules.autoDisable?.kind === 'silent' && isFailingForLong(next, now)
  if (reports) next.isReported = true
  return { health: next, ...(opensPause && { opensPause }), ...(reports && { reports }) }
}

/** A success that was sent before the receiver asked for a pause does not end that pause, but one because of failures. */
function afterSuccess(
  health: Health | undefined,
  lateMs: number | undefined,
  now: number,
): Health | undefined {
  const isAsked = !health?.pause && isPaused(health, now)
  if (!isAsked && lateMs === undefined) return undefined
  return {
    failuresInRow: 0,
    ...(isAsked && { pausedUntilMs: health?.pausedUntilMs }),
    ...(lateMs !== undefined && { lateMs }),
  } as Health
}

type FailureEffect = Exclude<AttemptEffect, { kind: 'success' }>

function countInRow(
  next: MutableHealth,
  { kind, isFirst, isThrottled, isProbe, checkCause }: FailureEffect,
): void {
  if (kind === 'rejected') {
    delete next.unavailableInRow
    if (isFirst) next.rejectedInRow = (next.rejectedInRow ?? 0) + 1
  } else if (!isThrottled && !(isProbe && checkCause !== undefined))
    next.unavailableInRow = (next.unavailableInRow ?? 0) + 1
}

/** Begins, prolongs or ends the pause. Returns whether it has begun. */
function updatePause(next: MutableHealth, effect: FailureEffect, now: number): boolean {
  const { kind, isProbe, isThrottled = false } = effect
  const { pause } = next
  if (!pause) {
    const isOpened =
      kind === 'rejected'
        ? (next.rejectedInRow ?? 0) >= MAX_REJECTED
        : !isThrottled && ((next.unavailableInRow ?? 0) >= MAX_UNAVAILABLE || effect.isHeld === true)
    if (!isOpened) return false
    next.pause = { kind, probes: 0, sinceMs: Math.floor(now) }
    next.pausedUntilMs = Math.max(next.pausedUntilMs ?? 0, now + probeDelayMs(0))
    return true
  }
  if (pause.kind === 'unavailable' && kind === 'rejected') {
    delete next.pause
    delete next.pausedUntilMs
    return false
  }
  if (!isProbe) return false
  next.pause = { ...pause, probes: pause.probes + 1 }
  next.pausedUntilMs = Math.max(nextProbeMs(next, effect, now), effect.waitUntilMs ?? 0)
  return false
}

/** What the time of the next probe depends on. */
type LastProbe = Pick<FailureEffect, 'sentMs' | 'random' | 'maxAgeMs'>

/** When the next probe is due, store time, ms. */
function nextProbeMs(health: Health, { sentMs, random, maxAgeMs }: LastProbe, now: number): number {
  const waitMs = isProbedRarely(health, now) ? LONG_PROBE_MS : probeDelayMs(health.pause?.probes ?? 0)
  const limitedMs = Math.min(waitMs, Math.max(PROBE_MS[0], maxAgeMs ?? waitMs))
  return Math.max(now, sentMs + Math.round(limitedMs * (1 - PROBE_JITTER * random)))
}

/**
 * The health after a probe that said nothing about the receiver: a fault of this service, or a blocked address. It counts
 * nowhere, but the next probe is due as after a failed one: otherwise it would be sent at once.
 *
 * @param now store time, ms
 */
export function afterSilentProbe(
  health: Health | undefined,
  probe: LastProbe,
  now: number,
): Health | undefined {
  return health?.pause ? { ...health, pausedUntilMs: nextProbeMs(health, probe, now) } : health
}

function recentFailures(health: Health | undefined, now: number, { withinMs, failures }: BurstRule) {
  const recent = (health?.failedAtMs ?? []).filter((atMs) => now - atMs < withinMs)
  return [...recent, now].slice(-failures)
}

type BurstRule = Extract<AutoDisableRule, { kind: 'burst' }>

const isFailingForLong = ({ failingSinceMs = 0 }: Health, now: number) =>
  now - failingSinceMs >= REPORT_AFTER_MS

/** Counts a delivery that was given up or became too old while the endpoint was failing. */
export function countGivenUp(health: Health | undefined): Health | undefined {
  if (health?.countsSinceMs === undefined) return health
  return { ...health, exhausted: (health.exhausted ?? 0) + 1 }
}

/**
 * When the webhook is disabled if there is no success before, store time, ms; `undefined`: it does not fail, or is never
 * disabled for that, or only after a number of failures.
 */
export function autoDisableMsOf(
  health: Health | undefined,
  { autoDisable }: HealthRules,
): number | undefined {
  if (autoDisable?.kind !== 'silent' || health?.countsSinceMs === undefined) return undefined
  return health.countsSinceMs + autoDisable.afterMs
}

/** The reason to disable the webhook; `undefined`: there is none. @param now store time, ms */
export function disableReasonOf(
  health: Health | undefined,
  now: number,
  { autoDisable }: HealthRules,
): string | undefined {
  if (!autoDisable || !health) return undefined
  const { failedAtMs = [], countsSinceMs = now, exhausted = 0 } = health
  const mustDisable =
    autoDisable.kind === 'burst'
      ? failedAtMs.length >= autoDisable.failures
      : now - countsSinceMs >= autoDisable.afterMs && exhausted >= autoDisable.exhausted
  return mustDisable ? DISABLE_REASON : undefined
}
