/** Creates, reads, lists and replaces webhooks, and finds an event's candidates. `settle.ts` writes their health. */
import { applyReplacement, idConflict, type Webhook, type WebhookStore } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { type WebhookRow, webhookOf } from './endpoints.js'
import type { Synchronous } from './synchronous.js'

/** The search for a text spares most documents the function that parses them. */
const TROUBLED = `and (health is not null or instr(doc, '"enabled":false') > 0 and json_extract(doc, '$.settings.enabled') = 0)`

/** Parameters: account, name and id behind which the page begins if `isAfter`, limit. */
function pageSql(ascending: boolean, isAfter: boolean, onlyTroubled: boolean): string {
  const direction = ascending ? 'asc' : 'desc'
  const after = isAfter ? `and (sort_key, id) ${ascending ? '>' : '<'} (?, ?)` : ''
  return `select key, account, health, doc from hookswitch_webhook indexed by hookswitch_webhook_sorted
    where account = ? and deleted_ms is null ${after} ${onlyTroubled ? TROUBLED : ''}
    order by sort_key ${direction}, id ${direction} limit ? + 0`
}

export function createWebhookStore(context: EngineContext): Synchronous<WebhookStore> {
  const { prepareQuery, prepareBoth, state, accounts, endpoints, notify } = context
  const ofAccount = prepareQuery<{ readonly key: number }>(
    'select key from hookswitch_webhook where account = ? and deleted_ms is null',
  )
  const ofAccountAndHook = prepareQuery<{
    readonly key: number
  }>(`select key from hookswitch_webhook indexed by hookswitch_webhook_account
    where account = ? and hook in (?, 'all') and deleted_ms is null`)
  const preparePages = (onlyTroubled: boolean) => {
    const page = (isAfter: boolean) =>
      prepareBoth<WebhookRow>((ascending) => pageSql(ascending, isAfter, onlyTroubled))
    return { first: page(false), next: page(true) }
  }
  const [allPages, troubledPages] = [preparePages(false), preparePages(true)]
  const withProblem = prepareQuery<{ readonly key: number }>(`select key from hookswitch_webhook
    where deleted_ms is null and id > ?
      and (health is not null or instr(doc, '"disableReason":') > 0 and json_extract(doc, '$.disableReason') is not null)
    order by id limit ? + 0`)
  const idsAfter = prepareQuery<{ readonly id: string; readonly account: number }>(
    'select id, account from hookswitch_webhook where deleted_ms is null and id > ? order by id limit ? + 0',
  )

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
      if (endpoints.byId(webhook.id)) throw idConflict(webhook.id)
      endpoints.insert(state.nextKey(), webhook)
    },
    read(accountId, webhookId) {
      const webhook = endpoints.byId(webhookId)?.webhook
      return webhook?.accountId === accountId && webhook.deletedMs === undefined ? webhook : undefined
    },
    list: (accountIds) =>
      ofAccounts(accountIds, (account) => ofAccount.all(account)).sort(
        (a, b) => compare(a.settings.name, b.settings.name) || compare(a.id, b.id),
      ),
    page(accountId, { after, ascending, limit, onlyTroubled }) {
      const account = accounts.find(accountId)
      if (account === undefined) return []
      const { first, next } = onlyTroubled ? troubledPages : allPages
      const rows = after
        ? next(ascending).all(account, ...after, limit)
        : first(ascending).all(account, limit)
      // Not through the cache: a long list would replace what deliveries need.
      return rows.map(webhookOf)
    },
    candidates: (accountIds, hook) =>
      ofAccounts(accountIds, (account) => ofAccountAndHook.all(account, hook)),
    unhealthy: (limit, afterId = '') =>
      withProblem.all(afterId, limit).map(({ key }) => endpoints.byKey(key)!.webhook),
    ids: (limit, afterId = '') =>
      idsAfter.all(afterId, limit).map(({ id, account }) => ({ id, accountId: accounts.idOf(account) })),
    replace(next, expectedRevision) {
      const endpoint = endpoints.byId(next.id)
      const before = endpoint?.webhook
      if (!before || before.accountId !== next.accountId || before.deletedMs !== undefined) return false
      if (before.revision !== expectedRevision) return false

      endpoints.replace(endpoint, applyReplacement(before, next))
      notify()
      return true
    },
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
