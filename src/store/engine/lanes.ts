/** Lanes as stores keep them: a key and a kind instead of a name, and the order within a lane. */
import { TEST_LANE } from '../../delivery/delivery-queries.js'
import { REPLAY_LANE, UNORDERED_LANE } from '../../delivery/lane-key.js'
import type { Delivery } from '../../delivery/lifecycle.js'

/**
 * How the name of a lane is rebuilt. Stores persist the number: it cannot change.
 * 0: the delivery has it to itself. 1: a call. 2: a replay. 3: a test.
 */
export type LaneKind = 0 | 1 | 2 | 3

/** The kind of a lane, from its name. */
export function laneKindOf(lane: Delivery['lane']): LaneKind {
  if (lane.startsWith(UNORDERED_LANE)) return 0
  if (lane.startsWith(REPLAY_LANE)) return 2
  return lane.startsWith(TEST_LANE) ? 3 : 1
}

/** The name of a lane, as readers see it. @param laneKey `laneKey` of its first name */
export function laneName(
  kind: LaneKind,
  laneKey: number,
  delivery: Pick<Delivery, 'id' | 'eventAccountId' | 'callId'>,
): string {
  if (kind === 0) return `${UNORDERED_LANE}${delivery.id}`
  if (kind === 2) return `${REPLAY_LANE}${laneKey}`
  if (kind === 3) return `${TEST_LANE}${delivery.id}`
  return `${delivery.eventAccountId}/${delivery.callId ?? ''}`
}

/** The place of a delivery in its lane. */
export interface LanePlace {
  /** Sequence number of its event; 0: not numbered. */
  readonly sequence: number
  /** Position of the delivery. */
  readonly position: number
}

/**
 * The order within a lane: by sequence number, which all nodes share, else by position. Deliveries without a number come
 * first: the order must not depend on the pair that is compared.
 */
export function compareInLane(a: LanePlace, b: LanePlace): number {
  return a.sequence - b.sequence || a.position - b.position
}
