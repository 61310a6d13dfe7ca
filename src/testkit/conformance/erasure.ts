import assert from 'node:assert/strict'
import { type DefineRule, type Fixture, idsOf, valuesOf } from './fixture.js'
import { acceptanceOf, assertRefused, keyOf } from './node.js'
import { newDelivery, newEvent, newReplay } from './sample-data.js'
import { withoutRecord } from './settle.js'

const attemptsOf = async (fixture: Fixture, accountId = 'account') =>
  valuesOf(await fixture.attempts({ accountId }), 'callId')

/** Rules of `erase`, `mentions` and `scrub`. */
export function erasureRules(rule: DefineRule): void {
  rule('erasing an unknown call or account removes nothing', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook, { callId: 'kept' })
    assert.equal(await fixture.erase({ accountId: 'account', callIds: ['other'] }), 0)
    assert.equal(await fixture.erase({ accountId: 'stranger', callIds: ['kept'] }), 0)
    assert.equal(await fixture.erase({ accountId: 'stranger' }), 0)
    assert.equal((await fixture.waiting(webhook)).length, 1)
  })

  rule('erasing a call removes its deliveries, attempts, legs, numbers and keys', async (fixture) => {
    const webhook = await fixture.webhook()
    const key = { key: 'key', bodyHash: 'hash', untilMs: fixture.now() + 9_000 }
    const event = newEvent({ callId: 'gone', otherLegCallId: 'leg', idempotency: key })
    const first = newDelivery(webhook, event)
    await fixture.acceptOne(acceptanceOf(event, [first]))
    await fixture.settle(await fixture.waitingOne(webhook), 'delivered')
    const [other] = await fixture.accept(webhook, { callId: 'kept' })
    await fixture.settle(other!, 'delivered')
    assert.ok((await fixture.erase({ accountId: 'account', callIds: ['gone'] })) > 0)

    const { deliveries } = fixture.store
    assert.equal(await deliveries.delivery('account', first.id), undefined)
    assert.deepEqual(await attemptsOf(fixture), ['kept'])
    assert.deepEqual(await deliveries.attempts({ accountId: 'account', callIds: ['gone'], limit: 9 }), [])
    assert.deepEqual(await deliveries.eventBodies([first]), [undefined])
    assert.equal(await deliveries.eventOf(undefined, event.id), undefined)
    assert.deepEqual(await deliveries.legs('account', 'gone'), [])
    assert.deepEqual(await deliveries.legs('account', 'leg'), ['leg'])
    const rows = await deliveries.deliveries({ accountId: 'account', webhookId: webhook.id, limit: 9 })
    assert.deepEqual(idsOf(rows), [other!.id])
    const again = newEvent({ callId: 'gone', idempotency: { ...key, bodyHash: 'other hash' } })
    assert.deepEqual(await fixture.acceptEvents(again), [{ id: again.id, sequence: 1, duplicate: false }])
  })

  rule('erased waiting deliveries are gone, and others of their lanes continue', async (fixture) => {
    const webhook = await fixture.webhook()
    const events = ['gone', 'kept'].map((callId) => newEvent({ callId }))
    const firsts = events.map((event) => newDelivery(webhook, event))
    await fixture.acceptOne(acceptanceOf(events, firsts))
    const replays = events.map((event, index) =>
      newReplay(webhook, event, firsts[index]!, { lane: 'replay/request' }),
    )
    await fixture.acceptOne(acceptanceOf([], replays))
    const goneKeys = [firsts[0]!, replays[0]!].map((row) => keyOf({ ...row, position: row.position! }))
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    assert.deepEqual(idsOf(await fixture.waiting(webhook)), idsOf([firsts[1]!, replays[1]!]))
    assert.deepEqual(await fixture.store.deliveries.bodies(goneKeys), [undefined, undefined])
    assert.equal((await fixture.delivery(replays[1]!.id))?.ahead, 0)
    for (const delivery of await fixture.waiting(webhook)) await fixture.settle(delivery, 'delivered')
  })

  rule('the settlement of an erased delivery is fenced', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1, { callId: 'gone' })
    await fixture.accept(webhook, { callId: 'gone' })
    await fixture.node.start(delivery)
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    const { ended } = await fixture.node.commit({ ended: [fixture.settlement(delivery, 'delivered')] })
    assert.deepEqual(ended, [{ kind: 'fenced' }])
    assert.deepEqual(await attemptsOf(fixture), [])
    assert.deepEqual(await fixture.waiting(), [])
  })

  rule('erasing a call removes ends without attempts too', async (fixture) => {
    const [webhook, gone] = await fixture.webhookWith(1, { callId: 'gone' })
    const [kept] = await fixture.accept(webhook, { callId: 'kept' })
    const ended = [gone, kept!].map((delivery) => withoutRecord(fixture.settlement(delivery, 'delivered')))
    await fixture.node.commit({ ended })
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    assert.equal(await fixture.state(webhook, gone.id), undefined)
    assert.equal(await fixture.state(webhook, kept!.id), 'delivered')
    const { deliveries } = await fixture.store.deliveries.search({ webhookId: webhook.id, limit: 9 })
    assert.deepEqual(idsOf(deliveries), [kept!.id])
  })

  rule('erasing a call includes deliveries to webhooks of ancestor accounts', async (fixture) => {
    const [own, above] = [await fixture.webhook(), await fixture.webhook({ accountId: 'parent' })]
    const event = newEvent({ callId: 'gone' })
    const deliveries = [newDelivery(own, event), newDelivery(above, event)]
    await fixture.acceptOne(acceptanceOf(event, deliveries))
    await fixture.accept(above, { accountId: 'parent', callId: 'gone' })
    for (const delivery of await fixture.waiting()) await fixture.settle(delivery, 'delivered')
    assert.deepEqual(await attemptsOf(fixture, 'parent'), ['gone', 'gone'])
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    assert.deepEqual([await attemptsOf(fixture), await attemptsOf(fixture, 'parent')], [[], ['gone']])
    assert.equal(await fixture.store.deliveries.delivery('parent', deliveries[1]!.id), undefined)
  })

  rule('erasing a call keeps what another account has of its own events of the call', async (fixture) => {
    const above = await fixture.webhook({ accountId: 'parent' })
    const event = newEvent({ callId: 'shared' })
    await fixture.acceptOne(acceptanceOf(event, [newDelivery(above, event)]))
    const [own] = await fixture.accept(above, { accountId: 'parent', callId: 'shared' })
    await fixture.erase({ accountId: 'account', callIds: ['shared'] })
    assert.deepEqual(idsOf(await fixture.waiting(above)), [own!.id])
    const next = newEvent({ accountId: 'parent', callId: 'shared' })
    assert.deepEqual(await fixture.acceptEvents(next), [{ id: next.id, sequence: 2, duplicate: false }])
    await fixture.settle(own!, 'delivered')
    assert.deepEqual(
      valuesOf(await fixture.attempts({ accountId: 'parent', callIds: ['shared'] }), 'deliveryId'),
      [own!.id],
    )
  })

  rule('erasing an account removes everything sent about it and its deleted webhooks', async (fixture) => {
    const [kept, deleted] = [await fixture.webhook(), await fixture.webhook()]
    const stranger = await fixture.webhook({ accountId: 'stranger' })
    const made = await fixture.accept([kept, deleted], { callId: 'a' })
    for (const delivery of made) await fixture.settle(delivery, 'delivered')
    await fixture.accept(kept, { callId: 'b' })
    await fixture.accept(stranger, { accountId: 'stranger', callId: 'a' })
    await fixture.remove(deleted)
    await fixture.erase({ accountId: 'account' })
    assert.deepEqual(await attemptsOf(fixture), [])
    for (const { id } of made) assert.equal(await fixture.delivery(id), undefined)
    assert.equal(await fixture.store.deliveries.webhookOf(deleted.id), undefined)
    assert.deepEqual(await fixture.store.webhooks.read('account', kept.id), kept)
    assert.deepEqual(valuesOf(await fixture.waiting(), 'webhookId'), [stranger.id])
  })

  rule('a replay of an erased delivery is refused', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent({ callId: 'gone' })
    const delivery = newDelivery(webhook, event)
    await fixture.acceptOne(acceptanceOf(event, [delivery]))
    await fixture.settle(await fixture.waitingOne(webhook), 'delivered')
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    const replay = newReplay(webhook, event, delivery)
    assertRefused(await fixture.acceptOne(acceptanceOf([], [replay])), 'NotFound')
  })

  rule('mentions finds calls by a whole number in their bodies, page by page', async (fixture) => {
    const webhook = await fixture.webhook()
    const bodies = {
      a: '{"from":"+15551234"}',
      b: 'from=%2B15551234&to=7',
      c: '{"from":"915551234"}',
      d: '{"to":"155512345"}',
      e: '{"to":"sip:15551234@example.com"}',
      g: '{"to":"0015551234"}',
    }
    for (const [callId, head] of Object.entries(bodies)) {
      await fixture.accept(webhook, { callId, bodies: [{ head }] })
    }
    await fixture.accept(await fixture.webhook({ accountId: 'stranger' }), {
      accountId: 'stranger',
      callId: 'f',
      bodies: [{ head: bodies.a }],
    })
    const found: string[] = []
    let cursor: number | undefined
    let pages = 0
    do {
      const page = await fixture.store.deliveries.mentions('account', '15551234', cursor, 2)
      found.push(...page.callIds)
      cursor = page.cursor
      pages += 1
    } while (cursor !== undefined)
    assert.deepEqual([...new Set(found)].sort(), ['a', 'b', 'e', 'g'])
    assert.ok(pages > 1)
  })

  rule('scrub after an erasure leaves other rows unchanged', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook, { callId: 'gone' })
    await fixture.accept(webhook, { callId: 'kept' })
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    await fixture.store.deliveries.scrub()
    assert.equal((await fixture.waitingOne(webhook)).callId, 'kept')
  })
}
