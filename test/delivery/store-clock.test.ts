import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createStoreClock } from '../../src/delivery/store-clock.js'

describe('the store clock', () => {
  it('continues from the last synchronized value with the monotonic clock', async () => {
    const clock = manualClock({ nowMs: 1000 })
    const storeClock = createStoreClock(clock)
    expect(storeClock.now()).toBe(1000)
    storeClock.sync(5000)
    clock.jumpWall(99_999)
    await clock.advance(250)
    expect(storeClock.now()).toBe(5250)
  })

  it('is not set back by a slow answer, and takes the nearest possible time where it was wrong', async () => {
    const clock = manualClock({ nowMs: 1000 })
    const storeClock = createStoreClock(clock)
    storeClock.sync(5000)
    const requestedMs = clock.monotonic()
    await clock.advance(60_000)
    storeClock.sync(5000, requestedMs)
    expect(storeClock.now()).toBe(65_000)
    storeClock.sync(90_000, requestedMs)
    expect(storeClock.now()).toBe(90_000)
    storeClock.sync(10_000, requestedMs)
    expect(storeClock.now()).toBe(70_000)
  })

  it('shows whole milliseconds', () => {
    const clock = { ...manualClock({ nowMs: 7 }), monotonic: () => 0.75 }
    let monotonic = 0.75
    const storeClock = createStoreClock({ ...clock, monotonic: () => monotonic })
    monotonic = 3.5
    expect(storeClock.now()).toBe(9)
  })
})
