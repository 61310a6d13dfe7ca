import type { Delivery } from './lifecycle.js'

/** Prefix of lanes with a single delivery: it is not ordered. */
export const UNORDERED_LANE = '-/'

/** 32 bits of a string: FNV-1a over UTF-16 code units. */
function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/**
 * The lane of a delivery as a number, 1 to 2^53 - 1; 0: it has the lane to itself. Two lanes of a webhook that have the
 * same number by chance (1 in 2^53) are sent one after the other, which breaks nothing. Stores persist it: it cannot change.
 */
export function laneKey(lane: Delivery['lane']): number {
  if (lane.startsWith(UNORDERED_LANE)) return 0
  const high = hashOf(lane, 0x811c9dc5) & 0x1fffff
  return high * 0x1_0000_0000 + hashOf(lane, 0x9747b28c) || 1
}
