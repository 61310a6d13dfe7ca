import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { durationsOf, isClockSetBack, MAX_SECONDS } from '../../../../adapters/telephony/source/seconds.js'

const T0 = 1_767_225_600_000
const at = (seconds: number) => T0 + seconds * 1000

describe('the durations of a leg', () => {
  it('divide the time of the leg at its answer', () => {
    expect(durationsOf({ createdMs: T0, answeredMs: at(4), endedMs: at(59) })).toEqual({
      durationSeconds: 59,
      ringingSeconds: 4,
      billingSeconds: 55,
      durationMs: 59_000,
      ringingMs: 4_000,
      billingMs: 55_000,
    })
  })

  it('are rounded down, and what is lost counts as time before the answer', () => {
    expect(durationsOf({ createdMs: T0, answeredMs: at(0.5), endedMs: at(3.499_6) })).toEqual({
      durationSeconds: 3,
      ringingSeconds: 1,
      billingSeconds: 2,
      durationMs: 3_499,
      ringingMs: 500,
      billingMs: 2_999,
    })
  })

  it('are exact where the times have fractions that a sum of floats has not', () => {
    const createdMs = 1_795_173_739_034.63
    const durations = durationsOf({ createdMs, answeredMs: undefined, endedMs: createdMs + 1000 })
    expect([durations.durationMs, durations.durationSeconds]).toEqual([1_000, 1])
  })

  it('bill nothing of a leg that was never answered', () => {
    expect(durationsOf({ createdMs: T0, answeredMs: undefined, endedMs: at(7.4) })).toEqual({
      durationSeconds: 7,
      ringingSeconds: 7,
      billingSeconds: 0,
      durationMs: 7_400,
      ringingMs: 7_400,
      billingMs: 0,
    })
  })

  it('leave out what is not known', () => {
    expect(durationsOf({ createdMs: T0, answeredMs: 'unknown', endedMs: at(7) })).toEqual({
      durationSeconds: 7,
      durationMs: 7_000,
    })
    expect(durationsOf({ createdMs: T0, answeredMs: at(4), endedMs: 'unknown' })).toEqual({
      ringingSeconds: 4,
      ringingMs: 4_000,
    })
    expect(durationsOf({ createdMs: 'unknown', answeredMs: T0, endedMs: at(4) })).toEqual({
      billingSeconds: 4,
      billingMs: 4_000,
    })
    expect(durationsOf({ createdMs: 'unknown', answeredMs: undefined, endedMs: T0 })).toEqual({
      billingSeconds: 0,
      billingMs: 0,
    })
    expect(durationsOf({ createdMs: T0, answeredMs: undefined, endedMs: 'unknown' })).toEqual({})
  })

  it('count a time that is less than a second early as the same time', () => {
    expect(durationsOf({ createdMs: T0, answeredMs: at(5), endedMs: at(4.1) })).toEqual({
      durationSeconds: 4,
      ringingSeconds: 4,
      billingSeconds: 0,
      durationMs: 4_100,
      ringingMs: 4_100,
      billingMs: 0,
    })
  })

  it.each([
    ['the answer', { createdMs: T0, answeredMs: at(-3_600), endedMs: at(7) }],
    ['the end of an answered leg', { createdMs: T0, answeredMs: at(4), endedMs: at(2.9) }],
    ['the end of a leg that was not answered', { createdMs: T0, answeredMs: undefined, endedMs: at(-2) }],
    ['the end of a leg whose begin is unknown', { createdMs: 'unknown', answeredMs: T0, endedMs: at(-2) }],
  ] as const)('are left out if the clock was set back before %s', (_, times) => {
    expect([isClockSetBack(times), durationsOf(times)]).toEqual([true, {}])
  })

  it('add up, or are left out together, whatever the clock of the switch does', () => {
    const time = fc.oneof(
      fc.double({ min: T0 - 10_000, max: T0 + 100_000, noNaN: true }),
      fc.constantFrom(0, T0, Number.MAX_SAFE_INTEGER),
    )
    fc.assert(
      fc.property(time, fc.option(time, { nil: undefined }), time, (createdMs, answeredMs, endedMs) => {
        const durations = durationsOf({ createdMs, answeredMs, endedMs })
        const { durationSeconds = -1, ringingSeconds = -1, billingSeconds = -1 } = durations
        const { durationMs = -1, ringingMs = -1, billingMs = -1 } = durations
        if (isClockSetBack({ createdMs, answeredMs, endedMs })) expect(durations).toEqual({})
        else {
          expect(ringingSeconds + billingSeconds).toBe(durationSeconds)
          expect(Math.min(ringingSeconds, billingSeconds)).toBeGreaterThanOrEqual(0)
          expect(durationSeconds).toBeLessThanOrEqual(MAX_SECONDS)
          expect(ringingMs + billingMs).toBe(durationMs)
          const inSeconds = [durationMs, billingMs].map((ms) => Math.floor(ms / 1000))
          expect([durationSeconds, billingSeconds]).toEqual(inSeconds)
        }
      }),
    )
  })
})
