import type { AttemptQuery } from '../../delivery/delivery-queries.js'
import { notFound } from '../../errors.js'
import { attemptDoc } from '../../wire/attempt-doc.js'
import { fillPage } from '../fill-page.js'
import { type Answer, accountOf, type Call, idOf, listAnswer, listRequestOf, type Perform } from './call.js'

/** Ids of calls are 1 to 255 printable characters: others nobody published, and no store need be asked. */
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

async function attemptsOf(call: Call, of: Pick<AttemptQuery, 'webhookId' | 'callIds'>): Promise<Answer> {
  const accountId = accountOf(call)
  const request = listRequestOf(call)
  const { rows, ...next } = await fillPage(
    request,
    (batch) => call.service.deliveries.attempts({ accountId, ...of, ...batch }),
    attemptDoc,
  )
  return listAnswer({ items: rows.map(attemptDoc), ...next }, request)
}

export const listAttempts: Perform = (call) => attemptsOf(call, {})

export const listWebhookAttempts: Perform = async (call) => {
  const webhookId = idOf(call, 'webhookId')
  listRequestOf(call)
  await call.service.webhooks.read(accountOf(call), webhookId)
  return attemptsOf(call, { webhookId })
}

export const listCallAttempts: Perform = async (call) => {
  const callId = call.params.callId!
  listRequestOf(call)
  if (!CALL_ID.test(callId)) throw notFound(callId)
  const callIds = await call.service.deliveries.legs(accountOf(call), callId)
  if (callIds.length === 0) throw notFound(callId)
  return attemptsOf(call, { callIds })
}
