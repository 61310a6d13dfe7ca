/** For operators: the state of the service, and searches over the deliveries of all accounts. */
import type { DeliverySearch, StoredDelivery } from '../../delivery/delivery-queries.js'
import { DELIVERY_STATES } from '../../delivery/lifecycle.js'
import { searchDeliveries as search } from '../../runtime/delivery-views.js'
import { readOverview as readServiceOverview } from '../../runtime/overview.js'
import { validateHold } from '../../values/validators.generated.js'
import { holdSchema } from '../../wire/body-schemas.js'
import { decodePosition, encodePosition } from '../../wire/cursor.js'
import { foundDeliveryJson } from '../../wire/delivery-json.js'
import { holdsJson, parseHold } from '../../wire/hold-json.js'
import { MAX_PAGE_SIZE } from '../../wire/list.js'
import { overviewJson } from '../../wire/overview-json.js'
import { getQueryValue } from '../../wire/query.js'
import { decodeStart } from '../paginate.js'
import {
  enumValue,
  listResult,
  type Operation,
  pageResult,
  readListRequest,
  validateBody,
} from './context.js'
import { explainedJson, filteredStates } from './deliveries.js'
import { countWebhooks } from './webhook-jobs.js'

/** Deliveries per query. */
const BATCH_SIZE = 500

export const readOverview: Operation = async ({ deps }) => ({
  data: overviewJson(await readServiceOverview(deps.core())),
})

export const readHolds: Operation = async ({ deps }) => ({
  data: holdsJson(await deps.core().holds.read()),
})

export const setHold: Operation = async (context) => {
  const { isHeld, accountId, isDryRun } = parseHold(validateBody(context, holdSchema, validateHold))
  if (isDryRun) return countWebhooks(context, { action: 'hold', accountId })
  const { held, isChanged } = await context.deps.core().holds.set(isHeld, accountId)
  return { data: holdsJson(held), audit: isChanged && (() => ({ accountId, details: { isHeld } })) }
}

/** With `paginate=false` the largest page, since this list has no end. */
export const searchDeliveries: Operation = async (context) => {
  const { deps, query } = context
  const request = readListRequest(context)
  const state = enumValue(context, 'state', DELIVERY_STATES)
  const { startKey, fromMs, toMs } = request
  const start = decodeStart(startKey, decodePosition)
  const states = state === undefined ? filteredStates(context) : [state]
  if (states?.length === 0) return pageResult({ items: [] }, request)
  const selection: { -readonly [Name in keyof DeliverySearch]?: DeliverySearch[Name] } = {}
  const [accountId, webhookId, callId] = ['account_id', 'hook_id', 'call_id'].map((name) =>
    getQueryValue(query, name),
  )
  if (accountId !== undefined) selection.accountId = accountId
  if (webhookId !== undefined) selection.webhookId = webhookId
  if (callId !== undefined) selection.callId = callId
  if (states !== undefined) selection.states = states
  if (fromMs !== undefined) selection.fromMs = fromMs
  if (toMs !== undefined) selection.toMs = toMs
  return listResult<StoredDelivery, number>(
    { ...request, pageSize: request.pageSize ?? MAX_PAGE_SIZE },
    {
      start,
      async read(limit, after) {
        const page = { limit, ...(after !== undefined && { cursor: after }) }
        const found = await search(deps.core(), { ...selection, ...page })
        return { rows: found.deliveries, next: found.cursor }
      },
      placeOf: ({ position }) => position,
      startKeyOf: encodePosition,
      toFilterJson: (delivery) => foundDeliveryJson(delivery),
      toItems: (rows) => explainedJson(context, rows, foundDeliveryJson),
      batchSize: BATCH_SIZE,
    },
  )
}
