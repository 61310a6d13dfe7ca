// biome-ignore-all assist/source/organizeImports: doors and values, then the steps in the order in which they happen
import type { Clock, Log, Random, Sender } from '../ports.js'
import { type Health, type HealthRules, isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import type { Schedule } from './fairness.js'
import type { Attempted } from './attempt.js'
import { QUICK_MS } from './trust.js'
import { outageWatch } from './outage.js'
import {
  type SettleContext,
  settleAttempt,
  settleInterrupted,
  settleUnsent,
  settleWithdrawn,
} from './settle.js'
import { POLICY_PRESETS } from './policy.js'
import type { RecentHealth } from './recent-health.js'
import type { RetryRules } from './retry.js'
import type { Writing } from './settler.js'

export interface DecideDoors {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly sender: Sender
  newId(): string
  rulesOf(webhook: Webhook): RetryRules
}

export interface DecideOptions {
  readonly owner: string
  readonly healthRules: HealthRules
  /** False: an attempt that succeeds is told, not kept. */
  readonly recordSuccesses: boolean
  /** Store time, ms. */
  now(): number
  /** The time to drain is over. */
  readonly cut: AbortSignal
}

/** Lines about faults of ours are at least so far apart. */
const OWN_FAULT_LINE_MS = 10_000

export type Flight = ReturnType<Schedule['started']>

/** A claim on its way to its end. */
export interface Claimed {
  readonly delivery: Delivery
  readonly webhook: Webhook
  readonly flight: Flight
}

/** What is written of a claim, which ends its flight. */
export type Landing = Writing & { readonly flight: Flight }

/** From what was seen of an attempt to what is written of it: outcome, next state, record, health. */
export interface Deciding {
  contextOf(webhook: Webhook): SettleContext
  /** `attempted`: undefined where no request could be made. */
  decide(claimed: Claimed, attempted: Attempted | undefined): Landing
  /** The end of a claim that is not sent: too old, or its webhook withdrawn. */
  unsent(claimed: Claimed, why: 'aged' | 'withdrawn'): Landing
}

export function createDeciding(
  doors: DecideDoors,
  options: DecideOptions,
  schedule: Pick<Schedule, 'answered' | 'probing'>,
  health: RecentHealth,
): Deciding {
  const { clock, random, log } = doors
  const { owner, healthRules, now, cut } = options
  const outages = outageWatch()

  function contextOf(webhook: Webhook, monotonicMs = clock.monotonic()): SettleContext {
    return {
      owner,
      recordId: doors.newId(),
      webhook,
      rules: rulesOf(webhook),
      healthRules,
      outage: outages.isOutage(monotonicMs),
      now: now(),
      wallMs: clock.now(),
      roll: roll(),
    }
  }

  // Doors of the host that throw, or answer nonsense, must not lose an outcome: it is decided without them.
  function failed(thrown: unknown): void {
    log.error({ reason: String(thrown) }, 'a door of the host failed, an outcome is decided without it')
  }

  function roll(): number {
    try {
      const fraction = random.fraction()
      if (fraction >= 0 && fraction < 1) return fraction
    } catch (thrown) {
      failed(thrown)
    }
    return 0.5
  }

  function rulesOf(webhook: Webhook): RetryRules {
    try {
      return doors.rulesOf(webhook)
    } catch (thrown) {
      failed(thrown)
      return { policy: POLICY_PRESETS.telephony, functions: {}, retries: webhook.settings.retries }
    }
  }

  let toldMs = Number.NEGATIVE_INFINITY
  /** Faults of ours stop everybody at once: one line a while says why. Owners of webhooks are not told. */
  function noteOwnFault({ observation }: Attempted, monotonicMs: number): void {
    if (observation.kind !== 'own_fault' || monotonicMs - toldMs < OWN_FAULT_LINE_MS) return
    toldMs = monotonicMs
    log.warn(
      { reason: observation.detail },
      'requests cannot be sent for a reason of our own, they are tried again',
    )
  }

  /** Faults of ours, and addresses that are not dialled, say nothing of the receiver. */
  function noteManner(flight: Flight, { observation, durationMs }: Attempted, atMs: number): void {
    if (observation.kind === 'response') schedule.answered(flight, durationMs <= QUICK_MS, atMs)
    else if (observation.kind === 'no_response' && observation.failure !== 'blocked_address') {
      schedule.answered(flight, false, atMs)
    }
  }

  /** After what is decided of an endpoint's health: how many it gets at a time, and whether it keeps its connections. */
  function rest(webhook: Webhook, before: Health | undefined, { endpoint }: Settlement): void {
    if (endpoint?.health === undefined) return
    const after = endpoint.health ?? undefined
    schedule.probing(webhook.id, isProbed(after))
    if ((after?.openings ?? 0) <= (before?.openings ?? 0)) return
    try {
      doors.sender.rest?.(webhook.id)
    } catch (thrown) {
      failed(thrown)
    }
  }

  function unsent({ delivery, webhook, flight }: Claimed, why: 'aged' | 'withdrawn'): Landing {
    const context = contextOf(webhook)
    const settlement =
      why === 'aged' ? settleUnsent(delivery, 'aged', context) : settleWithdrawn(delivery, context)
    return { flight, delivery, settlement }
  }

  return {
    contextOf,
    unsent,
    decide(claimed, attempted) {
      const { delivery, webhook, flight } = claimed
      if (attempted?.observation.kind === 'withdrawn') return unsent(claimed, 'withdrawn')
      const monotonicMs = clock.monotonic()
      const context = contextOf(webhook, monotonicMs)
      // As after a crash: a delivery that cannot be made is set aside after a few rounds, not kept in flight for ever.
      if (!attempted) return { flight, delivery, settlement: settleInterrupted(delivery, 'lost', context) }
      const { observation } = attempted
      noteManner(flight, attempted, context.now)
      noteOwnFault(attempted, monotonicMs)
      outages.saw(webhook.settings.uri, observation, monotonicMs)
      if (cut.aborted && observation.kind !== 'response') {
        return { flight, delivery, settlement: settleInterrupted(delivery, 'cut', context) }
      }
      const before = health.of(webhook)
      const { outcome, settlement } = settleAttempt(delivery, attempted, before, context)
      health.decided(settlement)
      rest(webhook, before, settlement)
      if (outcome.kind !== 'delivered' || options.recordSuccesses) return { flight, delivery, settlement }
      const { record: unkept, ...unrecorded } = settlement
      return { flight, delivery, settlement: unrecorded, ...(unkept && { unkept }) }
    },
  }
}
