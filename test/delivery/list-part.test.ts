import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deliveryBounds, partOf } from '../../src/delivery/list-part.js'
import { createPositions } from '../../src/delivery/positions.js'

/** 2026-01-01, Unix ms. */
const START_MS = 1_767_225_600_000
const MINUTE_MS = 60_000

it('has every delivery of a range between its bounds, and none of an hour before or after', () => {
  const minutes = fc.integer({ min: 0, max: 600 })
  fc.assert(
    fc.property(
      fc.array(minutes, { minLength: 1, maxLength: 50 }),
      minutes,
      minutes,
      fc.boolean(),
      (times, from, to, ascending) => {
        const positions = createPositions(3)
        const [fromMs, toMs] = [Math.min(from, to), Math.max(from, to)].map((at) => START_MS + at * MINUTE_MS)
        const { cursor, end } = deliveryBounds({ fromMs: fromMs!, toMs: toMs!, ascending })
        for (const minute of times.sort((a, b) => a - b)) {
          const acceptedMs = START_MS + minute * MINUTE_MS
          const position = positions.next(acceptedMs)
          const isBetween = ascending
            ? position > cursor && position <= end
            : position < cursor && position >= end
          if (acceptedMs >= fromMs! && acceptedMs <= toMs!) expect(isBetween).toBe(true)
          else if (acceptedMs < fromMs! - 60 * MINUTE_MS || acceptedMs > toMs! + 60 * MINUTE_MS)
            expect(isBetween).toBe(false)
        }
      },
    ),
  )
})

it('has a delivery whose commit waited for the store, and whose position is therefore before its acceptance', () => {
  for (const waitedMs of [1, 59 * MINUTE_MS]) {
    const position = createPositions(3).next(START_MS - waitedMs)
    expect(deliveryBounds({ fromMs: START_MS }).end).toBeLessThanOrEqual(position)
    expect(deliveryBounds({ fromMs: START_MS, ascending: true }).cursor).toBeLessThan(position)
  }
})

it('goes on behind its cursor, up to its end', () => {
  const all = deliveryBounds({ cursor: 50, end: 20 })
  expect(all).toEqual({ cursor: 50, end: 20 })
  expect(deliveryBounds({ cursor: 20, end: 50, ascending: true })).toEqual({ cursor: 20, end: 50 })
  expect(partOf(all, 30)).toEqual({ cursor: 50, end: 30, hasMore: true })
  expect(partOf(all, 20)).toEqual({ cursor: 50, end: 20, hasMore: false })
  expect(partOf(all, undefined)).toEqual({ cursor: 50, end: 20, hasMore: false })
  expect(partOf({ cursor: 20, end: 50 }, 30, true)).toEqual({ cursor: 20, end: 30, hasMore: true })
})
