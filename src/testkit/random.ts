/** Reproducible random numbers: a seed determines every draw. */
import type { Random } from 'hookswitch/adapter'
import { sha256 } from '../values/hash.js'
import { type XoshiroState, xoshiro128 } from './xoshiro.js'

/** Reproducible random numbers: the same seed gives the same draws, in every process and on every machine. */
export interface SeededRandom extends Random {
  /** The seed: print it when a test fails. */
  readonly seed: string
  /**
   * Returns the stream of this name. Its draws depend only on the seed and the name, not on other draws. The same
   * name returns the same stream, which continues where it was.
   */
  stream(name: string): SeededRandom
  /**
   * Draws a whole number from `min` to `max`, both included.
   *
   * @throws RangeError unless both are whole numbers and `min` <= `max`
   */
  integer(min: number, max: number): number
  /** Returns true with this probability, 0 to 1. */
  chance(probability: number): boolean
  /**
   * Draws an element of the list, each with the same probability.
   *
   * @throws RangeError for an empty list
   */
  pick<T>(list: readonly T[]): T
  /**
   * Draws a key with a probability proportional to its weight.
   *
   * @throws RangeError unless a weight is above 0
   */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key
  /** Draws from the exponential distribution with this mean, for example gaps of a Poisson process or talk times. */
  exponential(mean: number): number
  /** Draws from the log-normal distribution; `spread` is the standard deviation of the logarithm. */
  logNormal(median: number, spread: number): number
}

/**
 * Creates reproducible random numbers with an independent stream per purpose: `bytes`, `fraction`, and the other
 * methods together; further streams with `stream(name)`. So one more id does not change the jitter of later retries.
 *
 * Each stream is a xoshiro128** generator whose state is the first 128 bits of the SHA-256 of seed and purpose.
 */
export function seededRandom(seed: number | string): SeededRandom {
  const streams = new Map<string, SeededRandom>()
  const nextByteWord = words(seed, 'bytes')
  const nextFraction = unit(words(seed, 'fraction'))
  const draw = unit(words(seed, 'draw'))

  const random: SeededRandom = {
    seed: String(seed),
    bytes(count) {
      const bytes = new Uint8Array(count)
      for (let index = 0, word = 0; index < count; index += 1, word >>>= 8) {
        if (index % 4 === 0) word = nextByteWord()
        bytes[index] = word
      }
      return bytes
    },
    fraction: nextFraction,
    stream(name) {
      const existing = streams.get(name)
      if (existing) return existing
      const created = seededRandom(`${seed}/${encodeURIComponent(name)}`)
      streams.set(name, created)
      return created
    },
    integer(min, max) {
      if (!(Number.isSafeInteger(min) && Number.isSafeInteger(max) && min <= max)) {
        throw new RangeError(`integer requires two whole numbers, the smaller first, not ${min} and ${max}`)
      }
      return min + Math.floor(draw() * (max - min + 1))
    },
    chance: (probability) => draw() < probability,
    pick(list) {
      if (list.length === 0) throw new RangeError('pick requires a list with at least one entry')
      return list[Math.floor(draw() * list.length)]!
    },
    weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
      const entries = (Object.entries(weights) as [Key, number][]).filter(([, weight]) => weight > 0)
      const last = entries.at(-1)
      if (!last) throw new RangeError('weighted requires at least one key with a weight above 0')
      let remainder = draw() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) {
        remainder -= weight
        if (remainder < 0) return key
      }
      return last[0]
    },
    // 1 - u is never 0, so the logarithm is finite.
    exponential: (mean) => -mean * Math.log(1 - draw()),
    logNormal: (median, spread) => median * Math.exp(spread * normal(draw)),
  }
  return random
}

/** Standard normal by Marsaglia's polar method, without the sine, whose last digit differs between engines. */
function normal(draw: () => number): number {
  for (;;) {
    const x = 2 * draw() - 1
    const y = 2 * draw() - 1
    const square = x * x + y * y
    if (square > 0 && square < 1) return x * Math.sqrt((-2 * Math.log(square)) / square)
  }
}

function words(seed: number | string, purpose: string): () => number {
  const digest = sha256(`${seed} ${purpose}`)
  const word = (index: number) => Number.parseInt(digest.slice(8 * index, 8 * index + 8), 16)
  const state: XoshiroState = [word(0), word(1), word(2), word(3)]
  return xoshiro128(state)
}

/** Numbers in [0, 1) with the full 53 bits of a double, from two words each. */
function unit(next: () => number): () => number {
  return () => ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 9_007_199_254_740_992
}
