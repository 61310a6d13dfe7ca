import { randomFillSync } from 'node:crypto'
import type { Random } from '../ports.js'

/** Enough for about 128 ids per system call; one system call per id costs more than the id itself. */
const POOL_BYTES = 4096

/**
 * Random values of the machine: `bytes` from the operating system's cryptographic generator, through a pool; `fraction`
 * from `Math.random`, because it only adds jitter, which need not be unpredictable.
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
      // Copies and wipes the pool, so that it never holds a key in use. Byte by byte: for so few bytes a view costs more.
      for (let at = 0; at < taken.length; at += 1, used += 1) {
        taken[at] = pool[used]!
        pool[used] = 0
      }
      return taken
    },
    fraction: () => Math.random(),
  }
}
