import { type CallOutcome, callGenerator, takeCalls } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'

const START_MS = 1_767_225_600_000
const ACCOUNTS = ['acme', { id: 'globex', realm: 'sip.globex.example' }]
const generate = (seed: number, count: number) =>
  takeCalls(callGenerator({ seed, accounts: ACCOUNTS }), count)

// Each test has a fixed seed, so its result never changes.
describe('the distribution of generated calls', () => {
  it('is a Poisson process of the given rate', () => {
    const perSecond = 4
    const { calls } = takeCalls(
      callGenerator({ seed: 6, accounts: ACCOUNTS, callsPerSecond: perSecond }),
      10_000,
    )
    const seconds = (calls.at(-1)!.startedMs - START_MS) / 1000
    expect(calls.length / seconds).toBeGreaterThan(perSecond * 0.97)
    expect(calls.length / seconds).toBeLessThan(perSecond * 1.03)

    // The variance of a Poisson count equals its mean.
    const counts = new Array<number>(Math.floor(seconds)).fill(0)
    for (const call of calls) {
      const second = Math.floor((call.startedMs - START_MS) / 1000)
      if (second < counts.length) counts[second]! += 1
    }
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length
    expect(variance / mean).toBeGreaterThan(0.9)
    expect(variance / mean).toBeLessThan(1.1)
    // A fraction 1/e of the gaps is longer than the mean.
    const long = calls
      .slice(1)
      .filter((call, index) => call.startedMs - calls[index]!.startedMs > 1000 / perSecond)
    expect(long.length / calls.length).toBeCloseTo(Math.exp(-1), 1)
  })

  it('has the default shares of outcomes, or the given ones', () => {
    const { calls } = generate(7, 3_000)
    const share = (outcome: CallOutcome) =>
      calls.filter((call) => call.outcome === outcome).length / calls.length
    expect(share('answered')).toBeCloseTo(0.64, 1)
    expect(share('noAnswer')).toBeCloseTo(0.15, 1)
    for (const outcome of ['busy', 'cancelled', 'declined'] as const)
      expect(share(outcome)).toBeGreaterThan(0.02)
    const busy = callGenerator({ seed: 7, accounts: ACCOUNTS, outcomes: { busy: 1 } })
    expect(takeCalls(busy, 50).calls.every((call) => call.outcome === 'busy')).toBe(true)
  })

  it('is uniform over accounts, with the realm of each', () => {
    const { events, calls } = generate(8, 2_000)
    expect(calls.filter((call) => call.accountId === 'acme').length / calls.length).toBeCloseTo(0.5, 1)
    const own = events.filter(({ event }) => /^10\d\d@/.test(event.to))
    expect(new Set(own.map(({ event }) => `${event.accountId} ${event.to.split('@')[1]}`))).toEqual(
      new Set(['acme acme.example', 'globex sip.globex.example']),
    )
  })

  it('has calls with holds, and calls that end on hold', () => {
    const sequences = generate(10, 1_000).calls.flatMap(({ legs }) =>
      legs.map((leg) => leg.hooks.map((hook) => hook.charAt('channel_'.length)).join('')),
    )
    expect(sequences.some((sequence) => sequence.includes('hu'))).toBe(true)
    expect(sequences.some((sequence) => sequence.endsWith('hd'))).toBe(true)
    expect(sequences.some((sequence) => sequence === 'cabd')).toBe(true)
  })
})
