// biome-ignore-all assist/source/organizeImports: dependencies, then the steps in the order in which they happen
import { isProbed } from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { Claim, ClaimResult, ReadyEndpoint, SettlementResult } from '../delivery-store.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import { isExpired } from '../retry.js'
import { type AttemptDeps, attempt } from '../attempt.js'
import type { AttemptResult } from '../attempt-record.js'
import { createMicroBatcher } from './micro-batcher.js'
import {
  type ActiveClaim,
  createSettlementDecider,
  type PendingSettlement,
  type SettlementDeciderDeps,
  type SettlementDeciderOptions,
  type Slot,
} from './settlement-decider.js'
import { createHealthCache } from './health-cache.js'
import type { SettleContext } from '../settle.js'
import { type SettlementWrite, type SettlementWriterDeps, writeSettlements } from './settlement-writer.js'
import { createWaitGroup } from './wait-group.js'

export interface WorkerDeps extends AttemptDeps, SettlementWriterDeps, SettlementDeciderDeps {}

export interface WorkerOptions extends SettlementDeciderOptions {
  /** Limit for one attempt (DNS, connect, TLS, headers and body), in milliseconds. */
  readonly attemptDeadlineMs: number
}

/**
 * Takes each claim from its attempt to its settlement. Deciding which deliveries to claim is the dispatcher's
 * task.
 *
 * Every claim holds a slot of the scheduler from `startClaims` until its settlement is written or refused,
 * whatever throws in between.
 */
export interface Worker {
  /** Call it before a claim: cancellations from now on count for the claim's result. */
  beginClaim(): void
  /**
   * Starts the claimed deliveries. Those that are too old or cancelled by now are settled together without a
   * request.
   */
  startClaims(claimed: ClaimResult): void
  /** Cancels the requests of a disabled or deleted webhook of which no byte has been sent yet. */
  cancelUnsent(webhookId: string): void
  /** Claims that have not ended. */
  readonly activeCount: number
  /** Resolves when no claim is active. */
  idle(): Promise<void>
  settleContext(webhook: Webhook): SettleContext
  /** Writes settlements, retrying until the store accepts them. */
  writeSettlements(writes: readonly SettlementWrite[]): Promise<readonly SettlementResult[] | undefined>
}

/**
 * A claim to settle: after its attempt (`result` undefined: no request was built), or without one
 * (`skipReason`).
 */
interface FinishedClaim {
  readonly claim: ActiveClaim
  readonly result: AttemptResult | undefined
  readonly skipReason: 'expired' | 'cancelled' | undefined
}

/**
 * @param onEnded called when claims have ended and their slots are free; `isUnknown`: the state of one of
 *   them is known only to the store
 */
