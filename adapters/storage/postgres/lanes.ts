import { float8Array, int4Array, textArray } from './rows-arrays.js'
import type { Transaction } from './session.js'
import { type LaneRow, type LeftRow, laneStatements, type PlaceRow } from './sql/lanes.js'

/** A delivery that has ended, or is there no more. */
export interface Ended {
  readonly key: number
  readonly lane: string
  /** Whether it was the first of its lane. */
  readonly head: boolean
  /** Store time, ms: when the next of its lane becomes due. */
  readonly now: number
}

/** Lanes that are locked: how many are open in each. */
export type LockedLanes = ReadonlyMap<string, number>

interface Lane {
  readonly key: number
  readonly lane: string
}

export function laneName({ key, lane }: Lane): string {
  return `${key} ${lane}`
}

/**
 * Deliveries leave their lanes in two steps of one transaction: `lock` before anything of them is written, `leave`
 * afterwards. The next of a lane is looked for by a statement that begins after the lane was locked: one that waited for
 * an acceptance would not see what that brought, and the lane would stand still for ever.
 */
export function lanes(schema: string) {
  const sql = laneStatements(schema)
  return {
    /** Where these deliveries are; those that are not there are left out. */
    async locate(tx: Transaction, deliveryIds: readonly string[]): Promise<ReadonlyMap<string, PlaceRow>> {
      if (deliveryIds.length === 0) return new Map()
      const rows = await tx.query<PlaceRow>(sql.locate, [deliveryIds])
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
     * Takes what has ended out of its lanes: the next of each whose head that was is due.
     *
     * @param slot where the pending count is lowered (0 to 63): apart from others', so that nobody waits
     * @param webhookKeys webhooks that are to be told as they stand then
     */
    async leave(
      tx: Transaction,
      ended: readonly Ended[],
      locked: LockedLanes,
      slot: number,
      webhookKeys: readonly number[],
    ): Promise<readonly LeftRow[]> {
      const left = byLane(ended)
      const fewer = left.filter((lane) => lane.count < (locked.get(laneName(lane)) ?? 0))
      const gone = left.filter((lane) => lane.count >= (locked.get(laneName(lane)) ?? 0))
      const next = fewer.filter(({ head }) => head)
      const rows = await tx.query<LeftRow & { readonly promoted: boolean }>(sql.leave, [
        int4Array(fewer.map(({ key }) => key)),
        textArray(fewer.map(({ lane }) => lane)),
        int4Array(fewer.map(({ count }) => count)),
        int4Array(gone.map(({ key }) => key)),
        textArray(gone.map(({ lane }) => lane)),
        int4Array(next.map(({ key }) => key)),
        textArray(next.map(({ lane }) => lane)),
        float8Array(next.map(({ now }) => now)),
        slot,
        ended.length,
        int4Array(webhookKeys),
      ])
      return withPromoted(rows)
    },
  }
}

/** What has just become due is not among what the statement saw. */
function withPromoted(rows: readonly (LeftRow & { readonly promoted: boolean })[]): readonly LeftRow[] {
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

interface LeftLane extends Lane {
  count: number
  head: boolean
  now: number
}

function byLane(ended: readonly Ended[]): readonly LeftLane[] {
  const lanes = new Map<string, LeftLane>()
  for (const one of ended) {
    const known = lanes.get(laneName(one))
    if (!known) {
      const { key, lane, head, now } = one
      lanes.set(laneName(one), { key, lane, head, now, count: 1 })
      continue
    }
    known.count += 1
    known.head ||= one.head
    known.now = Math.max(known.now, one.now)
  }
  return [...lanes.values()]
}
