import type { GaugeReading } from '../metrics.js'
import type { Core } from './core.js'

/** Current gauge values: those of this node, plus the store's pending count unless the store is unavailable. */
export async function readGauges({ dispatcher, store }: Core): Promise<readonly GaugeReading[]> {
  const { inFlight, oldestDueMs, open, halfOpen } = dispatcher.stats()
  const local: readonly GaugeReading[] = [
    { name: 'hookswitch_in_flight', value: inFlight },
    { name: 'hookswitch_oldest_due_seconds', value: oldestDueMs / 1000 },
    { name: 'hookswitch_breakers', label: 'open', value: open },
    { name: 'hookswitch_breakers', label: 'half_open', value: halfOpen },
  ]
  const pending = await store.deliveries.pending().catch(() => undefined)
  return pending === undefined ? local : [...local, { name: 'hookswitch_deliveries_pending', value: pending }]
}
