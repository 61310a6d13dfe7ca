import assert from 'node:assert/strict'
import { ORIGIN } from './fixtures.js'
import type { Promised } from './workbench.js'

/** What travels with a claim besides its delivery: the trace it belongs to, and where its endpoint leads now. */
export function carriedPromises(promised: Promised): void {
  promised('a claim carries the trace context of its event, on every attempt', async (bench) => {
    const webhook = await bench.webhook()
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    await bench.accept(webhook, { traceparent })
    for (const attempt of [0, 1]) {
      const claim = await bench.claimOne(webhook)
      assert.equal(claim.traceparent, traceparent)
      assert.equal(claim.delivery.attempts, attempt)
      await bench.settle(claim.delivery, 'waiting', { next: { dueMs: bench.now(), attempts: attempt + 1 } })
    }
  })

  promised('a claim of an event without a trace context carries none', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    assert.equal((await bench.claimOne(webhook)).traceparent, undefined)
  })

  promised('an endpoint is told with the origin that its URI has now', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const originOf = async () => (await bench.store.deliveries.ready(bench.owner))[0]?.origin
    assert.equal(await originOf(), ORIGIN)
    const settings = { ...webhook.settings, uri: 'http://other.example.com:8080/x' }
    const moved = { ...webhook, settings, revision: webhook.revision + 1 }
    assert.equal(await bench.store.webhooks.replace(moved, webhook.revision), true)
    assert.equal(await originOf(), 'http://other.example.com:8080')
    const endpoints = [{ webhookId: webhook.id, room: 1 }]
    const claimed = await bench.store.deliveries.claim({
      owner: bench.owner,
      endpoints,
      limit: 1,
      now: bench.now(),
    })
    assert.equal(claimed.endpoints[0]?.origin, 'http://other.example.com:8080')
  })
}
