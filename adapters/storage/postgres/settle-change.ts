/** What settlements change of webhooks: their health, and disabling. */
import { applyEndpointChange, type Health, type Webhook } from 'hookswitch/store'
import { healthColumns, webhookColumns } from './rows.js'
import type { Transaction } from './session.js'
import type { OwnedEntry } from './settle-locate.js'
import { type LockedWebhookRow, settleStatements } from './sql/settle.js'

type LockedWebhooks = ReadonlyMap<number, Webhook>

export function createWebhookUpdates(schema: string) {
  const sql = settleStatements(schema)
  return {
    /**
     * Locks and reads the webhooks that may change, so that no health is lost, and those with a delivery that goes back
     * to waiting, so that their epoch does not change.
     */
    async lock<Item extends OwnedEntry>(tx: Transaction, entries: readonly Item[]): Promise<LockedWebhooks> {
      const keys = new Set<number>()
      const disabling = new Set<string>()
      for (const { settlement, key } of entries) {
        const { endpoint, next, webhookId } = settlement
        if (endpoint || next.state === 'waiting') keys.add(key)
        if (endpoint?.disable) disabling.add(webhookId)
      }
      if (keys.size === 0) return new Map()
      const statement = disabling.size > 0 ? sql.lockToDisable : sql.lock
      const rows = await tx.query<LockedWebhookRow>(statement, [[...keys], [...disabling]])
      return new Map(rows.map((row) => [row.key, lockedWebhook(row)]))
    },

    /**
     * Applies the settlements in their order. Returns the webhooks that were disabled, by the entry that disabled them.
     */
    async write<Item extends OwnedEntry>(
      tx: Transaction,
      locked: LockedWebhooks,
      written: readonly Item[],
    ): Promise<ReadonlyMap<Item, Webhook>> {
      const current = new Map(locked)
      const disabled = new Map<Item, Webhook>()
      for (const entry of written) {
        const { settlement, key } = entry
        const before = settlement.endpoint && current.get(key)
        if (!before) continue
        const after = applyEndpointChange(before, settlement.endpoint)
        current.set(key, after)
        if (after.epoch !== before.epoch) disabled.set(entry, after)
      }
      const changed = [...current].filter(([key, webhook]) => webhook !== locked.get(key))
      if (changed.length > 0) await tx.query(sql.change, changeValues(changed, locked))
      return disabled
    },
  }
}

/** The whole webhook where it may be disabled; otherwise only what a change of health reads. */
function lockedWebhook({ id, epoch, health, doc }: LockedWebhookRow): Webhook {
  const row = doc === null ? ({ id, epoch } as Webhook) : (JSON.parse(doc) as Webhook)
  return health === null ? row : Object.assign(row, { health: JSON.parse(health) as Health })
}

function changeValues(
  changed: readonly (readonly [number, Webhook])[],
  locked: LockedWebhooks,
): readonly unknown[] {
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
