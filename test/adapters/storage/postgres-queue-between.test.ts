import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { postgresForTests } from './pg-cluster.js'
import { LEASE_MS, openNode, type QueueNode, waitingForLocks } from './postgres-queue-world.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** A claim looks first, and takes what it saw in a statement of its own. */
describe.skipIf(!server)('between the look of a claim and its taking', () => {
  let schema: string
  let node: QueueNode
  /** What happens then, once. */
  let meanwhile: (() => Promise<unknown>) | undefined
  beforeEach(async () => {
    schema = server!.freshSchema()
    const before = async (text: string) => {
      if (!text.includes('claim = $4') || !meanwhile) return
      const happens = meanwhile
      meanwhile = undefined
      await happens()
    }
    node = await openNode(server!, { schema, interference: { before } })
    await node.own()
  })
  afterEach(() => node.close())

  it('another node takes over: it alone has what was seen', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const later = manualClock({ nowMs: node.now() + 2 * LEASE_MS })
    const other = await openNode(server!, { schema, owner: 'node-2', clock: later })
    try {
      meanwhile = () => other.own()
      expect(await node.claim([webhook])).toEqual([])
      expect(meanwhile).toBeUndefined()
      const claims = await other.claim([webhook])
      expect(claims.map(({ delivery }) => [delivery.id, delivery.fence])).toEqual([[id, 1]])
    } finally {
      await other.close()
    }
  })

  it('this node lost its shards and got them anew: what was seen is of the time before', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const later = manualClock({ nowMs: node.now() + 2 * LEASE_MS })
    const other = await openNode(server!, { schema, owner: 'node-2', clock: later })
    try {
      meanwhile = async () => {
        await other.own()
        await other.store.deliveries.release('node-2')
        await node.own()
      }
      expect(await node.claim([webhook])).toEqual([])
      expect(meanwhile).toBeUndefined()
      expect((await node.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual([id])
    } finally {
      await other.close()
    }
  })

  it('the webhook is disabled: nothing of its epoch is sent any more', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const settings = { ...webhook.settings, enabled: false }
    meanwhile = () => node.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
    expect(await node.claim([webhook])).toEqual([])
    expect(meanwhile).toBeUndefined()
    const stale = await node.store.deliveries.stale(node.owner, 9)
    expect(stale.map((delivery) => [delivery.id, delivery.state, delivery.fence])).toEqual([
      [id, 'waiting', 0],
    ])
  })
})

/** A settlement holds what it read about, and writes in a statement of its own. */
describe.skipIf(!server)('between what a settlement holds and its writing', () => {
  const RETRY = { state: 'waiting', dueMs: 5_000 } as const
  let schema: string
  let node: QueueNode
  /** What begins then, once. */
  let begins: (() => Promise<unknown>) | undefined
  let begun: Promise<unknown> | undefined
  /** Whether what began had to wait, or was over before the settlement was written. */
  let came: 'waits' | 'over' | undefined
  beforeEach(async () => {
    came = undefined
    schema = server!.freshSchema()
    const before = async (text: string) => {
      if (!text.startsWith('with gone_on as (') || !begins) return
      begun = begins()
      begins = undefined
      came = await Promise.race([
        begun.then(() => 'over' as const),
        waitingForLocks(server!, 1, schema).then(() => 'waits' as const),
      ])
    }
    node = await openNode(server!, { schema, interference: { before } })
    await node.own()
  })
  afterEach(() => node.close())

  it.each([
    ['a delivery that ends', {}],
    ['one that goes back to waiting', RETRY],
  ])('another node takes over: it waits until %s is written', async (_, next) => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const claims = await node.claim([webhook])
    const later = manualClock({ nowMs: node.now() + 2 * LEASE_MS })
    const other = await openNode(server!, { schema, owner: 'node-2', clock: later })
    try {
      begins = () => other.own()
      expect(await node.settle(claims, next)).toMatchObject([{ kind: 'settled' }])
      expect(came).toBe('waits')
      await begun
      const orphans = await other.store.deliveries.orphans('node-2', 9)
      expect(orphans).toEqual([])
      expect((await other.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual(
        next === RETRY ? [id] : [],
      )
    } finally {
      await other.close()
    }
  })

  it('the webhook is disabled: what goes back to waiting is found among what waits for an ended epoch', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const claims = await node.claim([webhook])
    const settings = { ...webhook.settings, enabled: false }
    begins = () => node.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
    await node.settle(claims, RETRY)
    expect(came).toBe('waits')
    await begun
    const stale = await node.store.deliveries.stale(node.owner, 9)
    expect(stale.map((delivery) => [delivery.id, delivery.state])).toEqual([[id, 'waiting']])
  })
})
