import { describe, expect, it } from 'vitest'
import { simulate } from '../../src/testkit/world/index.js'
import { BROKEN } from './doctors.js'

/** Enough happens in it for every one of them: retries, edits, logins, a few restarts. */
const SCENARIO = { minutes: 6, nodes: 2, callsPerDay: 8000, faults: 'none' } as const
const SEEDS = [1, 2, 3, 4, 5]

describe('each invariant is found broken where it is', () => {
  for (const { what, invariants, doctor, minutes = SCENARIO.minutes } of BROKEN) {
    it(`${invariants.join(' or ')}: ${what}`, async () => {
      const found = new Set<string>()
      for (const seed of SEEDS) {
        const { findings } = await simulate(seed, { ...SCENARIO, minutes, doctor: doctor() })
        for (const { invariant } of findings) found.add(invariant)
        if (invariants.some((invariant) => found.has(invariant))) return
      }
      expect([...found]).toEqual(expect.arrayContaining([...invariants]))
    })
  }

  it('and held where nothing is wrong', async () => {
    for (const seed of SEEDS) {
      const { findings } = await simulate(seed, SCENARIO)
      expect(findings).toEqual([])
    }
  })
})
