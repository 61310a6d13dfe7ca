import { describe, expect, it } from 'vitest'
import {
  addFastAnswer,
  addStrike,
  confirmStrikes,
  createStanding,
  isBlank,
  isProvenZone,
  isSuspectAccount,
  isSuspectZone,
  TRUST_MS,
} from '../../../src/delivery/scheduler/standing.js'

const MINUTE_MS = 60_000

function standingWith(strikes: number, atMs = 0) {
  const standing = createStanding()
  for (let n = 0; n < strikes; n++) addStrike(standing, atMs)
  return standing
}

describe('a new standing', () => {
  it('says nothing', () => {
    const standing = createStanding()
    expect(isBlank(standing)).toBe(true)
    expect(isSuspectAccount(standing, 0)).toBe(false)
    expect(isSuspectZone(standing, 0)).toBe(false)
    expect(isProvenZone(standing, 0)).toBe(false)
  })

  it('says something after a strike, and after a fast answer', () => {
    expect(isBlank(standingWith(1))).toBe(false)
    const answered = createStanding()
    addFastAnswer(answered, 0)
    expect(isBlank(answered)).toBe(false)
  })
})

describe('strikes', () => {
  it('make a zone suspect at once, an account at the third', () => {
    expect([0, 1].map((strikes) => isSuspectZone(standingWith(strikes), 0))).toEqual([false, true])
    expect([1, 2, 3].map((strikes) => isSuspectAccount(standingWith(strikes), 0))).toEqual([
      false,
      false,
      true,
    ])
  })

  it('are forgiven a minute after the last one', () => {
    const standing = standingWith(3)
    expect([isSuspectZone(standing, MINUTE_MS - 1), isSuspectAccount(standing, MINUTE_MS - 1)]).toEqual([
      true,
      true,
    ])
    expect([isSuspectZone(standing, MINUTE_MS), isSuspectAccount(standing, MINUTE_MS)]).toEqual([
      false,
      false,
    ])
    addStrike(standing, MINUTE_MS)
    expect([isSuspectZone(standing, MINUTE_MS), isSuspectAccount(standing, MINUTE_MS)]).toEqual([true, false])
  })

  it('stay while silent endpoints stay silent, but do not become more', () => {
    const standing = standingWith(2)
    confirmStrikes(standing, MINUTE_MS - 1)
    expect(isSuspectZone(standing, 2 * MINUTE_MS - 2)).toBe(true)
    expect(isSuspectAccount(standing, MINUTE_MS)).toBe(false)
    confirmStrikes(standing, 5 * MINUTE_MS)
    expect(isSuspectZone(standing, 5 * MINUTE_MS)).toBe(false)
    const blank = createStanding()
    confirmStrikes(blank, 0)
    expect(isBlank(blank)).toBe(true)
  })

  it('are not believed from the future: the clock may have been set back', () => {
    expect(isSuspectZone(standingWith(1, 10 * MINUTE_MS), 0)).toBe(false)
  })

  it('are cleared by a fast answer, at most once a second', () => {
    const standing = standingWith(3)
    expect(addFastAnswer(standing, 10)).toBe(true)
    expect(isSuspectZone(standing, 10)).toBe(false)
    expect(addFastAnswer(standing, 20)).toBe(false)
    addStrike(standing, 30)
    expect(addFastAnswer(standing, 1009)).toBe(false)
    expect(isSuspectZone(standing, 1009)).toBe(true)
    expect(addFastAnswer(standing, 1010)).toBe(true)
    expect(isSuspectZone(standing, 1010)).toBe(false)
  })
})

describe('a zone', () => {
  it('is proven for six hours by a fast answer', () => {
    const standing = createStanding()
    addFastAnswer(standing, 0)
    expect([isProvenZone(standing, TRUST_MS), isProvenZone(standing, TRUST_MS + 1)]).toEqual([true, false])
    expect(TRUST_MS).toBe(6 * 60 * MINUTE_MS)
  })

  it('is not proven while it is suspect', () => {
    const standing = createStanding()
    addFastAnswer(standing, 0)
    addStrike(standing, 10)
    expect(isProvenZone(standing, 10)).toBe(false)
    expect(isProvenZone(standing, 10 + MINUTE_MS)).toBe(true)
  })
})
