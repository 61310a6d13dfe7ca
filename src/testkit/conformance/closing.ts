import assert from 'node:assert/strict'
import { newCounts } from '../../stats/columns.js'
import { type DefineRule, errorCodeOf, LATE_MS, RETRY_MS, waitingDelivery } from './fixture.js'
import { acceptanceOf, keysOf, startOf } from './node.js'
import { ended, replay } from './replays.js'
import {
  newAccount,
  newApiKey,
  newEvent,
  newReplayJob,
  newToken,
  newWebhook,
  WALL_MS,
} from './sample-data.js'
import { withoutRecord } from './settle.js'

/** Rules of `supports` and `close`. */
export function closingRules(rule: DefineRule): void {
  rule('the store supports what the harness declares', async (fixture) => {
    const { store, harness } = fixture
    assert.deepEqual({ liveItems: false, ...store.supports }, { liveItems: false, ...harness.supports })
  })

  rule('after close, every method rejects with StoreUnavailable', async (fixture) => {
    const { accounts, tokens, webhooks, deliveries, openLegs, replays, holds, encryption, stats, callIndex } =
      fixture.store
    const { lease } = fixture.node
    const group = fixture.node.group({ accepted: [acceptanceOf(newEvent())] })
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
      webhooks.page('account', { ascending: true, limit: 1 }),
      deliveries.own('node-1', 1),
      deliveries.renew('node-1', 1),
      deliveries.handOver(lease, []),
      deliveries.release('node-1'),
      deliveries.load(lease, [0]),
      deliveries.completeTakeover(lease, [0]),
      Promise.resolve(deliveries.commit(group)),
      Promise.resolve(deliveries.commit({ ...group, lease: undefined })),
      deliveries.bodies([{ webhookId: 'webhook', position: 1 }]),
      deliveries.changes(lease, 0),
      deliveries.poll(lease),
      deliveries.webhookOf('webhook'),
      deliveries.delivery('account', 'delivery'),
      deliveries.deliveries({ accountId: 'account', webhookId: 'webhook', limit: 1 }),
      deliveries.search({ limit: 1 }),
      deliveries.countReplayable({ webhookIds: ['webhook'], states: ['exhausted'], includeRecovered: true }),
      deliveries.attempts({ accountId: 'account', limit: 1 }),
      deliveries.activity(['webhook'], 1),
      deliveries.legs('account', 'call'),
      deliveries.erase({ accountId: 'account' }, 1),
      deliveries.prune(limits, fixture.now()),
      deliveries.pruneOldest(1),
      deliveries.historyBytes(),
      openLegs.write('switch', { put: [], remove: ['call'] }, fixture.now()),
      openLegs.list('switch', undefined, 1),
      openLegs.erase({ accountId: 'account' }, 1),
      openLegs.mentions('account', '555'),
      openLegs.prune(1, 1),
      replays.create(newReplayJob()),
      replays.read('id'),
      replays.list({ limit: 1 }),
      replays.unfinished(1),
      replays.replace(newReplayJob({ revision: 2 })),
      replays.prune(1, 1),
      replays.erase('account', 1),
      stats.add({ writer: 'writer', number: 1, rows: [] }),
      stats.read({ series: [], step: 60, slots: [] }),
      stats.prune({ beforeMs: { 60: 1, 3600: 1 } }, 1),
      holds.list(),
      holds.put('account'),
      holds.remove('account'),
      callIndex.write({ events: [], numbers: [] }),
      callIndex.events({ accountId: 'account', limit: 1 }),
      callIndex.calls({ numbers: [1], limit: 1 }),
      callIndex.erase({ accountId: 'account' }, 1),
      callIndex.excess('events', 1),
      callIndex.trim('events', 'account', 1, 1),
      callIndex.prune({ events: { beforeMs: 1, upTo: 1 }, numbers: { beforeMs: 1, upTo: 1 } }, 1),
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

  rule('holds survive a restart', async (fixture) => {
    await fixture.store.holds.put('account')
    const reopened = await fixture.reopen()
    assert.deepEqual(await reopened.holds.list(), ['account'])
  })

  rule('the call index survives a restart', async (fixture) => {
    const { id, accountId, hook, timestampMs } = newEvent({ callId: 'call' })
    await fixture.acceptOne(acceptanceOf(newEvent({ id, callId: 'call' }), []))
    const row = { accountId, callId: 'call', source: 'switch', acceptedMs: fixture.now() }
    const event = { ...row, id, hook, sequence: 1, timestampMs, isInternalLeg: false }
    await fixture.store.callIndex.write({ events: [event], numbers: [{ ...row, number: 7, eventId: id }] })
    const { callIndex } = await fixture.reopen()
    assert.deepEqual(await callIndex.events({ eventId: id, limit: 9 }), [event])
    assert.deepEqual(await callIndex.calls({ numbers: [7], limit: 9 }), [row])
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
    await fixture.node.renew()
    fixture.jumpWall(-3_600_000)
    await fixture.reopen()
    const { storeMs } = await fixture.node.own()
    assert.ok(Math.abs(storeMs + RETRY_MS / 2 - delivery.dueMs!) <= LATE_MS)
    const { rows } = await fixture.node.load()
    assert.deepEqual(
      rows.map(({ webhookId, dueMs }) => [webhookId, dueMs]),
      [[webhook.id, delivery.dueMs]],
    )
  })

  rule('open legs survive a restart', async (fixture) => {
    const legs = ['a', 'b'].map((callId) => ({ callId, accountId: 'account', state: `{"of":"${callId}"}` }))
    await fixture.store.openLegs.write('switch', { put: legs, remove: [] }, fixture.now())
    const reopened = await fixture.reopen()
    const listed = await reopened.openLegs.list('switch', undefined, 9)
    assert.deepEqual(
      listed.toSorted((a, b) => (a.callId < b.callId ? -1 : 1)),
      legs,
    )
  })

  rule('replay jobs, and what was replayed, survive a restart', async (fixture) => {
    const jobs = [newReplayJob(), newReplayJob({ state: 'paused', createdMs: WALL_MS + 1 })]
    for (const job of jobs) await fixture.store.replays.create(job)
    const changed = { ...jobs[0]!, revision: 2, doc: '{"done":1}' }
    await fixture.store.replays.replace(changed)
    const original = await ended(fixture, await fixture.webhook(), 'exhausted')
    await fixture.settle(await replay(fixture, original), 'delivered')
    await replay(fixture, original)
    const read = () => fixture.delivery(original.delivery.id)
    const before = await read()
    const { replays } = await fixture.reopen()
    assert.deepEqual(await replays.unfinished(9), [changed, jobs[1]])
    assert.deepEqual(await replays.list({ limit: 9 }), [jobs[1], changed])
    assert.equal(await replays.replace({ ...changed, revision: 3 }), true)
    assert.ok(before?.replays)
    assert.deepEqual(await read(), before)
  })

  rule('statistics, and which batches were written, survive a restart', async (fixture) => {
    const series = { accountId: 'account', webhookId: 'webhook' }
    const row = { ...series, step: 60, startMs: 60_000, counts: newCounts().fill(1) } as const
    const batch = { writer: 'writer', number: 1, rows: [row] }
    await fixture.store.stats.add(batch)
    const reopened = await fixture.reopen()
    const read = async () => {
      const [found] = await reopened.stats.read({ series: [series], step: 60, slots: [60_000] })
      return found && [...found.counts]
    }
    assert.deepEqual(await read(), row.counts)
    await reopened.stats.add(batch)
    assert.deepEqual(await read(), row.counts)
  })

  rule('every accepted delivery survives a restart: waiting, retrying, started or ended', async (fixture) => {
    const webhook = await fixture.webhook()
    const idempotency = { key: 'key', bodyHash: 'hash', untilMs: fixture.now() + 86_400_000 }
    const [head] = await fixture.accept(webhook, { callId: 'a', idempotency })
    const [behind] = await fixture.accept(webhook, { callId: 'a' })
    const [other] = await fixture.accept(webhook, { callId: 'b' })
    const [ended, slim] = await fixture.acceptMany(webhook, 2)
    await fixture.node.start(head!, other!)
    const retried = await fixture.retry(other!, { dueMs: fixture.now() + 77 })
    await fixture.settle(ended!, 'delivered')
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(slim!, 'delivered'))] })
    const all = [head!, behind!, other!, ended!, slim!]
    const read = () => Promise.all(all.map(({ id }) => fixture.delivery(id)))
    const attempts = () => fixture.attempts()
    const before = [await read(), await attempts()]
    await fixture.reopen()
    const next = await fixture.takeOver()
    assert.deepEqual([await read(), await attempts()], before)
    const { rows, interrupted } = next.loaded
    assert.deepEqual(keysOf(rows), keysOf([head!, behind!, other!]))
    const row = rows.find(({ position }) => position === other!.position)
    assert.deepEqual([row?.attempts, row?.dueMs], [retried.attempts, retried.dueMs])
    assert.deepEqual(interrupted, [startOf(head!)])
    assert.ok(next.lease.position >= slim!.position)
    assert.deepEqual((await fixture.store.deliveries.legs('account', 'a'))[0], 'a')
    const again = newEvent({ callId: 'a', idempotency })
    const [duplicate] = await next.acceptEvents(again)
    assert.deepEqual(duplicate, { id: head!.eventId, sequence: 1, duplicate: true })
    assert.equal((await next.acceptEvents(newEvent({ callId: 'a' })))[0]?.sequence, 3)
    await next.settle(head!, 'delivered')
  })

  rule('a group whose answer was lost is known after a restart', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const { acceptance, deliveries } = fixture.prepare(webhook, { callId: 'a' })
    const parts = { accepted: [acceptance], ended: [fixture.settlement(delivery, 'delivered')] }
    const first = await fixture.node.commit(parts)
    await fixture.reopen()
    await fixture.node.own()
    await fixture.node.load()
    const again = await fixture.node.commit({ ...parts, isRepeat: true })
    assert.deepEqual([again.accepted, again.ended], [first.accepted, first.ended])
    assert.deepEqual(keysOf((await fixture.node.load()).rows), keysOf(deliveries))
    assert.equal((await fixture.attempts()).length, 1)
  })

  rule('deliveries that no node owned when they were accepted survive a restart', async (fixture) => {
    const webhook = await fixture.webhook()
    const { acceptance, deliveries } = fixture.prepare(webhook)
    await fixture.node.tryCommit({ lease: undefined, accepted: [acceptance] })
    await fixture.reopen()
    const next = await fixture.takeOver()
    assert.deepEqual(keysOf(next.loaded.rows), keysOf(deliveries))
  })
}
