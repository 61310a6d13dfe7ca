import { randomFillSync } from 'node:crypto'
import type { Random } from './ports.js'

/** One call into the operating system's generator for some 128 ids: a call for each costs more than the id. */
const POOL_BYTES = 4096

/**
 * The machine's own chance: `bytes` from the operating system's cryptographic generator, drawn through a pool;
 * `fraction` from `Math.random`, since it only spreads retries and nobody gains by guessing one.
 */
export function systemRandom(): Random {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  return {
    bytes(count) {
      const taken = new Uint8Array(count)
      if (taken.length > POOL_BYTES) return randomFillSync(taken)
      if (used + taken.length > POOL_BYTES) {
        randomFillSync(pool)
        used = 0
      }
      // A copy, and the original wiped: the pool never holds a key that somebody already uses. Byte by byte, since
      // for so few a view costs more than they do.
      for (let at = 0; at < taken.length; at += 1, used += 1) {
        taken[at] = pool[used]!
        pool[used] = 0
      }
      return taken
    },
    fraction: () => Math.random(),
  }
}
