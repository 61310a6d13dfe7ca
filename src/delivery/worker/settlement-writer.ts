import type { Clock, Log } from '../../ports.js'
import type { DeliveryStore, Settlement, SettlementResult } from '../delivery-store.js'
import { type NotificationDeps, notifySettlement, type SettlementWrite } from './delivery-notifications.js'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

export type { SettlementWrite } from './delivery-notifications.js'

export interface SettlementWriterDeps extends NotificationDeps {
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly log: Log
}

/**
 * Writes settlements, retrying until the store accepts them, then notifies the host. Meanwhile their
 * deliveries stay in flight and so limit new claims. Gives up (`undefined`) only after `signal` aborts: the
 * next owner of the shard, or this node after a restart, finds these deliveries as orphans.
 *
 * @param refresh returns the settlement to write in this try: endpoint health may have changed while it
 *   waited
 * @param now store time of each try, ms
 */
export async function writeSettlements(
  deps: SettlementWriterDeps,
  writes: readonly SettlementWrite[],
  refresh: (settlement: Settlement) => Settlement,
  now: () => number,
  signal: AbortSignal,
): Promise<readonly SettlementResult[] | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    let results: readonly SettlementResult[]
    try {
      results = await deps.store.settle(
        writes.map(({ settlement }) => refresh(settlement)),
        now(),
      )
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : 'unknown'
      deps.log.warn({ reason, deliveries: writes.length }, 'writing settlements failed, retrying')
      if (signal.aborted) return undefined
      await deps.clock.sleep(pauseMs, signal)
      continue
    }
    const atMs = now()
    writes.forEach((write, index) => {
      const { delivery } = write
      try {
        notifySettlement(deps, write, results[index]!, atMs)
      } catch (thrown) {
        // The settlement is written: a notification may fail, the processing of its result may not.
        deps.log.error({ reason: String(thrown), deliveryId: delivery.id }, 'a delivery notification failed')
      }
    })
    return results
  }
}
