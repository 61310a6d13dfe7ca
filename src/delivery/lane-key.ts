import type { Delivery } from './lifecycle.js'

/** Prefix of lanes with a single delivery: it is not ordered. */
export const UNORDERED_LANE = '-/'

/** Prefix of the lanes of replays. */
export const REPLAY_LANE = 'replay/'
/** The name of a replay's lane as stores return it: they keep its number alone. */
const NUMBERED = /^replay\/([1-9]\d{0,15})$/

/**
 * The lane of a delivery as a number, 1 to 2^53 - 1; 0: it has the lane to itself. A lane that a store has named by its number
 * has that number. Two lanes of a webhook that have the
 * same number by chance (1 in 2^53) are sent one after the other, which breaks nothing. Stores persist it: it cannot change.
 */
export function laneKey(lane: Delivery['lane']): number {
  if (lane.startsWith(UNORDERED_LANE)) return 0
  const number = Number(NUMBERED.exec(lane)?.[1])
  if (Number.isSafeInteger(number)) return number
  // Twice FNV-1a over UTF-16 code units, with different seeds.
  let high = 0x811c9dc5
  let low = 0x9747b28c
  for (let index = 0; index < lane.length; index++) {
    const unit = lane.charCodeAt(index)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit, 0x01000193)
  }
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0) || 1
}
