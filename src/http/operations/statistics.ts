/** Statistics of webhooks, and lists of webhooks by their health. */
import { type Failure, notFound } from '../../errors.js'
import { checkSelection } from '../../runtime/trouble-selection.js'
import {
  ENDPOINT_STATES,
  type ListedEndpoint,
  listByImpact,
  listEndpoints as listStoredEndpoints,
  listUnhealthyEndpoints,
  MAX_ENDPOINTS,
  type TroubleSelection,
  UNHEALTHY_STATES,
} from '../../stats/endpoint-list.js'
import type { StatsRange } from '../../stats/series.js'
import { STATS_STEPS, type StatsStep } from '../../stats/slots.js'
import { toGregorian } from '../../values/gregorian-time.js'
import {
  decodeImpactPlace,
  decodeSortKey,
  encodeImpactPlace,
  encodeSortKey,
  type SortKey,
} from '../../wire/cursor.js'
import type { ListRequest } from '../../wire/list.js'
import { getQueryValue } from '../../wire/query.js'
import { endpointJson, foundEndpointJson, statsJson, webhookHealthJson } from '../../wire/stats-json.js'
import { parseSelection, toSelectionFailure } from '../../wire/webhook-job-json.js'
import type { JsonObject } from '../../wire/webhook-json.js'
import { decodeStart } from '../paginate.js'
import {
  accountIdOf,
  accountNames,
  enumValue,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
  translateFailures,
  webhookIds,
} from './context.js'

/** Orders of the list of unhealthy webhooks, other than by id. */
const SORTS = ['impact']
const STEPS: readonly string[] = STATS_STEPS.map(String)

function rangeOf(context: OperationContext): StatsRange {
  const { fromMs, toMs } = readListRequest(context)
  const step = enumValue(context, 'step', STEPS)
  return {
    ...(step !== undefined && { step: Number(step) as StatsStep }),
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
  }
}

const WIRE_NAMES: Readonly<Record<string, string>> = { fromMs: 'created_from', toMs: 'created_to' }

/** Names and times as in the query. */
function toWire({ path, rule, target, value }: Failure): Failure {
  const most = toGregorian(target as number)
  return {
    path: WIRE_NAMES[path] ?? path,
    rule,
    message: `Value must be at most ${most}`,
    target: most,
    value: toGregorian(value as number),
  }
}

export const readAccountStats: Operation = async (context) => {
  const stats = context.deps.webhooks.stats(accountIdOf(context), undefined, rangeOf(context))
  return { data: statsJson(await translateFailures(stats, toWire)) }
}

export const readWebhookStats: Operation = async (context) => {
  const stats = context.deps.webhooks.stats(...webhookIds(context), rangeOf(context))
  return { data: statsJson(await translateFailures(stats, toWire)) }
}

/** The place behind which the page begins. Throws `InvalidInput`. */
function placeOf(startKey: string | undefined): SortKey | undefined {
  return decodeStart(startKey, (key) => {
    const place = decodeSortKey(key)
    // NUL is in no stored text, and PostgreSQL refuses it.
    return place?.join('').includes('\0') ? undefined : place
  })
}

export const listEndpoints: Operation = async (context) => {
  const request = readListRequest(context)
  const state = enumValue(context, 'state', ENDPOINT_STATES)
  const search = getQueryValue(context.query, 'q')
  return listResult<ListedEndpoint, SortKey>(limited(request), {
    start: placeOf(request.startKey),
    async read(limit, after) {
      const { endpoints, next } = await listStoredEndpoints(
        context.deps.core().endpoints,
        accountIdOf(context),
        {
          limit,
          ...(state !== undefined && { states: [state] }),
          ...(search && { search }),
          ...(after && { after }),
        },
      )
      return { rows: endpoints, next }
    },
    placeOf: ({ name, id }) => [name, id],
    startKeyOf: encodeSortKey,
    toFilterJson: endpointJson,
    toItems: (rows) => rows.map(endpointJson),
    ...LIMITS,
  })
}

export const readWebhookHealth: Operation = async (context) => ({
  data: webhookHealthJson(await context.deps.webhooks.healthOf(...webhookIds(context))),
})

/** The JSON of these webhooks with the names of their accounts. */
async function foundJson(
  { deps }: OperationContext,
  endpoints: readonly ListedEndpoint[],
): Promise<readonly JsonObject[]> {
  const names = await accountNames(
    deps,
    endpoints.map(({ accountId }) => accountId),
  )
  return endpoints.map((endpoint) => foundEndpointJson(endpoint, names.get(endpoint.accountId)))
}

/** The conditions of the query. Throws `InvalidInput`. */
async function selectionOf(context: OperationContext): Promise<TroubleSelection> {
  const given = parseSelection((name) => getQueryValue(context.query, name))
  const selection = await translateFailures((async () => checkSelection(given))(), toSelectionFailure)
  const { accountId } = selection
  if (accountId !== undefined && (await context.deps.core().auth.lineages.lineage(accountId)).length === 0)
    throw notFound(accountId, 'account')
  const state = enumValue(context, 'state', UNHEALTHY_STATES)
  return { ...selection, ...(state !== undefined && { states: [state] }) }
}

/** A page of those that hurt most. Each page compares all that are selected. */
async function listRanked(context: OperationContext, selection: TroubleSelection): Promise<OperationResult> {
  const { pageSize, startKey, filter } = limited(readListRequest(context))
  const after = decodeStart(startKey, decodeImpactPlace)
  const { endpoints, next, isTruncated } = await listByImpact(context.deps.core().endpoints, {
    ...selection,
    limit: pageSize!,
    ...(after && { after }),
  })
  const all = await foundJson(context, endpoints)
  const items = filter ? all.filter(filter) : all
  const rest = { ...(next && { nextStartKey: encodeImpactPlace(next) }), ...(isTruncated && { isTruncated }) }
  return { data: items, page: { items, ...rest }, ...(startKey !== undefined && { startKey }) }
}

export const listUnhealthyWebhooks: Operation = async (context) => {
  const selection = await selectionOf(context)
  if (enumValue(context, 'sort', SORTS) !== undefined) return listRanked(context, selection)
  const request = readListRequest(context)
  return listResult<ListedEndpoint, string>(limited(request), {
    start: placeOf(request.startKey)?.[1],
    async read(limit, afterId) {
      const { endpoints, nextId } = await listUnhealthyEndpoints(context.deps.core().endpoints, {
        ...selection,
        limit,
        ...(afterId !== undefined && { afterId }),
      })
      return { rows: endpoints, next: nextId }
    },
    placeOf: ({ id }) => id,
    startKeyOf: (id) => encodeSortKey(['', id]),
    toFilterJson: (endpoint) => foundEndpointJson(endpoint),
    toItems: (rows) => foundJson(context, rows),
    ...LIMITS,
  })
}

/** A page has at most 200 webhooks, whatever `page_size` says: each costs a few look-ups. */
const limited = (request: ListRequest): ListRequest => ({
  ...request,
  pageSize: Math.min(request.pageSize ?? MAX_ENDPOINTS, MAX_ENDPOINTS),
})

/** Each webhook costs a few look-ups, also one that a filter drops. */
const LIMITS = { batchSize: MAX_ENDPOINTS, maxExamined: 10 * MAX_ENDPOINTS }
