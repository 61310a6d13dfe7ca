import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { postgresForTests } from './pg-cluster.js'
import { LEASE_MS, openNode, type QueueNode, waitForBlockedSessions } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** A claim scans first, and claims what it selected with a second statement. */
describe.skipIf(!server)('between the two statements of a claim', () => {
  let schema: string
  let node: QueueNode
  /** Runs once between the two statements. */
  let interleaved: (() => Promise<unknown>) | undefined
  beforeEach(async () => {
    schema = server!.freshSchema()
    const before = async (text: string) => {
      if (!text.includes('claim = $4') || !interleaved) return
      const run = interleaved
      interleaved = undefined
      await run()
    }
    node = await openNode(server!, { schema, hooks: { before } })
    await node.own()
  })
  afterEach(() => node.close())

  it('a takeover by another node: only that node claims the delivery', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const later = manualClock({ nowMs: node.now() + 2 * LEASE_MS })
    const other = await openNode(server!, { schema, owner: 'node-2', clock: later })
    try {
      interleaved = () => other.own()
      expect(await node.claim([webhook])).toEqual([])
      expect(interleaved).toBeUndefined()
      const claims = await other.claim([webhook])
      expect(claims.map(({ delivery }) => [delivery.id, delivery.fence])).toEqual([[id, 1]])
    } finally {
      await other.close()
    }
  })

  it('the node loses its shards and takes them again: the claim of the earlier term gets nothing', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const later = manualClock({ nowMs: node.now() + 2 * LEASE_MS })
    const other = await openNode(server!, { schema, owner: 'node-2', clock: later })
    try {
      interleaved = async () => {
        await other.own()
        await other.store.deliveries.release('node-2')
        await node.own()
      }
      expect(await node.claim([webhook])).toEqual([])
      expect(interleaved).toBeUndefined()
      expect((await node.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual([id])
    } finally {
      await other.close()
    }
  })

  it('disabling the webhook: the delivery is not claimed, and is stale', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const settings = { ...webhook.settings, enabled: false }
    interleaved = () => node.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
    expect(await node.claim([webhook])).toEqual([])
    expect(interleaved).toBeUndefined()
    const stale = await node.store.deliveries.stale(node.owner, 9)
    expect(stale.map((delivery) => [delivery.id, delivery.state, delivery.fence])).toEqual([
      [id, 'waiting', 0],
    ])
  })
})

/** A settlement locks what it reads, and writes with a later statement. */
describe.skipIf(!server)('between the locks of a settlement and its write', () => {
  const RETRY = { state: 'waiting', dueMs: 5_000 } as const
  let schema: string
  let node: QueueNode
  /** Starts once before the write. */
  let interleaved: (() => Promise<unknown>) | undefined
  let started: Promise<unknown> | undefined
  /** Whether it was blocked by the settlement, or ended before its write. */
  let progress: 'blocked' | 'ended' | undefined
  beforeEach(async () => {
    progress = undefined
    schema = server!.freshSchema()
    const before = async (text: string) => {
      if (!text.startsWith('with gone_on as (') || !interleaved) return
      started = interleaved()
      interleaved = undefined
      progress = await Promise.race([
        started.then(() => 'ended' as const),
        waitForBlockedSessions(server!, 1, schema).then(() => 'blocked' as const),
      ])
    }
    node = await openNode(server!, { schema, hooks: { before } })
    await node.own()
  })
  afterEach(() => node.close())

  it.each([
    ['a delivery that ends', {}],
    ['a delivery that goes back to waiting', RETRY],
  ])('a takeover by another node waits until %s is written', async (_, next) => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const claims = await node.claim([webhook])
    const later = manualClock({ nowMs: node.now() + 2 * LEASE_MS })
    const other = await openNode(server!, { schema, owner: 'node-2', clock: later })
    try {
      interleaved = () => other.own()
      expect(await node.settle(claims, next)).toMatchObject([{ kind: 'settled' }])
      expect(progress).toBe('blocked')
      await started
      const orphans = await other.store.deliveries.orphans('node-2', 9)
      expect(orphans).toEqual([])
      expect((await other.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual(
        next === RETRY ? [id] : [],
      )
    } finally {
      await other.close()
    }
  })

  it('disabling the webhook waits, and the delivery that goes back to waiting is stale', async () => {
    const webhook = await node.webhook()
    const [id] = await node.accept([webhook])
    const claims = await node.claim([webhook])
    const settings = { ...webhook.settings, enabled: false }
    interleaved = () => node.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
    await node.settle(claims, RETRY)
    expect(progress).toBe('blocked')
    await started
    const stale = await node.store.deliveries.stale(node.owner, 9)
    expect(stale.map((delivery) => [delivery.id, delivery.state])).toEqual([[id, 'waiting']])
  })
})
