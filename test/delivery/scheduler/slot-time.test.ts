import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  averageUse,
  changeUse,
  createCompetitors,
  createSlotUse,
  fewSlots,
  isOverShare,
  mayHoldMore,
} from '../../../src/delivery/scheduler/slot-time.js'
import { propertyRuns } from '../../support/property-runs.js'

/** An account that has used some slots from 0 on. */
function usedSince0(slots: number) {
  const use = createSlotUse()
  changeUse(use, slots, 0)
  return use
}

describe('the average use of slots', () => {
  it('comes near the slots in use within seconds, and near zero within seconds after their end', () => {
    const use = usedSince0(100)
    expect(averageUse(use, 0)).toBe(0)
    expect(averageUse(use, 5_000)).toBeCloseTo(100 * (1 - Math.exp(-1)))
    changeUse(use, -100, 60_000)
    expect(averageUse(use, 60_000)).toBeCloseTo(100, 1)
    expect(averageUse(use, 65_000)).toBeCloseTo(100 * Math.exp(-1), 1)
  })

  it('does not change while the clock is set back', () => {
    const use = usedSince0(10)
    changeUse(use, 1, 5_000)
    const before = averageUse(use, 5_000)
    expect(averageUse(use, 1_000)).toBe(before)
    changeUse(use, -1, 1_000)
    expect(averageUse(use, 1_000)).toBe(before)
    expect(averageUse(use, 2_000)).toBeGreaterThan(before)
  })

  it('is the sum of all that was used, weighted by its age', () => {
    const anyChange = fc.record({ afterMs: fc.nat(3_000), slots: fc.nat(20) })
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 20 }), (changes) => {
        const use = createSlotUse()
        /** Periods with the slots in use. */
        const periods: { from: number; to: number; slots: number }[] = []
        let now = 0
        for (const { afterMs, slots } of changes) {
          periods.push({ from: now, to: now + afterMs, slots: use.inUse })
          now += afterMs
          changeUse(use, slots - use.inUse, now)
        }
        const weightSince = (ms: number) => Math.exp((ms - now) / 5_000)
        const expected = periods.reduce(
          (sum, { from, to, slots }) => sum + slots * (weightSince(to) - weightSince(from)),
          0,
        )
        expect(averageUse(use, now)).toBeCloseTo(expected, 6)
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

describe('the share of an account', () => {
  it('is the same part for each that competes, of all slots but a sixteenth', () => {
    const use = usedSince0(60)
    expect(isOverShare(use, 10, 500, 5_000)).toBe(false)
    expect(isOverShare(use, 10, 500, 20_000)).toBe(true)
    expect(isOverShare(use, 7, 500, 20_000)).toBe(false)
  })

  it('is never less than a 32nd', () => {
    expect(isOverShare(usedSince0(15), 10_000, 500, 60_000)).toBe(false)
    expect(isOverShare(usedSince0(17), 10_000, 500, 60_000)).toBe(true)
  })
})

describe('the slots that an account may hold beside others', () => {
  it('are any but the last sixteenth', () => {
    expect(mayHoldMore(99, 32, 500)).toBe(true)
    expect(mayHoldMore(99, 31, 500)).toBe(false)
  })

  it('of the last sixteenth are twice as many as are free', () => {
    expect(mayHoldMore(61, 31, 500)).toBe(true)
    expect(mayHoldMore(62, 31, 500)).toBe(false)
    expect(mayHoldMore(0, 1, 500)).toBe(true)
    expect(mayHoldMore(0, 0, 500)).toBe(false)
  })

  it('leave some to the next account, however many take all that they may', () => {
    for (const accounts of [1, 4, 6, 10, 20, 40]) {
      const held = new Array<number>(accounts).fill(0)
      let free = 500
      for (let before = -1; before !== free; ) {
        before = free
        for (let n = 0; n < accounts; n++) {
          if (held[n]! >= 100 || !mayHoldMore(held[n]!, free, 500)) continue
          held[n]!++
          free--
        }
      }
      expect(free).toBeGreaterThanOrEqual(Math.min(31, Math.floor(500 / (2 * accounts + 1))))
    }
  })

  it('are few up to a 32nd', () => {
    expect(fewSlots(500)).toBe(15)
    expect(fewSlots(31)).toBe(0)
  })
})

describe('accounts that compete', () => {
  it('are those that had something due in the last ten seconds', () => {
    const competitors = createCompetitors()
    const [first, second] = [createSlotUse(), createSlotUse()]
    expect(competitors.count(0)).toBe(0)
    competitors.add(first, 0)
    competitors.add(second, 4_000)
    competitors.add(first, 5_000)
    expect(competitors.count(14_000)).toBe(2)
    expect(competitors.count(14_001)).toBe(1)
    expect(competitors.count(15_001)).toBe(0)
    competitors.add(second, 20_000)
    expect(competitors.count(20_000)).toBe(1)
  })

  it('are forgotten when the clock is set back by more than that', () => {
    const competitors = createCompetitors()
    competitors.add(createSlotUse(), 50_000)
    expect(competitors.count(41_000)).toBe(1)
    expect(competitors.count(30_000)).toBe(0)
  })
})
