// biome-ignore-all assist/source/organizeImports: dependencies, then the steps in the order in which they happen
import type { Clock, Log, Random, Sender } from '../../ports.js'
import {
  type BreakerChange,
  breakerChangeOf,
  type Health,
  type HealthRules,
  isProbed,
} from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { Settlement } from '../delivery-store.js'
import type { Delivery } from '../lifecycle.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import type { AttemptResult } from '../attempt-record.js'
import { FAST_ANSWER_MS } from '../scheduler/priority.js'
import { createOutageDetector } from './outage-detector.js'
import {
  type SettleContext,
  settleAttempt,
  settleCancelledRequest,
  settleInterrupted,
  settleSkipped,
} from '../settle.js'
import { POLICY_PRESETS } from '../policy.js'
import type { HealthCache } from './health-cache.js'
import type { RetryRules } from '../retry.js'
import type { SettlementWrite } from './settlement-writer.js'

export interface SettlementDeciderDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly sender: Sender
  newId(): string
  rulesOf(webhook: Webhook): RetryRules
}

export interface SettlementDeciderOptions {
  readonly owner: string
  readonly healthRules: HealthRules
  /** False: the record of a successful attempt is emitted to the host but not stored. */
  readonly recordSuccesses: boolean
  /** Store time, ms. */
  now(): number
  /** Aborts when `drainMs` of `close` have passed. */
  readonly drainDeadline: AbortSignal
}

/** Internal faults are logged at most once in this period, ms. */
const OWN_FAULT_LOG_INTERVAL_MS = 10_000

/** A slot of the scheduler in use by a request in flight. */
export type Slot = ReturnType<Scheduler['start']>

/** A claim that has a slot and has not ended. */
export interface ActiveClaim {
  readonly delivery: Delivery
  readonly webhook: Webhook
  readonly slot: Slot
}

/** The settlement of a claim; its slot is released when the settlement is written. */
export type PendingSettlement = SettlementWrite & { readonly slot: Slot }

/**
 * Decides the settlement of each claim from the result of its attempt, and updates what this node knows about
 * the endpoint: latency, outage, health, open connections. It does not write.
 */
export interface SettlementDecider {
  settleContext(webhook: Webhook): SettleContext
  /** `result` is undefined when no request could be built. */
  decide(claim: ActiveClaim, result: AttemptResult | undefined): PendingSettlement
  /** Ends a claim that is not sent: its event is too old, or its webhook is disabled or deleted. */
  skip(claim: ActiveClaim, why: 'expired' | 'cancelled'): PendingSettlement
}

