import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AttemptEffect,
  endpointHealthOf,
  HEALTH_PRESETS,
  type HealthRules,
  isProbed,
  updateHealth,
} from '../../src/webhooks/health.js'

const { standard, kazoo } = HEALTH_PRESETS
const failed: AttemptEffect = { kind: 'charged' }
const succeeded: AttemptEffect = { kind: 'success' }
const HOUR_MS = 3_600_000

/** Applies an effect at each of these times. */
function failAt(times: readonly number[], rules: HealthRules = standard, effect = failed) {
  let last: ReturnType<typeof updateHealth> = { health: undefined }
  for (const now of times) last = updateHealth(last.health, effect, now, rules)
  return last
}
const range = (count: number, step = 1, from = 1) =>
  Array.from({ length: count }, (_, index) => from + index * step)

describe('the health of an endpoint', () => {
  it('counts consecutive charged failures and records the time of the first', () => {
    expect(failAt([5, 9]).health).toEqual({ failuresInRow: 2, failingSinceMs: 5 })
  })

  it('is cleared by a success', () => {
    expect(updateHealth(failAt([1, 2, 3]).health, succeeded, 9, standard)).toEqual({ health: undefined })
  })

  it('keeps a pause requested by the receiver after a success that started before it', () => {
    const { health } = updateHealth(undefined, { kind: 'charged', pauseUntilMs: 60 }, 5, standard)
    expect(updateHealth(health, succeeded, 9, standard).health).toEqual({
      failuresInRow: 0,
      pausedUntilMs: 60,
    })
    expect(updateHealth(health, succeeded, 60, standard).health).toBeUndefined()
  })

  it('keeps the longer of two pauses', () => {
    const paused = { failuresInRow: 1, pausedUntilMs: 50 }
    const pausedFor = (pauseUntilMs: number) =>
      updateHealth(paused, { kind: 'charged', pauseUntilMs }, 5, standard).health
    expect(pausedFor(40)).toMatchObject({ failuresInRow: 2, pausedUntilMs: 50 })
    expect(pausedFor(60)).toMatchObject({ failuresInRow: 2, pausedUntilMs: 60 })
  })

  it('is the same object when the attempt does not affect it', () => {
    const rows = fc.option(fc.record({ failuresInRow: fc.nat(99) }), { nil: undefined })
    fc.assert(
      fc.property(rows, fc.nat(1000), fc.constantFrom(standard, kazoo), (health, now, rules) => {
        expect(updateHealth(health, { kind: 'not charged', exhausted: true }, now, rules).health).toBe(health)
        expect(updateHealth(undefined, succeeded, now, rules).health).toBeUndefined()
      }),
    )
  })
})

describe('the health that an owner sees', () => {
  const enabled = { settings: { enabled: true } }
  const health = { failuresInRow: 3, failingSinceMs: 5, pausedUntilMs: 50 }

  it.each([
    ['ok', enabled, { failuresInRow: 0 }],
    ['paused', { ...enabled, health }, { failuresInRow: 3, failingSinceMs: 5, pausedUntilMs: 50 }],
    [
      'failing',
      { ...enabled, health: { ...health, pausedUntilMs: 9 } },
      { failuresInRow: 3, failingSinceMs: 5 },
    ],
    ['ok', { ...enabled, health: { failuresInRow: 0, pausedUntilMs: 9 } }, { failuresInRow: 0 }],
    ['disabled', { settings: { enabled: false }, health }, { failuresInRow: 3, failingSinceMs: 5 }],
  ] as const)('is %s', (state, webhook, fields) => {
    expect(endpointHealthOf(webhook, 10)).toEqual({ state, ...fields })
    expect(endpointHealthOf(webhook, 10, 4)).toEqual({ state, ...fields, lastSuccessMs: 4 })
  })
})

