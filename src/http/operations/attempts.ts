/** Lists of attempts: of an account, a webhook, a call, a delivery. */
import type { AttemptQuery } from '../../delivery/delivery-queries.js'
import type { ListPart, PartQuery } from '../../delivery/list-part.js'
import { invalidInput } from '../../errors.js'
import { nextPart } from '../../runtime/delivery-views.js'
import { attemptJson, listedAttemptJson, slimAttemptJson } from '../../wire/attempt-json.js'
import { filterValues } from '../../wire/filter.js'
import { parseFlag } from '../../wire/list.js'
import { positionedRows } from '../paginate.js'
import {
  accountIdOf,
  entityIdOf,
  enumValue,
  legsOf,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
  webhookIds,
} from './context.js'

/** Lets other work run before each further batch of a long list; the first batch is read at once. */
async function readBatch({ deps }: OperationContext, query: AttemptQuery) {
  const { clock, store } = deps.core()
  if (query.cursor !== undefined) await clock.yield()
  return store.deliveries.attempts(query)
}

/** As `readBatch`. */
export async function listPart({ deps }: OperationContext, query: PartQuery): Promise<ListPart> {
  const core = deps.core()
  if (query.cursor !== undefined) await core.clock.yield()
  return nextPart(core, query)
}

async function listMatchingAttempts(
  context: OperationContext,
  selection: Pick<AttemptQuery, 'webhookId' | 'deliveryId' | 'callIds'>,
): Promise<OperationResult> {
  const accountId = accountIdOf(context)
  const request = readListRequest(context)
  const isSlim = readSlim(context)
  const hasBodies = enumValue(context, 'include', INCLUDABLE) !== undefined
  const toJson = isSlim ? slimAttemptJson : hasBodies ? attemptJson : listedAttemptJson
  const onlyFailures = selectsFailures(context) ? { onlyFailures: true } : {}
  const hooks = filterValues(context.query, 'hook_event')
  const slim = isSlim && !filtersByContents(context) ? { slim: true } : {}
  const { webhookId, deliveryId, callIds } = selection
  const isSparse = hooks !== undefined || request.fromMs !== undefined || request.toMs !== undefined
  const list = { accountId, ...(webhookId !== undefined && { webhookId }), ...(hooks && { hooks }) }
  const source = positionedRows(request, {
    // A delivery or a call has few attempts.
    ...(isSparse &&
      deliveryId === undefined &&
      !callIds && { part: (query) => listPart(context, { list: 'attempts', ...list, ...query }) }),
    read: (batch) => readBatch(context, { ...list, ...selection, ...onlyFailures, ...slim, ...batch }),
    hasBodies: true,
    toFilterJson: attemptJson,
    toItems: (rows) => rows.map(toJson),
  })
  return listResult(request, source)
}

/** Values of `include`: `bodies` are whole recorded bodies. */
const INCLUDABLE = ['bodies']

const SUCCESS_STATUS = /^2\d\d$/

/** Whether the filters can match failures only: the store finds these faster than a filter does. */
function selectsFailures({ query }: OperationContext): boolean {
  const results = filterValues(query, 'result')
  const statuses = filterValues(query, 'resp_status_code')
  return (
    results?.includes('success') === false ||
    (statuses !== undefined && !statuses.some((status) => SUCCESS_STATUS.test(status)))
  )
}

const CONTENTS = /(req|resp)_(headers|body)/

/** Whether a filter may read headers or bodies. */
function filtersByContents({ query }: OperationContext): boolean {
  return [...query].some(([name, value]) => CONTENTS.test(name) || CONTENTS.test(value))
}

/** `slim` of the query. Throws `InvalidInput`. */
function readSlim({ query }: OperationContext): boolean {
  const isSlim = parseFlag(query, 'slim') ?? false
  if (typeof isSlim === 'object') throw invalidInput([isSlim])
  return isSlim
}

export const listAttempts: Operation = (context) => listMatchingAttempts(context, {})

export const listWebhookAttempts: Operation = async (context) => {
  const [accountId, webhookId] = webhookIds(context)
  readListRequest(context)
  await context.deps.webhooks.read(accountId, webhookId)
  return listMatchingAttempts(context, { webhookId })
}

export const listDeliveryAttempts: Operation = async (context) => {
  const deliveryId = entityIdOf(context, 'deliveryId')
  readListRequest(context)
  await context.deps.webhooks.delivery(accountIdOf(context), deliveryId)
  return listMatchingAttempts(context, { deliveryId })
}

export const listCallAttempts: Operation = async (context) => {
  readListRequest(context)
  const callIds = await legsOf(context)
  return listMatchingAttempts(context, { callIds })
}
