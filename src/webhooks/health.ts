/** How an endpoint has answered of late. Stored beside the webhook, absent when clean. Times are store time, ms. */
export interface Health {
  /** Charged failures since the last success. */
  readonly failuresInRow: number
  /** Nothing is sent before this moment: the receiver asked for patience, or the breaker is open. */
  readonly pausedUntilMs?: number
  /** How often the breaker opened since the last success; above 0 what is sent is a probe, one at a time. */
  readonly openings?: number
  /** The first failure since the last success. */
  readonly failingSinceMs?: number
  /** Deliveries given up since the last success. */
  readonly exhausted?: number
  /** The last failures, where the rule counts those in a stretch of time. */
  readonly failedAtMs?: readonly number[]
}

/** When an endpoint is left alone, and when its webhook is disabled. Data, as retry policies are. */
export interface HealthRules {
  /** Opens after so many failures in a row, for `pauseMs` × 2^n ± 20 %, at most `capMs`; null: never. */
  readonly breaker: { readonly failures: number; readonly pauseMs: number; readonly capMs: number } | null
  readonly autoDisable: AutoDisableRule | null
}

/** null: never. `silent`: no success for a time in which deliveries were given up; `burst`: failures in a stretch. */
export type AutoDisableRule =
  | { readonly kind: 'silent'; readonly afterMs: number; readonly exhausted: number }
  | { readonly kind: 'burst'; readonly failures: number; readonly withinMs: number }

/** Whether what is sent now is a probe: the breaker has opened, and nothing has come through since. */
export function isProbed(health: Health | undefined): boolean {
  return (health?.openings ?? 0) > 0
}

/** Whether the last attempt that said anything of the receiver failed. */
export function isFailing(health: Health | undefined): boolean {
  return (health?.failuresInRow ?? 0) > 0
}

const HOUR_MS = 3_600_000

/** Health rules by name. */
export const HEALTH_PRESETS = Object.freeze({
  /** Pauses of 30 s × 2^n, at most 10 min, after 10 failures in a row; disabled after 24 h with 20 deliveries given up. */
  standard: {
    breaker: { failures: 10, pauseMs: 30_000, capMs: 600_000 },
    autoDisable: { kind: 'silent', afterMs: 24 * HOUR_MS, exhausted: 20 },
  },
  /** KAZOO (`webhooks_disabler`): disabled after 6 failed tries in 60 s, no breaker. */
  kazoo: {
    breaker: null,
    autoDisable: { kind: 'burst', failures: 6, withinMs: 60_000 },
  },
} satisfies Record<string, HealthRules>)

/** A pause is longer or shorter by up to this share. */
const JITTER = 0.2

/** KAZOO's words: they are shown as `disable_reason`. */
const DISABLED = 'too many failed attempts'

/** What an attempt says of its endpoint; faults of ours, and failures in a global outage, say nothing. */
export interface Verdict {
  readonly kind: 'success' | 'charged' | 'not charged'
  /** The delivery was given up with this attempt. */
  readonly exhausted?: boolean
  /** Store time until which the receiver asked to be left alone. */
  readonly pauseUntilMs?: number
  /** In [0, 1), for jitter: endpoints that failed together must not be probed together. Default 0.5: none. */
  readonly roll?: number
}

/** The health after an attempt, and why the webhook is to be disabled, if it is. */
export interface Judged {
  /** The same object when nothing changes, so that a healthy endpoint is never written. */
  readonly health: Health | undefined
  readonly disable?: string
}

/** @param now store time, ms */
export function judgeHealth(
  health: Health | undefined,
  verdict: Verdict,
  now: number,
  rules: HealthRules,
): Judged {
  if (verdict.kind === 'not charged' || (verdict.kind === 'success' && health === undefined))
    return { health }
  const until = Math.max(verdict.pauseUntilMs ?? 0, health?.pausedUntilMs ?? 0)
  // A success that began before the receiver asked for patience does not end the pause, but it closes the breaker.
  if (verdict.kind === 'success') {
    const asked = health?.openings === undefined && until > now
    return { health: asked ? { failuresInRow: 0, pausedUntilMs: until } : undefined }
  }
  const failuresInRow = (health?.failuresInRow ?? 0) + 1
  const opening = openingOf(health, failuresInRow, now, rules, verdict.roll)
  const pausedUntilMs = Math.max(until, opening?.untilMs ?? 0)
  const openings = opening?.openings ?? health?.openings
  const exhausted = (health?.exhausted ?? 0) + (verdict.exhausted ? 1 : 0)
  const failedAtMs = recentFailures(health, now, rules)
  const next: Health = {
    failuresInRow,
    ...(pausedUntilMs > now && { pausedUntilMs }),
    ...(openings !== undefined && { openings }),
    failingSinceMs: health?.failingSinceMs ?? now,
    ...(exhausted > 0 && { exhausted }),
    ...(failedAtMs && { failedAtMs }),
  }
  return mustDisable(next, now, rules) ? { health: next, disable: DISABLED } : { health: next }
}

/** Whether the breaker opens with this failure: not again while it is open, which a late answer of before may find. */
function openingOf(
  health: Health | undefined,
  failuresInRow: number,
  now: number,
  { breaker }: HealthRules,
  roll = 0.5,
) {
  if (!breaker || failuresInRow < breaker.failures) return undefined
  const before = health?.openings ?? 0
  if (before > 0 && (health?.pausedUntilMs ?? 0) > now) return undefined
  const pauseMs = Math.min(breaker.capMs, breaker.pauseMs * 2 ** before)
  const jittered = Math.round(pauseMs * (1 - JITTER + 2 * JITTER * roll))
  return { openings: before + 1, untilMs: now + Math.min(breaker.capMs, jittered) }
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
