import assert from 'node:assert/strict'
import { newAccount, newApiKey, newDelivery, newEvent, newToken, newWebhook } from './fixtures.js'
import { codeOf, ids, LEASE_MS, type Promised } from './workbench.js'

export function closingPromises(promised: Promised): void {
  promised('a store says of itself what was announced', async (bench) => {
    assert.deepEqual({ ...bench.store.supports }, { ...bench.harness.supports })
  })

  promised('after it was closed, every call says that the store is unavailable', async (bench) => {
    const { accounts, tokens, webhooks, deliveries } = bench.store
    await bench.store.close()
    const limits = { attemptsPerWebhook: 1, beforeMs: 1, limit: 1 }
    const calls: readonly Promise<unknown>[] = [
      accounts.insert(newAccount(), newApiKey('account'), []),
      accounts.lineage('account'),
      accounts.list(),
      accounts.apiKeyByHash('hash'),
      tokens.issue(newToken('account')),
      tokens.read('hash'),
      webhooks.insert(newWebhook()),
      webhooks.read('account', 'webhook'),
      webhooks.candidates(['account'], 'channel_create'),
      deliveries.accept({ events: [newEvent()], deliveries: [], maxPending: 1 }, bench.now()),
      deliveries.own('node-1', 1),
      deliveries.ready('node-1'),
      deliveries.claim({ owner: 'node-1', endpoints: [], limit: 1, now: bench.now() }),
      deliveries.settle([], bench.now()),
      deliveries.attempts({ accountId: 'account', limit: 1 }),
      deliveries.pending(),
      deliveries.prune(limits, bench.now()),
    ]
    for (const call of calls) assert.equal(await codeOf(call), 'StoreUnavailable')
  })
}

/** What outlives the process. */
export function durabilityPromises(promised: Promised): void {
  promised('accounts, tokens and webhooks are there after a restart', async (bench) => {
    const account = newAccount()
    const key = newApiKey(account.id)
    const token = newToken(account.id)
    await bench.store.accounts.insert(account, key, [])
    await bench.store.tokens.issue(token)
    const webhook = await bench.webhook({ accountId: account.id })
    const reopened = await bench.reopen()
    assert.deepEqual(await reopened.accounts.lineage(account.id), [account])
    assert.deepEqual(await reopened.accounts.apiKeyByHash(key.hash), key)
    assert.deepEqual(await reopened.tokens.read(token.hash), token)
    assert.deepEqual(await reopened.webhooks.read(account.id, webhook.id), webhook)
  })

  promised(
    'after a restart all that was accepted is there: waiting, retrying, behind, in flight, ended',
    async (bench) => {
      const webhook = await bench.webhook()
      const event = newEvent({
        callId: 'a',
        idempotency: { key: 'key', bodyHash: 'hash', untilMs: bench.now() + 9_000 },
      })
      const head = newDelivery(webhook, event)
      await bench.store.deliveries.accept({ events: [event], deliveries: [head], maxPending: 9 }, bench.now())
      const [behind] = await bench.accept(webhook, { callId: 'a' })
      const [other] = await bench.accept(webhook, { callId: 'b' })
      const claims = await bench.claim(webhook)
      const retried = claims.find(({ delivery }) => delivery.id === other)!
      await bench.settle(retried.delivery, 'waiting', { next: { dueMs: bench.now() } })
      const attempts = await bench.store.deliveries.attempts({ accountId: 'account', limit: 9 })

      const { deliveries } = await bench.reopen()
      await deliveries.release(bench.owner)
      await deliveries.own('node-2', LEASE_MS)
      assert.equal(await deliveries.pending(), 3)
      assert.deepEqual(await deliveries.attempts({ accountId: 'account', limit: 9 }), attempts)
      const orphans = await deliveries.orphans('node-2', 9)
      assert.deepEqual(ids(orphans), [head.id])
      const claimed = await deliveries.claim({
        owner: 'node-2',
        endpoints: [{ webhookId: webhook.id, room: 9 }],
        limit: 9,
        now: bench.now(),
      })
      assert.deepEqual(ids(claimed.claims.map(({ delivery }) => delivery)), [other])
      await bench.settle(orphans[0]!, 'delivered', { owner: 'node-2' })
      assert.equal((await deliveries.delivery('account', behind!))?.dueMs, bench.now())
      assert.deepEqual((await deliveries.legs('account', 'a'))[0], 'a')
      const again = newEvent({ callId: 'a', idempotency: event.idempotency! })
      const accepted = await bench.acceptEvents(again, newEvent({ callId: 'a' }))
      assert.deepEqual(accepted[0], { id: event.id, sequence: 1, duplicate: true })
      assert.equal(accepted[1]?.sequence, 3)
    },
  )
}
