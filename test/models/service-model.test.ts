import fc from 'fast-check'
import { afterAll, describe, it } from 'vitest'
import { serviceModel } from '../../src/testkit/models/index.js'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { inThreadHarness, memoryHarness, ownThreadHarness, postgresHarness } from './harnesses.js'

/** `RUNS=1000 npx vitest run test/models` looks longer. */
const runs = (usual: number) => ({ numRuns: Number(process.env.RUNS ?? usual) })

const server = await postgresForTests()
afterAll(() => server?.end())
const postgres = server && postgresHarness(server)

describe('the service model', () => {
  it('is what the service is on the memory store', () => serviceModel(fc, memoryHarness()).check(runs(40)))

  it('is what the service is on a memory store that nodes share', () =>
    serviceModel(fc, memoryHarness(true)).check(runs(15)))

  it('is what the service is on the memory store, whenever its answers come', () =>
    serviceModel(fc, memoryHarness(), { interleaved: true }).check(runs(25)))

  it('is what the service is on the SQLite store in the calling thread', () =>
    serviceModel(fc, inThreadHarness).check(runs(15)))

  it('is what the service is on the SQLite store in a thread of its own', async () =>
    serviceModel(fc, await ownThreadHarness()).check(runs(5)))

  it.skipIf(!postgres)('is what the service is on the PostgreSQL store', () =>
    serviceModel(fc, postgres!).check(runs(5)),
  )
})
