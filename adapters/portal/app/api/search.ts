/** Finds what an id belongs to: a webhook, a delivery, a call or an account; operators find accounts by name too. */
import type { Why } from 'hookswitch/client'
import type { Route } from '../text/routes.js'
import { accountRequest, request } from './api.js'

/** A row of `GET lookup`. */
export interface Found {
  /** `call`, `delivery`, `webhook`, `event`, `account`. */
  readonly type: string
  readonly id: string
  readonly account_id: string
  readonly account_name: string
  /** What it is called, such as the name of a webhook. */
  readonly label?: string
}

/** A number in an address would reach the logs of proxies. */
const NUMBER = /^(\+|[\d\s()./-]{7})[\d\s()./-]*$/

/** What became of a call, number, event or delivery: of an account, or of all. */
export async function findWhy(accountId: string | undefined, q: string, signal: AbortSignal) {
  const report =
    accountId === undefined
      ? request<Why>('PUT', '/system/why', { data: { q } }, signal)
      : accountRequest<Why>('PUT', '/why', { accountId, data: { q } }, signal)
  return { report: await report, atMs: Date.now() }
}

/** Searches in one account. */
export const findIn = async (
  accountId: string,
  text: string,
  signal: AbortSignal,
): Promise<readonly Found[]> =>
  NUMBER.test(text) ? [] : accountRequest('GET', '/lookup', { accountId, q: text }, signal)

/** Searches in all accounts. */
export const findAll = async (text: string, signal: AbortSignal): Promise<readonly Found[]> =>
  NUMBER.test(text) ? [] : request('GET', '/system/lookup', { q: text }, signal)

const SCREENS = ['call', 'delivery', 'webhook'] as const

/** The screen that shows it; `undefined`: none does. */
export function routeOf({ type, id, account_id }: Found): Omit<Route, 'query'> | undefined {
  if (type === 'account') return { screen: 'webhooks', accountId: account_id }
  const screen = SCREENS.find((name) => name === type)
  return screen && { screen, accountId: account_id, id }
}
