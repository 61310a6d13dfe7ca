/** The backlog and the last attempt of webhooks. */
import type { DeliveryReads, EndpointActivity } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { Synchronous } from './synchronous.js'

/** Parameters: key and epoch of the webhook, limit. */
const PENDING_SQL = `select count(*) as pending, min(due) as "oldestDueMs", min(accepted_ms) as "oldestAcceptedMs"
  from (
    select accepted_ms, coalesce(due_ms, accepted_ms) as due from hookswitch_waiting indexed by hookswitch_waiting_webhook
    where webhook = ? and epoch >= ? order by position limit ? + 0
  )`

/**
 * The newest attempt among the newest records of a webhook. `doc` begins with result, id, retries left, attempt and status;
 * its twelfth element is the cause (`attempt-doc`). Parameter: key of the webhook.
 */
const LAST_ATTEMPT_SQL = (
  records: number,
) => `select at_ms as "atMs", substr(doc, 1, 2) = '[1' as "isSuccess",
    json_extract(doc, '$[4]') as status, json_extract(doc, '$[11]') as cause
  from (
    select key, at_ms, doc from hookswitch_attempt indexed by hookswitch_attempt_webhook
    where webhook = ? and doc is not null order by key desc limit ${records}
  ) where json_extract(doc, '$[3]') is not null order by key desc limit 1`

const MAX_RECORDS = 1_000

interface PendingRow {
  readonly pending: number
  readonly oldestDueMs: number | null
  readonly oldestAcceptedMs: number | null
}

interface LastRow {
  readonly atMs: number
  readonly isSuccess: number
  readonly status: number | null
  readonly cause: string | null
}

export function createActivityQuery({
  prepareQuery,
  endpoints,
}: EngineContext): Synchronous<DeliveryReads>['activity'] {
  const pendingOf = prepareQuery<PendingRow>(PENDING_SQL)
  // The newest record nearly always is an attempt; the longer query sorts a thousand.
  const newestOf = prepareQuery<LastRow>(LAST_ATTEMPT_SQL(1))
  const lastOf = prepareQuery<LastRow>(LAST_ATTEMPT_SQL(MAX_RECORDS))

  return (webhookIds, maxPending) => {
    const found = new Map<string, EndpointActivity>()
    for (const webhookId of webhookIds) {
      const endpoint = endpoints.byId(webhookId)
      if (!endpoint) continue
      const { key, webhook } = endpoint
      const { pending, oldestDueMs, oldestAcceptedMs } = pendingOf.get(key, webhook.epoch, maxPending)!
      const last = newestOf.get(key) ?? lastOf.get(key)
      found.set(webhookId, {
        pending,
        ...(oldestDueMs !== null && { oldestDueMs }),
        ...(oldestAcceptedMs !== null && { oldestAcceptedMs }),
        ...(last && { last: lastAttempt(last) }),
      })
    }
    return found
  }
}

function lastAttempt({ atMs, isSuccess, status, cause }: LastRow): NonNullable<EndpointActivity['last']> {
  const result = isSuccess === 1 ? 'success' : 'failure'
  return { atMs, result, ...(status !== null && { status }), ...(cause !== null && { cause }) }
}
