import { describe, expect, it } from 'vitest'
import { simulate } from '../../src/simulator/index.js'
import type { Store } from '../../src/store/index.js'
import { SIMULATION_FAULTS, type SimulationFault } from '../mutants/simulation.js'
import { STORE_FAULTS } from '../mutants/stores/index.js'
import { newClock } from '../testkit/conformance-self-test-harness.js'

/** Busy enough for most defects: retries, edits, logins, restarts. */
const SCENARIO = { minutes: 4, nodes: 2, callsPerDay: 8000, faults: 'none' } as const
const BUSY_SEED = 7
/** Tried when the first seed does not show a defect any more: how many, from 1 on. */
const OTHER_SEEDS = 7

const isInvariant = (check: string) => /^I\d/.test(check)

const FAULTS: readonly SimulationFault[] = [
  ...SIMULATION_FAULTS,
  ...STORE_FAULTS.filter(({ caughtBy }) => caughtBy.some(isInvariant)).map(
    ({ breakStore, isPerNode, ...fault }): SimulationFault => ({
      ...fault,
      faultInjector: () => ({
        [isPerNode ? 'nodeStore' : 'store']: (store: Store) => breakStore(store, newClock()),
      }),
    }),
  ),
]

describe('the simulation reports a broken invariant', () => {
  for (const {
    what,
    caughtBy,
    faultInjector,
    options,
    seed = BUSY_SEED,
    otherSeeds = OTHER_SEEDS,
  } of FAULTS) {
    const checks = caughtBy.filter(isInvariant)
    it(`notices that ${what} (${checks})`, async () => {
      const found = new Set<string>()
      for (let other = 0; other <= otherSeeds; other += 1) {
        const tried = other === 0 ? seed : other
        const { violations } = await simulate(tried, {
          ...SCENARIO,
          ...options,
          faultInjector: faultInjector(),
        })
        for (const { invariant } of violations) found.add(invariant)
        if (checks.every((check) => check.split(' or ').some((invariant) => found.has(invariant)))) return
      }
      expect([...found]).toEqual(expect.arrayContaining(checks))
    })
  }

  it('and reports none without a defect', async () => {
    for (const seed of [BUSY_SEED, 1, 2]) {
      const { violations } = await simulate(seed, SCENARIO)
      expect(violations).toEqual([])
    }
  })
})
