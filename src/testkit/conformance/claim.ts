import assert from 'node:assert/strict'
import { acceptMany, acceptRetries } from './claim-fairness.js'
import { type DefineRule, idsOf } from './fixture.js'
import { ORIGIN, WALL_MS } from './sample-data.js'

/** Rules of `claim`. */
export function claimRules(rule: DefineRule): void {
  rule(
    'a claimed delivery is in flight with a new fence, and comes with its body and its current webhook',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const [id] = await fixture.accept(webhook)
      const endpoints = [{ webhookId: webhook.id, slots: 1 }]
      const result = await fixture.store.deliveries.claim({
        owner: fixture.owner,
        endpoints,
        limit: 1,
        now: fixture.now(),
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
      assert.equal(await fixture.state(webhook, id!), 'in_flight')
    },
  )

  rule('every claim increments the fence', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    for (const fence of [1, 2, 3]) {
      const { delivery } = await fixture.claimOne(webhook)
      assert.equal(delivery.fence, fence)
      await fixture.settle(delivery, 'waiting', { next: { dueMs: fixture.now() } })
    }
  })

  rule('a claim never returns a delivery twice', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    assert.equal((await fixture.claim(webhook)).length, 1)
    assert.equal((await fixture.claim(webhook)).length, 0)
  })

  rule('concurrent claims never return a delivery twice', async (fixture) => {
    const webhooks = [await fixture.webhook(), await fixture.webhook()]
    const accepted = [
      ...(await acceptMany(fixture, webhooks[0]!, 10)),
      ...(await acceptMany(fixture, webhooks[1]!, 10)),
    ]
    const claims = await Promise.all(Array.from({ length: 12 }, () => fixture.claim(webhooks, 2)))
    assert.deepEqual(idsOf(claims.flat().map(({ delivery }) => delivery)).sort(), accepted.sort())
  })

  rule('a claim that names an endpoint twice returns each delivery once', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted = await acceptMany(fixture, webhook, 3)
    const claims = await fixture.claim([webhook, webhook], 2)
    assert.deepEqual(idsOf(claims.map(({ delivery }) => delivery)).sort(), accepted.sort())
  })

  rule('a claim returns only deliveries of the endpoints it names', async (fixture) => {
    const [named, other] = [await fixture.webhook(), await fixture.webhook()]
    const [id] = await fixture.accept([named, other])
    assert.deepEqual(idsOf((await fixture.claim(named)).map(({ delivery }) => delivery)), [id])
    assert.deepEqual(await fixture.claim([]), [])
  })

  rule('a claim ignores unknown endpoints', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    assert.equal((await fixture.claim([{ ...webhook, id: 'unknown' }, webhook])).length, 1)
  })

  rule('a claim exceeds neither the slots of an endpoint nor the total limit', async (fixture) => {
    const [one, two] = [await fixture.webhook(), await fixture.webhook()]
    await acceptMany(fixture, one, 5)
    await acceptMany(fixture, two, 5)
    const few = await fixture.claim([one, two], 2)
    assert.deepEqual(
      [one, two].map((webhook) => few.filter(({ delivery }) => delivery.webhookId === webhook.id).length),
      [2, 2],
    )
    assert.equal((await fixture.claim([one, two], 10, 3)).length, 3)
    assert.equal((await fixture.claim([one, two], 0)).length, 0)
    assert.equal((await fixture.claim([one, two], 10, 0)).length, 0)
    assert.equal((await fixture.claim([one, two])).length, 3)
  })

  rule('a delivery is not claimed before it is due', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptRetries(fixture, webhook, 1, fixture.now() + 1_000)
    await fixture.advance(999)
    assert.equal((await fixture.claim(webhook)).length, 0)
    await fixture.advance(1)
    assert.equal((await fixture.claim(webhook)).length, 1)
  })

  rule('deliveries are claimed in order of their due time', async (fixture) => {
    const webhook = await fixture.webhook()
    const [late] = await acceptRetries(fixture, webhook, 1, fixture.now() + 300)
    const [early] = await acceptRetries(fixture, webhook, 1, fixture.now() + 100)
    await fixture.advance(500)
    const [older, newer] = [await fixture.accept(webhook), await fixture.accept(webhook)]
    const order: string[] = []
    for (let index = 0; index < 4; index += 1) {
      order.push(...idsOf((await fixture.claim(webhook, 1)).map(({ delivery }) => delivery)))
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

  rule('a paused endpoint is not claimed from until its pause ends', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptMany(fixture, webhook, 2)
    const pausedUntilMs = fixture.now() + 5_000
    const [claim] = await fixture.claim(webhook, 1)
    const settled = await fixture.settle(claim!.delivery, 'exhausted', {
      endpoint: { epoch: 1, health: { failuresInRow: 1, pausedUntilMs } },
    })
    assert.equal(settled.endpoint.dueMs, pausedUntilMs)
    await fixture.advance(4_999)
    assert.equal((await fixture.claim(webhook)).length, 0)
    await fixture.advance(1)
    assert.equal((await fixture.claim(webhook)).length, 1)
  })

  rule('deliveries of a disabled or deleted webhook are not claimed', async (fixture) => {
    for (const change of [{ disabledMs: WALL_MS }, { deletedMs: WALL_MS }]) {
      const webhook = await fixture.webhook()
      await fixture.accept(webhook)
      const settings = { ...webhook.settings, enabled: 'deletedMs' in change }
      await fixture.store.webhooks.replace({ ...webhook, ...change, settings, revision: 2, epoch: 2 }, 1)
      assert.equal((await fixture.claim(webhook)).length, 0)
    }
  })

  rule('a delivery accepted for a disabled webhook (a test) is claimed', async (fixture) => {
    const webhook = await fixture.webhook()
    const settings = { ...webhook.settings, enabled: false }
    const disabled = { ...webhook, disabledMs: WALL_MS, settings, revision: 2, epoch: 2 }
    await fixture.store.webhooks.replace(disabled, 1)
    const [test] = await fixture.accept(disabled)
    assert.equal((await fixture.claimOne(disabled)).delivery.id, test)
  })

  rule('a claim returns the webhook with its current settings, not those at accept', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const moved = {
      ...webhook,
      settings: { ...webhook.settings, uri: 'https://new.example.com/' },
      revision: 2,
    }
    await fixture.store.webhooks.replace(moved, 1)
    const endpoints = [{ webhookId: webhook.id, slots: 1 }]
    const result = await fixture.store.deliveries.claim({
      owner: fixture.owner,
      endpoints,
      limit: 1,
      now: fixture.now(),
    })
    assert.equal(result.claims.length, 1)
    assert.deepEqual(result.webhooks.get(webhook.id), moved)
  })

  rule('a claim returns the next due time of each endpoint it names', async (fixture) => {
    const [idle, later, more] = [await fixture.webhook(), await fixture.webhook(), await fixture.webhook()]
    const dueMs = fixture.now() + 700
    await acceptRetries(fixture, later, 1, dueMs)
    await acceptMany(fixture, more, 2)
    const endpoints = [idle, later, more].map(({ id }) => ({ webhookId: id, slots: 1 }))
    const result = await fixture.store.deliveries.claim({
      owner: fixture.owner,
      endpoints,
      limit: 9,
      now: fixture.now(),
    })
    const due = new Map(result.endpoints.map((endpoint) => [endpoint.webhookId, endpoint.dueMs]))
    assert.deepEqual(
      [due.get(idle.id), due.get(later.id), due.get(more.id)],
      [undefined, dueMs, fixture.now()],
    )
  })
}
