/** Finds deliveries that no worker handles: left in flight, or waiting for an epoch that has ended (stale). */
import type { Delivery } from 'hookswitch/store'
import { type DeliveryRow, deliveryOf } from './rows.js'
import type { Deps } from './session-deps.js'
import { orphanStatements, type StaleRow } from './sql/orphans.js'

/** Claims with an unknown outcome that are remembered until the process ends; beyond this number the oldest go. */
const MAX_LOST_CLAIMS = 1_000

export function createOrphanQueries({ session, schema, clock }: Pick<Deps, 'session' | 'schema' | 'clock'>) {
  const sql = orphanStatements(schema)
  const lostClaims = new Set<number>()
  const now = () => clock?.now() ?? null

  /** Clears the mark of webhooks without stale deliveries, unless some were written in the meantime. */
  async function unmark(keys: readonly number[]): Promise<void> {
    await session.transaction(async (tx) => {
      await tx.query(sql.lock, [keys])
      await tx.query(sql.unmark, [keys])
    })
  }

  return {
    /** Remembers the token of a claim whose outcome is unknown: what it left in flight is an orphan. */
    addLostClaim(token: number): void {
      lostClaims.add(token)
      if (lostClaims.size > MAX_LOST_CLAIMS) lostClaims.delete(lostClaims.values().next().value!)
    },
    async orphans(owner: string, limit: number): Promise<readonly Delivery[]> {
      const rows = await session.query<DeliveryRow>(sql.orphans, [owner, now(), limit, [...lostClaims]])
      return rows.map(deliveryOf)
    },
    async stale(owner: string, limit: number): Promise<readonly Delivery[]> {
      const rows = await session.query<StaleRow>(sql.stale, [owner, now(), limit])
      const found: Delivery[] = []
      const withoutStale: number[] = []
      for (const row of rows) {
        if (row.id === null) withoutStale.push(row.staleKey)
        else found.push(deliveryOf(row as DeliveryRow))
      }
      if (withoutStale.length > 0) await unmark(withoutStale)
      return found
    },
  }
}
