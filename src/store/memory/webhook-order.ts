/**
 * The webhooks of an account in order of name, then id. An account's order is built when its first page is read, so that
 * accounts whose lists nobody reads cost nothing, and is kept by binary search from then on.
 */
import { compareCodePoints } from '../../values/code-points.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { positionOf, type WebhookPosition, type WebhookQuery } from '../../webhooks/webhook-store.js'
import type { Endpoint, State } from './state.js'

const compare = (a: WebhookPosition, b: WebhookPosition) =>
  compareCodePoints(a[0], b[0]) || compareCodePoints(a[1], b[1])

/** Index of the first webhook at or behind the position; with `isBehind`, only behind it. */
function indexOf(order: readonly Endpoint[], position: WebhookPosition, isBehind = false): number {
  let low = 0
  let high = order.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const result = compare(positionOf(order[middle]!.webhook), position)
    if (result < 0 || (isBehind && result === 0)) low = middle + 1
    else high = middle
  }
  return low
}

function orderOf(state: State, accountId: string): readonly Endpoint[] {
  const known = state.liveByName.get(accountId)
  if (known) return known
  const sets = state.liveByHook.get(accountId)
  if (!sets) return []
  const order = [...sets.values()].flatMap((endpoints) => [...endpoints])
  order.sort((a, b) => compare(positionOf(a.webhook), positionOf(b.webhook)))
  state.liveByName.set(accountId, order)
  return order
}

/** Adds a webhook that is not in the order of its account. */
export function addToOrder(state: State, endpoint: Endpoint): void {
  const order = state.liveByName.get(endpoint.webhook.accountId)
  order?.splice(indexOf(order, positionOf(endpoint.webhook)), 0, endpoint)
}

/** Removes a webhook, by its present name. */
export function removeFromOrder(state: State, { webhook }: Endpoint): void {
  const order = state.liveByName.get(webhook.accountId)
  if (!order) return
  order.splice(indexOf(order, positionOf(webhook)), 1)
  if (order.length === 0) state.liveByName.delete(webhook.accountId)
}

/** One page of the webhooks of an account. */
export function page(
  state: State,
  accountId: string,
  { after, ascending, limit, onlyTroubled = false }: WebhookQuery,
): readonly Webhook[] {
  const order = orderOf(state, accountId)
  const step = ascending ? 1 : -1
  const found: Webhook[] = []
  let index = ascending
    ? after
      ? indexOf(order, after, true)
      : 0
    : (after ? indexOf(order, after) : order.length) - 1
  for (; index >= 0 && index < order.length && found.length < limit; index += step) {
    const { webhook } = order[index]!
    if (!onlyTroubled || webhook.health !== undefined || !webhook.settings.enabled) found.push(webhook)
  }
  return found
}
