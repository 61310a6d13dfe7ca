/**
 * Removes ended deliveries from their lanes and makes the next one of each lane due.
 *
 * This takes two steps in one transaction: `lock` before anything is written, `leave` afterwards. The next delivery is
 * searched by a statement that starts after the lane is locked. A single statement that had to wait for an acceptance
 * would not see the delivery that it added, and the lane would stop forever.
 */
import { float8Array, int4Array, textArray } from './binary-arrays.js'
import type { Transaction } from './session.js'
import { type LaneEndpointRow, type LaneRow, type LocationRow, laneStatements } from './sql/lanes.js'

/** A delivery that leaves its lane. */
export interface EndedDelivery {
  readonly key: number
  readonly lane: string
  /** Whether it was the head of its lane. */
  readonly head: boolean
  /** Store time, ms: the due time of the next delivery in the lane. */
  readonly now: number
}

/** Number of open deliveries of each locked lane, by `laneName`. */
export type LockedLanes = ReadonlyMap<string, number>

interface Lane {
  readonly key: number
  readonly lane: string
}

export function laneName({ key, lane }: Lane): string {
  return `${key} ${lane}`
}

export function createLanes(schema: string) {
  const sql = laneStatements(schema)
  return {
    /** Locations of these deliveries, by id, without those that no longer exist. */
    async locate(tx: Transaction, deliveryIds: readonly string[]): Promise<ReadonlyMap<string, LocationRow>> {
      if (deliveryIds.length === 0) return new Map()
      const rows = await tx.query<LocationRow>(sql.locate, [deliveryIds])
      return new Map(rows.map((row) => [row.id, row]))
    },
    async lock(tx: Transaction, lanes: readonly Lane[]): Promise<LockedLanes> {
      if (lanes.length === 0) return new Map()
      const distinct = [...new Map(lanes.map((lane) => [laneName(lane), lane])).values()]
      const values = [int4Array(distinct.map(({ key }) => key)), textArray(distinct.map(({ lane }) => lane))]
      const rows = await tx.query<LaneRow>(sql.lock, values)
      return new Map(rows.map((row) => [laneName(row), row.open]))
    },
    /**
     * Removes ended deliveries from their lanes, which are locked; the next delivery of each lane that lost its head is
     * due.
     *
     * @param slot of the pending count to lower, 0 to 63: another than those of other nodes, so that they do not wait
     * @param webhookKeys webhooks to return as endpoints, in their state after this
     */
    async leave(
      tx: Transaction,
      ended: readonly EndedDelivery[],
      locked: LockedLanes,
      slot: number,
      webhookKeys: readonly number[],
    ): Promise<readonly LaneEndpointRow[]> {
      const changes = byLane(ended)
      const shortened = changes.filter((lane) => lane.count < (locked.get(laneName(lane)) ?? 0))
      const emptied = changes.filter((lane) => lane.count >= (locked.get(laneName(lane)) ?? 0))
      const headless = shortened.filter(({ head }) => head)
      const rows = await tx.query<LaneEndpointRow & { readonly promoted: boolean }>(sql.leave, [
        int4Array(shortened.map(({ key }) => key)),
        textArray(shortened.map(({ lane }) => lane)),
        int4Array(shortened.map(({ count }) => count)),
        int4Array(emptied.map(({ key }) => key)),
        textArray(emptied.map(({ lane }) => lane)),
        int4Array(headless.map(({ key }) => key)),
        textArray(headless.map(({ lane }) => lane)),
        float8Array(headless.map(({ now }) => now)),
        slot,
        ended.length,
        int4Array(webhookKeys),
      ])
      return withPromoted(rows)
    },
  }
}

/** The statement does not see the due times that it writes: they come as rows of their own and are merged here. */
function withPromoted(
  rows: readonly (LaneEndpointRow & { readonly promoted: boolean })[],
): readonly LaneEndpointRow[] {
  const earliest = new Map<string, number>()
  for (const { promoted, key, epoch, headMs } of rows) {
    const name = `${key} ${epoch}`
    if (promoted) earliest.set(name, Math.min(earliest.get(name) ?? Number.POSITIVE_INFINITY, headMs!))
  }
  return rows.flatMap((row) => {
    if (row.promoted) return []
    const dueMs = earliest.get(`${row.key} ${row.epoch}`)
    if (dueMs === undefined || (row.headMs !== null && row.headMs <= dueMs)) return [row]
    return [Object.assign(row, { headMs: dueMs })]
  })
}

interface LaneChange extends Lane {
  count: number
  head: boolean
  now: number
}

function byLane(ended: readonly EndedDelivery[]): readonly LaneChange[] {
  const lanes = new Map<string, LaneChange>()
  for (const delivery of ended) {
    const change = lanes.get(laneName(delivery))
    if (!change) {
      const { key, lane, head, now } = delivery
      lanes.set(laneName(delivery), { key, lane, head, now, count: 1 })
      continue
    }
    change.count += 1
    change.head ||= delivery.head
    change.now = Math.max(change.now, delivery.now)
  }
  return [...lanes.values()]
}
