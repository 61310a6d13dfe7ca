import { describe, expect, it } from 'vitest'
import { simulate } from '../../src/testkit/world/index.js'
import { BROKEN } from './doctors.js'
import { MORE_BROKEN } from './doctors-more.js'

/** Enough happens in it for most of them: retries, edits, logins, a few restarts. */
const SCENARIO = { minutes: 4, nodes: 2, callsPerDay: 8000, faults: 'none' } as const
const BUSY_SEED = 7
/** Where the first does not show it any more, since runs have come to be other ones. */
const OTHER_SEEDS = [1, 2, 3, 4, 5, 6, 8]

describe('each invariant is found broken where it is', () => {
  for (const { what, invariants, doctor, options, seed = BUSY_SEED } of [...BROKEN, ...MORE_BROKEN]) {
    it(`${invariants.join(' or ')}: ${what}`, async () => {
      const found = new Set<string>()
      for (const tried of [seed, ...OTHER_SEEDS]) {
        const { findings } = await simulate(tried, { ...SCENARIO, ...options, doctor: doctor() })
        for (const { invariant } of findings) found.add(invariant)
        if (invariants.some((invariant) => found.has(invariant))) return
      }
      expect([...found]).toEqual(expect.arrayContaining([...invariants]))
    })
  }

  it('and held where nothing is wrong', async () => {
    for (const seed of [BUSY_SEED, 1, 2]) {
      const { findings } = await simulate(seed, SCENARIO)
      expect(findings).toEqual([])
    }
  })
})
