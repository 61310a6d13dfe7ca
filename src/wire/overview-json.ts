/** JSON of the state of the service. */
import type { Overview } from '../delivery/overview.js'
import { toIsoTime } from '../values/iso-time.js'
import type { JsonObject } from './webhook-json.js'

/** Returns the JSON of the state of the service. */
export const overviewJson = (overview: Overview): JsonObject => ({
  pending: overview.pending,
  oldest_due_seconds: overview.oldestDueMs / 1000,
  in_flight: overview.inFlight,
  attempts_per_minute: overview.attemptsPerMinute,
  paused: overview.paused,
  failing: overview.failing,
  accounts_affected: overview.accountsAffected,
  causes: overview.causes,
  disabled: overview.disabled,
  disabled_capped: overview.isCapped,
  nodes: overview.nodes.map(({ node, aliveUntilMs, shards, leaving }) => ({
    node,
    alive_until: aliveUntilMs === undefined ? undefined : toIsoTime(aliveUntilMs),
    shards,
    leaving,
  })),
  store: { durable: overview.store.durable, shared: overview.store.sharedBetweenNodes },
  version: overview.version,
})
