import assert from 'node:assert/strict'
import type { DeliveryQuery } from '../../delivery/delivery-queries.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { ids, type Promised, type Workbench } from './workbench.js'

async function list(
  bench: Workbench,
  webhook: Webhook,
  query: Partial<DeliveryQuery> = {},
): Promise<string[]> {
  const { accountId, id: webhookId } = webhook
  return ids(await bench.store.deliveries.deliveries({ accountId, webhookId, limit: 100, ...query }))
}

async function accepted(bench: Workbench, webhook: Webhook, count: number): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) made.push(...(await bench.accept(webhook)))
  return made
}

export function deliveryPromises(promised: Promised): void {
  promised('deliveries of a webhook come newest first, or oldest first when asked', async (bench) => {
    const [webhook, other] = [await bench.webhook(), await bench.webhook()]
    const made = await accepted(bench, webhook, 3)
    await accepted(bench, other, 2)
    assert.deepEqual(await list(bench, webhook), [...made].reverse())
    assert.deepEqual(await list(bench, webhook, { ascending: true, limit: 2 }), made.slice(0, 2))
    assert.deepEqual(await list(bench, { ...webhook, id: 'unknown' }), [])
  })

  promised(
    'pages of deliveries neither skip nor repeat while more are accepted and some end',
    async (bench) => {
      const webhook = await bench.webhook()
      const made = await accepted(bench, webhook, 6)
      const seen: string[] = []
      let cursor: number | undefined
      for (let page = 0; page < 3; page += 1) {
        const rows = await bench.store.deliveries.deliveries({
          accountId: 'account',
          webhookId: webhook.id,
          limit: 2,
          ...(cursor === undefined ? {} : { cursor }),
        })
        seen.push(...ids(rows))
        cursor = rows.at(-1)?.position
        await accepted(bench, webhook, 1)
        const [claim] = await bench.claim(webhook, 1)
        await bench.settle(claim!.delivery, 'delivered')
      }
      assert.deepEqual(seen, [...made].reverse())
    },
  )

  promised('deliveries are filtered by state', async (bench) => {
    const webhook = await bench.webhook()
    await accepted(bench, webhook, 4)
    const claims = await bench.claim(webhook, 3)
    const [one, two, three] = ids(claims.map(({ delivery }) => delivery))
    await bench.settle(claims[0]!.delivery, 'delivered')
    await bench.settle(claims[1]!.delivery, 'exhausted')
    assert.deepEqual(await list(bench, webhook, { states: ['delivered'] }), [one])
    assert.deepEqual(await list(bench, webhook, { states: ['in_flight'] }), [three])
    assert.deepEqual(
      (await list(bench, webhook, { states: ['delivered', 'exhausted'] })).sort(),
      [one!, two!].sort(),
    )
    assert.equal((await list(bench, webhook, { states: ['waiting'] })).length, 1)
    assert.deepEqual(await list(bench, webhook, { states: ['quarantined'] }), [])
  })

  promised('deliveries are filtered by when they were accepted, both ends included', async (bench) => {
    const webhook = await bench.webhook()
    const made: string[] = []
    const start = bench.now()
    for (let index = 0; index < 4; index += 1) {
      made.push(...(await bench.accept(webhook)))
      await bench.advance(100)
    }
    const range = { fromMs: start + 100, toMs: start + 200 }
    assert.deepEqual(await list(bench, webhook, { ...range, ascending: true }), made.slice(1, 3))
    assert.deepEqual(await list(bench, webhook, { fromMs: start + 301 }), [])
  })

  promised('one account sees no delivery of another', async (bench) => {
    const webhook = await bench.webhook({ accountId: 'parent' })
    const [id] = await bench.accept(webhook, { accountId: 'child' })
    assert.ok(await bench.store.deliveries.delivery('parent', id!))
    for (const accountId of ['child', 'stranger']) {
      assert.equal(await bench.store.deliveries.delivery(accountId, id!), undefined)
      assert.deepEqual(await list(bench, { ...webhook, accountId }), [])
    }
    assert.equal(await bench.store.deliveries.delivery('parent', 'unknown'), undefined)
  })
}
