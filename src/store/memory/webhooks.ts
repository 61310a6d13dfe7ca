import { HookswitchError } from '../../errors.js'
import { deleteWebhook, type Webhook } from '../../webhooks/webhook.js'
import { applyReplacement } from '../engine/endpoint-change.js'
import { recordChange } from './changes.js'
import { notifyListeners } from './notify.js'
import { type Endpoint, innerMap, newEndpoint, type State } from './state.js'
import { addToOrder, removeFromOrder } from './webhook-order.js'

/** The webhooks port. Deleted webhooks stay as endpoints until their attempts are pruned. */

export function insert(state: State, webhook: Webhook): void {
  if (state.endpoints.has(webhook.id)) {
    throw new HookswitchError('Conflict', `this id is taken: ${webhook.id}`, { field: 'id' })
  }
  const endpoint = newEndpoint(state, webhook)
  state.endpoints.set(webhook.id, endpoint)
  const ofAccount = state.endpointsByAccount.get(webhook.accountId)
  if (ofAccount) ofAccount.push(endpoint)
  else state.endpointsByAccount.set(webhook.accountId, [endpoint])
  listen(state, endpoint)
}

export function read(state: State, accountId: string, webhookId: string): Webhook | undefined {
  const webhook = state.endpoints.get(webhookId)?.webhook
  return webhook?.accountId === accountId && webhook.deletedMs === undefined ? webhook : undefined
}

export function list(state: State, accountIds: readonly string[]): readonly Webhook[] {
  const found: Webhook[] = []
  for (const accountId of new Set(accountIds)) {
    for (const endpoints of state.liveByHook.get(accountId)?.values() ?? []) {
      for (const endpoint of endpoints) found.push(endpoint.webhook)
    }
  }
  return found.sort((a, b) => compare(a.settings.name, b.settings.name) || compare(a.id, b.id))
}

export function candidates(state: State, accountIds: readonly string[], hook: string): readonly Webhook[] {
  const found: Webhook[] = []
  for (const accountId of new Set(accountIds)) {
    const byHook = state.liveByHook.get(accountId)
    if (!byHook) continue
    for (const endpoint of byHook.get(hook) ?? []) found.push(endpoint.webhook)
    if (hook === 'all') continue
    for (const endpoint of byHook.get('all') ?? []) found.push(endpoint.webhook)
  }
  return found
}

export function unhealthy(state: State, limit: number, afterId = ''): readonly Webhook[] {
  const found: Webhook[] = []
  for (const { webhook } of state.endpoints.values()) {
    const { id, health, disableReason, deletedMs } = webhook
    if (deletedMs !== undefined || id <= afterId) continue
    if (health !== undefined || disableReason !== undefined) found.push(webhook)
  }
  return found.sort((a, b) => compare(a.id, b.id)).slice(0, limit)
}

export function ids(state: State, limit: number, afterId = ''): readonly Pick<Webhook, 'id' | 'accountId'>[] {
  const found: Webhook[] = []
  for (const { webhook } of state.endpoints.values())
    if (webhook.deletedMs === undefined && webhook.id > afterId) found.push(webhook)
  const sorted = found.sort((a, b) => compare(a.id, b.id)).slice(0, limit)
  return sorted.map(({ id, accountId }) => ({ id, accountId }))
}

export function replace(state: State, next: Webhook, expectedRevision: number): boolean {
  const endpoint = state.endpoints.get(next.id)
  const before = endpoint?.webhook
  if (!before || before.accountId !== next.accountId || before.deletedMs !== undefined) return false
  if (before.revision !== expectedRevision) return false

  unlisten(state, endpoint)
  endpoint.webhook = applyReplacement(before, next)
  if (next.deletedMs === undefined) listen(state, endpoint)
  noteChange(state, endpoint)
  return true
}

/** The owner of the webhook's shard has to read the changed row. */
export function noteChange(state: State, { shard, webhook }: Endpoint): void {
  recordChange(state, shard, { webhookId: webhook.id })
  notifyListeners(state)
}

/** Deletes all webhooks of an account; returns their ids. */
export function removeAll(state: State, accountId: string, nowMs: number): readonly string[] {
  const webhooks = list(state, [accountId])
  state.liveByName.delete(accountId)
  for (const webhook of webhooks) replace(state, deleteWebhook(webhook, nowMs), webhook.revision)
  return webhooks.map(({ id }) => id)
}

function listen(state: State, endpoint: Endpoint): void {
  addToOrder(state, endpoint)
  const { accountId, settings } = endpoint.webhook
  const byHook = innerMap(state.liveByHook, accountId)
  const endpoints = byHook.get(settings.hook)
  if (endpoints) endpoints.add(endpoint)
  else byHook.set(settings.hook, new Set([endpoint]))
}

function unlisten(state: State, endpoint: Endpoint): void {
  removeFromOrder(state, endpoint)
  const { accountId, settings } = endpoint.webhook
  const byHook = state.liveByHook.get(accountId)
  const endpoints = byHook?.get(settings.hook)
  endpoints?.delete(endpoint)
  if (endpoints?.size === 0) byHook?.delete(settings.hook)
  if (byHook?.size === 0) state.liveByHook.delete(accountId)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
