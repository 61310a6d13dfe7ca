import { describe, expect, it } from 'vitest'
import { createAttemptRate } from '../../src/delivery/attempt-rate.js'

const MINUTE_MS = 60_000
const NOW = 30_000_000 * MINUTE_MS + 5_000
const zeros = (count: number) => new Array<number>(count).fill(0)

describe('the rate of attempts', () => {
  it('counts by minute, the present one last', () => {
    const rate = createAttemptRate()
    expect(rate.perMinute(NOW)).toEqual(zeros(60))
    rate.count(NOW)
    rate.count(NOW + 54_999)
    rate.count(NOW + 55_000)
    expect(rate.perMinute(NOW + 55_000)).toEqual([...zeros(58), 2, 1])
    expect(rate.perMinute(NOW + 2 * MINUTE_MS)).toEqual([...zeros(57), 2, 1, 0])
  })

  it('forgets what is older than an hour, also after a long silence', () => {
    const rate = createAttemptRate()
    rate.count(NOW)
    expect(rate.perMinute(NOW + 59 * MINUTE_MS)).toEqual([1, ...zeros(59)])
    expect(rate.perMinute(NOW + 60 * MINUTE_MS)).toEqual(zeros(60))
    rate.count(NOW + 60 * MINUTE_MS)
    expect(rate.perMinute(NOW + 1_000 * MINUTE_MS)).toEqual(zeros(60))
  })

  it('counts in the newest minute while the clock is set back', () => {
    const rate = createAttemptRate()
    rate.count(NOW)
    rate.count(NOW - 10 * MINUTE_MS)
    expect(rate.perMinute(NOW - 10 * MINUTE_MS)).toEqual([...zeros(59), 2])
  })
})
