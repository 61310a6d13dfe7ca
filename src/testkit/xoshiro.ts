/** State of a generator: four unsigned 32-bit words, not all zero. */
export type XoshiroState = readonly [number, number, number, number]

/**
 * Creates the generator xoshiro128** 1.1 of David Blackman and Sebastiano Vigna (prng.di.unimi.it, public domain).
 * Each call returns the next unsigned 32-bit word. Fast and uniform, but not cryptographically secure.
 */
export function xoshiro128(state: XoshiroState): () => number {
  let [a, b, c, d] = state
  return () => {
    const word = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotateLeft(d, 11)
    return word
  }
}

function rotateLeft(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}
