import { HookswitchError, type InboxEntry, type InboxStore, inboxShard } from 'hookswitch/store'
import type { Doors } from './session-doors.js'
import { type InboxRow, inboxStatements } from './sql/inbox.js'

/** The part of a host's `pg.Client` or `pg.PoolClient` that is used. */
interface HostClient {
  query(query: { readonly text: string; readonly values: unknown[] }): Promise<unknown>
}

/** What hosts write in transactions of their own, on connections of their own. */
export function postgresInbox({
  session,
  schema,
  clock,
}: Pick<Doors, 'session' | 'schema' | 'clock'>): InboxStore {
  const sql = inboxStatements(schema)
  return {
    async put(tx, entry) {
      refuseOthers(tx)
      const { id, accountId, callId = null, event, traceparent = null } = entry
      // Not a prepared statement: a pooler in front of the host's connections may know nothing of those.
      const values = [inboxShard(entry), id, accountId, callId, event, traceparent]
      try {
        await tx.query({ text: sql.put.text, values })
      } catch (thrown) {
        throw isMissing(thrown) ? otherDatabase(thrown) : thrown
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

function refuseOthers(tx: unknown): asserts tx is HostClient {
  const { query, on, totalCount } = (typeof tx === 'object' && tx !== null ? tx : {}) as Record<
    string,
    unknown
  >
  if (typeof query !== 'function' || typeof on !== 'function') {
    throw wrong('tx must be a connected pg client with an open transaction')
  }
  // Each statement of a pool goes to any of its connections: to none that has the host's transaction.
  if (totalCount !== undefined) {
    throw wrong('tx is a pg pool, whose statements are in no transaction: give the client of the transaction')
  }
}

/** No such table or schema. */
function isMissing(thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return code === '42P01' || code === '3F000'
}

function otherDatabase(cause: unknown): HookswitchError {
  return wrong('tx is a connection to another database than this store uses', cause)
}

function wrong(message: string, cause?: unknown): HookswitchError {
  return new HookswitchError('InvalidOption', message, {
    field: 'tx',
    ...(cause === undefined ? {} : { cause }),
  })
}
