import type { ReadyEndpoint } from 'hookswitch/store'
import { type EndpointRow, endpointOf } from './rows.js'
import type { Deps } from './session-deps.js'
import { readyStatements } from './sql/ready.js'

/** Reads endpoints with the due time of their earliest delivery. */
export function createReadyQueries({ session, schema, clock }: Pick<Deps, 'session' | 'schema' | 'clock'>) {
  const sql = readyStatements(schema)
  return {
    /** The endpoints in the owner's shards that have something to send. */
    async ready(owner: string): Promise<readonly ReadyEndpoint[]> {
      const rows = await session.query<EndpointRow>(sql.ready, [owner, clock?.now() ?? null])
      return rows.map((row) => endpointOf(row, row.headMs)).filter(({ dueMs }) => dueMs !== undefined)
    },
    /** The endpoints of these webhooks, including idle ones. */
    async readyOf(webhookIds: readonly string[]): Promise<readonly ReadyEndpoint[]> {
      const rows = await session.query<EndpointRow>(sql.readyOf, [webhookIds])
      return rows.map((row) => endpointOf(row, row.headMs))
    },
  }
}
