import { describe, expect, it } from 'vitest'
import {
  addFailure,
  addFastAnswer,
  confirmFailures,
  createReputation,
  isDoubtfulAccount,
  isDoubtfulZone,
  isEmpty,
  isProvenZone,
  TRUST_MS,
} from '../../../src/delivery/scheduler/reputation.js'

const MINUTE_MS = 60_000

function reputationWith(failures: number, atMs = 0) {
  const reputation = createReputation()
  for (let n = 0; n < failures; n++) addFailure(reputation, atMs)
  return reputation
}

describe('a new reputation', () => {
  it('says nothing', () => {
    const reputation = createReputation()
    expect(isEmpty(reputation)).toBe(true)
    expect(isDoubtfulAccount(reputation, 0)).toBe(false)
    expect(isDoubtfulZone(reputation, 0)).toBe(false)
    expect(isProvenZone(reputation, 0)).toBe(false)
  })

  it('says something after a failure, and after a fast answer', () => {
    expect(isEmpty(reputationWith(1))).toBe(false)
    const answered = createReputation()
    addFastAnswer(answered, 0)
    expect(isEmpty(answered)).toBe(false)
  })
})

describe('failures', () => {
  it('make a zone doubtful at once, an account at the third', () => {
    expect([0, 1].map((failures) => isDoubtfulZone(reputationWith(failures), 0))).toEqual([false, true])
    expect([1, 2, 3].map((failures) => isDoubtfulAccount(reputationWith(failures), 0))).toEqual([
      false,
      false,
      true,
    ])
  })

  it('are forgotten a minute after the last one', () => {
    const reputation = reputationWith(3)
    expect([isDoubtfulZone(reputation, MINUTE_MS - 1), isDoubtfulAccount(reputation, MINUTE_MS - 1)]).toEqual(
      [true, true],
    )
    expect([isDoubtfulZone(reputation, MINUTE_MS), isDoubtfulAccount(reputation, MINUTE_MS)]).toEqual([
      false,
      false,
    ])
    addFailure(reputation, MINUTE_MS)
    expect([isDoubtfulZone(reputation, MINUTE_MS), isDoubtfulAccount(reputation, MINUTE_MS)]).toEqual([
      true,
      false,
    ])
  })

  it('stay while silent endpoints stay silent, but do not become more', () => {
    const reputation = reputationWith(2)
    confirmFailures(reputation, MINUTE_MS - 1)
    expect(isDoubtfulZone(reputation, 2 * MINUTE_MS - 2)).toBe(true)
    expect(isDoubtfulAccount(reputation, MINUTE_MS)).toBe(false)
    confirmFailures(reputation, 5 * MINUTE_MS)
    expect(isDoubtfulZone(reputation, 5 * MINUTE_MS)).toBe(false)
    const blank = createReputation()
    confirmFailures(blank, 0)
    expect(isEmpty(blank)).toBe(true)
  })

  it('are not believed from the future: the clock may have been set back', () => {
    expect(isDoubtfulZone(reputationWith(1, 10 * MINUTE_MS), 0)).toBe(false)
  })

  it('are cleared by a fast answer, at most once a second', () => {
    const reputation = reputationWith(3)
    expect(addFastAnswer(reputation, 10)).toBe(true)
    expect(isDoubtfulZone(reputation, 10)).toBe(false)
    expect(addFastAnswer(reputation, 20)).toBe(false)
    addFailure(reputation, 30)
    expect(addFastAnswer(reputation, 1009)).toBe(false)
    expect(isDoubtfulZone(reputation, 1009)).toBe(true)
    expect(addFastAnswer(reputation, 1010)).toBe(true)
    expect(isDoubtfulZone(reputation, 1010)).toBe(false)
  })
})

describe('a zone', () => {
  it('is proven for six hours by a fast answer', () => {
    const reputation = createReputation()
    addFastAnswer(reputation, 0)
    expect([isProvenZone(reputation, TRUST_MS), isProvenZone(reputation, TRUST_MS + 1)]).toEqual([
      true,
      false,
    ])
    expect(TRUST_MS).toBe(6 * 60 * MINUTE_MS)
  })

  it('is not proven while it is suspect', () => {
    const reputation = createReputation()
    addFastAnswer(reputation, 0)
    addFailure(reputation, 10)
    expect(isProvenZone(reputation, 10)).toBe(false)
    expect(isProvenZone(reputation, 10 + MINUTE_MS)).toBe(true)
  })
})