export function createWorker(
  deps: WorkerDeps,
  options: WorkerOptions,
  scheduler: Pick<
    Scheduler,
    'start' | 'recordAnswer' | 'end' | 'setProbed' | 'update' | 'version' | 'inFlight'
  >,
  onEnded: (isUnknown: boolean) => void,
): Worker {
  const { clock, log, sender } = deps
  const { now } = options
  const health = createHealthCache()
  const { settleContext, decide, skip } = createSettlementDecider(deps, options, scheduler, health)
  const activeClaims = createWaitGroup()
  /**
   * Webhooks cancelled since the claim in progress began, whose result may be older than the cancellation;
   * `undefined`: no claim is in progress.
   */
  let cancelled: Set<string> | undefined

  const write = (writes: readonly SettlementWrite[]) =>
    writeSettlements(deps, writes, health.withNewest, now, options.drainDeadline)

  function cancelUnsent(webhookId: string): void {
    cancelled?.add(webhookId)
    try {
      sender.cancel?.(webhookId)
    } catch (thrown) {
      log.error({ reason: String(thrown), webhookId }, 'the sender could not cancel requests')
    }
  }

  /** Writes a batch of settlements, updates the scheduler from the results and releases the slots. */
  async function writePending(settlements: readonly PendingSettlement[]): Promise<void> {
    const since = scheduler.version()
    let isUnknown = false
    const results = await write(settlements).catch((thrown: unknown) => {
      log.error({ reason: String(thrown) }, 'processing written settlements failed')
    })
    settlements.forEach(({ delivery: { webhookId }, slot }, index) => {
      const result = results?.[index]
      if (result?.kind === 'settled') {
        scheduler.update(result.endpoint, since)
        if (result.disabled) cancelUnsent(webhookId)
      }
      // Fenced: an earlier write had committed, or another node owns the delivery.
      if (result?.kind !== 'settled') isUnknown = true
      releaseSlot(webhookId, slot)
    })
    onEnded(isUnknown)
  }

  function acquireSlot({ delivery }: Claim, webhook: Webhook, endpoint: ReadyEndpoint): ActiveClaim {
    const slot = scheduler.start(endpoint, isProbed(health.get(webhook)), now())
    health.markBusy(webhook.id)
    activeClaims.add(1)
    return { delivery, webhook, slot }
  }

  function releaseSlot(webhookId: string, slot: Slot): void {
    scheduler.end(slot)
    if (scheduler.inFlight(webhookId) === 0) health.markIdle(webhookId)
    activeClaims.add(-1)
  }

  /** Decides a claim without throwing. `undefined`: it cannot be decided, and its slot is released. */
  function decideSafely({ claim, result, skipReason }: FinishedClaim): PendingSettlement | undefined {
    try {
      return skipReason ? skip(claim, skipReason) : decide(claim, result)
    } catch (thrown) {
      log.error(
        { reason: String(thrown), deliveryId: claim.delivery.id },
        'deciding the outcome of an attempt failed',
      )
    }
    try {
      return decide(claim, undefined)
    } catch {
      // The delivery stays in flight in the store until a restart finds it as an orphan.
      releaseSlot(claim.webhook.id, claim.slot)
      return undefined
    }
  }

  /** Decides finished claims in their order and writes them as one batch. */
  function settle(finished: readonly FinishedClaim[]): Promise<void> {
    const settlements: PendingSettlement[] = []
    for (const one of finished) {
      const settlement = decideSafely(one)
      if (settlement) settlements.push(settlement)
    }
    return writePending(settlements)
  }
  const settleBatched = createMicroBatcher(clock, settle)

  function start(claim: Claim, active: ActiveClaim): void {
    try {
      attempt(deps, claim, active.webhook, options.attemptDeadlineMs, (result) =>
        settleBatched({ claim: active, result, skipReason: undefined }),
      )
    } catch (thrown) {
      log.error({ reason: String(thrown), deliveryId: active.delivery.id }, 'building a request failed')
      settleBatched({ claim: active, result: undefined, skipReason: undefined })
    }
  }

  /** Why a claim is not sent; `undefined`: it is sent. */
  function skipReasonOf({ delivery, webhook }: ActiveClaim): 'expired' | 'cancelled' | undefined {
    if (cancelled?.has(webhook.id)) return 'cancelled'
    const { maxAgeSeconds } = webhook.settings
    if (maxAgeSeconds === undefined || delivery.replayOf !== undefined) return undefined
    return isExpired(delivery.eventTimestampMs, maxAgeSeconds, clock.now()) ? 'expired' : undefined
  }

  return {
    settleContext,
    writeSettlements: write,
    cancelUnsent,
    beginClaim() {
      cancelled = new Set()
      health.evictIdle()
    },
    get activeCount() {
      return activeClaims.count
    },
    idle: activeClaims.wait,
    startClaims({ claims, webhooks, endpoints }) {
      const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.webhookId, endpoint]))
      const skipped: FinishedClaim[] = []
      for (const claim of claims) {
        const { webhookId } = claim.delivery
        const active = acquireSlot(claim, webhooks.get(webhookId)!, endpointOf.get(webhookId)!)
        const skipReason = skipReasonOf(active)
        if (skipReason === undefined) start(claim, active)
        else skipped.push({ claim: active, result: undefined, skipReason })
      }
      cancelled = undefined
      if (skipped.length > 0) void settle(skipped)
    },
  }
}
