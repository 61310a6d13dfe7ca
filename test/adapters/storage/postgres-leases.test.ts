import { MAX_NODES } from 'hookswitch/store'
import { afterAll, describe, expect, it } from 'vitest'
import { postgresForTests } from './pg-cluster.js'
import { LEASE_MS, openNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

describe.skipIf(!server)('the leases of nodes on PostgreSQL', () => {
  it('are refused in one sentence while as many nodes live as there are numbers', async () => {
    const schema = server!.freshSchema()
    const { store, close } = await openNode(server!, { schema })
    const own = (node: number) => store.deliveries.own(`node-${node}`, LEASE_MS)
    for (let node = 0; node < MAX_NODES; node += 1) await own(node)
    await expect(own(MAX_NODES)).rejects.toMatchObject({
      code: 'StoreUnavailable',
      message: `128 nodes use the schema "${schema}" already (one that was killed counts for up to 30 seconds)`,
    })
    await store.deliveries.release('node-5')
    await own(MAX_NODES)
    expect(await store.deliveries.nodes()).toHaveLength(MAX_NODES)
    await close()
  })
})
