/** JSON of statistics and of lists of endpoints. */
import type { WebhookHealth } from '../stats/endpoint-health.js'
import type { ListedEndpoint, RankedEndpoint } from '../stats/endpoint-list.js'
import type { StatsSeries } from '../stats/series.js'
import { toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import { listedAttemptJson } from './attempt-json.js'
import type { JsonObject } from './webhook-json.js'

/** Returns the JSON of statistics; times in Gregorian seconds. */
export function statsJson({
  step,
  startMs,
  ok,
  failed,
  outcomes,
  causes,
  latencyMs,
  completeToMs,
}: StatsSeries): JsonObject {
  const start = startMs.map(toGregorian)
  const complete_to = toGregorian(completeToMs)
  return { step, start, ok, failed, outcomes, causes, latency_ms: latencyMs, complete_to }
}

const isoTime = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toIsoTime(unixMs))

/** Returns the JSON of a webhook in a list of endpoints; times in ISO 8601. */
export function endpointJson(endpoint: ListedEndpoint): JsonObject {
  const { last, pause } = endpoint
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
    pause: pause && { kind: pause.kind, since: toIsoTime(pause.sinceMs) },
    cause: endpoint.cause,
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
export function foundEndpointJson(
  endpoint: ListedEndpoint & Partial<Pick<RankedEndpoint, 'impact'>>,
  accountName?: string,
): JsonObject {
  const { accountId, impact } = endpoint
  return { account_id: accountId, account_name: accountName, ...endpointJson(endpoint), impact }
}

/** Returns the JSON of the health of one webhook; times in ISO 8601. */
export function webhookHealthJson(health: WebhookHealth): JsonObject {
  const { pause, lastAttempt } = health
  return {
    ...endpointJson(health),
    pause: pause && { kind: pause.kind, since: toIsoTime(pause.sinceMs), probes: pause.probes },
    last_attempt: lastAttempt && listedAttemptJson(lastAttempt),
    same_answers: health.sameAnswers,
    same_answers_capped: health.isSameAnswersCapped,
    not_delivered: health.notDelivered,
    not_delivered_capped: health.isNotDeliveredCapped,
    not_delivered_since: toIsoTime(health.notDeliveredSinceMs),
    oldest_accepted_at: isoTime(health.oldestAcceptedMs),
    oldest_expires_at: isoTime(health.oldestExpiresMs),
    max_age_seconds: health.maxAgeSeconds,
    disabled_at: isoTime(health.disabledMs),
    auto_disable_at: isoTime(health.autoDisableMs),
  }
}
