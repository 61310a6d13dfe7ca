import fc from 'fast-check'
import { type SeededRandom, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { xoshiro128 } from '../../src/testkit/xoshiro.js'

const anySeed = () => fc.oneof(fc.integer(), fc.string())
const trace = (random: SeededRandom) => [
  ...random.bytes(9),
  random.fraction(),
  random.integer(1, 1_000_000),
  random.exponential(10),
  random.logNormal(8, 0.5),
  random.stream('other').fraction(),
]
const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length
const many = (draw: () => number) => Array.from({ length: 20_000 }, draw)

describe('xoshiro128', () => {
  it('returns the words of the authors’ reference program (version 1.1) for the state 1, 2, 3, 4', () => {
    const next = xoshiro128([1, 2, 3, 4])
    expect(Array.from({ length: 10 }, next)).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ])
  })
})

describe('seededRandom', () => {
  it('gives the same draws for the same seed', () => {
    fc.assert(
      fc.property(anySeed(), (seed) => {
        expect(trace(seededRandom(seed))).toEqual(trace(seededRandom(seed)))
      }),
    )
  })

  it('gives different draws for different seeds', () => {
    fc.assert(
      fc.property(anySeed(), anySeed(), (left, right) => {
        fc.pre(String(left) !== String(right))
        expect(seededRandom(left).bytes(16)).not.toEqual(seededRandom(right).bytes(16))
      }),
    )
  })

  it('draws the same in every process and version, so that a failing seed stays reproducible', () => {
    // Values from an independent implementation in another language.
    const random = seededRandom(1)
    expect(Buffer.from(random.bytes(8)).toString('hex')).toBe('ada50637033c45aa')
    expect(random.fraction()).toBe(0.4900409267623327)
    expect(random.stream('calls').integer(0, 999_999)).toBe(919479)
  })

  it('has independent streams: draws from one do not change another', () => {
    const plain = seededRandom('s')
    const busy = seededRandom('s')
    busy.bytes(1_000)
    busy.stream('other').bytes(1_000)
    busy.integer(0, 9)
    expect(busy.fraction()).toBe(plain.fraction())
    expect(busy.stream('third').fraction()).toBe(plain.stream('third').fraction())
  })

  it('returns the same stream for the same name, which continues where it was', () => {
    const random = seededRandom('s')
    const first = random.stream('a').fraction()
    expect(random.stream('a').fraction()).not.toBe(first)
    expect(random.stream('a')).toBe(random.stream('a'))
    expect(random.stream('a').fraction()).not.toBe(random.stream('b').fraction())
  })

  it('derives nested streams from their whole path', () => {
    const random = seededRandom('s')
    expect(random.stream('a').stream('b').fraction()).not.toBe(random.stream('a/b').fraction())
    expect(random.stream('a').seed).toBe('s/a')
  })

  it('draws fractions in [0, 1) with the mean of a uniform distribution', () => {
    const drawn = many(seededRandom(2).fraction)
    expect(drawn.every((each) => each >= 0 && each < 1)).toBe(true)
    expect(mean(drawn)).toBeCloseTo(0.5, 2)
  })

  it('draws every whole number of a range, and none outside it', () => {
    fc.assert(
      fc.property(anySeed(), fc.integer({ min: -50, max: 50 }), fc.nat(6), (seed, min, width) => {
        const random = seededRandom(seed)
        const seen = new Set(Array.from({ length: 300 }, () => random.integer(min, min + width)))
        expect([...seen].sort((a, b) => a - b)).toEqual(
          Array.from({ length: width + 1 }, (_, index) => min + index),
        )
      }),
    )
  })

  it('draws list elements uniformly, and keys by weight', () => {
    const random = seededRandom(3)
    expect(new Set(Array.from({ length: 200 }, () => random.pick(['a', 'b', 'c'])))).toEqual(
      new Set(['a', 'b', 'c']),
    )
    const drawn = Array.from({ length: 20_000 }, () => random.weighted({ rare: 1, never: 0, often: 3 }))
    expect(drawn).not.toContain('never')
    expect(drawn.filter((key) => key === 'rare').length / drawn.length).toBeCloseTo(0.25, 1)
    expect(many(() => Number(random.chance(0.3))).filter((hit) => hit === 1).length / 20_000).toBeCloseTo(
      0.3,
      1,
    )
  })

  it('draws from the exponential distribution with the given mean', () => {
    const random = seededRandom(4)
    const drawn = many(() => random.exponential(100))
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0)
    expect(mean(drawn)).toBeGreaterThan(97)
    expect(mean(drawn)).toBeLessThan(103)
    // The median is ln 2 times the mean.
    expect(drawn.filter((each) => each < 100 * Math.LN2).length / drawn.length).toBeCloseTo(0.5, 1)
  })

  it('draws from the log-normal distribution with the given median and spread', () => {
    const random = seededRandom(5)
    const logarithms = many(() => Math.log(random.logNormal(8, 0.6) / 8))
    expect(mean(logarithms)).toBeCloseTo(0, 1)
    expect(Math.sqrt(mean(logarithms.map((each) => each * each)))).toBeCloseTo(0.6, 1)
  })

  it('rejects invalid arguments', () => {
    const random = seededRandom(6)
    expect(() => random.pick([])).toThrow('at least one entry')
    expect(() => random.weighted({ a: 0 })).toThrow('weight above 0')
    expect(() => random.integer(2, 1)).toThrow('2 and 1')
    expect(() => random.integer(0.5, 1)).toThrow(RangeError)
  })
})
