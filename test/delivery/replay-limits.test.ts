import * as fc from 'fast-check'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { REPLAY_LIMIT_DEFAULTS, replayLimits } from '../../src/delivery/replay-limits.js'
import { errorCode, type HookswitchError } from '../../src/errors.js'

/** Asks until it is refused; how often it was admitted, and what was thrown. */
function exhaust(limits: ReturnType<typeof replayLimits>, webhook = 'acc/w1', most = 1000) {
  for (let admitted = 0; admitted < most; admitted++) {
    try {
      limits.admit(webhook)
    } catch (thrown) {
      return { admitted, thrown: thrown as HookswitchError }
    }
  }
  return { admitted: most, thrown: undefined }
}

describe('tests and replays of a webhook', () => {
  it('are admitted 20 at once and one a second by default', async () => {
    expect(REPLAY_LIMIT_DEFAULTS).toEqual({ replayBurst: 20, replayRefillPerSecond: 1 })
    expect(Object.isFrozen(REPLAY_LIMIT_DEFAULTS)).toBe(true)
    const clock = manualClock()
    const limits = replayLimits(clock)
    expect(exhaust(limits).admitted).toBe(20)
    await clock.advance(999)
    expect(exhaust(limits).admitted).toBe(0)
    await clock.advance(1)
    expect(exhaust(limits).admitted).toBe(1)
    await clock.advance(3_600_000)
    expect(exhaust(limits).admitted).toBe(20)
  })

  it('are refused with a code, and with the seconds after which one will be admitted', async () => {
    const clock = manualClock()
    const limits = replayLimits(clock, { replayBurst: 2, replayRefillPerSecond: 0.1 })
    const { thrown } = exhaust(limits)
    expect(errorCode(thrown)).toBe('TooManyReplays')
    expect(thrown).toMatchObject({ retryAfterSeconds: 10 })
    await clock.advance(4500)
    expect(exhaust(limits).thrown).toMatchObject({ retryAfterSeconds: 6 })
    await clock.advance(5500)
    expect(exhaust(limits).admitted).toBe(1)
  })

  it('who waits as long as was said is admitted, whatever the rates are', async () => {
    const rates = fc.double({ min: 0.001, max: 1000, noNaN: true })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }), rates, async (burst, rate) => {
        const clock = manualClock()
        const limits = replayLimits(clock, { replayBurst: burst, replayRefillPerSecond: rate })
        const { admitted, thrown } = exhaust(limits)
        expect(admitted).toBe(burst)
        expect(thrown!.retryAfterSeconds).toBeGreaterThanOrEqual(1)
        expect(Number.isInteger(thrown!.retryAfterSeconds)).toBe(true)
        await clock.advance(thrown!.retryAfterSeconds! * 1000)
        expect(exhaust(limits, 'acc/w1', 1).admitted).toBe(1)
      }),
    )
  })

  it('in the long run are no more than burst and rate allow, however they come', async () => {
    const pauses = fc.array(fc.nat(5000), { minLength: 1, maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(pauses, async (list) => {
        const clock = manualClock()
        const limits = replayLimits(clock, { replayBurst: 5, replayRefillPerSecond: 2 })
        let admitted = 0
        for (const pauseMs of list) {
          await clock.advance(pauseMs)
          admitted += exhaust(limits, 'acc/w1', 3).admitted
        }
        const seconds = list.reduce((sum, one) => sum + one, 0) / 1000
        expect(admitted).toBeLessThanOrEqual(5 + 2 * seconds + 1e-6)
      }),
      { numRuns: 50 },
    )
  })

  it('of one webhook take nothing from another, or from one of the same id elsewhere', () => {
    const limits = replayLimits(manualClock())
    expect(exhaust(limits, 'acc/w1').admitted).toBe(20)
    expect(exhaust(limits, 'acc/w2').admitted).toBe(20)
    expect(exhaust(limits, 'sub/w1').admitted).toBe(20)
    expect(exhaust(limits, 'acc/w1').admitted).toBe(0)
  })

  it('a refusal costs nothing: who keeps asking is not kept out', async () => {
    const clock = manualClock()
    const limits = replayLimits(clock, { replayBurst: 1, replayRefillPerSecond: 1 })
    limits.admit('w')
    for (let n = 0; n < 100; n++) {
      expect(() => limits.admit('w')).toThrow()
      await clock.advance(9)
    }
    await clock.advance(100)
    expect(() => limits.admit('w')).not.toThrow()
  })

  it('have no limit where the burst is endless, whatever the rate', () => {
    const limits = replayLimits(manualClock(), {
      replayBurst: Number.POSITIVE_INFINITY,
      replayRefillPerSecond: 0.001,
    })
    expect(exhaust(limits, 'w', 5000).admitted).toBe(5000)
  })

  it('a wall clock that jumps neither gives nor takes', async () => {
    const clock = manualClock()
    const limits = replayLimits(clock)
    exhaust(limits)
    clock.jumpWall(86_400_000)
    expect(exhaust(limits).admitted).toBe(0)
    clock.jumpWall(-2 * 86_400_000)
    await clock.advance(1000)
    expect(exhaust(limits).admitted).toBe(1)
  })

  it('of many webhooks leave no count of those that are full again, and forget none that is not', async () => {
    const clock = manualClock()
    const limits = replayLimits(clock, { replayBurst: 2, replayRefillPerSecond: 1 })
    exhaust(limits, 'spent')
    for (let n = 0; n < 9_000; n++) limits.admit(`early-${n}`)
    await clock.advance(1500)
    // The sweep comes with these: the early ones are full by then, the one that was spent is not.
    for (let n = 0; n < 9_000; n++) limits.admit(`late-${n}`)
    expect(exhaust(limits, 'spent').admitted).toBe(1)
    expect(exhaust(limits, 'early-5').admitted).toBe(2)
    expect(exhaust(limits, 'late-5').admitted).toBe(1)
  })
})
