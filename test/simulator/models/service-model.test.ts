import fc from 'fast-check'
import { afterAll, describe, it } from 'vitest'
import { serviceModel } from '../../../src/simulator/models/index.js'
import { postgresForTests } from '../../adapters/storage/pg-cluster.js'
import { inThreadHarness, memoryHarness, postgresHarness, workerThreadHarness } from './harnesses.js'

/** `RUNS=1000 npx vitest run test/simulator/models` runs longer. */
const runs = (usual: number) => ({ numRuns: Number(process.env.RUNS ?? usual) })

const server = await postgresForTests()
afterAll(() => server?.end())
const postgres = server && postgresHarness(server)

describe('the reference of the service model', () => {
  it('equals the service on the memory store', () => serviceModel(fc, memoryHarness()).check(runs(40)))

  it('equals the service on a shared memory store', () =>
    serviceModel(fc, memoryHarness(true)).check(runs(15)))

  it('equals the service on the memory store with results in any order', () =>
    serviceModel(fc, memoryHarness(), { interleaved: true }).check(runs(25)))

  it('equals the service on the SQLite store in the calling thread', () =>
    serviceModel(fc, inThreadHarness).check(runs(15)))

  it('equals the service on the SQLite store in a worker thread', async () =>
    serviceModel(fc, await workerThreadHarness()).check(runs(5)))

  it.skipIf(!postgres)('equals the service on the PostgreSQL store', () =>
    serviceModel(fc, postgres!).check(runs(5)),
  )
})
