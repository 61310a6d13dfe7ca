/** For operators: the state of the service, webhooks of all accounts that need attention, and deliveries. */
import type { DeliverySearch } from '../../delivery/delivery-queries.js'
import type { DeliveryState } from '../../delivery/lifecycle.js'
import { type Failure, invalidInput } from '../../errors.js'
import type { UnhealthyState } from '../../webhooks/manage.js'
import { decodePosition, decodeSortKey, encodePosition, encodeSortKey } from '../../wire/cursor.js'
import { foundDeliveryJson } from '../../wire/delivery-json.js'
import { invalidStartKey, MAX_PAGE_SIZE } from '../../wire/list.js'
import { overviewJson } from '../../wire/overview-json.js'
import { getQueryValue } from '../../wire/query.js'
import { unhealthyWebhookJson } from '../../wire/webhook-json.js'
import { listResult, type Operation, type OperationContext, readListRequest } from './context.js'
import { explainedJson } from './deliveries.js'

const UNHEALTHY_STATES: readonly UnhealthyState[] = ['failing', 'paused', 'disabled']
const DELIVERY_STATES: readonly DeliveryState[] = [
  'waiting',
  'in_flight',
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
  'quarantined',
]

/** The `state` of the query, if any. Throws `InvalidInput`. */
function stateOf<State extends string>(
  { query }: OperationContext,
  states: readonly State[],
): State | undefined {
  const value = getQueryValue(query, 'state')
  const state = states.find((known) => known === value)
  if (value === undefined || state !== undefined) return state
  const message = 'Value not found in enumerated list of values'
  const failure: Failure = { path: 'state', rule: 'enum', message, target: states, value }
  throw invalidInput([failure])
}

/** `page_size`; with `paginate=false` the largest page, since these lists have no end. */
const limitOf = (pageSize: number | undefined) => pageSize ?? MAX_PAGE_SIZE

export const readOverview: Operation = async ({ backend }) => ({
  data: overviewJson(await backend.overview()),
})

export const listUnhealthyWebhooks: Operation = async (context) => {
  const request = readListRequest(context)
  const state = stateOf(context, UNHEALTHY_STATES)
  const { startKey, pageSize } = request
  const afterId = startKey === undefined ? undefined : decodeSortKey(startKey)?.[1]
  if (startKey !== undefined && afterId === undefined) throw invalidInput([invalidStartKey(startKey)])
  const { webhooks, nextId } = await context.backend.webhooks.unhealthy({
    limit: limitOf(pageSize),
    ...(state !== undefined && { states: [state] }),
    ...(afterId !== undefined && { afterId }),
  })
  const next = nextId === undefined ? {} : { nextStartKey: encodeSortKey(['', nextId]) }
  return listResult({ items: webhooks.map(unhealthyWebhookJson), ...next }, request)
}

export const searchDeliveries: Operation = async (context) => {
  const { backend, query } = context
  const request = readListRequest(context)
  const state = stateOf(context, DELIVERY_STATES)
  const { startKey, fromMs, toMs } = request
  const cursor = startKey === undefined ? undefined : decodePosition(startKey)
  if (startKey !== undefined && cursor === undefined) throw invalidInput([invalidStartKey(startKey)])
  const search: { -readonly [Name in keyof DeliverySearch]: DeliverySearch[Name] } = {
    limit: limitOf(request.pageSize),
  }
  const [accountId, webhookId, callId] = ['account_id', 'hook_id', 'call_id'].map((name) =>
    getQueryValue(query, name),
  )
  if (accountId !== undefined) search.accountId = accountId
  if (webhookId !== undefined) search.webhookId = webhookId
  if (callId !== undefined) search.callId = callId
  if (state !== undefined) search.states = [state]
  if (fromMs !== undefined) search.fromMs = fromMs
  if (toMs !== undefined) search.toMs = toMs
  if (cursor !== undefined) search.cursor = cursor
  const found = await backend.deliveries.search(search)
  const items = await explainedJson(backend, found.deliveries, foundDeliveryJson)
  const next = found.cursor === undefined ? {} : { nextStartKey: encodePosition(found.cursor) }
  return listResult({ items, ...next }, request)
}
