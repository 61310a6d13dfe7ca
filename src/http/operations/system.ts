/** For operators: the state of the service, and searches over the deliveries of all accounts. */
import type { DeliverySearch } from '../../delivery/delivery-queries.js'
import { DELIVERY_STATES } from '../../delivery/lifecycle.js'
import { invalidInput } from '../../errors.js'
import { decodePosition, encodePosition } from '../../wire/cursor.js'
import { foundDeliveryJson } from '../../wire/delivery-json.js'
import { invalidStartKey, MAX_PAGE_SIZE } from '../../wire/list.js'
import { overviewJson } from '../../wire/overview-json.js'
import { getQueryValue } from '../../wire/query.js'
import { enumValue, listResult, type Operation, readListRequest } from './context.js'
import { explainedJson } from './deliveries.js'

/** `page_size`; with `paginate=false` the largest page, since these lists have no end. */
const limitOf = (pageSize: number | undefined) => pageSize ?? MAX_PAGE_SIZE

export const readOverview: Operation = async ({ backend }) => ({
  data: overviewJson(await backend.overview()),
})

export const searchDeliveries: Operation = async (context) => {
  const { backend, query } = context
  const request = readListRequest(context)
  const state = enumValue(context, 'state', DELIVERY_STATES)
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
