/** The ordered lanes of an endpoint: linked lists of waiting deliveries. */
import { UNORDERED_LANE } from '../../delivery/lane-key.js'
import { compareInLane } from '../engine/lanes.js'
import { effectiveStateName } from './readers.js'
import type { Row } from './state.js'

const isOrdered = (lane: string) => !lane.startsWith(UNORDERED_LANE)

/** Links a delivery into its lane: at the end, unless a node with a slower clock had an earlier event. */
export function enterLane(row: Row): void {
  const { lane } = row.source
  if (!isOrdered(lane)) return
  const { lanes } = row.endpoint
  let before = lanes.get(lane)
  let after: Row | undefined
  while (before && compareInLane(row, before) < 0) {
    after = before
    before = before.laneBefore
  }
  row.laneBefore = before
  row.laneAfter = after
  if (before) before.laneAfter = row
  if (after) after.laneBefore = row
  else lanes.set(lane, row)
}

export function leaveLane(row: Row): void {
  const { lane } = row.source
  if (!isOrdered(lane)) return
  const { laneBefore: before, laneAfter: after } = row
  row.laneBefore = row.laneAfter = undefined
  if (before) before.laneAfter = after
  if (after) after.laneBefore = before
  else if (before) row.endpoint.lanes.set(lane, before)
  else row.endpoint.lanes.delete(lane)
}

/** The number of deliveries ahead of each of these in its lane. Walks every lane once, however many of its rows are given. */
export function countAhead(rows: readonly Row[]): ReadonlyMap<Row, number> {
  const ahead = new Map<Row, number>()
  const wanted = new Set(rows)
  for (const row of rows) {
    if (ahead.has(row) || (!row.laneBefore && !row.laneAfter)) continue
    let head = row
    while (head.laneBefore) head = head.laneBefore
    let count = 0
    for (let member: Row | undefined = head; member; member = member.laneAfter) {
      const isCancelled = effectiveStateName(member) === 'cancelled'
      if (wanted.has(member)) ahead.set(member, isCancelled ? 0 : count)
      if (!isCancelled) count += 1
    }
  }
  return ahead
}
