/** Finds what an id belongs to: a webhook, a delivery or a call. */
import type { LookedUp } from 'hookswitch/client'
import type { Route } from '../text/routes.js'
import { accountRequest } from './api.js'

/** @returns the screen that shows it; `undefined` where the account has none */
export async function find(
  accountId: string,
  id: string,
): Promise<Pick<Route, 'screen' | 'accountId' | 'id'> | undefined> {
  const all = await accountRequest<readonly LookedUp[]>('GET', '/lookup', { accountId, q: id })
  for (const { type } of all)
    if (type !== 'event' && type !== 'account') return { screen: type, accountId, id }
  return undefined
}
