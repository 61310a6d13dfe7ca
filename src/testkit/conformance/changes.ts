import assert from 'node:assert/strict'
import type { Changes } from '../../delivery/queue-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { keyOf, keysOf } from './node.js'
import { DISABLING, WALL_MS } from './sample-data.js'

/** Makes a change, and expects that a group of the version before is outdated, and that `changes` has what it returns. */
async function expectChanges(
  { node, store }: Fixture,
  change: () => Promise<Partial<Pick<Changes, 'webhooks' | 'removed'>>>,
): Promise<void> {
  const before = node.version
  const expected = await change()
  assert.deepEqual(await node.tryCommit(), { kind: 'outdated' })
  assert.ok((await node.poll()).version > before)
  const found = await node.applyChanges()
  assert.ok(found.version > before)
  assert.equal(found.mustReload, false)
  assert.deepEqual(found.webhooks, expected.webhooks ?? [])
  assert.deepEqual(keysOf(found.removed), keysOf(expected.removed ?? []))
  assert.equal((await node.tryCommit()).kind, 'committed')
  const again = await store.deliveries.changes(node.lease, found.version)
  assert.deepEqual(again, { version: found.version, webhooks: [], removed: [], mustReload: false })
}

const eraseCall = (fixture: Fixture, callId: string) =>
  fixture.erase({ accountId: 'account', callIds: [callId] }, 1)

