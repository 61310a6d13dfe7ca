import { describe, expect, it } from 'vitest'
import { simulate } from '../../src/simulator/index.js'
import { DEFECTS } from './fault-injectors.js'
import { MORE_DEFECTS } from './fault-injectors-more.js'

/** Busy enough for most defects: retries, edits, logins, restarts. */
const SCENARIO = { minutes: 4, nodes: 2, callsPerDay: 8000, faults: 'none' } as const
const BUSY_SEED = 7
/** Tried when the first seed does not show a defect any more: how many, from 1 on. */
const OTHER_SEEDS = 7

describe('the simulation reports a broken invariant', () => {
  for (const {
    description,
    invariants,
    faultInjector,
    options,
    seed = BUSY_SEED,
    otherSeeds = OTHER_SEEDS,
  } of [...DEFECTS, ...MORE_DEFECTS]) {
    it(`${invariants.join(' or ')}: ${description}`, async () => {
      const found = new Set<string>()
      for (let other = 0; other <= otherSeeds; other += 1) {
        const tried = other === 0 ? seed : other
        const { violations } = await simulate(tried, {
          ...SCENARIO,
          ...options,
          faultInjector: faultInjector(),
        })
        for (const { invariant } of violations) found.add(invariant)
        if (invariants.some((invariant) => found.has(invariant))) return
      }
      expect([...found]).toEqual(expect.arrayContaining([...invariants]))
    })
  }

  it('and reports none without a defect', async () => {
    for (const seed of [BUSY_SEED, 1, 2]) {
      const { violations } = await simulate(seed, SCENARIO)
      expect(violations).toEqual([])
    }
  })
})
