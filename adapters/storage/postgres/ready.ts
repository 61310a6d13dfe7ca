import type { ReadyEndpoint } from 'hookswitch/store'
import { type EndpointRow, endpointOf } from './rows.js'
import type { Doors } from './session-doors.js'
import { readyStatements } from './sql/ready.js'

/** Endpoints that have something to send. */
export function readiness({ session, schema, clock }: Pick<Doors, 'session' | 'schema' | 'clock'>) {
  const sql = readyStatements(schema)
  return {
    async ready(owner: string): Promise<readonly ReadyEndpoint[]> {
      const rows = await session.query<EndpointRow>(sql.ready, [owner, clock?.now() ?? null])
      return rows.map((row) => endpointOf(row, row.headMs)).filter(({ dueMs }) => dueMs !== undefined)
    },
    /** These webhooks, idle or not. */
    async readyOf(webhookIds: readonly string[]): Promise<readonly ReadyEndpoint[]> {
      const rows = await session.query<EndpointRow>(sql.readyOf, [webhookIds])
      return rows.map((row) => endpointOf(row, row.headMs))
    },
  }
}
