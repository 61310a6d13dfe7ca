/**
 * Scans the store for work that caused no wake-up: orphans of crashed nodes, deliveries of disabled or
 * deleted webhooks, and endpoints with due deliveries.
 */
import type { Clock, Log } from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { DeliveryStore, ReadyEndpoint, Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import { type SettleContext, settleInterrupted, settleSkipped } from './settle.js'
import type { SettlementWrite } from './worker/settlement-writer.js'

const BATCH_SIZE = 100
/** Pause after the store failed, ms. */
const PAUSE_MS = 250

export interface RecoveryDeps {
  readonly store: DeliveryStore
  readonly owner: string
  settleContext(webhook: Webhook): SettleContext
  writeSettlements(writes: readonly SettlementWrite[]): Promise<unknown>
  /**
   * Cancels the requests of a webhook that was disabled or deleted, perhaps on another node, of which no byte
   * has been sent yet.
   */
  cancelUnsent(webhookId: string): void
  /** Aborted: no further batch is started. */
  readonly stopping: AbortSignal
}

/**
 * Settles everything that `find` returns, in batches, each delivery once; returns the number of deliveries.
 */
async function settleAll(
  deps: RecoveryDeps,
  find: (owner: string, limit: number) => Promise<readonly Delivery[]>,
  decide: (delivery: Delivery, context: SettleContext) => Settlement,
): Promise<number> {
  const { store, owner } = deps
  const handled = new Set<string>()
  while (!deps.stopping.aborted) {
    const found = (await find(owner, BATCH_SIZE)).filter(({ id }) => !handled.has(id))
    if (found.length === 0) return handled.size
    const writes: SettlementWrite[] = []
    for (const delivery of found) {
      handled.add(delivery.id)
      const webhook = await store.webhookOf(delivery.webhookId)
      if (webhook) writes.push({ delivery, settlement: decide(delivery, deps.settleContext(webhook)) })
    }
    if (writes.length > 0) await deps.writeSettlements(writes)
  }
  return handled.size
}

/**
 * Records an interrupted attempt for each orphan, and makes it due again or quarantines it; returns their
 * number.
 */
export function recoverOrphans(deps: RecoveryDeps): Promise<number> {
  return settleAll(deps, deps.store.orphans, (delivery, context) =>
    settleInterrupted(delivery, 'crashed', context),
  )
}

/** Cancels the waiting deliveries of disabled and deleted webhooks; returns their number. */
export function cancelStale(deps: RecoveryDeps): Promise<number> {
  const cancelled = new Set<string>()
  return settleAll(deps, deps.store.stale, (delivery, context) => {
    const { webhookId } = delivery
    if (!cancelled.has(webhookId)) {
      cancelled.add(webhookId)
      deps.cancelUnsent(webhookId)
    }
    return settleSkipped(delivery, 'cancelled', context)
  })
}

export interface Recovery {
  /** Requests a scan that begins after this call; resolves when it has ended. One scan runs at a time. */
  scan(): Promise<void>
  /** Resolves when no scan is running. */
  idle(): Promise<void>
}

/** @param onReady gets every endpoint that is not idle, at the end of each scan */
export function startRecovery(
  deps: RecoveryDeps & { readonly clock: Clock; readonly log: Log },
  onReady: (endpoints: readonly ReadyEndpoint[]) => void,
): Recovery {
  const { store, owner, clock, log, stopping } = deps
  let isRequested = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (isRequested && !stopping.aborted) {
      isRequested = false
      try {
        await recoverOrphans(deps)
        await cancelStale(deps)
        onReady(await store.ready(owner))
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : 'unknown'
        log.warn({ reason }, 'scanning for work failed, retrying')
        isRequested = true
        await clock.sleep(PAUSE_MS, stopping)
      }
    }
  }

  function scan(): Promise<void> {
    isRequested = true
    running ??= run().finally(() => {
      running = undefined
      // Requested between the end of the last scan and this callback.
      if (isRequested && !stopping.aborted) return scan()
    })
    return running
  }

  return { scan, idle: async () => running }
}
