import assert from 'node:assert/strict'
import {
  type DefineRule,
  errorCodeOf,
  idsOf,
  LATE_MS,
  LEASE_MS,
  RETRY_MS,
  waitingDelivery,
} from './fixture.js'
import { newAccount, newApiKey, newDelivery, newEvent, newToken, newWebhook } from './sample-data.js'

/** Rules of `supports` and `close`. */
export function closingRules(rule: DefineRule): void {
  rule('the store supports what the harness declares', async (fixture) => {
    assert.deepEqual({ ...fixture.store.supports }, { ...fixture.harness.supports })
  })

  rule('after close, every method rejects with StoreUnavailable', async (fixture) => {
    const { accounts, tokens, webhooks, deliveries, openLegs, encryption } = fixture.store
    await fixture.store.close()
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
      deliveries.accept({ events: [newEvent()], deliveries: [], maxPending: 1 }, fixture.now()),
      deliveries.own('node-1', 1),
      deliveries.ready('node-1'),
      deliveries.claim({ owner: 'node-1', endpoints: [], limit: 1, now: fixture.now() }),
      deliveries.settle([], fixture.now()),
      deliveries.attempts({ accountId: 'account', limit: 1 }),
      deliveries.pending(),
      deliveries.prune(limits, fixture.now()),
      openLegs.write('switch', { put: [], remove: ['call'] }, fixture.now()),
      openLegs.list('switch', undefined, 1),
      openLegs.erase({ accountId: 'account' }, 1),
      openLegs.mentions('account', '555'),
      openLegs.prune(1, 1),
      encryption.record(),
      encryption.replaceRecord('record', undefined),
      encryption.encryptedRows('webhook', undefined, 1),
      encryption.reencrypt(
        { kind: 'apiKey', id: 'account', secrets: ['new'] },
        { kind: 'apiKey', id: 'account', secrets: ['old'] },
      ),
    ]
    for (const code of await Promise.all(calls.map(errorCodeOf))) assert.equal(code, 'StoreUnavailable')
  })
}

/** Rules of durable stores: what survives a restart. */
export function durabilityRules(rule: DefineRule): void {
  rule('accounts, tokens and webhooks survive a restart', async (fixture) => {
    const account = newAccount()
    const key = newApiKey(account.id)
    const token = newToken(account.id)
    await fixture.store.accounts.insert(account, key, [])
    await fixture.store.tokens.issue(token)
    const webhook = await fixture.webhook({ accountId: account.id })
    const reopened = await fixture.reopen()
    assert.deepEqual(await reopened.accounts.lineage(account.id), [account])
    assert.deepEqual(await reopened.accounts.apiKeyByHash(key.hash), key)
    assert.deepEqual(await reopened.tokens.read(token.hash), token)
    assert.deepEqual(await reopened.webhooks.read(account.id, webhook.id), webhook)
  })

  rule('the encryption record and replaced ciphertexts survive a restart', async (fixture) => {
    const { accounts, encryption } = fixture.store
    await accounts.insert(newAccount(), newApiKey('account'), [])
    const [row] = await encryption.encryptedRows('apiKey', undefined, 9)
    await encryption.replaceRecord('record', undefined)
    await encryption.reencrypt({ ...row!, secrets: ['again'] }, row!)
    const reopened = await fixture.reopen()
    assert.equal(await reopened.encryption.record(), 'record')
    assert.equal((await reopened.accounts.apiKey('account'))?.sealed, 'again')
  })

  rule('a retry waits no longer after a restart with a clock that was set back', async (fixture) => {
    const { webhook, delivery } = await waitingDelivery(fixture)
    await fixture.advance(RETRY_MS / 2)
    await fixture.store.deliveries.renew(fixture.owner, LEASE_MS)
    fixture.jumpWall(-3_600_000)
    const { deliveries } = await fixture.reopen()
    const { storeMs } = await deliveries.own(fixture.owner, LEASE_MS)
    assert.ok(Math.abs(storeMs + RETRY_MS / 2 - delivery.dueMs!) <= LATE_MS)
    const claimAt = async (now: number) => {
      const endpoints = [{ webhookId: webhook.id, slots: 1 }]
      return (await deliveries.claim({ owner: fixture.owner, endpoints, limit: 1, now })).claims
    }
    assert.equal((await claimAt(delivery.dueMs! - 1)).length, 0)
    assert.equal((await claimAt(storeMs + RETRY_MS / 2 + LATE_MS)).length, 1)
  })

  rule('open legs survive a restart', async (fixture) => {
    const legs = ['a', 'b'].map((callId) => ({ callId, accountId: 'account', state: `{"of":"${callId}"}` }))
    await fixture.store.openLegs.write('switch', { put: legs, remove: [] }, fixture.now())
    const reopened = await fixture.reopen()
    const listed = await reopened.openLegs.list('switch', undefined, 9)
    assert.deepEqual(
      listed.toSorted((one, other) => (one.callId < other.callId ? -1 : 1)),
      legs,
    )
  })

  rule(
    'every accepted delivery survives a restart: waiting, retrying, behind another, in flight or ended',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const event = newEvent({
        callId: 'a',
        idempotency: { key: 'key', bodyHash: 'hash', untilMs: fixture.now() + 9_000 },
      })
      const head = newDelivery(webhook, event)
      await fixture.store.deliveries.accept(
        { events: [event], deliveries: [head], maxPending: 9 },
        fixture.now(),
      )
      const [behind] = await fixture.accept(webhook, { callId: 'a' })
      const [other] = await fixture.accept(webhook, { callId: 'b' })
      const claims = await fixture.claim(webhook)
      const retried = claims.find(({ delivery }) => delivery.id === other)!
      await fixture.settle(retried.delivery, 'waiting', { next: { dueMs: fixture.now() } })
      const attempts = await fixture.store.deliveries.attempts({ accountId: 'account', limit: 9 })

      const { deliveries } = await fixture.reopen()
      await deliveries.release(fixture.owner)
      await deliveries.own('node-2', LEASE_MS)
      assert.equal(await deliveries.pending(), 3)
      assert.deepEqual(await deliveries.attempts({ accountId: 'account', limit: 9 }), attempts)
      const orphans = await deliveries.orphans('node-2', 9)
      assert.deepEqual(idsOf(orphans), [head.id])
      const claimed = await deliveries.claim({
        owner: 'node-2',
        endpoints: [{ webhookId: webhook.id, slots: 9 }],
        limit: 9,
        now: fixture.now(),
      })
      assert.deepEqual(idsOf(claimed.claims.map(({ delivery }) => delivery)), [other])
      await fixture.settle(orphans[0]!, 'delivered', { owner: 'node-2' })
      assert.equal((await deliveries.delivery('account', behind!))?.dueMs, fixture.now())
      assert.deepEqual((await deliveries.legs('account', 'a'))[0], 'a')
      const again = newEvent({ callId: 'a', idempotency: event.idempotency! })
      const accepted = await fixture.acceptEvents(again, newEvent({ callId: 'a' }))
      assert.deepEqual(accepted[0], { id: event.id, sequence: 1, duplicate: true })
      assert.equal(accepted[1]?.sequence, 3)
    },
  )
}
