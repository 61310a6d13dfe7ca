import { type GaugeReading, NETWORKS, NODE_PARTS } from '../metrics.js'
import type { Core } from './core.js'
import { readNodeHealth } from './node-health.js'

/** Current gauge values: those of this node, and the pending deliveries of all nodes as far as this one knows. */
export async function readGauges(core: Core): Promise<readonly GaugeReading[]> {
  const { clock, dispatcher, streams, history, storeWatch } = core
  const { problems, outages } = readNodeHealth(core)
  const { inFlight, oldestDueMs, open, halfOpen, queue } = dispatcher.stats()
  return [
    { name: 'hookswitch_in_flight', value: inFlight },
    { name: 'hookswitch_oldest_due_seconds', value: oldestDueMs / 1000 },
    { name: 'hookswitch_oldest_waiting_seconds', label: 'pending', value: queue.oldestPendingMs / 1000 },
    { name: 'hookswitch_oldest_waiting_seconds', label: 'held', value: queue.oldestHeldMs / 1000 },
    { name: 'hookswitch_account_backlog_ratio', value: queue.largestAccountRatio },
    { name: 'hookswitch_endpoints', value: queue.endpoints },
    { name: 'hookswitch_endpoints_paused', label: 'waiting', value: open },
    { name: 'hookswitch_endpoints_paused', label: 'probing', value: halfOpen },
    { name: 'hookswitch_streams', value: streams.count },
    { name: 'hookswitch_deliveries_pending', value: dispatcher.pending() },
    { name: 'hookswitch_deliveries_pending_limit', value: history.limits.maxPending },
    { name: 'hookswitch_history_bytes', value: history.bytes },
    { name: 'hookswitch_history_limit_bytes', value: history.limits.maxHistoryBytes ?? 0 },
    ...NETWORKS.map(
      (network): GaugeReading => ({
        name: 'hookswitch_outage_start_timestamp_seconds',
        label: network,
        value: (outages.find((outage) => outage.network === network)?.sinceMs ?? 0) / 1000,
      }),
    ),
    ...NODE_PARTS.map(
      (label): GaugeReading => ({
        name: 'hookswitch_node_problem',
        label,
        value: problems.some(({ part }) => part === label) ? 1 : 0,
      }),
    ),
    { name: 'hookswitch_last_commit_timestamp_seconds', value: (storeWatch.lastCommitMs() ?? 0) / 1000 },
    { name: 'hookswitch_feed_lag_seconds', value: (clock.monotonic() - dispatcher.readMs()) / 1000 },
    { name: 'hookswitch_clock_deviation_seconds', value: clock.deviationMs() / 1000 },
  ]
}
