/** Webhooks. The store owns their health: `applyReplacement` decides whether a replacement keeps or clears it. */
import { applyReplacement, HookswitchError, shardOf, type Webhook, type WebhookStore } from 'hookswitch/store'
import { candidateReader } from './candidates.js'
import { createOwnerVersions } from './owner-versions.js'
import { type WebhookRow, webhookColumns, webhookOf } from './rows.js'
import type { Deps, Queue } from './session-deps.js'
import { pageStatement, webhookStatements } from './sql/webhooks.js'
import type { Statement } from './statement.js'

export function postgresWebhooks(
  { session, schema }: Pick<Deps, 'session' | 'schema'>,
  queue: Pick<Queue, 'notify'>,
): WebhookStore {
  const sql = webhookStatements(schema)
  const { candidates } = candidateReader({ session, schema })
  const versions = createOwnerVersions(schema)
  const many = async (statement: Statement, values: readonly unknown[]) =>
    (await session.query<WebhookRow>(statement, values)).map(webhookOf)

  return {
    async insert(webhook) {
      const { id, accountId, settings, revision, epoch, deletedMs = null } = webhook
      const { shard, doc, health } = webhookColumns(webhook)
      const columns = [
        ...[id, accountId, settings.hook, revision, epoch, deletedMs],
        ...[shard, doc, health, sortKeyOf(settings.name)],
      ]
      const inserted = await session.query(sql.insert, columns)
      if (inserted.length > 0) return
      throw new HookswitchError('Conflict', `this id is taken: ${id}`, { field: 'id' })
    },
    async read(accountId, webhookId) {
      const [row] = await session.query<WebhookRow>(sql.read, [webhookId, accountId])
      return row && webhookOf(row)
    },
    async list(accountIds) {
      const found = await many(sql.list, [accountIds])
      return found.sort((a, b) => compare(a.settings.name, b.settings.name) || compare(a.id, b.id))
    },
    page(accountId, { after, ascending, limit, onlyTroubled = false }) {
      const statement = pageStatement(schema, { ascending, isAfter: after !== undefined, onlyTroubled })
      return many(statement, [accountId, limit, ...(after ?? []).map(sortKeyOf)])
    },
    candidates,
    unhealthy: (limit, afterId = '') => many(sql.unhealthy, [limit, afterId]),
    ids: (limit, afterId = '') => session.query<Pick<Webhook, 'id' | 'accountId'>>(sql.ids, [limit, afterId]),
    async replace(next, expectedRevision) {
      const shard = shardOf(next.id)
      const written = session.transaction(async (tx) => {
        const raised = await versions.raise(tx, [shard])
        const [row] = await tx.query<WebhookRow>(sql.lock, [next.id, next.accountId, expectedRevision])
        if (!row) throw new Refused()
        await tx.query(sql.replace, valuesOf(applyReplacement(webhookOf(row), next)))
        await versions.record(tx, raised, [{ webhookId: next.id }])
        return true
      })
      const isWritten = await written.catch((thrown: unknown) => {
        if (thrown instanceof Refused) return false
        queue.notify(shard)
        throw thrown
      })
      if (isWritten) queue.notify(shard)
      return isWritten
    },
  }
}

/** The name of a webhook, or a text of a cursor, as a value of a column: PostgreSQL's texts have no NUL. */
export const sortKeyOf = (name: string): string => name.replaceAll('\0', '')

/** Rolls back: the webhook is gone, or has another revision. */
class Refused extends Error {}

/** The values of the statement `replace`. */
export function valuesOf(webhook: Webhook): readonly unknown[] {
  const { id, settings, revision, epoch, deletedMs = null } = webhook
  const { doc, health } = webhookColumns(webhook)
  return [id, settings.hook, revision, epoch, deletedMs, doc, health, sortKeyOf(settings.name)]
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
