import { expect, it } from 'vitest'
import { createDisplacementPace } from '../../src/delivery/displacement-pace.js'

const NOW = 1_000_000

it('holds an account that displaces more than 1,000 deliveries a second, and no other', () => {
  const pace = createDisplacementPace()
  expect([pace.holdsAny(NOW), pace.isHeld('a', NOW), pace.nextMs(NOW)]).toEqual([false, false, undefined])
  pace.displaced('a', 1_000, NOW)
  expect([pace.holdsAny(NOW), pace.isHeld('a', NOW)]).toEqual([false, false])
  pace.displaced('a', 200, NOW)
  pace.displaced('b', 900, NOW)
  expect([pace.holdsAny(NOW), pace.isHeld('a', NOW), pace.isHeld('b', NOW)]).toEqual([true, true, false])
  expect(pace.nextMs(NOW)).toBe(NOW + 200)
  expect([pace.isHeld('a', NOW + 199), pace.isHeld('a', NOW + 200)]).toEqual([true, false])
  expect(pace.nextMs(NOW + 200)).toBeUndefined()
})

it('tells when the first of several accounts is held no more, and none is held for long', () => {
  const pace = createDisplacementPace()
  pace.displaced('a', 1_000_000, NOW)
  pace.displaced('b', 1_500, NOW)
  expect(pace.nextMs(NOW)).toBe(NOW + 500)
  expect(pace.nextMs(NOW + 500)).toBe(NOW + 1_000)
  expect(pace.holdsAny(NOW + 1_000)).toBe(false)
})

it('holds nobody after the clock was set back', () => {
  const pace = createDisplacementPace()
  pace.displaced('a', 5_000, NOW)
  expect(pace.isHeld('a', NOW - 3_600_000)).toBe(false)
  expect(pace.holdsAny(NOW - 3_600_000)).toBe(false)
})
