import { describe, expect, it } from 'vitest'
import { createOutageDetector } from '../../../src/delivery/worker/outage-detector.js'
import type { Observation } from '../../../src/ports.js'
import { responseWith } from '../harness.js'

const timeout: Observation = { kind: 'no_response', failure: 'timeout', detail: '' }
const url = (origin: number, path = '/') => `https://${origin}.example.com${path}`

describe('the outage detector', () => {
  it('detects an outage when five origins were tried within a minute and none answered', () => {
    const detector = createOutageDetector()
    for (let origin = 0; origin < 4; origin++) detector.observe(url(origin), timeout, origin)
    detector.observe(url(0, '/other'), timeout, 4)
    expect(detector.isOutage(4)).toBe(false)
    detector.observe(url(4), timeout, 5)
    expect(detector.isOutage(5)).toBe(true)
    expect(detector.isOutage(59_999)).toBe(true)
  })

  it('detects none when one of them was tried more than a minute before the others', () => {
    const detector = createOutageDetector()
    for (let origin = 0; origin < 4; origin++) detector.observe(url(origin), timeout, origin)
    detector.observe(url(4), timeout, 60_005)
    expect(detector.isOutage(60_005)).toBe(false)
  })

  it('holds an outage for twelve minutes or until an origin answers, even if fewer origins are tried', () => {
    const detector = createOutageDetector()
    for (let origin = 0; origin < 5; origin++) detector.observe(url(origin), timeout, 0)
    expect(detector.isOutage(10)).toBe(true)
    expect(detector.isOutage(720_000)).toBe(true)
    detector.observe(url(0), timeout, 700_000)
    expect(detector.isOutage(720_011)).toBe(false)
    for (let origin = 0; origin < 5; origin++) detector.observe(url(origin), timeout, 800_000)
    expect(detector.isOutage(800_000)).toBe(true)
    detector.observe(url(7), responseWith(404), 800_001)
    expect(detector.isOutage(800_001)).toBe(false)
  })

  it('detects none while any origin answers HTTP, whatever the status', () => {
    const detector = createOutageDetector()
    for (let origin = 0; origin < 9; origin++) detector.observe(url(origin), timeout, origin)
    detector.observe(url(0), responseWith(500), 10)
    expect(detector.isOutage(10)).toBe(false)
    for (let origin = 0; origin < 9; origin++) detector.observe(url(origin), timeout, 20)
    expect(detector.isOutage(20)).toBe(false)
    for (let origin = 0; origin < 9; origin++) detector.observe(url(origin), timeout, 60_010)
    expect(detector.isOutage(60_010)).toBe(true)
  })

  it('ignores blocked addresses', () => {
    const detector = createOutageDetector()
    const blocked: Observation = { kind: 'no_response', failure: 'blocked_address', detail: '' }
    for (let origin = 0; origin < 9; origin++) detector.observe(url(origin), blocked, origin)
    expect(detector.isOutage(9)).toBe(false)
  })
})
