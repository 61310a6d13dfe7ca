/** Finds what an id belongs to: a call, a delivery or a webhook. */
import type { Route } from '../text/routes.js'
import { accountPage, accountRequest, optional } from './api.js'

/** Ids of webhooks and deliveries; others are ids of calls only. */
const ID = /^[A-Za-z0-9_-]{1,64}$/

/** @returns the screen that shows it; `undefined` where the account has none */
export async function find(
  accountId: string,
  id: string,
): Promise<Pick<Route, 'screen' | 'accountId' | 'id'> | undefined> {
  const isId = ID.test(id)
  const [call, delivery, webhook] = await Promise.all([
    optional(accountPage('/calls/{call_id}/attempts', { accountId, callId: id, pageSize: 1 })),
    isId
      ? optional(accountRequest('GET', '/deliveries/{delivery_id}', { accountId, deliveryId: id }))
      : undefined,
    isId
      ? optional(accountRequest('GET', '/webhooks/{webhook_id}', { accountId, webhookId: id }))
      : undefined,
  ])
  if (delivery) return { screen: 'delivery', accountId, id }
  if (webhook) return { screen: 'webhook', accountId, id }
  return call ? { screen: 'call', accountId, id } : undefined
}
