import fc from 'fast-check'
import { afterAll, describe, it } from 'vitest'
import { storeModel } from '../../src/testkit/models/index.js'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { inThreadHarness, memoryHarness, ownThreadHarness, postgresHarness } from './harnesses.js'

/** `RUNS=1000 npx vitest run test/models` looks longer. */
const runs = (usual: number) => ({ numRuns: Number(process.env.RUNS ?? usual) })

const server = await postgresForTests()
afterAll(() => server?.end())
const postgres = server && postgresHarness(server)

describe('the store model', () => {
  it.each([false, true])('is what the memory store is (shared: %s)', (shared) =>
    storeModel(fc, memoryHarness(shared)).check(runs(60)),
  )

  it('is what the memory store is, asked at once', () =>
    storeModel(fc, memoryHarness(), { interleaved: true }).check(runs(60)))

  it('is what the SQLite store is in the calling thread', () =>
    storeModel(fc, inThreadHarness).check(runs(25)))

  it('is what the SQLite store is in a thread of its own, asked at once', async () =>
    storeModel(fc, await ownThreadHarness(), { interleaved: true }).check(runs(15)))

  it.skipIf(!postgres)('is what the PostgreSQL store is', () => storeModel(fc, postgres!).check(runs(8)))

  it.skipIf(!postgres)('is what the PostgreSQL store is, asked at once', () =>
    storeModel(fc, postgres!, { interleaved: true }).check(runs(10)),
  )
})
