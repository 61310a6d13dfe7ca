import type { Core } from './core.js'
import type { GaugeReading } from './metrics.js'

/** The gauges of a running instance as they stand: this node's own, and what the store says where it answers. */
export async function readGauges({ dispatcher, store }: Core): Promise<readonly GaugeReading[]> {
  const { inFlight, oldestDueMs, open, halfOpen } = dispatcher.overview()
  const own: readonly GaugeReading[] = [
    { name: 'hookswitch_in_flight', value: inFlight },
    { name: 'hookswitch_oldest_due_seconds', value: oldestDueMs / 1000 },
    { name: 'hookswitch_breakers', label: 'open', value: open },
    { name: 'hookswitch_breakers', label: 'half_open', value: halfOpen },
  ]
  const pending = await store.deliveries.pending().catch(() => undefined)
  return pending === undefined ? own : [...own, { name: 'hookswitch_deliveries_pending', value: pending }]
}
