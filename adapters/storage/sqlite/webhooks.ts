import { HookswitchError, replacementOf, type Webhook, type WebhookStore } from 'hookswitch/store'
import { query } from './query.js'
import type { Synchronous } from './synchronous.js'
import type { Tools } from './tools.js'

export function webhookDoor(tools: Tools): Synchronous<WebhookStore> {
  const { db, memory, accounts, endpoints, stale, wake } = tools
  const live = query<{ readonly key: number }>(
    db,
    'select key from hookswitch_webhook where account = ? and deleted_ms is null',
  )
  const listening = query<{ readonly key: number }>(
    db,
    `select key from hookswitch_webhook indexed by hookswitch_webhook_account
    where account = ? and hook in (?, 'all') and deleted_ms is null`,
  )
  const anyWaits = query<object>(
    db,
    'select 1 from hookswitch_delivery indexed by hookswitch_delivery_queue where webhook = ? and state <= 1 limit 1',
  )
  const taken = (id: string) => new HookswitchError('Conflict', `this id is taken: ${id}`, { field: 'id' })

  function ofAccounts(
    accountIds: readonly string[],
    keysOf: (account: number) => readonly { readonly key: number }[],
  ): Webhook[] {
    const found: Webhook[] = []
    for (const accountId of new Set(accountIds)) {
      const account = accounts.find(accountId)
      if (account === undefined) continue
      for (const { key } of keysOf(account)) found.push(endpoints.byKey(key)!.webhook)
    }
    return found
  }

  return {
    insert(webhook) {
      if (endpoints.byId(webhook.id)) throw taken(webhook.id)
      endpoints.insert(memory.nextPosition(), webhook)
    },
    read(accountId, webhookId) {
      const webhook = endpoints.byId(webhookId)?.webhook
      return webhook?.accountId === accountId && webhook.deletedMs === undefined ? webhook : undefined
    },
    list: (accountIds) =>
      ofAccounts(accountIds, (account) => live.all(account)).sort(
        (a, b) => compare(a.settings.name, b.settings.name) || compare(a.id, b.id),
      ),
    candidates: (accountIds, hook) => ofAccounts(accountIds, (account) => listening.all(account, hook)),
    replace(next, expectedRevision) {
      const endpoint = endpoints.byId(next.id)
      const before = endpoint?.webhook
      if (!before || before.accountId !== next.accountId || before.deletedMs !== undefined) return false
      if (before.revision !== expectedRevision) return false

      const dueBefore = endpoints.dueMsOf(endpoint) ?? Number.POSITIVE_INFINITY
      endpoints.replace(endpoint, replacementOf(before, next))
      if (next.epoch > before.epoch && anyWaits.get(endpoint.key)) {
        stale.note(endpoint.key)
        wake(undefined)
      }
      const ready = endpoints.readiness(endpoint)
      if (ready.dueMs !== undefined && ready.dueMs < dueBefore) wake([ready])
      return true
    },
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