export function createSettlementDecider(
  deps: SettlementDeciderDeps,
  options: SettlementDeciderOptions,
  scheduler: Pick<Scheduler, 'recordAnswer' | 'setProbed'>,
  health: HealthCache,
): SettlementDecider {
  const { clock, random, log } = deps
  const { owner, healthRules, now, drainDeadline } = options
  const outageDetector = createOutageDetector()

  function settleContext(webhook: Webhook, monotonicMs = clock.monotonic()): SettleContext {
    return {
      owner,
      recordId: deps.newId(),
      webhook,
      rules: rulesOf(webhook),
      healthRules,
      isOutage: outageDetector.isOutage(monotonicMs),
      now: now(),
      wallMs: clock.now(),
      random: randomFraction(),
    }
  }

  // A host's function that throws or returns an invalid value must not lose an outcome: the outcome is decided
  // without that function.
  function logHostError(thrown: unknown): void {
    log.error({ reason: String(thrown) }, 'a function of the host failed, an outcome is decided without it')
  }

  function randomFraction(): number {
    try {
      const fraction = random.fraction()
      if (fraction >= 0 && fraction < 1) return fraction
    } catch (thrown) {
      logHostError(thrown)
    }
    return 0.5
  }

  function rulesOf(webhook: Webhook): RetryRules {
    try {
      return deps.rulesOf(webhook)
    } catch (thrown) {
      logHostError(thrown)
      return { policy: POLICY_PRESETS.telephony, functions: {}, retries: webhook.settings.retries }
    }
  }

  let lastOwnFaultLogMs = Number.NEGATIVE_INFINITY
  /**
   * Logs internal faults at most once every 10 s: they hit every delivery at once. Attempt records do not
   * contain their details.
   */
  function logOwnFault({ observation }: AttemptResult, monotonicMs: number): void {
    if (observation.kind !== 'own_fault' || monotonicMs - lastOwnFaultLogMs < OWN_FAULT_LOG_INTERVAL_MS)
      return
    lastOwnFaultLogMs = monotonicMs
    log.warn({ reason: observation.detail }, 'requests cannot be sent because of an own fault, retrying')
  }

  /** Internal faults and blocked addresses say nothing about the receiver. */
  function recordAnswer(slot: Slot, { observation, durationMs }: AttemptResult, atMs: number): void {
    if (observation.kind === 'response')
      scheduler.recordAnswer(slot, durationMs <= FAST_ANSWER_MS ? 'fast' : 'slow', atMs)
    else if (observation.kind === 'no_response' && observation.failure !== 'blocked_address')
      scheduler.recordAnswer(slot, 'none', atMs)
  }

  /**
   * Applies a change of health: whether the endpoint is probed, and whether its idle connections are closed. Returns
   * the change of its breaker, if any.
   */
  function applyHealth(
    webhook: Webhook,
    before: Health | undefined,
    { endpoint }: Settlement,
  ): BreakerChange | undefined {
    if (endpoint?.health === undefined) return undefined
    const after = endpoint.health ?? undefined
    scheduler.setProbed(webhook.id, isProbed(after))
    if ((after?.openings ?? 0) > (before?.openings ?? 0)) {
      try {
        deps.sender.releaseIdle?.(webhook.id)
      } catch (thrown) {
        logHostError(thrown)
      }
    }
    return breakerChangeOf(before, after)
  }

  function skip({ delivery, webhook, slot }: ActiveClaim, why: 'expired' | 'cancelled'): PendingSettlement {
    const context = settleContext(webhook)
    // A cancelled delivery returns to `waiting`: the store knows whether its webhook is really disabled or
    // deleted.
    const settlement =
      why === 'expired'
        ? settleSkipped(delivery, 'expired', context)
        : settleCancelledRequest(delivery, context)
    return { slot, delivery, settlement }
  }

  return {
    settleContext,
    skip,
    decide(claim, result) {
      const { delivery, webhook, slot } = claim
      if (result?.observation.kind === 'cancelled') return skip(claim, 'cancelled')
      const monotonicMs = clock.monotonic()
      const context = settleContext(webhook, monotonicMs)
      // Handled like a crash: a delivery whose request cannot be built is quarantined after a few claims, not
      // retried forever.
      if (!result) return { slot, delivery, settlement: settleInterrupted(delivery, 'crashed', context) }
      const { observation } = result
      // A request that `close` cut off says nothing about the receiver, and is no fault.
      if (drainDeadline.aborted && observation.kind !== 'response') {
        return { slot, delivery, settlement: settleInterrupted(delivery, 'aborted', context) }
      }
      recordAnswer(slot, result, context.now)
      logOwnFault(result, monotonicMs)
      outageDetector.observe(webhook.settings.uri, observation, monotonicMs)
      const before = health.get(webhook)
      const { outcome, settlement } = settleAttempt(delivery, result, before, context)
      health.set(settlement)
      const breakerChange = applyHealth(webhook, before, settlement)
      const pending = { slot, delivery, settlement, ...(breakerChange && { breakerChange }) }
      if (outcome.kind !== 'delivered' || options.recordSuccesses) return pending
      const { record: unstoredRecord, ...withoutRecord } = settlement
      return { ...pending, settlement: withoutRecord, ...(unstoredRecord && { unstoredRecord }) }
    },
  }
}
