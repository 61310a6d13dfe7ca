/** Lists of attempts: of an account, a webhook, a call. */
import type { AttemptQuery } from '../../delivery/delivery-queries.js'
import { notFound } from '../../errors.js'
import { attemptJson } from '../../wire/attempt-json.js'
import { paginate } from '../paginate.js'
import {
  accountIdOf,
  entityIdOf,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
} from './context.js'

/** Call ids have 1 to 255 printable characters. No event can have another id, so the store is not queried for it. */
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

async function listMatchingAttempts(
  context: OperationContext,
  selection: Pick<AttemptQuery, 'webhookId' | 'callIds'>,
): Promise<OperationResult> {
  const accountId = accountIdOf(context)
  const request = readListRequest(context)
  const { rows, ...next } = await paginate(
    request,
    (batch) => context.backend.deliveries.attempts({ accountId, ...selection, ...batch }),
    attemptJson,
  )
  return listResult({ items: rows.map(attemptJson), ...next }, request)
}

export const listAttempts: Operation = (context) => listMatchingAttempts(context, {})

export const listWebhookAttempts: Operation = async (context) => {
  const webhookId = entityIdOf(context, 'webhookId')
  readListRequest(context)
  await context.backend.webhooks.read(accountIdOf(context), webhookId)
  return listMatchingAttempts(context, { webhookId })
}

export const listCallAttempts: Operation = async (context) => {
  const callId = context.params.callId!
  readListRequest(context)
  if (!CALL_ID.test(callId)) throw notFound(callId)
  const callIds = await context.backend.deliveries.legs(accountIdOf(context), callId)
  if (callIds.length === 0) throw notFound(callId)
  return listMatchingAttempts(context, { callIds })
}
