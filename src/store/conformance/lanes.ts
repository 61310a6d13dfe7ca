import assert from 'node:assert/strict'
import { newDelivery, newEvent } from './fixtures.js'
import { ids, type Promised } from './workbench.js'

export function lanePromises(promised: Promised): void {
  promised(
    'only the first of a lane is due; the next is promoted when it ends, due at that moment',
    async (bench) => {
      const webhook = await bench.webhook()
      const [first] = await bench.accept(webhook, { callId: 'call' })
      const [second] = await bench.accept(webhook, { callId: 'call' })
      assert.equal((await bench.store.deliveries.delivery('account', second!))?.dueMs, undefined)
      const { delivery } = await bench.claimOne(webhook)
      assert.equal(delivery.id, first)
      assert.equal((await bench.claim(webhook)).length, 0)
      await bench.advance(400)
      const settled = await bench.settle(delivery, 'delivered')
      assert.equal(settled.endpoint.dueMs, bench.now())
      assert.equal((await bench.store.deliveries.delivery('account', second!))?.dueMs, bench.now())
      assert.equal((await bench.claimOne(webhook)).delivery.id, second)
    },
  )

  for (const state of ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const) {
    promised(`a delivery that ends as ${state} frees its lane`, async (bench) => {
      const webhook = await bench.webhook()
      await bench.accept(webhook, { callId: 'call' })
      const [second] = await bench.accept(webhook, { callId: 'call' })
      await bench.settle((await bench.claimOne(webhook)).delivery, state)
      assert.equal((await bench.claimOne(webhook)).delivery.id, second)
    })
  }

  promised(
    'heads that end unclaimed, many in one transaction, promote what is behind the last of them',
    async (bench) => {
      const webhook = await bench.webhook()
      const accepted: string[] = []
      for (let index = 0; index < 4; index += 1)
        accepted.push(...(await bench.accept(webhook, { callId: 'call' })))
      const rows = await Promise.all(accepted.map((id) => bench.store.deliveries.delivery('account', id)))
      const expired = rows.slice(0, 3).map((row) => bench.settlement(row!, 'expired'))
      await bench.store.deliveries.settle(expired, bench.now())
      assert.equal((await bench.claimOne(webhook)).delivery.id, accepted[3])
    },
  )

  promised('a delivery that ends in the middle of its lane is passed over', async (bench) => {
    const webhook = await bench.webhook()
    const accepted: string[] = []
    for (let index = 0; index < 3; index += 1)
      accepted.push(...(await bench.accept(webhook, { callId: 'call' })))
    const middle = await bench.store.deliveries.delivery('account', accepted[1]!)
    await bench.settle(middle!, 'cancelled')
    const { delivery } = await bench.claimOne(webhook)
    assert.equal(delivery.id, accepted[0])
    await bench.settle(delivery, 'delivered')
    assert.equal((await bench.claimOne(webhook)).delivery.id, accepted[2])
  })

  promised('a retry keeps its lane blocked until it has ended', async (bench) => {
    const webhook = await bench.webhook()
    const [first] = await bench.accept(webhook, { callId: 'call' })
    await bench.accept(webhook, { callId: 'call' })
    await bench.settle((await bench.claimOne(webhook)).delivery, 'waiting')
    assert.equal((await bench.claim(webhook)).length, 0)
    await bench.advance(1_000)
    assert.deepEqual(ids((await bench.claim(webhook)).map(({ delivery }) => delivery)), [first])
    assert.equal((await bench.claim(webhook)).length, 0)
  })

  promised('lanes do not wait for each other', async (bench) => {
    const [one, two] = [await bench.webhook(), await bench.webhook()]
    await bench.accept([one, two], { callId: 'a' })
    const later = [
      ...(await bench.accept(one, { callId: 'b' })),
      ...(await bench.accept(one, { callId: 'a' })),
    ]
    await bench.claim([one, two], 1)
    assert.deepEqual(ids((await bench.claim([one, two])).map(({ delivery }) => delivery)), [later[0]])
  })

  promised('the same call id of another account is another lane', async (bench) => {
    const webhook = await bench.webhook({ accountId: 'parent' })
    for (const accountId of ['child-1', 'child-2']) await bench.accept(webhook, { accountId, callId: 'call' })
    assert.equal((await bench.claim(webhook)).length, 2)
  })

  promised('deliveries of a webhook without order do not wait for each other', async (bench) => {
    const webhook = await bench.webhook({ settings: { ordering: 'none' } })
    for (let index = 0; index < 3; index += 1) await bench.accept(webhook, { callId: 'call' })
    assert.equal((await bench.claim(webhook)).length, 3)
  })

  promised('a lane that ran empty starts again', async (bench) => {
    const webhook = await bench.webhook()
    for (let round = 0; round < 3; round += 1) {
      const [id] = await bench.accept(webhook, { callId: 'call' })
      const { delivery } = await bench.claimOne(webhook)
      assert.equal(delivery.id, id)
      await bench.settle(delivery, 'delivered')
    }
  })

  promised('an acceptance while the last of a lane ends is never left behind', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook, { callId: 'call' })
    for (let round = 0; round < 20; round += 1) {
      const { delivery } = await bench.claimOne(webhook)
      await Promise.all([bench.settle(delivery, 'delivered'), bench.accept(webhook, { callId: 'call' })])
    }
    assert.equal((await bench.claim(webhook)).length, 1)
  })

  promised(
    'the order of a lane is that of acceptance, within one acceptance and over many',
    async (bench) => {
      const webhook = await bench.webhook()
      const events = Array.from({ length: 5 }, () => newEvent({ callId: 'call' }))
      const deliveries = events.map((event) => newDelivery(webhook, event))
      const doors = bench.store.deliveries
      await doors.accept(
        { events: events.slice(0, 3), deliveries: deliveries.slice(0, 3), maxPending: 9 },
        bench.now(),
      )
      // A store clock that was set back does not turn the order round.
      const earlier = bench.now() - 500
      await doors.accept({ events: events.slice(3), deliveries: deliveries.slice(3), maxPending: 9 }, earlier)
      for (const { id } of deliveries) {
        const { delivery } = await bench.claimOne(webhook)
        assert.equal(delivery.id, id)
        await bench.settle(delivery, 'delivered')
      }
    },
  )

  promised('a delivery tells how many of its lane are ahead of it', async (bench) => {
    const webhook = await bench.webhook()
    const accepted: string[] = []
    for (let index = 0; index < 3; index += 1)
      accepted.push(...(await bench.accept(webhook, { callId: 'call' })))
    const ahead = async () => {
      const rows = await bench.store.deliveries.deliveries({
        accountId: 'account',
        webhookId: webhook.id,
        ascending: true,
        limit: 5,
      })
      return rows.map((row) => row.ahead)
    }
    assert.deepEqual(await ahead(), [0, 1, 2])
    const { delivery } = await bench.claimOne(webhook)
    assert.deepEqual(await ahead(), [0, 1, 2])
    await bench.settle(delivery, 'delivered')
    assert.deepEqual(await ahead(), [0, 0, 1])
    assert.equal((await bench.store.deliveries.delivery('account', accepted[2]!))?.ahead, 1)
  })
}
