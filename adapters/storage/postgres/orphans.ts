import type { Delivery } from 'hookswitch/store'
import { type DeliveryRow, deliveryOf } from './rows.js'
import type { Doors } from './session-doors.js'
import { orphanStatements, type StaleRow } from './sql/orphans.js'

/** Claims whose outcome nobody knows are remembered, the last ones: each is looked for until the process ends. */
const MOST_LOST = 1_000

/** Deliveries that nobody works on: left in flight, or waiting for an epoch that has ended. */
export function leftBehind({ session, schema, clock }: Pick<Doors, 'session' | 'schema' | 'clock'>) {
  const sql = orphanStatements(schema)
  const lost = new Set<number>()
  const now = () => clock?.now() ?? null

  /** Nothing of an older epoch waits there any more, unless it came meanwhile. */
  async function unmark(keys: readonly number[]): Promise<void> {
    await session.transaction(async (tx) => {
      await tx.query(sql.hold, [keys])
      await tx.query(sql.unmark, [keys])
    })
  }

  return {
    lost(token: number): void {
      lost.add(token)
      if (lost.size > MOST_LOST) lost.delete(lost.values().next().value!)
    },
    async orphans(owner: string, limit: number): Promise<readonly Delivery[]> {
      const rows = await session.query<DeliveryRow>(sql.orphans, [owner, now(), limit, [...lost]])
      return rows.map(deliveryOf)
    },
    async stale(owner: string, limit: number): Promise<readonly Delivery[]> {
      const rows = await session.query<StaleRow>(sql.stale, [owner, now(), limit])
      const found: Delivery[] = []
      const clean: number[] = []
      for (const row of rows) {
        if (row.id === null) clean.push(row.staleKey)
        else found.push(deliveryOf(row as DeliveryRow))
      }
      if (clean.length > 0) await unmark(clean)
      return found
    },
  }
}
