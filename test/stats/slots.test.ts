import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstKeptSlot, KEPT_MS, STATS_STEPS, slotCount, slotOf, slotsOf } from '../../src/stats/slots.js'

const NOW = Date.UTC(2026, 0, 15, 12, 34, 56, 789)

describe('slots', () => {
  it('begin at whole minutes and hours of UTC', () => {
    expect(slotOf(60, NOW)).toBe(Date.UTC(2026, 0, 15, 12, 34))
    expect(slotOf(3600, NOW)).toBe(Date.UTC(2026, 0, 15, 12))
  })

  it('of a range are those that contain its ends and all in between', () => {
    const from = Date.UTC(2026, 0, 15, 10, 59, 59, 999)
    expect(slotsOf(3600, from, NOW, NOW).map((slot) => new Date(slot).toISOString().slice(11, 16))).toEqual([
      '10:00',
      '11:00',
      '12:00',
    ])
    expect(slotsOf(60, NOW, NOW, NOW)).toEqual([slotOf(60, NOW)])
  })

  it('that are older than what is kept, or in the future, are left out', () => {
    expect(slotsOf(60, 0, 4e12, NOW)).toHaveLength(180)
    expect(slotsOf(3600, 0, 4e12, NOW)).toHaveLength(35 * 24)
    expect(slotsOf(60, NOW + 60_000, NOW + 120_000, NOW)).toEqual([])
    expect(slotsOf(60, 0, 60_000, NOW)).toEqual([])
  })

  it('are as many as `slotCount` says, and of the kept ones none is one that retention removes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...STATS_STEPS),
        fc.integer({ min: 0, max: 3 * 3_600_000 }),
        fc.integer({ min: 0, max: 3_600_000 }),
        (step, agoMs, spanMs) => {
          const from = Math.max(NOW - agoMs, firstKeptSlot(step, NOW))
          const to = Math.min(from + spanMs, NOW)
          const slots = slotsOf(step, from, to, NOW)
          expect(slots).toHaveLength(slotCount(step, from, to))
          expect(slots[0]).toBeLessThanOrEqual(from)
          expect(slots.at(-1)! + step * 1000).toBeGreaterThan(to)
          expect(Math.min(...slots)).toBeGreaterThan(NOW - KEPT_MS[step])
        },
      ),
    )
  })
})
