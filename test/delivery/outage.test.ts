import { describe, expect, it } from 'vitest'
import { outageWatch } from '../../src/delivery/outage.js'
import type { Observation } from '../../src/ports.js'
import { answered } from './world.js'

const nothing: Observation = { kind: 'no_response', failure: 'timeout', detail: '' }
const url = (origin: number, path = '/') => `https://${origin}.example.com${path}`

describe('a global outage', () => {
  it('is five origins tried within a minute, none of which answered', () => {
    const watch = outageWatch()
    for (let origin = 0; origin < 4; origin++) watch.saw(url(origin), nothing, origin)
    watch.saw(url(0, '/other'), nothing, 4)
    expect(watch.isOutage(4)).toBe(false)
    watch.saw(url(4), nothing, 5)
    expect(watch.isOutage(5)).toBe(true)
    expect(watch.isOutage(59_999)).toBe(true)
  })

  it('is over when one of them was tried more than a minute before the others', () => {
    const watch = outageWatch()
    for (let origin = 0; origin < 4; origin++) watch.saw(url(origin), nothing, origin)
    watch.saw(url(4), nothing, 60_005)
    expect(watch.isOutage(60_005)).toBe(false)
  })

  it('goes on while fewer are tried, since retries are far apart by then, for twelve minutes or until somebody answers', () => {
    const watch = outageWatch()
    for (let origin = 0; origin < 5; origin++) watch.saw(url(origin), nothing, 0)
    expect(watch.isOutage(10)).toBe(true)
    expect(watch.isOutage(720_000)).toBe(true)
    watch.saw(url(0), nothing, 700_000)
    expect(watch.isOutage(720_011)).toBe(false)
    for (let origin = 0; origin < 5; origin++) watch.saw(url(origin), nothing, 800_000)
    expect(watch.isOutage(800_000)).toBe(true)
    watch.saw(url(7), answered(404), 800_001)
    expect(watch.isOutage(800_001)).toBe(false)
  })

  it('is none while anybody answers HTTP, whatever the status', () => {
    const watch = outageWatch()
    for (let origin = 0; origin < 9; origin++) watch.saw(url(origin), nothing, origin)
    watch.saw(url(0), answered(500), 10)
    expect(watch.isOutage(10)).toBe(false)
    for (let origin = 0; origin < 9; origin++) watch.saw(url(origin), nothing, 20)
    expect(watch.isOutage(20)).toBe(false)
    for (let origin = 0; origin < 9; origin++) watch.saw(url(origin), nothing, 60_010)
    expect(watch.isOutage(60_010)).toBe(true)
  })

  it('is not told by addresses that may not be called', () => {
    const watch = outageWatch()
    const blocked: Observation = { kind: 'no_response', failure: 'blocked_address', detail: '' }
    for (let origin = 0; origin < 9; origin++) watch.saw(url(origin), blocked, origin)
    expect(watch.isOutage(9)).toBe(false)
  })
})
