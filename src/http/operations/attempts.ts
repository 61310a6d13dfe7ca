/** Lists of attempts: of an account, a webhook, a call, a delivery. */
import type { AttemptQuery } from '../../delivery/delivery-queries.js'
import { invalidInput } from '../../errors.js'
import { attemptJson, slimAttemptJson } from '../../wire/attempt-json.js'
import { parseFlag } from '../../wire/list.js'
import { paginate } from '../paginate.js'
import {
  accountIdOf,
  entityIdOf,
  legsOf,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
} from './context.js'

async function listMatchingAttempts(
  context: OperationContext,
  selection: Pick<AttemptQuery, 'webhookId' | 'deliveryId' | 'callIds'>,
): Promise<OperationResult> {
  const accountId = accountIdOf(context)
  const request = readListRequest(context)
  const isSlim = readSlim(context)
  const { rows, ...next } = await paginate(
    request,
    (batch) => context.backend.deliveries.attempts({ accountId, ...selection, ...batch }),
    attemptJson,
  )
  return listResult({ items: rows.map(isSlim ? slimAttemptJson : attemptJson), ...next }, request)
}

/** `slim` of the query. Throws `InvalidInput`. */
function readSlim({ query }: OperationContext): boolean {
  const isSlim = parseFlag(query, 'slim') ?? false
  if (typeof isSlim === 'object') throw invalidInput([isSlim])
  return isSlim
}

export const listAttempts: Operation = (context) => listMatchingAttempts(context, {})

export const listWebhookAttempts: Operation = async (context) => {
  const webhookId = entityIdOf(context, 'webhookId')
  readListRequest(context)
  await context.backend.webhooks.read(accountIdOf(context), webhookId)
  return listMatchingAttempts(context, { webhookId })
}

export const listDeliveryAttempts: Operation = async (context) => {
  const deliveryId = entityIdOf(context, 'deliveryId')
  readListRequest(context)
  await context.backend.deliveries.read(accountIdOf(context), deliveryId)
  return listMatchingAttempts(context, { deliveryId })
}

export const listCallAttempts: Operation = async (context) => {
  readListRequest(context)
  const callIds = await legsOf(context)
  return listMatchingAttempts(context, { callIds })
}
