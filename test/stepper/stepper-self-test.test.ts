import { afterAll, describe, expect, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { FAULTS } from './fault-injectors.js'
import type { FaultInjector } from './gates.js'
import { findSeed, runSeed, type Stepped } from './seeds.js'

const server = await postgresForTests()
afterAll(() => server?.end())

describe.skipIf(!server)('the stepper', { timeout: 120_000 }, () => {
  const schema = server?.freshSchema() ?? ''
  const run = (seed: number, faultInjector?: FaultInjector, isSmall = false) =>
    runSeed({ server, schema, seed, faultInjector, isSmall })

  // A statement that waited for a lane's lock does not see what the acceptance that held it has written: the store needs
  // a second statement.
  it('finds a lane that stalls when one statement locks it and promotes its next delivery', async () => {
    const isLost = ({ violations }: Stepped) =>
      violations.some((violation) => violation.includes('a lane with deliveries has no head'))
    const merged = FAULTS['lock and promotion in one statement']!
    const { trace } = await findSeed(1, isLost, (seed) => run(seed, merged, true))
    expect(trace.some((line) => /settle waits for n\d accept/.test(line))).toBe(true)
    const { violations } = await run(1, undefined, true)
    expect(violations).toEqual([])
  })

  it.each([
    ['an unlocked lane', 2],
    ['an acceptance that does not lock the epoch', 25],
    ['a stale mark cleared without a lock', 20],
  ])('finds %s', async (name, known) => {
    const isFound = ({ violations }: Stepped) => violations.length > 0
    await findSeed(known, isFound, (seed) => run(seed, FAULTS[name]))
  })
})
