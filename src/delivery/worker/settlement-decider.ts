// biome-ignore-all assist/source/organizeImports: dependencies, then the steps in the order in which they happen
import { reasonOf } from '../../errors.js'
import type { Metrics } from '../../metrics.js'
import type { Clock, Log, Random, Sender } from '../../ports.js'
import type { Network } from '../../values/address.js'
import { type PauseChange, pauseChangeOf } from '../../webhooks/health.js'
import type { Health, HealthRules } from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { QueueEndpoint } from '../queue/queue-endpoint.js'
import type { QueuedDelivery } from '../queue/queued-delivery.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import type { AttemptRecord, AttemptResult } from '../attempt-record.js'
import type { Outcome } from '../outcome.js'
import { FAST_ANSWER_MS } from '../scheduler/priority.js'
import { Pace } from '../pace.js'
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
  /** How old deliveries of a webhook may become, ms. */
  maxAgeMsOf(webhook: Webhook): number
  /** Requests a second that a webhook allows at most; `undefined`: no limit. */
  rateLimitOf(webhook: Webhook): number | undefined
  /** A pause of an endpoint has begun or ended. */
  onPauseChange(endpoint: QueueEndpoint, change: PauseChange, hasSucceeded: boolean): void
  /** This node reaches a network again. */
  onOutageEnded(): void
  /** Aborts when `drainMs` of `close` have passed. */
  readonly drainDeadline: AbortSignal
}

/** A decided settlement, and what the host hears when it is written. */
export interface DecidedSettlement {
  readonly delivery: QueuedDelivery
  readonly settlement: Settlement
  /** The record of an attempt that is emitted to the host but not stored. */
  readonly unstoredRecord?: AttemptRecord
  /** A pause of the endpoint began or ended with this settlement. */
  readonly pauseChange?: PauseChange
  /** The webhook has been failing for so long that its owner is to be informed. */
  readonly reports?: true
}

const OUTAGE_BEGAN =
  'no receiver of this network answers: this node seems to be cut off from it, and attempts without an answer are not charged'
const OUTAGE_ENDED = 'a receiver of this network answers again'
const OUTAGE_UNKNOWN =
  'too few receivers of this network were tried for twelve minutes to know whether it can be reached: attempts are charged again'

/**
 * Decides the settlement of each delivery from the result of its attempt, and updates what this node knows about
 * the endpoint: latency, outage, health, open connections. It does not write.
 */
interface SettlementDecider {
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
  scheduler: Pick<Scheduler, 'recordAnswer'>,
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
    if (change.hasAnswer) {
      log.info({ network, seconds }, OUTAGE_ENDED)
      options.onOutageEnded()
    } else log.warn({ network, seconds }, OUTAGE_UNKNOWN)
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
    log.error({ reason: reasonOf(thrown) }, 'a function of the host failed, an outcome is decided without it')
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

  /** Logs internal faults: attempt records do not contain their details. */
  function logOwnFault({ observation }: AttemptResult): void {
    if (observation.kind !== 'own_fault') return
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
   * Applies a change of health, and closes idle connections when a pause begins or a probe has failed. Returns the begin or end
   * of the pause, if any. A health decided under an older epoch is forgotten, as in the store.
   */
  function applyHealth(
    { endpoint }: QueuedDelivery,
    before: Health | undefined,
    change: Settlement['endpoint'],
    hasSucceeded: boolean,
  ): PauseChange | undefined {
    const { webhook } = endpoint
    if (change?.health === undefined || change.epoch !== webhook.epoch) return undefined
    const { health: _, ...row } = webhook
    const after = change.health ?? undefined
    endpoint.webhook = after ? { ...row, health: after } : row
    if (after?.pause && after.pause !== before?.pause) {
      try {
        deps.sender.releaseIdle?.(webhook.id)
      } catch (thrown) {
        logHostError(thrown)
      }
    }
    const pauseChange = pauseChangeOf(before, after)
    if (pauseChange) options.onPauseChange(endpoint, pauseChange, hasSucceeded)
    return pauseChange
  }

  /** Updates the pace of an endpoint with the outcome of an attempt. */
  function updatePace({ endpoint, hook }: QueuedDelivery, outcome: Outcome, atMs: number): void {
    const { pace } = endpoint
    if (outcome.kind === 'delivered') {
      pace?.succeeded(atMs)
      endpoint.countAccepted(hook, atMs)
    }
    if (!pace) return
    const isAnswered = outcome.kind === 'delivered' || (outcome.kind === 'failed' && !outcome.isUnavailable)
    if (isAnswered) pace.answered()
    else if (outcome.kind === 'failed') pace.failed()
    if (!pace.isLimiting) endpoint.pace = undefined
  }

  /** Counts a 429, or a 503 with `Retry-After`. Returns how long nothing is sent, ms. */
  function throttle(
    endpoint: QueueEndpoint,
    sentMs: number,
    askedMs: number | undefined,
    atMs: number,
  ): number {
    endpoint.pace ??= new Pace(options.rateLimitOf(endpoint.webhook), endpoint.acceptedRates(atMs))
    return endpoint.pace.throttled(sentMs, askedMs, atMs)
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
    skip(delivery, why) {
      const { webhook } = delivery.endpoint
      const isCutOff = outageDetector.outages(clock.monotonic()).length > 0
      const context = { ...settleContext(webhook), isOutage: isCutOff }
      const settlement = settleSkipped(delivery, why, webhook.health, context)
      applyHealth(delivery, webhook.health, settlement.endpoint, false)
      return { delivery, settlement }
    },
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
      logOwnFault(result)
      if (network) outageDetector.observe(uri, observation, network, monotonicMs)
      const { endpoint, slot } = delivery
      const before = healthOf(delivery, webhook)
      const sentMs = context.now - result.durationMs
      const settled = settleAttempt(delivery, result, before, context, {
        isProbe: slot?.isProbe === true,
        maxAgeMs: options.maxAgeMsOf(webhook),
        isInformative: endpoint.isInformative(delivery.hook),
        throttle: (askedMs) => throttle(endpoint, sentMs, askedMs, context.now),
      })
      const { outcome, settlement, reports } = settled
      updatePace(delivery, outcome, context.now)
      if (outcome.kind === 'failed' && !outcome.isUnavailable) endpoint.countRejected(delivery.hook)
      const pauseChange = applyHealth(delivery, before, settlement.endpoint, outcome.kind === 'delivered')
      const decided = {
        delivery,
        settlement,
        ...(pauseChange && { pauseChange }),
        ...(reports && { reports }),
      }
      if (outcome.kind !== 'delivered' || options.recordSuccesses) return decided
      const { record: unstoredRecord, ...withoutRecord } = settlement
      return { ...decided, settlement: withoutRecord, ...(unstoredRecord && { unstoredRecord }) }
    },
  }
}
