/** Deliveries with an explanation of their state. */
import type { StoredDelivery } from '../../delivery/delivery-queries.js'
import { DELIVERY_STATES, type DeliveryState } from '../../delivery/lifecycle.js'
import {
  explain,
  listDeliveries as listStored,
  readParties,
  toStoreTime,
} from '../../runtime/delivery-views.js'
import { deliveryJson } from '../../wire/delivery-json.js'
import { filterValues } from '../../wire/filter.js'
import type { JsonObject } from '../../wire/webhook-json.js'
import type { ApiDeps } from '../api-deps.js'
import { positionedRows } from '../paginate.js'
import { listPart } from './attempts.js'
import {
  accountIdOf,
  entityIdOf,
  listResult,
  type Operation,
  type OperationContext,
  readListRequest,
  webhookIds,
} from './context.js'

/** Deliveries explained concurrently; each explanation may query the store. */
const EXPLAIN_CONCURRENCY = 16

/** @param isListed leaves out what was observed at the last attempt */
const explanationOf = async ({ core }: ApiDeps, delivery: StoredDelivery, isListed: boolean) =>
  explain(core(), toStoreTime(core(), delivery), isListed)

/** @param toJson the JSON of a delivery with its explanation */
export async function explainedJson(
  { deps }: OperationContext,
  deliveries: readonly StoredDelivery[],
  toJson = deliveryJson,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = []
  const parties = await readParties(deps.core(), deliveries)
  for (let start = 0; start < deliveries.length; start += EXPLAIN_CONCURRENCY) {
    const batch = deliveries.slice(start, start + EXPLAIN_CONCURRENCY)
    const explanations = await Promise.all(batch.map((delivery) => explanationOf(deps, delivery, true)))
    items.push(
      ...batch.map((delivery, index) => toJson(delivery, explanations[index]!, parties[start + index])),
    )
  }
  return items
}

/** The states that `filter_state` selects, for an index of the store; `undefined`: all. */
export function filteredStates({ query }: OperationContext): readonly DeliveryState[] | undefined {
  const wanted = filterValues(query, 'state')
  return wanted && DELIVERY_STATES.filter((state) => wanted.includes(state))
}

export const listDeliveries: Operation = async (context) => {
  const { core, webhooks } = context.deps
  const [accountId, webhookId] = webhookIds(context)
  const request = readListRequest(context)
  await webhooks.read(accountId, webhookId)
  const states = filteredStates(context)
  const selection = { accountId, webhookId, ...(states && { states }) }
  const isSparse = states !== undefined || request.fromMs !== undefined || request.toMs !== undefined
  const source = positionedRows<StoredDelivery>(request, {
    async read(batch) {
      // Lets other work run before each further batch; the first one is read at once.
      if (batch.cursor !== undefined) await core().clock.yield()
      return listStored(core(), { ...selection, ...batch })
    },
    ...(isSparse && {
      part: (query) => listPart(context, { list: 'deliveries', ...selection, ...query }),
    }),
    // Filters apply to every field but the explanation, which would cost a store query per row.
    toFilterJson: (delivery) => deliveryJson(delivery),
    toItems: (rows) => explainedJson(context, rows),
  })
  return listResult(request, source)
}

export const readDelivery: Operation = async (context) => {
  const { deps } = context
  const delivery = await deps.webhooks.delivery(accountIdOf(context), entityIdOf(context, 'deliveryId'))
  const [explanation, [parties]] = await Promise.all([
    explanationOf(deps, delivery, false),
    readParties(deps.core(), [delivery]),
  ])
  return { data: deliveryJson(delivery, explanation, parties) }
}
