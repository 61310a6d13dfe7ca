import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextHealth } from '../../src/webhooks/health.js'

const health = fc.option(
  fc.record({ failuresInRow: fc.nat(99), pausedUntilMs: fc.nat(1000) }, { requiredKeys: ['failuresInRow'] }),
  { nil: undefined },
)

describe('the health of an endpoint', () => {
  it('counts charged failures in a row', () => {
    expect(nextHealth(undefined, 'charged', 5, undefined)).toEqual({ failuresInRow: 1 })
    expect(nextHealth({ failuresInRow: 1 }, 'charged', 5, undefined)).toEqual({ failuresInRow: 2 })
  })

  it('is clean after a success', () => {
    expect(nextHealth({ failuresInRow: 9 }, 'success', 5, undefined)).toBeUndefined()
    expect(nextHealth({ failuresInRow: 9, pausedUntilMs: 5 }, 'success', 5, undefined)).toBeUndefined()
  })

  it('keeps a pause that is not over, even after a success that began before it', () => {
    expect(nextHealth({ failuresInRow: 1, pausedUntilMs: 6 }, 'success', 5, undefined)).toEqual({
      failuresInRow: 0,
      pausedUntilMs: 6,
    })
  })

  it('keeps the longer of two pauses', () => {
    const paused = { failuresInRow: 1, pausedUntilMs: 50 }
    expect(nextHealth(paused, 'charged', 5, 40)).toEqual({ failuresInRow: 2, pausedUntilMs: 50 })
    expect(nextHealth(paused, 'charged', 5, 60)).toEqual({ failuresInRow: 2, pausedUntilMs: 60 })
    expect(nextHealth(paused, 'charged', 50, undefined)).toEqual({ failuresInRow: 2 })
  })

  it('is the same object where nothing is said of it, or nothing changes', () => {
    fc.assert(
      fc.property(health, fc.nat(1000), (before, now) => {
        const known = before as Parameters<typeof nextHealth>[0]
        expect(nextHealth(known, 'not charged', now, undefined)).toBe(known)
        expect(nextHealth(undefined, 'success', now, undefined)).toBeUndefined()
      }),
    )
  })
})
