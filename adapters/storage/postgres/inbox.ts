/** Inbox entries: written in the host's transactions, on its connections, and read by the owner of their shard. */
import { HookswitchError, type InboxEntry, type InboxStore, inboxShard } from 'hookswitch/store'
import type { Deps } from './session-deps.js'
import { type InboxRow, inboxStatements, insertRows } from './sql/inbox.js'

/** The part of the host's `pg.Client` or `pg.PoolClient` that is used. */
interface HostClient {
  query(query: { readonly text: string; readonly values: unknown[] }): Promise<unknown>
  /** Since pg 8.17: `I` idle, `T` in a transaction, `E` in a failed one, null before the first answer. */
  getTransactionStatus?(): string | null
}

export function postgresInbox({
  session,
  schema,
  clock,
}: Pick<Deps, 'session' | 'schema' | 'clock'>): InboxStore {
  const sql = inboxStatements(schema)
  return {
    async put(tx, entries) {
      assertHostClient(tx)
      assertInTransaction(tx)
      const values = entries.flatMap((entry) => {
        const { id, accountId, callId = null, event, traceparent = null } = entry
        return [inboxShard(entry), id, accountId, callId, event, traceparent]
      })
      try {
        // Not a prepared statement: a pooler in front of the host's connections may not support them.
        await tx.query({ text: insertRows(schema, entries.length), values })
      } catch (thrown) {
        throw isMissingTable(thrown) ? otherDatabase(thrown) : thrown
      }
    },
    async staged(owner, limit) {
      const rows = await session.query<InboxRow>(sql.staged, [owner, limit, clock?.now() ?? null])
      return rows.map(entryOf)
    },
  }
}

function entryOf({ id, accountId, callId, event, traceparent }: InboxRow): InboxEntry {
  return {
    id,
    accountId,
    event,
    ...(callId === null ? {} : { callId }),
    ...(traceparent === null ? {} : { traceparent }),
  }
}

function assertHostClient(tx: unknown): asserts tx is HostClient {
  const { query, on, totalCount } = (typeof tx === 'object' && tx !== null ? tx : {}) as Record<
    string,
    unknown
  >
  if (typeof query !== 'function' || typeof on !== 'function') {
    throw invalidTx('tx must be a connected pg client with an open transaction')
  }
  // A pool runs each statement on any of its connections, none of which has the host's transaction.
  if (totalCount !== undefined) {
    throw invalidTx('tx is a pg pool, which has no transaction: pass the client that runs the transaction')
  }
}

/**
 * Without a transaction the entry would be committed by itself, whatever becomes of the host's changes. Older clients do
 * not report it. A BEGIN that the host has sent and not awaited is not known yet; the host's `await` is.
 */
function assertInTransaction(tx: HostClient): void {
  if (typeof tx.getTransactionStatus !== 'function' || tx.getTransactionStatus() !== 'I') return
  throw invalidTx('tx has no open transaction: send BEGIN first, and await it')
}

/** `undefined_table`, `invalid_schema_name`. */
function isMissingTable(thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return code === '42P01' || code === '3F000'
}

function otherDatabase(cause: unknown): HookswitchError {
  return invalidTx('tx is connected to another database than this store', cause)
}

function invalidTx(message: string, cause?: unknown): HookswitchError {
  return new HookswitchError('InvalidOption', message, {
    field: 'tx',
    ...(cause === undefined ? {} : { cause }),
  })
}
