/** The state of a generator: four unsigned 32-bit words, not all zero. */
export type XoshiroState = readonly [number, number, number, number]

/**
 * The generator xoshiro128** 1.1 of David Blackman and Sebastiano Vigna (prng.di.unimi.it, public domain): each
 * call gives the next unsigned 32-bit word. Fast and even, and of no use for secrets.
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
