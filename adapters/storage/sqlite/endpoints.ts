/** Webhooks: stored in `hookswitch_webhook`; recently used ones are cached. */
import type { Health, Webhook } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import type { AccountKeys } from './account-keys.js'
import type { Statements } from './query.js'

/** A webhook as a receiver of deliveries. */
export interface CachedEndpoint {
  readonly key: number
  /** The key of its account. */
  readonly account: number
  webhook: Webhook
}

/** Webhooks by key and by id. */
export interface Endpoints {
  byKey(key: number): CachedEndpoint | undefined
  byId(webhookId: string): CachedEndpoint | undefined
  /** @param key must never have been used for another webhook */
  insert(key: number, webhook: Webhook): void
  /** Writes the whole row: an edit. */
  replace(endpoint: CachedEndpoint, webhook: Webhook): void
  /** Writes the health only, which is no edit. */
  replaceHealth(endpoint: CachedEndpoint, webhook: Webhook): void
  remove(endpoint: CachedEndpoint): void
  /** Number of inserts, edits and removals since the engine was created, including those that were rolled back. */
  version(): number
  invalidate(): void
}

/** More webhooks than one event can match, so that an event reads its webhooks once. */
const MAX_CACHED = 20_000

/** A row of `hookswitch_webhook`. */
export interface WebhookRow {
  readonly key: number
  readonly account: number
  readonly health: string | null
  readonly doc: string
}

/** @param edited called in the transaction of each edit, with the key of the webhook */
export function createEndpoints(
  { prepareQuery, prepareChange }: Statements,
  accounts: AccountKeys,
  edited: (key: number) => void,
): Endpoints {
  const columns = 'select key, account, health, doc from hookswitch_webhook'
  const readByKey = prepareQuery<WebhookRow>(`${columns} where key = ?`)
  const readById = prepareQuery<WebhookRow>(`${columns} where id = ?`)
  const insert = prepareChange(
    `insert into hookswitch_webhook (key, id, account, hook, epoch, deleted_ms, health, doc)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const replace = prepareChange(
    'update hookswitch_webhook set hook = ?, epoch = ?, deleted_ms = ?, health = ?, doc = ? where key = ?',
  )
  const replaceHealth = prepareChange('update hookswitch_webhook set health = ? where key = ?')
  const remove = prepareChange('delete from hookswitch_webhook where key = ?')
  const removeRequests = prepareChange('delete from hookswitch_request where webhook = ?')
  let version = 0
  // Bounded by size: `max` would allocate the memory of all entries at once.
  const limit = { maxSize: MAX_CACHED, sizeCalculation: () => 1 }
  const byKey = new LRUCache<number, CachedEndpoint>(limit)
  const byId = new LRUCache<string, CachedEndpoint>(limit)

  function cache(row: WebhookRow): CachedEndpoint {
    const endpoint = { key: row.key, account: row.account, webhook: webhookOf(row) }
    byKey.set(row.key, endpoint)
    byId.set(endpoint.webhook.id, endpoint)
    return endpoint
  }

  return {
    byKey(key) {
      const cached = byKey.get(key)
      if (cached) return cached
      const row = readByKey.get(key)
      return row && cache(row)
    },
    byId(webhookId) {
      const cached = byId.get(webhookId)
      if (cached) return cached
      const row = readById.get(webhookId)
      const endpoint = row && (byKey.get(row.key) ?? cache(row))
      if (endpoint) byId.set(endpoint.webhook.id, endpoint)
      return endpoint
    },
    insert(key, webhook) {
      version += 1
      const { health, ...row } = webhook
      const { id, accountId, settings, epoch, deletedMs = null } = row
      const account = accounts.findOrCreate(accountId)
      insert(key, id, account, settings.hook, epoch, deletedMs, healthJson(health), JSON.stringify(row))
    },
    replace(endpoint, webhook) {
      version += 1
      const { health, ...row } = webhook
      const { epoch, deletedMs = null, settings } = row
      replace(settings.hook, epoch, deletedMs, healthJson(health), JSON.stringify(row), endpoint.key)
      endpoint.webhook = webhook
      edited(endpoint.key)
    },
    replaceHealth(endpoint, webhook) {
      replaceHealth(healthJson(webhook.health), endpoint.key)
      endpoint.webhook = webhook
    },
    remove({ key, webhook }) {
      version += 1
      remove(key)
      removeRequests(key)
      byKey.delete(key)
      byId.delete(webhook.id)
    },
    version: () => version,
    invalidate() {
      version += 1
      byKey.clear()
      byId.clear()
    },
  }
}

function healthJson(health: Health | undefined): string | null {
  return health === undefined ? null : JSON.stringify(health)
}

export function webhookOf({ doc, health }: WebhookRow): Webhook {
  const webhook = JSON.parse(doc) as Webhook
  return health === null ? webhook : { ...webhook, health: JSON.parse(health) as Health }
}
