import { describe, expect, it } from 'vitest'
import { type Doctor, minimise, reportOf, simulate } from '../../src/testkit/world/index.js'

/** A sender that repeats what it was not answered, unseen. */
const hiddenRetry: Doctor = {
  sender: (sender) => ({
    ...sender,
    async send(request) {
      const seen = await sender.send(request)
      if (seen.kind !== 'no_response') return seen
      await sender.send({ ...request, headers: request.headers.map((text) => (text === '1' ? '7' : text)) })
      return seen
    },
  }),
}
const OPTIONS = { minutes: 3, nodes: 2, faults: 'all', callsPerDay: 6000, doctor: hiddenRetry } as const

describe('a run that failed', { timeout: 120_000 }, () => {
  it('is made smaller, and told', async () => {
    const run = await simulate(1, OPTIONS)
    const finding = run.findings.find(({ invariant }) => invariant === 'I19')
    expect(finding?.what).toMatch(/^request 7 of .* has no record$/)

    const small = await minimise(1, OPTIONS, 'I19', 30)
    expect(small.runs).toBeLessThanOrEqual(32)
    expect(small.options.without?.faults?.size ?? 0).toBeGreaterThan(run.faults.length / 2)

    const again = await simulate(1, small.options)
    const least = again.findings.find(({ invariant }) => invariant === 'I19')!
    const text = await reportOf(again, small.options, least)
    const lines = text.split('\n')
    expect(lines[0]).toBe(`I19: ${least.what}`)
    expect(lines[1]).toMatch(
      /^npm run sim -- --seed 1 --minutes 3 --nodes 2 --faults all --calls 6000 --without-faults \d/,
    )
    expect(lines[2]).toMatch(/^faults: /)
    expect(text).toContain(`request 7 arrives from`)
  })
})
