import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  HEALTH_PRESETS,
  type HealthRules,
  isProbed,
  judgeHealth,
  type Verdict,
} from '../../src/webhooks/health.js'

const { standard, kazoo } = HEALTH_PRESETS
const failed: Verdict = { kind: 'charged' }
const succeeded: Verdict = { kind: 'success' }
const HOUR_MS = 3_600_000

/** Fails at these times, one after the other. */
function failAt(times: readonly number[], rules: HealthRules = standard, verdict = failed) {
  let last: ReturnType<typeof judgeHealth> = { health: undefined }
  for (const now of times) last = judgeHealth(last.health, verdict, now, rules)
  return last
}
const range = (count: number, step = 1, from = 1) =>
  Array.from({ length: count }, (_, index) => from + index * step)

describe('the health of an endpoint', () => {
  it('counts charged failures in a row, and since when', () => {
    expect(failAt([5, 9]).health).toEqual({ failuresInRow: 2, failingSinceMs: 5 })
  })

  it('is clean after a success', () => {
    expect(judgeHealth(failAt([1, 2, 3]).health, succeeded, 9, standard)).toEqual({ health: undefined })
  })

  it('keeps a pause that the receiver asked for, even after a success that began before it', () => {
    const { health } = judgeHealth(undefined, { kind: 'charged', pauseUntilMs: 60 }, 5, standard)
    expect(judgeHealth(health, succeeded, 9, standard).health).toEqual({
      failuresInRow: 0,
      pausedUntilMs: 60,
    })
    expect(judgeHealth(health, succeeded, 60, standard).health).toBeUndefined()
  })

  it('keeps the longer of two pauses', () => {
    const paused = { failuresInRow: 1, pausedUntilMs: 50 }
    const pausedFor = (pauseUntilMs: number) =>
      judgeHealth(paused, { kind: 'charged', pauseUntilMs }, 5, standard).health
    expect(pausedFor(40)).toMatchObject({ failuresInRow: 2, pausedUntilMs: 50 })
    expect(pausedFor(60)).toMatchObject({ failuresInRow: 2, pausedUntilMs: 60 })
  })

  it('is the same object where nothing is said of it', () => {
    const rows = fc.option(fc.record({ failuresInRow: fc.nat(99) }), { nil: undefined })
    fc.assert(
      fc.property(rows, fc.nat(1000), fc.constantFrom(standard, kazoo), (health, now, rules) => {
        expect(judgeHealth(health, { kind: 'not charged', exhausted: true }, now, rules).health).toBe(health)
        expect(judgeHealth(undefined, succeeded, now, rules).health).toBeUndefined()
      }),
    )
  })
})

describe('the breaker', () => {
  it('opens with the tenth failure in a row for 30 s', () => {
    expect(failAt(range(9)).health).not.toHaveProperty('pausedUntilMs')
    const { health } = failAt(range(10))
    expect(health).toMatchObject({ failuresInRow: 10, openings: 1, pausedUntilMs: 10 + 30_000 })
    expect(isProbed(health)).toBe(true)
  })

  it('does not open wider for answers of before that come while it is open', () => {
    expect(failAt(range(19)).health).toMatchObject({
      failuresInRow: 19,
      openings: 1,
      pausedUntilMs: 10 + 30_000,
    })
  })

  it('doubles its pause with each probe that fails, up to 10 min', () => {
    let { health } = failAt(range(10))
    const pauses: number[] = []
    for (let round = 0; round < 7; round++) {
      const now = health!.pausedUntilMs!
      health = judgeHealth(health, failed, now, standard).health
      pauses.push((health!.pausedUntilMs! - now) / 1000)
    }
    expect(pauses).toEqual([60, 120, 240, 480, 600, 600, 600])
  })

  it('closes with the first success, and begins anew', () => {
    const { health } = judgeHealth(failAt(range(10)).health, succeeded, 11, standard)
    expect(health).toBeUndefined()
    expect(isProbed(health)).toBe(false)
  })

  it('is off under the preset kazoo', () => {
    const slow = range(50, 60_000)
    expect(failAt(slow, kazoo).health).not.toHaveProperty('pausedUntilMs')
  })
})

describe('disabling by itself', () => {
  const givenUp: Verdict = { kind: 'charged', exhausted: true }

  it('comes after a day without success and 20 deliveries given up, and not for either alone', () => {
    expect(failAt(range(30, 1000), standard, givenUp).disable).toBeUndefined()
    expect(failAt(range(30, HOUR_MS)).disable).toBeUndefined()
    expect(failAt(range(24, HOUR_MS, 0), standard, givenUp).disable).toBeUndefined()
    expect(failAt(range(25, HOUR_MS, 0), standard, givenUp).disable).toBe('too many failed attempts')
    expect(failAt([...range(19, 1000, 0), 24 * HOUR_MS], standard, givenUp).disable).toBe(
      'too many failed attempts',
    )
    expect(failAt([...range(18, 1000, 0), 24 * HOUR_MS], standard, givenUp).disable).toBeUndefined()
  })

  it('under the preset kazoo comes with the sixth failure within 60 s', () => {
    expect(failAt(range(5), kazoo).disable).toBeUndefined()
    expect(failAt(range(6, 11_999), kazoo).disable).toBe('too many failed attempts')
    expect(failAt(range(6, 12_000), kazoo).disable).toBeUndefined()
    expect(failAt(range(60, 15_000), kazoo).disable).toBeUndefined()
  })

  it('remembers no more failures than its rule counts', () => {
    expect(failAt(range(500, 1), kazoo).health?.failedAtMs).toHaveLength(6)
  })
})
