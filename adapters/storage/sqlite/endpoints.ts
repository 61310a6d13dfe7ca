import { type Health, isFailing, originOf, type ReadyEndpoint, type Webhook } from 'hookswitch/store'
import type { AccountKeys } from './account-keys.js'
import type { SqliteHandle } from './driver.js'
import { change, query } from './query.js'
import { recent } from './recent.js'
import { RETRY, UNTRIED } from './states.js'

/** A webhook as the queue sees it. */
export interface Endpoint {
  readonly key: number
  /** The key of its account. */
  readonly account: number
  webhook: Webhook
  origin: string
  /** When its earliest heads are due, of its own epoch: never tried, tried before. Infinity: none. NaN: ask. */
  untriedDueMs: number
  retryDueMs: number
}

/** Webhooks by key and by id; those in use are remembered as they are. */
export interface Endpoints {
  byKey(key: number): Endpoint | undefined
  byId(webhookId: string): Endpoint | undefined
  /** @param key one that was never given to another */
  insert(key: number, webhook: Webhook): void
  /** Another row for the same webhook. */
  replace(endpoint: Endpoint, webhook: Webhook): void
  /** The same row with this webhook's health. */
  replaceHealth(endpoint: Endpoint, webhook: Webhook): void
  remove(endpoint: Endpoint): void
  /** When its earliest head is due, not before its pause ends; `undefined`: idle. */
  dueMsOf(endpoint: Endpoint): number | undefined
  readiness(endpoint: Endpoint): ReadyEndpoint
  /** How often a webhook was made, changed or removed, since this began; what was rolled back counts too. */
  changes(): number
  forget(): void
}

/** More than one event can go to, so that its webhooks are read once. */
const REMEMBERED = 10_000

interface WebhookRow {
  readonly key: number
  readonly account: number
  readonly health: string | null
  readonly doc: string
}

export function endpoints(db: SqliteHandle, accounts: AccountKeys): Endpoints {
  const columns = 'select key, account, health, doc from hookswitch_webhook'
  const readByKey = query<WebhookRow>(db, `${columns} where key = ?`)
  const readById = query<WebhookRow>(db, `${columns} where id = ?`)
  const insert = db.prepare(
    `insert into hookswitch_webhook (key, id, account, hook, epoch, deleted_ms, health, doc)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const replace = change(
    db,
    'update hookswitch_webhook set hook = ?, epoch = ?, deleted_ms = ?, health = ?, doc = ? where key = ?',
  )
  const replaceHealth = change(db, 'update hookswitch_webhook set health = ? where key = ?')
  const remove = change(db, 'delete from hookswitch_webhook where key = ?')
  const due = query<{ readonly dueMs: number }>(
    db,
    `select due_ms as "dueMs" from hookswitch_delivery indexed by hookswitch_delivery_queue
    where webhook = ? and epoch = ? and state = ? and due_ms is not null and state <= 1
    order by due_ms limit 1`,
  )
  let changes = 0
  const byKey = recent<number, Endpoint>(REMEMBERED)
  const byId = recent<string, Endpoint>(REMEMBERED)

  function remember(row: WebhookRow): Endpoint {
    const webhook = webhookOf(row)
    const endpoint = newEndpoint(row.key, row.account, webhook)
    byKey.set(row.key, endpoint)
    byId.set(webhook.id, endpoint)
    return endpoint
  }

  const earliest = ({ key, webhook }: Endpoint, state: number): number =>
    due.get(key, webhook.epoch, state)?.dueMs ?? Number.POSITIVE_INFINITY

  const all: Endpoints = {
    byKey(key) {
      const known = byKey.get(key)
      if (known) return known
      const row = readByKey.get(key)
      return row && remember(row)
    },
    byId(webhookId) {
      const known = byId.get(webhookId)
      if (known) return known
      const row = readById.get(webhookId)
      const endpoint = row && (byKey.get(row.key) ?? remember(row))
      if (endpoint) byId.set(webhookId, endpoint)
      return endpoint
    },
    insert(key, webhook) {
      changes += 1
      const { health, ...row } = webhook
      const { id, accountId, settings, epoch, deletedMs = null } = row
      const account = accounts.make(accountId)
      insert.run(key, id, account, settings.hook, epoch, deletedMs, healthText(health), JSON.stringify(row))
    },
    replace(endpoint, webhook) {
      changes += 1
      const { health, ...row } = webhook
      const { epoch, deletedMs = null, settings } = row
      replace(settings.hook, epoch, deletedMs, healthText(health), JSON.stringify(row), endpoint.key)
      endpoint.webhook = webhook
      endpoint.origin = originOf(settings.uri)
      endpoint.untriedDueMs = endpoint.retryDueMs = Number.NaN
    },
    replaceHealth(endpoint, webhook) {
      changes += 1
      replaceHealth(healthText(webhook.health), endpoint.key)
      endpoint.webhook = webhook
    },
    remove(endpoint) {
      changes += 1
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
        dueMs: all.dueMsOf(endpoint),
      }
    },
    changes: () => changes,
    forget() {
      changes += 1
      byKey.clear()
      byId.clear()
    },
  }
  return all
}

function newEndpoint(key: number, account: number, webhook: Webhook): Endpoint {
  const ask = Number.NaN
  return { key, account, webhook, origin: originOf(webhook.settings.uri), untriedDueMs: ask, retryDueMs: ask }
}

function healthText(health: Health | undefined): string | null {
  return health === undefined ? null : JSON.stringify(health)
}

function webhookOf({ doc, health }: WebhookRow): Webhook {
  const webhook = JSON.parse(doc) as Webhook
  return health === null ? webhook : { ...webhook, health: JSON.parse(health) as Health }
}
