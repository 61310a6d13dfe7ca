import { afterAll, describe, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { FAULTS } from './fault-injectors.js'
import type { FaultInjector } from './gates.js'
import { findSeed, runSeed, type Stepped } from './seeds.js'

const server = await postgresForTests()
afterAll(() => server?.end())

describe.skipIf(!server)('the stepper', { timeout: 120_000 }, () => {
  const schema = server?.freshSchema() ?? ''
  const run = (seed: number, faultInjector?: FaultInjector) =>
    runSeed({ server, schema, seed, faultInjector })

  it.each([
    ['an edit that raises no version', 32],
    ['leases that are planned at the same time', 20],
    ['a poll that skips running transactions', 7],
    ['a takeover that forgets starts', 4],
    ['an acceptance that no other node sees', 2],
  ])('notices %s', async (name, known) => {
    const isFound = ({ violations }: Stepped) => violations.length > 0
    await findSeed(known, isFound, (seed) => run(seed, FAULTS[name]))
  })
})
