import { describe, expect, it } from 'vitest'
import { createReport, type FaultInjector, minimise, simulate } from '../../src/simulator/index.js'

/** A sender that secretly repeats requests without a response. */
const hiddenRetry: FaultInjector = {
  sender: (sender) => ({
    ...sender,
    async send(request) {
      const observation = await sender.send(request)
      if (observation.kind !== 'no_response') return observation
      await sender.send({ ...request, headers: request.headers.map((text) => (text === '1' ? '7' : text)) })
      return observation
    },
  }),
}
const OPTIONS = {
  minutes: 3,
  nodes: 2,
  faults: 'all',
  callsPerDay: 6000,
  faultInjector: hiddenRetry,
} as const

describe('a failed run', { timeout: 120_000 }, () => {
  it('is minimised and reported', async () => {
    const run = await simulate(1, OPTIONS)
    const violation = run.violations.find(({ invariant }) => invariant === 'I19')
    expect(violation?.message).toMatch(/^request 7 of .* has no record$/)

    const small = await minimise(1, OPTIONS, 'I19', 30)
    expect(small.runs).toBeLessThanOrEqual(32)
    expect(small.options.without?.faults?.size ?? 0).toBeGreaterThan(run.faults.length / 2)

    const again = await simulate(1, small.options)
    const least = again.violations.find(({ invariant }) => invariant === 'I19')!
    const text = await createReport(again, small.options, least)
    const lines = text.split('\n')
    expect(lines[0]).toBe(`I19: ${least.message}`)
    expect(lines[1]).toMatch(
      /^npm run sim -- --seed 1 --minutes 3 --nodes 2 --faults all --calls 6000 --without-faults \d/,
    )
    expect(lines[2]).toMatch(/^faults: /)
    const [, number] = /^request (\d+) of/.exec(least.message)!
    expect(text).toContain(`request ${number} arrives from`)
  })
})
