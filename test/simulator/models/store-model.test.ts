import fc from 'fast-check'
import { afterAll, describe, it } from 'vitest'
import { storeModel } from '../../../src/simulator/models/index.js'
import { postgresForTests } from '../../adapters/storage/pg-cluster.js'
import { inThreadHarness, memoryHarness, postgresHarness, workerThreadHarness } from './harnesses.js'

/** `RUNS=1000 npx vitest run test/simulator/models` runs longer. */
const runs = (usual: number) => ({ numRuns: Number(process.env.RUNS ?? usual) })

const server = await postgresForTests()
afterAll(() => server?.end())
const postgres = server && postgresHarness(server)

describe('the reference of the store model', () => {
  it.each([false, true])('equals the memory store (shared: %s)', (shared) =>
    storeModel(fc, memoryHarness(shared)).check(runs(60)),
  )

  it('equals the memory store under concurrent calls', () =>
    storeModel(fc, memoryHarness(), { interleaved: true }).check(runs(60)))

  it('equals the SQLite store in the calling thread', () => storeModel(fc, inThreadHarness).check(runs(25)))

  it('equals the SQLite store in a worker thread under concurrent calls', async () =>
    storeModel(fc, await workerThreadHarness(), { interleaved: true }).check(runs(15)))

  it.skipIf(!postgres)('equals the PostgreSQL store', () => storeModel(fc, postgres!).check(runs(8)))

  it.skipIf(!postgres)('equals the PostgreSQL store under concurrent calls', () =>
    storeModel(fc, postgres!, { interleaved: true }).check(runs(10)),
  )
})
