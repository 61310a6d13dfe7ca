import type { Random } from '../ports.js'
import { sha256 } from '../values/digest.js'
import { type XoshiroState, xoshiro128 } from './xoshiro.js'

/** Chance that repeats itself: the same seed gives the same draws, in every process and on every machine. */
export interface SeededRandom extends Random {
  /** What it was made from: print it when a test fails. */
  readonly seed: string
  /**
   * The stream of that name: its draws depend on the seed and the name alone, not on what others draw. The same
   * name gives the same stream, going on where it was.
   */
  stream(name: string): SeededRandom
  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  /** One of the list, each as likely as the others. */
  pick<T>(list: readonly T[]): T
  /** One of the keys, as likely as its weight is part of their sum. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key
  /** Exponential with that mean: the gaps of a Poisson process, the length of a talk. */
  exponential(mean: number): number
  /** Log-normal: half of the draws are below `median`; `spread` is the standard deviation of the logarithm. */
  logNormal(median: number, spread: number): number
}

/**
 * Seeded chance with one independent stream per purpose: `bytes`, `fraction` and the helpers each draw from their
 * own, further ones by `stream(name)`; so one more id does not change the jitter of every retry after it.
 *
 * Each stream is a xoshiro128** whose state is the head of the SHA-256 of seed and name.
 */
export function seededRandom(seed: number | string): SeededRandom {
  const streams = new Map<string, SeededRandom>()
  const ofBytes = words(seed, 'bytes')
  const ofFractions = unit(words(seed, 'fraction'))
  const draw = unit(words(seed, 'draw'))

  const random: SeededRandom = {
    seed: String(seed),
    bytes(count) {
      const bytes = new Uint8Array(count)
      for (let at = 0, word = 0; at < count; at += 1, word >>>= 8) {
        if (at % 4 === 0) word = ofBytes()
        bytes[at] = word
      }
      return bytes
    },
    fraction: ofFractions,
    stream(name) {
      const known = streams.get(name)
      if (known) return known
      const made = seededRandom(`${seed}/${encodeURIComponent(name)}`)
      streams.set(name, made)
      return made
    },
    integer(least, most) {
      if (!(Number.isSafeInteger(least) && Number.isSafeInteger(most) && least <= most)) {
        throw new RangeError(`integer takes two whole numbers, the lesser first, not ${least} and ${most}`)
      }
      return least + Math.floor(draw() * (most - least + 1))
    },
    chance: (probability) => draw() < probability,
    pick(list) {
      if (list.length === 0) throw new RangeError('pick takes a list with at least one entry')
      return list[Math.floor(draw() * list.length)]!
    },
    weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
      const entries = (Object.entries(weights) as [Key, number][]).filter(([, weight]) => weight > 0)
      const last = entries.at(-1)
      if (!last) throw new RangeError('weighted takes at least one key with a weight above 0')
      let left = draw() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) {
        left -= weight
        if (left < 0) return key
      }
      return last[0]
    },
    // 1 - u is never 0, so the logarithm is finite.
    exponential: (mean) => -mean * Math.log(1 - draw()),
    logNormal: (median, spread) => median * Math.exp(spread * normal(draw)),
  }
  return random
}

/** Standard normal by Marsaglia's polar method: it needs no sine, whose last digit differs between engines. */
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

/** Numbers in [0, 1) with all 53 bits of a double's precision, from two words each. */
function unit(next: () => number): () => number {
  return () => ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 9_007_199_254_740_992
}
