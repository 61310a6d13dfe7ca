import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createTimer } from '../../src/delivery/timer.js'

describe('a timer', () => {
  it('fires once, at the moment that was set last', async () => {
    const clock = manualClock({ nowMs: 0 })
    const fired: number[] = []
    const timer = createTimer(clock, clock.now, () => void fired.push(clock.now()))
    timer.set(100)
    timer.set(50)
    timer.set(50)
    await clock.advance(200)
    expect(fired).toEqual([50])
    timer.set(300)
    timer.set(undefined)
    expect(clock.sleepers().count).toBe(0)
    await clock.advance(200)
    expect(fired).toEqual([50])
    timer.set(10)
    await clock.settle()
    expect(fired).toEqual([50, 400])
  })

  it('can be set again while it fires', async () => {
    const clock = manualClock({ nowMs: 0 })
    let fired = 0
    const timer = createTimer(clock, clock.now, () => {
      fired++
      if (fired < 3) timer.set(fired * 100 + 100)
    })
    timer.set(100)
    await clock.advance(1000)
    expect(fired).toBe(3)
  })
})