/** Rules of versions: what others did to the deliveries of a node. */
export function changeRules(rule: DefineRule): void {
  rule('nothing that a node does itself raises its version', async (fixture) => {
    const webhook = await fixture.webhook()
    const { node } = fixture
    const before = node.version
    const [first, second] = await fixture.acceptMany(webhook, 2)
    await node.start(first!)
    await fixture.settle(first!, 'delivered', { endpoint: { epoch: 1, health: { failuresInRow: 1 } } })
    await fixture.retry(second!)
    await node.renew()
    await fixture.webhook()
    assert.equal((await node.poll()).version, before)
    assert.deepEqual(await fixture.store.deliveries.changes(node.lease, before), {
      version: before,
      webhooks: [],
      removed: [],
      mustReload: false,
    })
    assert.equal((await node.tryCommit({ version: before })).kind, 'committed')
  })

  rule('an edited, disabled or deleted webhook is a change', async (fixture) => {
    for (const change of [
      (webhook: Webhook) => fixture.edit(webhook, { settings: { uri: 'https://elsewhere.example.com/' } }),
      fixture.disable,
      fixture.remove,
    ]) {
      const [webhook] = await fixture.webhookWith(1)
      await expectChanges(fixture, async () => ({ webhooks: [await change(webhook)] }))
    }
  })

  rule('a webhook that was changed twice is listed once, as it is now', async (fixture) => {
    const [first, second] = [await fixture.webhook(), await fixture.webhook()]
    await fixture.accept([first, second])
    const { node } = fixture
    const before = node.version
    const disabled = await fixture.disable(await fixture.edit(first, { settings: { name: 'Renamed' } }))
    const found = await fixture.store.deliveries.changes(node.lease, before)
    assert.deepEqual(found?.webhooks, [disabled])
    await fixture.disable(second)
    const later = await fixture.store.deliveries.changes(node.lease, found!.version)
    assert.deepEqual(idsOf(later!.webhooks), [second.id])
    const all = await fixture.store.deliveries.changes(node.lease, before)
    assert.deepEqual(all?.webhooks.map(({ id }) => id).sort(), [first.id, second.id].sort())
  })

  rule('a rejected edit is no change', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    assert.equal(await fixture.store.webhooks.replace({ ...webhook, revision: 8, epoch: 2 }, 7), false)
    assert.equal((await fixture.node.tryCommit()).kind, 'committed')
  })

  rule('replaced ciphertexts of a webhook are a change', async (fixture) => {
    const webhook = await fixture.webhook({ id: 'webhook', secrets: [{ sealed: 'old' }] })
    await fixture.accept(webhook)
    const row = { kind: 'webhook', id: 'webhook', secrets: ['old'] } as const
    await expectChanges(fixture, async () => {
      await fixture.store.encryption.reencrypt({ ...row, secrets: ['new'] }, row)
      return { webhooks: [{ ...webhook, secrets: [{ sealed: 'new' }], revision: 2 }] }
    })
  })

  rule('the webhooks of a removed account are a change', async (fixture) => {
    const account = await fixture.account()
    const webhook = await fixture.webhook({ accountId: account.id })
    await fixture.accept(webhook)
    const before = fixture.node.version
    await fixture.store.accounts.remove(account.id, { nowMs: WALL_MS })
    assert.deepEqual(await fixture.node.tryCommit(), { kind: 'outdated' })
    const found = await fixture.store.deliveries.changes(fixture.node.lease, before)
    assert.deepEqual(
      found?.webhooks.map(({ id, deletedMs, epoch }) => [id, deletedMs, epoch]),
      [[webhook.id, WALL_MS, 2]],
    )
  })

  rule('erased deliveries are a change, each listed once', async (fixture) => {
    const [first, second] = [await fixture.webhook(), await fixture.webhook()]
    const gone = await fixture.accept([first, second], { callId: 'gone' })
    const more = await fixture.accept(first, { callId: 'gone' })
    const [kept] = await fixture.accept(first, { callId: 'kept' })
    await expectChanges(fixture, async () => {
      await eraseCall(fixture, 'gone')
      return { removed: [...gone, ...more] }
    })
    assert.deepEqual(keysOf((await fixture.node.load()).rows), [keyOf(kept!)])
  })

  rule('a group that was formed before an erasure brings nothing back', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1, { callId: 'gone' })
    const group = fixture.node.group({ ended: [fixture.settlement(delivery, 'delivered')] })
    await eraseCall(fixture, 'gone')
    for (const isRepeat of [false, true]) {
      assert.equal((await fixture.store.deliveries.commit({ ...group, isRepeat })).kind, 'outdated')
    }
    await fixture.node.applyChanges()
    for (const isRepeat of [false, true]) {
      const result = await fixture.node.commit({ ended: group.ended, isRepeat })
      assert.deepEqual(result.ended, [{ kind: 'fenced' }])
    }
    assert.deepEqual(await fixture.attempts(), [])
    assert.equal(await fixture.delivery(delivery.id), undefined)
  })

  rule('deliveries that go with their deleted webhooks are listed', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    await fixture.remove(webhook)
    await fixture.node.applyChanges()
    const before = fixture.node.version
    await fixture.erase({ accountId: 'account' })
    assert.deepEqual(await fixture.node.tryCommit(), { kind: 'outdated' })
    const found = await fixture.store.deliveries.changes(fixture.node.lease, before)
    assert.ok(found?.mustReload === false)
    assert.deepEqual(found.removed.map(keyOf), [keyOf(delivery)])
    assert.equal(await fixture.store.deliveries.webhookOf(webhook.id), undefined)
  })

  rule('old or many changes are listed completely, or the node must reload', async (fixture) => {
    const webhooks = await Promise.all(Array.from({ length: 40 }, () => fixture.webhook()))
    await fixture.accept(webhooks)
    const before = fixture.node.version
    for (const webhook of webhooks.slice(0, 20)) await fixture.disable(webhook)
    await fixture.advance(3 * 3_600_000)
    const lease = await fixture.node.own()
    for (const webhook of webhooks.slice(20)) await fixture.disable(webhook)
    const found = await fixture.store.deliveries.changes(lease, before)
    assert.ok(found && found.version > before)
    if (!found.mustReload) assert.deepEqual(idsOf(found.webhooks).sort(), idsOf(webhooks).sort())
    const loaded = await fixture.node.load()
    assert.equal(loaded.webhooks.size, 40)
    assert.equal(fixture.node.version, found.version)
  })

  rule('a load has the version of its contents', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const before = fixture.node.version
    const disabled = await fixture.disable(webhook)
    const { webhooks } = await fixture.node.load()
    assert.deepEqual(webhooks.get(webhook.id), disabled)
    assert.ok(fixture.node.version > before)
    assert.equal((await fixture.node.tryCommit()).kind, 'committed')
    assert.equal((await fixture.node.tryCommit({ version: before })).kind, 'outdated')
  })

  rule('disabling by a settlement raises the version for everybody but its group', async (fixture) => {
    const [, first, second] = await fixture.webhookWith(2)
    const { node } = fixture
    const before = node.version
    const result = await node.tryCommit({
      ended: [fixture.settlement(first, 'exhausted', { endpoint: DISABLING })],
    })
    assert.ok(result.kind === 'committed')
    assert.ok(result.version > before)
    assert.equal((await node.poll()).version, result.version)
    assert.equal((await node.tryCommit({ version: before })).kind, 'outdated')
    const settlement = fixture.settlement(second!, 'cancelled')
    const next = await node.tryCommit({ version: result.version, ended: [settlement] })
    assert.ok(next.kind === 'committed')
    assert.deepEqual([next.version, next.ended[0]?.kind], [result.version, 'settled'])
  })

  rule('the version is ignored without a lease', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.disable(webhook)
    const { acceptance } = fixture.prepare(await fixture.webhook())
    const result = await fixture.node.tryCommit({ lease: undefined, version: -1, accepted: [acceptance] })
    assert.ok(result.kind === 'committed' && result.accepted[0]?.kind === 'accepted')
  })

  rule('of an edit and a group at once, the group comes first or writes nothing', async (fixture) => {
    for (let round = 0; round < 10; round += 1) {
      const [webhook, delivery] = await fixture.webhookWith(1)
      const ended = [fixture.settlement(delivery, 'waiting')]
      const works = [() => fixture.node.tryCommit({ ended }), () => fixture.disable(webhook)]
      if (round % 2 === 1) works.reverse()
      const results = await Promise.all(works.map((work) => work()))
      const result = results.find((result) => 'kind' in result)
      const attempts = await fixture.attempts({ webhookId: webhook.id })
      assert.equal(attempts.length, result?.kind === 'committed' ? 1 : 0)
      assert.equal(await fixture.state(webhook, delivery.id), 'cancelled')
      assert.equal((await fixture.node.tryCommit()).kind, 'outdated')
      await fixture.node.applyChanges()
    }
  })

  rule('an erasure and a group at the same time: nothing erased comes back', async (fixture) => {
    for (let round = 0; round < 10; round += 1) {
      const [webhook, delivery] = await fixture.webhookWith(1, { callId: 'gone' })
      const ended = [fixture.settlement(delivery, 'delivered')]
      const works: (() => Promise<unknown>)[] = [
        () => fixture.node.tryCommit({ ended }),
        () => eraseCall(fixture, 'gone'),
      ]
      if (round % 2 === 1) works.reverse()
      await Promise.all(works.map((work) => work()))
      assert.equal(await fixture.state(webhook, delivery.id), undefined)
      assert.deepEqual(await fixture.attempts(), [])
      await fixture.node.applyChanges()
    }
  })
}
