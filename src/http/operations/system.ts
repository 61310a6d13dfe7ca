/** For operators: the state of the service, and searches over the deliveries of all accounts. */
import type { DeliverySearch } from '../../delivery/delivery-queries.js'
import { DELIVERY_STATES } from '../../delivery/lifecycle.js'
import { invalidInput } from '../../errors.js'
import { decodePosition, encodePosition } from '../../wire/cursor.js'
import { foundDeliveryJson } from '../../wire/delivery-json.js'
import { invalidStartKey, MAX_PAGE_SIZE } from '../../wire/list.js'
import { overviewJson } from '../../wire/overview-json.js'
import { getQueryValue } from '../../wire/query.js'
import { paginateSearch } from '../paginate.js'
import { enumValue, listResult, type Operation, readListRequest } from './context.js'
import { explainedJson, filteredStates } from './deliveries.js'

/** `page_size`; with `paginate=false` the largest page, since these lists have no end. */
const limitOf = (pageSize: number | undefined) => pageSize ?? MAX_PAGE_SIZE

/** Deliveries per query of a filtered search. */
const BATCH_SIZE = 500

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
  const states = state === undefined ? filteredStates(context) : [state]
  if (states?.length === 0) return listResult({ items: [] }, request)
  const search: { -readonly [Name in keyof DeliverySearch]?: DeliverySearch[Name] } = {}
  const [accountId, webhookId, callId] = ['account_id', 'hook_id', 'call_id'].map((name) =>
    getQueryValue(query, name),
  )
  if (accountId !== undefined) search.accountId = accountId
  if (webhookId !== undefined) search.webhookId = webhookId
  if (callId !== undefined) search.callId = callId
  if (states !== undefined) search.states = states
  if (fromMs !== undefined) search.fromMs = fromMs
  if (toMs !== undefined) search.toMs = toMs
  const { rows, next } = await paginateSearch(request, limitOf(request.pageSize), cursor, {
    async read(limit, after) {
      const page = { limit, ...(after !== undefined && { cursor: after }) }
      const found = await backend.deliveries.search({ ...search, ...page })
      return { rows: found.deliveries, next: found.cursor }
    },
    placeOf: ({ position }) => position,
    toJson: (delivery) => foundDeliveryJson(delivery),
    batchSize: BATCH_SIZE,
  })
  const items = await explainedJson(backend, rows, foundDeliveryJson)
  const nextPage = next === undefined ? {} : { nextStartKey: encodePosition(next) }
  return listResult({ items, ...nextPage }, request)
}
