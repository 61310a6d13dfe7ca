// biome-ignore-all assist/source/organizeImports: dependencies, then the steps in the order in which they happen
import type { Metrics } from '../../metrics.js'
import type { Clock, Log, Random, Sender } from '../../ports.js'
import type { Network } from '../../values/address.js'
import { type BreakerChange, breakerChangeOf, isProbed } from '../../webhooks/health.js'
import type { Health, HealthRules } from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { QueuedDelivery } from '../queue/queued-delivery.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import type { AttemptRecord, AttemptResult } from '../attempt-record.js'
import { FAST_ANSWER_MS } from '../scheduler/priority.js'
import { createOutageDetector, type Outage, type OutageChange } from './outage-detector.js'
import { type SettleContext, settleAttempt, settleInterrupted, settleSkipped } from '../settle.js'
import { POLICY_PRESETS } from '../policy.js'
import type { RetryRules, SkipReason } from '../retry.js'
import type { Settlement } from '../delivery-store.js'

export interface SettlementDeciderDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly sender: Sender
  readonly metrics?: Metrics | undefined
  newId(): string
  rulesOf(webhook: Webhook): RetryRules
}

export interface SettlementDeciderOptions {
  readonly healthRules: HealthRules
  /** False: the record of a successful attempt is emitted to the host but not stored. */
  readonly recordSuccesses: boolean
  /** Store time, ms. */
  now(): number
  /** Aborts when `drainMs` of `close` have passed. */
  readonly drainDeadline: AbortSignal
}

/** A decided settlement, and what the host hears when it is written. */
export interface DecidedSettlement {
  readonly delivery: QueuedDelivery
  readonly settlement: Settlement
  /** The record of an attempt that is emitted to the host but not stored. */
  readonly unstoredRecord?: AttemptRecord
  /** The breaker of the endpoint opened or closed with this settlement. */
  readonly breakerChange?: BreakerChange
}

/** Internal faults are logged at most once in this period, ms. */
const OWN_FAULT_LOG_INTERVAL_MS = 10_000

const OUTAGE_BEGAN =
  'no receiver of this network answers: this node seems to be cut off from it, and attempts without an answer are not charged'
const OUTAGE_ENDED = 'a receiver of this network answers again'
const OUTAGE_UNKNOWN =
  'too few receivers of this network were tried for twelve minutes to know whether it can be reached: attempts are charged again'

/**
 * Decides the settlement of each delivery from the result of its attempt, and updates what this node knows about
 * the endpoint: latency, outage, health, open connections. It does not write.
 */
export interface SettlementDecider {
  /**
   * `webhook` is the row with which the attempt began; `result` is undefined when no request could be built. The endpoint of
   * the delivery has its new health afterwards.
   */
  decide(delivery: QueuedDelivery, webhook: Webhook, result: AttemptResult | undefined): DecidedSettlement
  /** Ends a delivery that is not sent. */
  skip(delivery: QueuedDelivery, why: SkipReason): DecidedSettlement
  /** Settles a delivery that an earlier owner was sending when it crashed. */
  interrupt(delivery: QueuedDelivery): DecidedSettlement
  /** The networks from which nothing answers this node. */
  outages(): readonly Outage[]
}

