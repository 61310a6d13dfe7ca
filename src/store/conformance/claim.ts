import assert from 'node:assert/strict'
import { ORIGIN, WALL_MS } from './fixtures.js'
import { fresh, retrying } from './shares.js'
import { ids, type Promised } from './workbench.js'

export function claimPromises(promised: Promised): void {
  promised(
    'a claim is in flight under a new fence, with its body and its webhook as it is now',
    async (bench) => {
      const webhook = await bench.webhook()
      const [id] = await bench.accept(webhook)
      const endpoints = [{ webhookId: webhook.id, room: 1 }]
      const result = await bench.store.deliveries.claim({
        owner: bench.owner,
        endpoints,
        limit: 1,
        now: bench.now(),
      })
      const [claim] = result.claims
      assert.equal(claim?.delivery.id, id)
      assert.equal(claim?.delivery.state, 'in_flight')
      assert.equal(claim?.delivery.fence, 1)
      assert.equal(claim?.delivery.dueMs, undefined)
      assert.match(claim?.body ?? '', /"sequence":1/)
      assert.deepEqual([...result.webhooks], [[webhook.id, webhook]])
      assert.deepEqual(result.endpoints, [
        { webhookId: webhook.id, accountId: 'account', origin: ORIGIN, failing: false, dueMs: undefined },
      ])
      assert.equal(await bench.state(webhook, id!), 'in_flight')
    },
  )

  promised('every claim raises the fence', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    for (const fence of [1, 2, 3]) {
      const { delivery } = await bench.claimOne(webhook)
      assert.equal(delivery.fence, fence)
      await bench.settle(delivery, 'waiting', { next: { dueMs: bench.now() } })
    }
  })

  promised('nothing is claimed twice', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    assert.equal((await bench.claim(webhook)).length, 1)
    assert.equal((await bench.claim(webhook)).length, 0)
  })

  promised('nothing is claimed twice by many claims at once', async (bench) => {
    const webhooks = [await bench.webhook(), await bench.webhook()]
    const accepted = [...(await fresh(bench, webhooks[0]!, 10)), ...(await fresh(bench, webhooks[1]!, 10))]
    const claims = await Promise.all(Array.from({ length: 12 }, () => bench.claim(webhooks, 2)))
    assert.deepEqual(ids(claims.flat().map(({ delivery }) => delivery)).sort(), accepted.sort())
  })

  promised('an endpoint named twice in one claim gives nothing twice', async (bench) => {
    const webhook = await bench.webhook()
    const accepted = await fresh(bench, webhook, 3)
    const claims = await bench.claim([webhook, webhook], 2)
    assert.deepEqual(ids(claims.map(({ delivery }) => delivery)).sort(), accepted.sort())
  })

  promised('only endpoints that are named are claimed from', async (bench) => {
    const [named, other] = [await bench.webhook(), await bench.webhook()]
    const [id] = await bench.accept([named, other])
    assert.deepEqual(ids((await bench.claim(named)).map(({ delivery }) => delivery)), [id])
    assert.deepEqual(await bench.claim([]), [])
  })

  promised('an unknown endpoint is no error', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    assert.equal((await bench.claim([{ ...webhook, id: 'unknown' }, webhook])).length, 1)
  })

  promised('neither the room of an endpoint nor the limit of all is passed', async (bench) => {
    const [one, two] = [await bench.webhook(), await bench.webhook()]
    await fresh(bench, one, 5)
    await fresh(bench, two, 5)
    const few = await bench.claim([one, two], 2)
    assert.deepEqual(
      [one, two].map((webhook) => few.filter(({ delivery }) => delivery.webhookId === webhook.id).length),
      [2, 2],
    )
    assert.equal((await bench.claim([one, two], 10, 3)).length, 3)
    assert.equal((await bench.claim([one, two], 0)).length, 0)
    assert.equal((await bench.claim([one, two], 10, 0)).length, 0)
    assert.equal((await bench.claim([one, two])).length, 3)
  })

  promised('nothing is claimed before it is due', async (bench) => {
    const webhook = await bench.webhook()
    await retrying(bench, webhook, 1, bench.now() + 1_000)
    await bench.advance(999)
    assert.equal((await bench.claim(webhook)).length, 0)
    await bench.advance(1)
    assert.equal((await bench.claim(webhook)).length, 1)
  })

  promised('what has been due for longest is claimed first', async (bench) => {
    const webhook = await bench.webhook()
    const [late] = await retrying(bench, webhook, 1, bench.now() + 300)
    const [early] = await retrying(bench, webhook, 1, bench.now() + 100)
    await bench.advance(500)
    const [older, newer] = [await bench.accept(webhook), await bench.accept(webhook)]
    const order: string[] = []
    for (let index = 0; index < 4; index += 1) {
      order.push(...ids((await bench.claim(webhook, 1)).map(({ delivery }) => delivery)))
    }
    assert.deepEqual(
      order.filter((id) => id === late || id === early),
      [early, late],
    )
    assert.deepEqual(
      order.filter((id) => id === older[0] || id === newer[0]),
      [older[0], newer[0]],
    )
  })

  promised('nothing is claimed of a paused endpoint before its pause ends', async (bench) => {
    const webhook = await bench.webhook()
    await fresh(bench, webhook, 2)
    const pausedUntilMs = bench.now() + 5_000
    const [claim] = await bench.claim(webhook, 1)
    const settled = await bench.settle(claim!.delivery, 'exhausted', {
      endpoint: { epoch: 1, health: { failuresInRow: 1, pausedUntilMs } },
    })
    assert.equal(settled.endpoint.dueMs, pausedUntilMs)
    await bench.advance(4_999)
    assert.equal((await bench.claim(webhook)).length, 0)
    await bench.advance(1)
    assert.equal((await bench.claim(webhook)).length, 1)
  })

  promised('nothing is claimed of a disabled or a deleted webhook', async (bench) => {
    for (const change of [{ disabledMs: WALL_MS }, { deletedMs: WALL_MS }]) {
      const webhook = await bench.webhook()
      await bench.accept(webhook)
      const settings = { ...webhook.settings, enabled: 'deletedMs' in change }
      await bench.store.webhooks.replace({ ...webhook, ...change, settings, revision: 2, epoch: 2 }, 1)
      assert.equal((await bench.claim(webhook)).length, 0)
    }
  })

  promised('what was accepted for a disabled webhook, a test, is claimed', async (bench) => {
    const webhook = await bench.webhook()
    const settings = { ...webhook.settings, enabled: false }
    const disabled = { ...webhook, disabledMs: WALL_MS, settings, revision: 2, epoch: 2 }
    await bench.store.webhooks.replace(disabled, 1)
    const [test] = await bench.accept(disabled)
    assert.equal((await bench.claimOne(disabled)).delivery.id, test)
  })

  promised('a claim carries the webhook as it is now, not as it was when the event came', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const moved = {
      ...webhook,
      settings: { ...webhook.settings, uri: 'https://new.example.com/' },
      revision: 2,
    }
    await bench.store.webhooks.replace(moved, 1)
    const endpoints = [{ webhookId: webhook.id, room: 1 }]
    const result = await bench.store.deliveries.claim({
      owner: bench.owner,
      endpoints,
      limit: 1,
      now: bench.now(),
    })
    assert.equal(result.claims.length, 1)
    assert.deepEqual(result.webhooks.get(webhook.id), moved)
  })

  promised('a claim tells when each named endpoint is due next', async (bench) => {
    const [idle, later, more] = [await bench.webhook(), await bench.webhook(), await bench.webhook()]
    const dueMs = bench.now() + 700
    await retrying(bench, later, 1, dueMs)
    await fresh(bench, more, 2)
    const endpoints = [idle, later, more].map(({ id }) => ({ webhookId: id, room: 1 }))
    const result = await bench.store.deliveries.claim({
      owner: bench.owner,
      endpoints,
      limit: 9,
      now: bench.now(),
    })
    const due = new Map(result.endpoints.map((endpoint) => [endpoint.webhookId, endpoint.dueMs]))
    assert.deepEqual([due.get(idle.id), due.get(later.id), due.get(more.id)], [undefined, dueMs, bench.now()])
  })
}