describe('the circuit breaker', () => {
  it('opens for 12.5 s at the tenth consecutive failure', () => {
    expect(failAt(range(9)).health).not.toHaveProperty('pausedUntilMs')
    const { health } = failAt(range(10))
    expect(health).toMatchObject({ failuresInRow: 10, openings: 1, pausedUntilMs: 10 + 12_500 })
    expect(isProbed(health)).toBe(true)
  })

  it('is not reopened by late failures while it is open', () => {
    expect(failAt(range(19)).health).toMatchObject({
      failuresInRow: 19,
      openings: 1,
      pausedUntilMs: 10 + 12_500,
    })
  })

  it('keeps its shortest pause for 5 min of failures, then doubles it with each failed probe, up to 10 min', () => {
    let { health } = failAt(range(10))
    const brief: number[] = []
    const later: number[] = []
    for (let round = 0; round < 33; round++) {
      const now = health!.pausedUntilMs!
      health = updateHealth(health, failed, now, standard).health
      const pauses = now - health!.failingSinceMs! < 300_000 ? brief : later
      pauses.push(Math.round((health!.pausedUntilMs! - now) / 100) / 10)
    }
    expect(brief).toEqual(new Array(23).fill(12.5))
    expect(later).toEqual([12.5, 12.5, 25, 50, 100.1, 200.1, 400.3, 600, 600, 600])
  })

  it('begins with its shortest pause however long the failures before it took', () => {
    const { health } = failAt(range(10, 120_000))
    expect(health!.pausedUntilMs! - range(10, 120_000).at(-1)!).toBe(12_500)
  })

  it('varies its pause by up to 20 %, never above 10 min', () => {
    const pauseAfter = (now: number, random: number) => {
      const open = { failuresInRow: 10, openings: 99, failingSinceMs: 0 }
      return updateHealth(open, { kind: 'charged', random }, now, standard).health!.pausedUntilMs! - now
    }
    const pauses = (now: number) => [0, 0.5, 0.999_999].map((random) => pauseAfter(now, random))
    expect(pauses(1000)).toEqual([10_000, 12_500, 15_000])
    expect(pauses(360_000)).toEqual([48_000, 60_000, 72_000])
    expect(pauses(3_600_000)).toEqual([480_000, 600_000, 600_000])
  })

  it('closes and resets at the first success', () => {
    const { health } = updateHealth(failAt(range(10)).health, succeeded, 11, standard)
    expect(health).toBeUndefined()
    expect(isProbed(health)).toBe(false)
  })

  it('is disabled by the preset kazoo', () => {
    const slow = range(50, 60_000)
    expect(failAt(slow, kazoo).health).not.toHaveProperty('pausedUntilMs')
  })
})

describe('automatic disabling', () => {
  const exhausted: AttemptEffect = { kind: 'charged', exhausted: true }

  it('requires both five days without success and 20 exhausted deliveries', () => {
    expect(failAt(range(30, 1000), standard, exhausted).disable).toBeUndefined()
    expect(failAt(range(150, HOUR_MS)).disable).toBeUndefined()
    expect(failAt(range(120, HOUR_MS, 0), standard, exhausted).disable).toBeUndefined()
    expect(failAt(range(121, HOUR_MS, 0), standard, exhausted).disable).toBe('too many failed attempts')
    expect(failAt([...range(19, 1000, 0), 120 * HOUR_MS], standard, exhausted).disable).toBe(
      'too many failed attempts',
    )
    expect(failAt([...range(18, 1000, 0), 120 * HOUR_MS], standard, exhausted).disable).toBeUndefined()
  })

  it('happens at the sixth failure within 60 s under the preset kazoo', () => {
    expect(failAt(range(5), kazoo).disable).toBeUndefined()
    expect(failAt(range(6, 11_999), kazoo).disable).toBe('too many failed attempts')
    expect(failAt(range(6, 12_000), kazoo).disable).toBeUndefined()
    expect(failAt(range(60, 15_000), kazoo).disable).toBeUndefined()
  })

  it('stores no more failure times than its rule counts', () => {
    expect(failAt(range(500, 1), kazoo).health?.failedAtMs).toHaveLength(6)
  })
})
