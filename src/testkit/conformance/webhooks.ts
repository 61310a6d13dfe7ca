import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, idsOf } from './fixture.js'
import { newWebhook, WALL_MS } from './sample-data.js'

/** The row with the next revision. */
function withNextRevision(webhook: Webhook, changes: Partial<Webhook> = {}): Webhook {
  return { ...webhook, revision: webhook.revision + 1, ...changes }
}

/** Rules of webhooks. */
export function webhookRules(rule: DefineRule): void {
  rule('a webhook is read exactly as it was inserted', async (fixture) => {
    const webhook = await fixture.webhook({
      settings: {
        customData: { a: 'b', ключ: '\u{1F4DE}' },
        group: 'g',
        maxAgeSeconds: 60,
        ordering: 'none',
      },
      sealedHeaders: 'sealed',
      extra: { ui: { flags: [1, null, 'x', { deep: true }] } },
      secrets: [{ sealed: 'new' }, { sealed: 'old', expiresMs: WALL_MS }],
      disabledMs: WALL_MS,
      disableReason: 'too many failed attempts',
    })
    assert.deepEqual(await fixture.store.webhooks.read(webhook.accountId, webhook.id), webhook)
    assert.deepEqual(await fixture.store.deliveries.webhookOf(webhook.id), webhook)
  })

  rule('inserting a taken id is rejected, in every account', async (fixture) => {
    const webhook = await fixture.webhook()
    await assert.rejects(fixture.store.webhooks.insert(newWebhook({ id: webhook.id, accountId: 'thief' })))
    assert.deepEqual(await fixture.store.webhooks.read(webhook.accountId, webhook.id), webhook)
    assert.equal(await fixture.store.webhooks.read('thief', webhook.id), undefined)
  })

  rule('webhooks of several accounts are listed in order of name, then id', async (fixture) => {
    const named = (id: string, accountId: string, name: string) =>
      fixture.webhook({ id, accountId, settings: { name } })
    await named('w1', 'one', 'beta')
    await named('w3', 'two', 'alpha')
    await named('w2', 'one', 'alpha')
    await named('w4', 'one', 'Zeta')
    await named('w5', 'three', 'alpha')
    assert.deepEqual(idsOf(await fixture.store.webhooks.list(['one', 'two', 'nobody', 'one'])), [
      'w4',
      'w2',
      'w3',
      'w1',
    ])
    assert.deepEqual(await fixture.store.webhooks.list([]), [])
  })

  rule('candidates are all webhooks of the accounts for the hook or for all hooks', async (fixture) => {
    const create = await fixture.webhook({ accountId: 'one' })
    const all = await fixture.webhook({ accountId: 'one', settings: { hook: 'all' } })
    const off = await fixture.webhook({ accountId: 'two', settings: { enabled: false } })
    await fixture.webhook({ accountId: 'one', settings: { hook: 'channel_destroy' } })
    await fixture.webhook({ accountId: 'three' })
    const found = await fixture.store.webhooks.candidates(['one', 'two', 'nobody'], 'channel_create')
    assert.deepEqual(idsOf(found).sort(), idsOf([create, all, off]).sort())
    assert.deepEqual(await fixture.store.webhooks.candidates([], 'channel_create'), [])
  })

  rule('candidates reflect a change of hook', async (fixture) => {
    const webhook = await fixture.webhook()
    const moved = withNextRevision(webhook, { settings: { ...webhook.settings, hook: 'channel_hold' } })
    assert.equal(await fixture.store.webhooks.replace(moved, 1), true)
    assert.deepEqual(await fixture.store.webhooks.candidates(['account'], 'channel_create'), [])
    assert.deepEqual(await fixture.store.webhooks.candidates(['account'], 'channel_hold'), [moved])
  })

  rule('candidates reflect a change that was made during a query', async (fixture) => {
    const query = () => fixture.store.webhooks.candidates(['account'], 'channel_create')
    let webhook = await fixture.webhook()
    for (let turn = 0; turn < 5; turn += 1) {
      const renamed = withNextRevision(webhook, { settings: { ...webhook.settings, name: `Name ${turn}` } })
      const [before, replaced, beside] = await Promise.all([
        query(),
        fixture.store.webhooks.replace(renamed, webhook.revision),
        query(),
      ])
      assert.equal(replaced, true)
      for (const [found] of [before, beside]) {
        assert.ok(found && [webhook.revision, renamed.revision].includes(found.revision))
      }
      assert.deepEqual(await query(), [renamed])
      webhook = renamed
    }
    const added = newWebhook()
    await Promise.all([query(), fixture.store.webhooks.insert(added), query()])
    assert.deepEqual(idsOf(await query()).sort(), idsOf([webhook, added]).sort())
  })

  rule('a replacement needs the current revision, and changes nothing otherwise', async (fixture) => {
    const webhook = await fixture.webhook()
    const changed = await fixture.edit(webhook, { settings: { name: 'Renamed' }, modifiedMs: WALL_MS + 1 })
    assert.deepEqual(await fixture.store.webhooks.read('account', webhook.id), changed)
    assert.equal(await fixture.store.webhooks.replace(withNextRevision(webhook, { modifiedMs: 2 }), 1), false)
    assert.deepEqual(await fixture.store.webhooks.read('account', webhook.id), changed)
    assert.equal(await fixture.store.webhooks.replace(newWebhook({ revision: 2 }), 1), false, 'unknown')
  })

  rule('of several concurrent replacements of one revision, one succeeds', async (fixture) => {
    const webhook = await fixture.webhook()
    const wins = await Promise.all(
      [1, 2, 3, 4].map((modifiedMs) =>
        fixture.store.webhooks.replace(withNextRevision(webhook, { modifiedMs }), 1),
      ),
    )
    assert.equal(wins.filter(Boolean).length, 1)
    const winner = await fixture.store.webhooks.read('account', webhook.id)
    assert.equal(winner?.modifiedMs, wins.indexOf(true) + 1)
  })

  rule('a deleted webhook is invisible and fixed, but webhookOf still returns it', async (fixture) => {
    const webhook = await fixture.webhook()
    const gone = await fixture.remove(webhook)
    assert.equal(await fixture.store.webhooks.read('account', webhook.id), undefined)
    assert.deepEqual(await fixture.store.webhooks.list(['account']), [])
    assert.deepEqual(await fixture.store.webhooks.candidates(['account'], 'channel_create'), [])
    assert.equal(await fixture.store.webhooks.replace(withNextRevision(gone), gone.revision), false)
    assert.equal((await fixture.store.deliveries.webhookOf(webhook.id))?.deletedMs, WALL_MS)
    assert.equal(await fixture.store.deliveries.webhookOf('unknown'), undefined)
  })

  rule('rows that were returned do not change afterwards', async (fixture) => {
    const webhook = await fixture.webhook()
    const before = await fixture.store.webhooks.read('account', webhook.id)
    const listed = await fixture.store.webhooks.candidates(['account'], 'channel_create')
    await fixture.store.webhooks.replace(
      withNextRevision(webhook, { settings: { ...webhook.settings, name: 'New' } }),
      1,
    )
    await fixture.store.webhooks.insert(newWebhook())
    assert.deepEqual(before, webhook)
    assert.deepEqual(listed, [webhook])
  })

  rule('an account cannot read or change webhooks of another account', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'one' })
    assert.equal(await fixture.store.webhooks.read('two', webhook.id), undefined)
    assert.deepEqual(await fixture.store.webhooks.list(['two']), [])
    assert.deepEqual(await fixture.store.webhooks.candidates(['two'], 'channel_create'), [])
    assert.equal(
      await fixture.store.webhooks.replace(withNextRevision(webhook, { accountId: 'two' }), 1),
      false,
    )
    assert.deepEqual(await fixture.store.webhooks.read('one', webhook.id), webhook)
  })
}
