/** JSON of statistics and of lists of endpoints. */
import type { ListedEndpoint } from '../stats/endpoint-list.js'
import type { StatsSeries } from '../stats/series.js'
import { toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import type { JsonObject } from './webhook-json.js'

/** Returns the JSON of statistics; times in Gregorian seconds. */
export function statsJson({
  step,
  startMs,
  ok,
  failed,
  outcomes,
  latencyMs,
  completeToMs,
}: StatsSeries): JsonObject {
  const start = startMs.map(toGregorian)
  return { step, start, ok, failed, outcomes, latency_ms: latencyMs, complete_to: toGregorian(completeToMs) }
}

const isoTime = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toIsoTime(unixMs))

/** Returns the JSON of a webhook in a list of endpoints; times in ISO 8601. */
export function endpointJson(endpoint: ListedEndpoint): JsonObject {
  const { last } = endpoint
  return {
    id: endpoint.id,
    name: endpoint.name,
    uri: endpoint.uri,
    group: endpoint.group,
    state: endpoint.state,
    disable_reason: endpoint.disableReason,
    failures_in_row: endpoint.failuresInRow,
    failing_since: isoTime(endpoint.failingSinceMs),
    paused_until: isoTime(endpoint.pausedUntilMs),
    exhausted: endpoint.exhausted,
    pending: endpoint.pending,
    pending_capped: endpoint.isPendingCapped,
    oldest_due_at: isoTime(endpoint.oldestDueMs),
    last: last && {
      sent_at: toIsoTime(last.atMs),
      result: last.result,
      resp_status_code: last.status === undefined ? undefined : String(last.status),
    },
    spark: endpoint.spark,
  }
}

/** Returns the same for a list over all accounts. */
export function foundEndpointJson(endpoint: ListedEndpoint): JsonObject {
  return { account_id: endpoint.accountId, ...endpointJson(endpoint) }
}
