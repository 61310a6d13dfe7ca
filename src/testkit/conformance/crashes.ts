/** Rules of a store that finds nodes whose process has crashed. */
import assert from 'node:assert/strict'
import { SHARDS } from '../../store/shards.js'
import type { DefineRule, Fixture } from './fixture.js'
import { keysOf, startOf } from './node.js'

const DEFAULT_TIMEOUT_MS = 5_000
const PAUSE_MS = 20

const crash = (fixture: Fixture) => fixture.harness.crash!(fixture.store, fixture.node.owner)

export function crashRules(rule: DefineRule): void {
  rule('the shards of a node that has crashed go to the next that renews', async (fixture) => {
    const [, deliveryA, deliveryB] = await fixture.webhookWith(2)
    await fixture.node.start(deliveryA)
    const second = await fixture.join('node-2')
    assert.deepEqual((await second.renew()).shards, [])
    await crash(fixture)
    assert.equal((await second.renew()).shards.length, SHARDS)
    const { rows, interrupted } = await second.load()
    assert.deepEqual(keysOf(rows), keysOf([deliveryA, deliveryB!]))
    assert.deepEqual(interrupted, [startOf(deliveryA)])
  })

  rule('a node that has crashed is fenced, and gets no lease with the same fence', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const late = fixture.node.group({ ended: [fixture.settlement(delivery, 'delivered')] })
    const second = await fixture.join('node-2')
    const before = fixture.node.lease
    await crash(fixture)
    await second.renew()
    assert.deepEqual(await fixture.store.deliveries.commit(late), { kind: 'fenced' })
    assert.equal(await fixture.state(webhook, delivery.id), 'waiting')
    assert.equal(await fixture.store.deliveries.load(before, before.shards), undefined)
    const again = await fixture.node.renew()
    assert.ok(again.fence > before.fence)
    assert.deepEqual(again.shards, [])
  })

  rule('a node that starts when another has crashed gets its shards at once', async (fixture) => {
    await crash(fixture)
    assert.equal((await fixture.join('node-2')).lease.shards.length, SHARDS)
  })

  rule('another node is told to renew when one has crashed, and not before', async (fixture) => {
    const second = await fixture.join('node-2')
    const mustRenew = async () => (await second.poll()).mustRenew ?? false
    assert.equal(await mustRenew(), false)
    await crash(fixture)
    const timeoutMs = fixture.harness.notificationTimeoutMs ?? DEFAULT_TIMEOUT_MS
    const untilMs = performance.now() + timeoutMs
    while (!(await mustRenew())) {
      assert.ok(performance.now() < untilMs, `it is told within ${timeoutMs} ms`)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    assert.equal((await second.renew()).shards.length, SHARDS)
  })
}
