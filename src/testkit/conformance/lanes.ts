import assert from 'node:assert/strict'
import { type DefineRule, idsOf } from './fixture.js'
import { newDelivery, newEvent } from './sample-data.js'

/** Rules of lanes: order within a call. */
export function laneRules(rule: DefineRule): void {
  rule(
    'only the head of a lane is due; when it ends, the next delivery becomes due at once',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const [first] = await fixture.accept(webhook, { callId: 'call' })
      const [second] = await fixture.accept(webhook, { callId: 'call' })
      assert.equal((await fixture.store.deliveries.delivery('account', second!))?.dueMs, undefined)
      const { delivery } = await fixture.claimOne(webhook)
      assert.equal(delivery.id, first)
      assert.equal((await fixture.claim(webhook)).length, 0)
      await fixture.advance(400)
      const settled = await fixture.settle(delivery, 'delivered')
      assert.equal(settled.endpoint.dueMs, fixture.now())
      assert.equal((await fixture.store.deliveries.delivery('account', second!))?.dueMs, fixture.now())
      assert.equal((await fixture.claimOne(webhook)).delivery.id, second)
    },
  )

  for (const state of ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const) {
    rule(`a delivery that ends as ${state} frees its lane`, async (fixture) => {
      const webhook = await fixture.webhook()
      await fixture.accept(webhook, { callId: 'call' })
      const [second] = await fixture.accept(webhook, { callId: 'call' })
      await fixture.settle((await fixture.claimOne(webhook)).delivery, state)
      assert.equal((await fixture.claimOne(webhook)).delivery.id, second)
    })
  }

  rule(
    'several heads that end unclaimed in one transaction promote the delivery behind the last of them',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const accepted: string[] = []
      for (let index = 0; index < 4; index += 1)
        accepted.push(...(await fixture.accept(webhook, { callId: 'call' })))
      const rows = await Promise.all(accepted.map((id) => fixture.store.deliveries.delivery('account', id)))
      const expired = rows.slice(0, 3).map((row) => fixture.settlement(row!, 'expired'))
      await fixture.store.deliveries.settle(expired, fixture.now())
      assert.equal((await fixture.claimOne(webhook)).delivery.id, accepted[3])
    },
  )

  rule('a delivery that ends in the middle of its lane is skipped', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted: string[] = []
    for (let index = 0; index < 3; index += 1)
      accepted.push(...(await fixture.accept(webhook, { callId: 'call' })))
    const middle = await fixture.store.deliveries.delivery('account', accepted[1]!)
    await fixture.settle(middle!, 'cancelled')
    const { delivery } = await fixture.claimOne(webhook)
    assert.equal(delivery.id, accepted[0])
    await fixture.settle(delivery, 'delivered')
    assert.equal((await fixture.claimOne(webhook)).delivery.id, accepted[2])
  })

  rule('a delivery that waits for a retry blocks its lane until it ends', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first] = await fixture.accept(webhook, { callId: 'call' })
    await fixture.accept(webhook, { callId: 'call' })
    await fixture.settle((await fixture.claimOne(webhook)).delivery, 'waiting')
    assert.equal((await fixture.claim(webhook)).length, 0)
    await fixture.advance(1_000)
    assert.deepEqual(idsOf((await fixture.claim(webhook)).map(({ delivery }) => delivery)), [first])
    assert.equal((await fixture.claim(webhook)).length, 0)
  })

  rule('lanes are independent of each other', async (fixture) => {
    const [one, two] = [await fixture.webhook(), await fixture.webhook()]
    await fixture.accept([one, two], { callId: 'a' })
    const later = [
      ...(await fixture.accept(one, { callId: 'b' })),
      ...(await fixture.accept(one, { callId: 'a' })),
    ]
    await fixture.claim([one, two], 1)
    assert.deepEqual(idsOf((await fixture.claim([one, two])).map(({ delivery }) => delivery)), [later[0]])
  })

  rule('the same call id in another account is another lane', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent' })
    for (const accountId of ['child-1', 'child-2'])
      await fixture.accept(webhook, { accountId, callId: 'call' })
    assert.equal((await fixture.claim(webhook)).length, 2)
  })

  rule('deliveries of a webhook with ordering none do not wait for each other', async (fixture) => {
    const webhook = await fixture.webhook({ settings: { ordering: 'none' } })
    for (let index = 0; index < 3; index += 1) await fixture.accept(webhook, { callId: 'call' })
    assert.equal((await fixture.claim(webhook)).length, 3)
  })

  rule('a lane that has become empty can be used again', async (fixture) => {
    const webhook = await fixture.webhook()
    for (let round = 0; round < 3; round += 1) {
      const [id] = await fixture.accept(webhook, { callId: 'call' })
      const { delivery } = await fixture.claimOne(webhook)
      assert.equal(delivery.id, id)
      await fixture.settle(delivery, 'delivered')
    }
  })

  rule('a delivery accepted while the last one of its lane ends becomes due', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook, { callId: 'call' })
    for (let round = 0; round < 20; round += 1) {
      const { delivery } = await fixture.claimOne(webhook)
      await Promise.all([fixture.settle(delivery, 'delivered'), fixture.accept(webhook, { callId: 'call' })])
    }
    assert.equal((await fixture.claim(webhook)).length, 1)
  })

  rule('a lane is in order of acceptance, within one acceptance and over several', async (fixture) => {
    const webhook = await fixture.webhook()
    const events = Array.from({ length: 5 }, () => newEvent({ callId: 'call' }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const deps = fixture.store.deliveries
    await deps.accept(
      { events: events.slice(0, 3), deliveries: deliveries.slice(0, 3), maxPending: 9 },
      fixture.now(),
    )
    // A store clock that was set back does not change the order.
    const earlier = fixture.now() - 500
    await deps.accept({ events: events.slice(3), deliveries: deliveries.slice(3), maxPending: 9 }, earlier)
    for (const { id } of deliveries) {
      const { delivery } = await fixture.claimOne(webhook)
      assert.equal(delivery.id, id)
      await fixture.settle(delivery, 'delivered')
    }
  })

  rule('a delivery has the number of deliveries ahead of it in its lane', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted: string[] = []
    for (let index = 0; index < 3; index += 1)
      accepted.push(...(await fixture.accept(webhook, { callId: 'call' })))
    const ahead = async () => {
      const rows = await fixture.store.deliveries.deliveries({
        accountId: 'account',
        webhookId: webhook.id,
        ascending: true,
        limit: 5,
      })
      return rows.map((row) => row.ahead)
    }
    assert.deepEqual(await ahead(), [0, 1, 2])
    const { delivery } = await fixture.claimOne(webhook)
    assert.deepEqual(await ahead(), [0, 1, 2])
    await fixture.settle(delivery, 'delivered')
    assert.deepEqual(await ahead(), [0, 0, 1])
    assert.equal((await fixture.store.deliveries.delivery('account', accepted[2]!))?.ahead, 1)
  })
}
