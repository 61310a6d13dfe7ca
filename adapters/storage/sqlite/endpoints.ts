/** Webhooks as endpoints: stored in `hookswitch_webhook`, cached with the due times of their lane heads. */
import { type Health, isFailing, originOf, type ReadyEndpoint, type Webhook } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import type { AccountKeys } from './account-keys.js'
import type { SqliteHandle } from './driver.js'
import { prepareChange, prepareQuery } from './query.js'

import { RETRY, UNTRIED } from './state-codes.js'

/** A webhook as a receiver of deliveries. */
export interface CachedEndpoint {
  readonly key: number
  /** The key of its account. */
  readonly account: number
  webhook: Webhook
  origin: string
  /** When the earliest never-tried head of the current epoch is due. Infinity: none. NaN: not read yet. */
  untriedDueMs: number
  /** The same of heads that wait for a retry. */
  retryDueMs: number
}

/** Webhooks by key and by id; recently used ones are cached. */
export interface Endpoints {
  byKey(key: number): CachedEndpoint | undefined
  byId(webhookId: string): CachedEndpoint | undefined
  /** @param key must never have been used for another webhook */
  insert(key: number, webhook: Webhook): void
  /** Writes the whole row. */
  replace(endpoint: CachedEndpoint, webhook: Webhook): void
  /** Writes the health only. */
  replaceHealth(endpoint: CachedEndpoint, webhook: Webhook): void
  remove(endpoint: CachedEndpoint): void
  /** When its earliest head is due, at the earliest when its pause ends; `undefined`: it is idle. */
  dueMsOf(endpoint: CachedEndpoint): number | undefined
  readiness(endpoint: CachedEndpoint): ReadyEndpoint
  /** Number of inserts, changes and removals since the engine was created, including those that were rolled back. */
  version(): number
  invalidate(): void
}

/** More webhooks than one event can match, so that an event reads its webhooks once. */
const MAX_CACHED = 20_000

interface WebhookRow {
  readonly key: number
  readonly account: number
  readonly health: string | null
  readonly doc: string
}

export function createEndpoints(db: SqliteHandle, accounts: AccountKeys): Endpoints {
  const columns = 'select key, account, health, doc from hookswitch_webhook'
  const readByKey = prepareQuery<WebhookRow>(db, `${columns} where key = ?`)
  const readById = prepareQuery<WebhookRow>(db, `${columns} where id = ?`)
  const insert = db.prepare(
    `insert into hookswitch_webhook (key, id, account, hook, epoch, deleted_ms, health, doc)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const replace = prepareChange(
    db,
    'update hookswitch_webhook set hook = ?, epoch = ?, deleted_ms = ?, health = ?, doc = ? where key = ?',
  )
  const replaceHealth = prepareChange(db, 'update hookswitch_webhook set health = ? where key = ?')
  const remove = prepareChange(db, 'delete from hookswitch_webhook where key = ?')
  const due = prepareQuery<{ readonly dueMs: number }>(
    db,
    `select due_ms as "dueMs" from hookswitch_delivery indexed by hookswitch_delivery_queue
    where webhook = ? and epoch = ? and state = ? and due_ms is not null and state <= 1
    order by due_ms limit 1`,
  )
  let version = 0
  // Bounded by size: `max` would allocate the memory of all entries at once.
  const limit = { maxSize: MAX_CACHED, sizeCalculation: () => 1 }
  const byKey = new LRUCache<number, CachedEndpoint>(limit)
  const byId = new LRUCache<string, CachedEndpoint>(limit)

  function cache(row: WebhookRow): CachedEndpoint {
    const webhook = webhookOf(row)
    const endpoint = createEndpoint(row.key, row.account, webhook)
    byKey.set(row.key, endpoint)
    byId.set(webhook.id, endpoint)
    return endpoint
  }

  const earliest = ({ key, webhook }: CachedEndpoint, state: number): number =>
    due.get(key, webhook.epoch, state)?.dueMs ?? Number.POSITIVE_INFINITY

  const endpoints: Endpoints = {
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
      if (endpoint) byId.set(webhookId, endpoint)
      return endpoint
    },
    insert(key, webhook) {
      version += 1
      const { health, ...row } = webhook
      const { id, accountId, settings, epoch, deletedMs = null } = row
      const account = accounts.findOrCreate(accountId)
      insert.run(key, id, account, settings.hook, epoch, deletedMs, healthJson(health), JSON.stringify(row))
    },
    replace(endpoint, webhook) {
      version += 1
      const { health, ...row } = webhook
      const { epoch, deletedMs = null, settings } = row
      replace(settings.hook, epoch, deletedMs, healthJson(health), JSON.stringify(row), endpoint.key)
      endpoint.webhook = webhook
      endpoint.origin = originOf(settings.uri)
      endpoint.untriedDueMs = endpoint.retryDueMs = Number.NaN
    },
    replaceHealth(endpoint, webhook) {
      version += 1
      replaceHealth(healthJson(webhook.health), endpoint.key)
      endpoint.webhook = webhook
    },
    remove(endpoint) {
      version += 1
      remove(endpoint.key)
      byKey.delete(endpoint.key)
      byId.delete(endpoint.webhook.id)
    },
    dueMsOf(endpoint) {
      const { webhook } = endpoint
      if (webhook.deletedMs !== undefined) return undefined
      if (Number.isNaN(endpoint.untriedDueMs)) endpoint.untriedDueMs = earliest(endpoint, UNTRIED)
      if (Number.isNaN(endpoint.retryDueMs)) endpoint.retryDueMs = earliest(endpoint, RETRY)
      const dueMs = Math.min(endpoint.untriedDueMs, endpoint.retryDueMs)
      if (dueMs === Number.POSITIVE_INFINITY) return undefined
      return Math.max(dueMs, webhook.health?.pausedUntilMs ?? dueMs)
    },
    readiness(endpoint) {
      const { webhook, origin } = endpoint
      const { id: webhookId, accountId } = webhook
      return {
        webhookId,
        accountId,
        origin,
        failing: isFailing(webhook.health),
        dueMs: endpoints.dueMsOf(endpoint),
      }
    },
    version: () => version,
    invalidate() {
      version += 1
      byKey.clear()
      byId.clear()
    },
  }
  return endpoints
}

function createEndpoint(key: number, account: number, webhook: Webhook): CachedEndpoint {
  const origin = originOf(webhook.settings.uri)
  return { key, account, webhook, origin, untriedDueMs: Number.NaN, retryDueMs: Number.NaN }
}

function healthJson(health: Health | undefined): string | null {
  return health === undefined ? null : JSON.stringify(health)
}

function webhookOf({ doc, health }: WebhookRow): Webhook {
  const webhook = JSON.parse(doc) as Webhook
  return health === null ? webhook : { ...webhook, health: JSON.parse(health) as Health }
}
