import { type Health, type Webhook, webhookAfter } from 'hookswitch/store'
import { healthColumns, webhookColumns } from './rows.js'
import type { Transaction } from './session.js'
import type { OwnedEntry } from './settle-entry.js'
import { settleStatements, type WebhookLockedRow } from './sql/settle.js'

type Locked = ReadonlyMap<number, Webhook>

/** What settlements change of webhooks: health, and disabling. */
export function changesIn(schema: string) {
  const sql = settleStatements(schema)
  return {
    /**
     * Locks the webhooks that may change, so that health never goes back, and those for which something waits again, so
     * that their epoch stays; as they are.
     */
    async lock<Item extends OwnedEntry>(tx: Transaction, entries: readonly Item[]): Promise<Locked> {
      const keys = new Set<number>()
      const disabling = new Set<string>()
      for (const { settlement, key } of entries) {
        const { endpoint, next, webhookId } = settlement
        if (endpoint || next.state === 'waiting') keys.add(key)
        if (endpoint?.disable) disabling.add(webhookId)
      }
      if (keys.size === 0) return new Map()
      const statement = disabling.size > 0 ? sql.lockAll : sql.lock
      const rows = await tx.query<WebhookLockedRow>(statement, [[...keys], [...disabling]])
      return new Map(rows.map((row) => [row.key, lockedWebhook(row)]))
    },

    /** Writes what these settlements change, in their order; the webhooks that were disabled, by who disabled them. */
    async write<Item extends OwnedEntry>(
      tx: Transaction,
      locked: Locked,
      done: readonly Item[],
    ): Promise<ReadonlyMap<Item, Webhook>> {
      const now = new Map(locked)
      const disabled = new Map<Item, Webhook>()
      for (const entry of done) {
        const { settlement, key } = entry
        const before = settlement.endpoint && now.get(key)
        if (!before) continue
        const after = webhookAfter(before, settlement.endpoint)
        now.set(key, after)
        if (after.epoch !== before.epoch) disabled.set(entry, after)
      }
      const changed = [...now].filter(([key, webhook]) => webhook !== locked.get(key))
      if (changed.length > 0) await tx.query(sql.change, changeValues(changed, locked))
      return disabled
    },
  }
}

/** Whole where it may be disabled; else only what a change of health looks at. */
function lockedWebhook({ id, epoch, health, doc }: WebhookLockedRow): Webhook {
  const row = doc === null ? ({ id, epoch } as Webhook) : (JSON.parse(doc) as Webhook)
  return health === null ? row : Object.assign(row, { health: JSON.parse(health) as Health })
}

function changeValues(changed: readonly (readonly [number, Webhook])[], locked: Locked): readonly unknown[] {
  const health = changed.map(([, webhook]) => healthColumns(webhook.health))
  const isDisabled = ([key, webhook]: readonly [number, Webhook]) => webhook.epoch !== locked.get(key)!.epoch
  return [
    changed.map(([key]) => key),
    health.map((columns) => columns.health),
    health.map(({ pausedMs }) => pausedMs),
    health.map(({ failing }) => failing),
    health.map(({ probed }) => probed),
    changed.map(([, { epoch }]) => epoch),
    changed.map((one) => (isDisabled(one) ? one[1].revision : null)),
    changed.map((one) => (isDisabled(one) ? webhookColumns(one[1]).doc : null)),
  ]
}