export function createSettlementDecider(
  deps: SettlementDeciderDeps,
  options: SettlementDeciderOptions,
  scheduler: Pick<Scheduler, 'recordAnswer' | 'setProbed'>,
): SettlementDecider {
  const { clock, random, log } = deps
  const { healthRules, now, drainDeadline } = options
  const outageDetector = createOutageDetector(reportOutage)

  function reportOutage(change: OutageChange): void {
    const { network } = change
    if (change.kind === 'began') {
      deps.metrics?.count('hookswitch_outages_total', 1, network)
      log.error({ network, origins: change.origins }, OUTAGE_BEGAN)
      return
    }
    const seconds = Math.round(change.durationMs / 1000)
    if (change.hasAnswer) log.info({ network, seconds }, OUTAGE_ENDED)
    else log.warn({ network, seconds }, OUTAGE_UNKNOWN)
  }

  /** @param network where the attempt went; absent: there was none, or it says nothing */
  function settleContext(
    webhook: Webhook,
    network?: Network,
    monotonicMs = clock.monotonic(),
  ): SettleContext {
    return {
      recordId: deps.newId(),
      webhook,
      rules: rulesOf(webhook),
      healthRules,
      isOutage: network !== undefined && outageDetector.isOutage(network, monotonicMs),
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
      return { policy: POLICY_PRESETS.standard, functions: {}, retries: webhook.settings.retries }
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
  function recordAnswer(
    { slot }: QueuedDelivery,
    { observation, durationMs }: AttemptResult,
    atMs: number,
  ): void {
    if (!slot) return
    if (observation.kind === 'response')
      scheduler.recordAnswer(slot, durationMs <= FAST_ANSWER_MS ? 'fast' : 'slow', atMs)
    else if (observation.kind === 'no_response' && observation.failure !== 'blocked_address')
      scheduler.recordAnswer(slot, 'none', atMs)
  }

  /**
   * Applies a change of health: whether the endpoint is probed, and whether its idle connections are closed. Returns
   * the change of its breaker, if any. A health decided under an older epoch is forgotten, as in the store.
   */
  function applyHealth(
    { endpoint }: QueuedDelivery,
    before: Health | undefined,
    change: Settlement['endpoint'],
  ): BreakerChange | undefined {
    const { webhook } = endpoint
    if (change?.health === undefined || change.epoch !== webhook.epoch) return undefined
    const { health: _, ...row } = webhook
    const after = change.health ?? undefined
    endpoint.webhook = after ? { ...row, health: after } : row
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

  /** The newest health of the endpoint: attempts of one endpoint end in any order. */
  function healthOf({ endpoint }: QueuedDelivery, webhook: Webhook): Health | undefined {
    return endpoint.webhook.epoch === webhook.epoch ? endpoint.webhook.health : webhook.health
  }

  const interrupt = (delivery: QueuedDelivery, webhook: Webhook, how: 'crashed' | 'aborted') => ({
    delivery,
    settlement: settleInterrupted(delivery, how, settleContext(webhook)),
  })

  return {
    outages: () => outageDetector.outages(clock.monotonic()),
    interrupt: (delivery) => interrupt(delivery, delivery.endpoint.webhook, 'crashed'),
    skip: (delivery, why) => ({
      delivery,
      settlement: settleSkipped(delivery, why, settleContext(delivery.endpoint.webhook)),
    }),
    decide(delivery, webhook, result) {
      // Handled like a crash: a delivery whose request cannot be built is quarantined after a few starts, not
      // retried forever.
      if (!result) return interrupt(delivery, webhook, 'crashed')
      const { observation } = result
      // A request that `close` cut off says nothing about the receiver, and is no fault.
      if (drainDeadline.aborted && observation.kind !== 'response')
        return interrupt(delivery, webhook, 'aborted')
      const monotonicMs = clock.monotonic()
      const { uri } = webhook.settings
      const network = outageDetector.networkOf(uri, observation, result.dialled)
      const context = settleContext(webhook, network, monotonicMs)
      recordAnswer(delivery, result, context.now)
      logOwnFault(result, monotonicMs)
      if (network) outageDetector.observe(uri, observation, network, monotonicMs)
      const before = healthOf(delivery, webhook)
      const { outcome, settlement } = settleAttempt(delivery, result, before, context)
      const breakerChange = applyHealth(delivery, before, settlement.endpoint)
      const decided = breakerChange ? { delivery, settlement, breakerChange } : { delivery, settlement }
      if (outcome.kind !== 'delivered' || options.recordSuccesses) return decided
      const { record: unstoredRecord, ...withoutRecord } = settlement
      return { ...decided, settlement: withoutRecord, ...(unstoredRecord && { unstoredRecord }) }
    },
  }
}
