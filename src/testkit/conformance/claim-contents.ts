import assert from 'node:assert/strict'
import type { DefineRule } from './fixture.js'
import { ORIGIN } from './sample-data.js'

/** Rules of what a claim returns besides the delivery: the trace context and the endpoint's current origin. */
export function claimContentsRules(rule: DefineRule): void {
  rule('every claim has the trace context of its event', async (fixture) => {
    const webhook = await fixture.webhook()
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    await fixture.accept(webhook, { traceparent })
    for (const attempt of [0, 1]) {
      const claim = await fixture.claimOne(webhook)
      assert.equal(claim.traceparent, traceparent)
      assert.equal(claim.delivery.attempts, attempt)
      await fixture.settle(claim.delivery, 'waiting', {
        next: { dueMs: fixture.now(), attempts: attempt + 1 },
      })
    }
  })

  rule('a claim of an event without trace context has none', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    assert.equal((await fixture.claimOne(webhook)).traceparent, undefined)
  })

  rule('an endpoint has the origin of its current URI', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const originOf = async () => (await fixture.store.deliveries.ready(fixture.owner))[0]?.origin
    assert.equal(await originOf(), ORIGIN)
    const settings = { ...webhook.settings, uri: 'http://other.example.com:8080/x' }
    const moved = { ...webhook, settings, revision: webhook.revision + 1 }
    assert.equal(await fixture.store.webhooks.replace(moved, webhook.revision), true)
    assert.equal(await originOf(), 'http://other.example.com:8080')
    const endpoints = [{ webhookId: webhook.id, slots: 1 }]
    const claimed = await fixture.store.deliveries.claim({
      owner: fixture.owner,
      endpoints,
      limit: 1,
      now: fixture.now(),
    })
    assert.equal(claimed.endpoints[0]?.origin, 'http://other.example.com:8080')
  })
}
