import type { Settlement } from 'hookswitch/store'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newDelivery, newEvent } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { openNode, type QueueNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const UNAVAILABLE = { code: 'StoreUnavailable' }

describe.skipIf(!server)('a connection lost during a commit', () => {
  let node: QueueNode
  /** When the next commit loses its connection: before the server receives it, or after the server has executed it. */
  let loss: 'before' | 'after' | undefined
  /** A claim is a single statement in autocommit mode. */
  const isCommit = (text: string) => text === 'COMMIT' || text.includes('claim = $4')
  const lose = (at: 'before' | 'after') => (text: string) => {
    if (!isCommit(text) || loss !== at) return
    loss = undefined
    throw new Error('Connection terminated unexpectedly')
  }
  beforeEach(async () => {
    loss = undefined
    const hooks = { before: lose('before'), after: lose('after') }
    node = await openNode(server!, { schema: server!.freshSchema(), hooks })
    await node.own()
  })
  afterEach(() => node.close())

  async function claimed(count = 1) {
    const webhook = await node.webhook()
    for (let index = 0; index < count; index += 1) await node.accept([webhook])
    return { webhook, claims: await node.claim([webhook], count) }
  }
  const records = async () => {
    const rows = await node.store.deliveries.attempts({ accountId: 'account', limit: 99 })
    return rows.map(({ id }) => id)
  }
  const deliveryOf = (id: string) => node.store.deliveries.delivery('account', id)

  describe('of a claim', () => {
    it('leaves an orphan, which a scan finds and no claim takes', async () => {
      const webhook = await node.webhook()
      const [id] = await node.accept([webhook])
      let scanRequests = 0
      node.store.deliveries.subscribe((ready) => {
        if (ready === undefined) scanRequests += 1
      })
      loss = 'after'
      await expect(node.claim([webhook])).rejects.toMatchObject(UNAVAILABLE)
      await expect.poll(() => scanRequests).toBeGreaterThan(0)
      expect(await node.claim([webhook])).toEqual([])
      const [orphan, ...others] = await node.store.deliveries.orphans(node.owner, 9)
      expect([orphan?.id, orphan?.state, others]).toEqual([id, 'in_flight', []])
      const again = { state: 'waiting', dueMs: node.now(), interruptions: 1 } as const
      expect(await node.settle([{ delivery: orphan!, body: '' }], again)).toMatchObject([{ kind: 'settled' }])
      expect(await node.store.deliveries.orphans(node.owner, 9)).toEqual([])
      expect((await node.claim([webhook])).map(({ delivery }) => delivery.fence)).toEqual([2])
      expect(await node.store.deliveries.orphans(node.owner, 9)).toEqual([])
    })

    it('changes nothing when the server did not receive it', async () => {
      const webhook = await node.webhook()
      const [id] = await node.accept([webhook])
      loss = 'before'
      await expect(node.claim([webhook])).rejects.toMatchObject(UNAVAILABLE)
      expect((await node.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual([id])
      expect(await node.store.deliveries.orphans(node.owner, 9)).toEqual([])
    })
  })

  describe('of a settlement', () => {
    for (const next of [{}, { state: 'waiting', reason: 'timeout' }, { state: 'exhausted' }] as const) {
      it(`lets a repetition be settled, not fenced: ${JSON.stringify(next)}`, async () => {
        const { webhook, claims } = await claimed()
        const settlement = node.settlement(claims[0]!, { dueMs: node.now() + 700, ...next })
        const settle = () => node.store.deliveries.settle([settlement], node.now())
        loss = 'after'
        await expect(settle()).rejects.toMatchObject(UNAVAILABLE)
        const dueMs = 'state' in next && next.state === 'waiting' ? node.now() + 700 : undefined
        const endpoint = { webhookId: webhook.id, dueMs }
        expect(await settle()).toMatchObject([{ kind: 'settled', endpoint }])
        expect(await records()).toEqual([settlement.record!.id])
        expect(await settle()).toEqual([{ kind: 'fenced' }])
      })
    }

    it('fences a repetition after a later claim', async () => {
      const { webhook, claims } = await claimed()
      const settlement = node.settlement(claims[0]!, { state: 'waiting', dueMs: node.now() })
      const settle = () => node.store.deliveries.settle([settlement], node.now())
      loss = 'after'
      await expect(settle()).rejects.toMatchObject(UNAVAILABLE)
      await node.claim([webhook])
      expect(await settle()).toEqual([{ kind: 'fenced' }])
    })

    it('lets a repetition be written when the server did not receive it', async () => {
      const { claims } = await claimed()
      const settlement = node.settlement(claims[0]!)
      const settle = () => node.store.deliveries.settle([settlement], node.now())
      loss = 'before'
      await expect(settle()).rejects.toMatchObject(UNAVAILABLE)
      expect((await deliveryOf(settlement.deliveryId))?.state).toBe('in_flight')
      expect(await settle()).toMatchObject([{ kind: 'settled' }])
      expect(await records()).toEqual([settlement.record!.id])
    })

    it('lets a repetition return the disabled webhook', async () => {
      const { webhook, claims } = await claimed()
      const endpoint = { epoch: 1, disable: { reason: 'gone', atMs: 77 } }
      const settlement: Settlement = { ...node.settlement(claims[0]!, { state: 'exhausted' }), endpoint }
      const settle = () => node.store.deliveries.settle([settlement], node.now())
      loss = 'after'
      await expect(settle()).rejects.toMatchObject(UNAVAILABLE)
      const stored = await node.store.webhooks.read('account', webhook.id)
      expect(stored).toMatchObject({ disableReason: 'gone', epoch: 2 })
      expect(await settle()).toMatchObject([{ kind: 'settled', disabled: stored }])
    })
  })

  describe('of an acceptance', () => {
    for (const at of ['before', 'after'] as const) {
      it(`is resolved by the idempotency key (lost ${at} the server executed it)`, async () => {
        const webhook = await node.webhook()
        const idempotency = { key: 'key', bodyHash: 'hash', untilMs: node.now() + 9_000 }
        const accept = () => {
          const event = newEvent({ callId: 'call', idempotency })
          const deliveries = [newDelivery(webhook, event)]
          return node.store.deliveries.accept({ events: [event], deliveries, maxPending: 9 }, node.now())
        }
        loss = at
        await expect(accept()).rejects.toMatchObject(UNAVAILABLE)
        expect(await accept()).toMatchObject([{ sequence: 1, duplicate: at === 'after' }])
        expect(await node.store.deliveries.pending()).toBe(1)
      })
    }
  })
})

describe.skipIf(!server)('a group of acceptances', () => {
  it('rejects only the calls that cannot be written', async () => {
    const node = await openNode(server!, { schema: server!.freshSchema() })
    await node.own()
    const webhook = await node.webhook()
    const taken = newEvent()
    const first = newDelivery(webhook, taken)
    const accept = (event: ReturnType<typeof newEvent>, id?: string) =>
      node.store.deliveries.accept(
        { events: [event], deliveries: [newDelivery(webhook, event, id ? { id } : {})], maxPending: 9 },
        node.now(),
      )
    await accept(taken, first.id)
    const results = await Promise.allSettled([
      accept(newEvent()),
      accept(newEvent(), first.id),
      accept(newEvent({ callId: 'a\u0000b' })),
      accept(newEvent()),
    ])
    expect(
      results.map((result) => (result.status === 'fulfilled' ? 'accepted' : result.reason.code)),
    ).toEqual(['accepted', 'Conflict', 'InvalidInput', 'accepted'])
    expect(await node.store.deliveries.pending()).toBe(3)
    await node.close()
  })
})
