import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import { newWebhook, WALL_MS } from './fixtures.js'
import { ids, type Promised } from './workbench.js'

/** The row with one revision more. */
function next(webhook: Webhook, changes: Partial<Webhook> = {}): Webhook {
  return { ...webhook, revision: webhook.revision + 1, ...changes }
}

function deleted(webhook: Webhook): Webhook {
  return next(webhook, { deletedMs: WALL_MS, epoch: webhook.epoch + 1 })
}

export function webhookPromises(promised: Promised): void {
  promised('a webhook is read as it was inserted, whole', async (bench) => {
    const webhook = await bench.webhook({
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
    assert.deepEqual(await bench.store.webhooks.read(webhook.accountId, webhook.id), webhook)
    assert.deepEqual(await bench.store.deliveries.webhookOf(webhook.id), webhook)
  })

  promised('a taken id is refused, for another account too', async (bench) => {
    const webhook = await bench.webhook()
    await assert.rejects(bench.store.webhooks.insert(newWebhook({ id: webhook.id, accountId: 'thief' })))
    assert.deepEqual(await bench.store.webhooks.read(webhook.accountId, webhook.id), webhook)
    assert.equal(await bench.store.webhooks.read('thief', webhook.id), undefined)
  })

  promised('webhooks of several accounts are listed by name, then id', async (bench) => {
    const named = (id: string, accountId: string, name: string) =>
      bench.webhook({ id, accountId, settings: { name } })
    await named('w1', 'one', 'beta')
    await named('w3', 'two', 'alpha')
    await named('w2', 'one', 'alpha')
    await named('w4', 'one', 'Zeta')
    await named('w5', 'three', 'alpha')
    assert.deepEqual(ids(await bench.store.webhooks.list(['one', 'two', 'nobody', 'one'])), [
      'w4',
      'w2',
      'w3',
      'w1',
    ])
    assert.deepEqual(await bench.store.webhooks.list([]), [])
  })

  promised(
    'candidates listen to the hook or to all, enabled or not, in these accounts only',
    async (bench) => {
      const create = await bench.webhook({ accountId: 'one' })
      const all = await bench.webhook({ accountId: 'one', settings: { hook: 'all' } })
      const off = await bench.webhook({ accountId: 'two', settings: { enabled: false } })
      await bench.webhook({ accountId: 'one', settings: { hook: 'channel_destroy' } })
      await bench.webhook({ accountId: 'three' })
      const found = await bench.store.webhooks.candidates(['one', 'two', 'nobody'], 'channel_create')
      assert.deepEqual(ids(found).sort(), ids([create, all, off]).sort())
      assert.deepEqual(await bench.store.webhooks.candidates([], 'channel_create'), [])
    },
  )

  promised('candidates follow a change of hook and of account settings', async (bench) => {
    const webhook = await bench.webhook()
    const moved = next(webhook, { settings: { ...webhook.settings, hook: 'channel_hold' } })
    assert.equal(await bench.store.webhooks.replace(moved, 1), true)
    assert.deepEqual(await bench.store.webhooks.candidates(['account'], 'channel_create'), [])
    assert.deepEqual(await bench.store.webhooks.candidates(['account'], 'channel_hold'), [moved])
  })

  promised('candidates asked for beside a change follow it afterwards', async (bench) => {
    const ask = () => bench.store.webhooks.candidates(['account'], 'channel_create')
    let webhook = await bench.webhook()
    for (let turn = 0; turn < 5; turn += 1) {
      const renamed = next(webhook, { settings: { ...webhook.settings, name: `Name ${turn}` } })
      const [before, replaced, beside] = await Promise.all([
        ask(),
        bench.store.webhooks.replace(renamed, webhook.revision),
        ask(),
      ])
      assert.equal(replaced, true)
      for (const [found] of [before, beside]) {
        assert.ok(found && [webhook.revision, renamed.revision].includes(found.revision))
      }
      assert.deepEqual(await ask(), [renamed])
      webhook = renamed
    }
    const added = newWebhook()
    await Promise.all([ask(), bench.store.webhooks.insert(added), ask()])
    assert.deepEqual(ids(await ask()).sort(), ids([webhook, added]).sort())
  })

  promised('a replacement of the expected revision is written', async (bench) => {
    const webhook = await bench.webhook()
    const changed = next(webhook, {
      settings: { ...webhook.settings, name: 'Renamed' },
      modifiedMs: WALL_MS + 1,
    })
    assert.equal(await bench.store.webhooks.replace(changed, 1), true)
    assert.deepEqual(await bench.store.webhooks.read('account', webhook.id), changed)
  })

  promised('a replacement of a stale revision is refused and changes nothing', async (bench) => {
    const webhook = await bench.webhook()
    const first = next(webhook, { modifiedMs: 1 })
    assert.equal(await bench.store.webhooks.replace(first, 1), true)
    assert.equal(await bench.store.webhooks.replace(next(webhook, { modifiedMs: 2 }), 1), false)
    assert.deepEqual(await bench.store.webhooks.read('account', webhook.id), first)
  })

  promised('of several replacements of one revision at once, one wins', async (bench) => {
    const webhook = await bench.webhook()
    const wins = await Promise.all(
      [1, 2, 3, 4].map((modifiedMs) => bench.store.webhooks.replace(next(webhook, { modifiedMs }), 1)),
    )
    assert.equal(wins.filter(Boolean).length, 1)
    const winner = await bench.store.webhooks.read('account', webhook.id)
    assert.equal(winner?.modifiedMs, wins.indexOf(true) + 1)
  })

  promised('what is unknown cannot be replaced', async (bench) => {
    assert.equal(await bench.store.webhooks.replace(newWebhook({ revision: 2 }), 1), false)
  })

  promised(
    'a deleted webhook is invisible, cannot be replaced, and is still read by its deliveries',
    async (bench) => {
      const webhook = await bench.webhook()
      const gone = deleted(webhook)
      assert.equal(await bench.store.webhooks.replace(gone, 1), true)
      assert.equal(await bench.store.webhooks.read('account', webhook.id), undefined)
      assert.deepEqual(await bench.store.webhooks.list(['account']), [])
      assert.deepEqual(await bench.store.webhooks.candidates(['account'], 'channel_create'), [])
      assert.equal(await bench.store.webhooks.replace(next(gone), gone.revision), false)
      assert.equal((await bench.store.deliveries.webhookOf(webhook.id))?.deletedMs, WALL_MS)
      assert.equal(await bench.store.deliveries.webhookOf('unknown'), undefined)
    },
  )

  promised('rows handed out earlier do not change', async (bench) => {
    const webhook = await bench.webhook()
    const before = await bench.store.webhooks.read('account', webhook.id)
    const listed = await bench.store.webhooks.candidates(['account'], 'channel_create')
    await bench.store.webhooks.replace(next(webhook, { settings: { ...webhook.settings, name: 'New' } }), 1)
    await bench.store.webhooks.insert(newWebhook())
    assert.deepEqual(before, webhook)
    assert.deepEqual(listed, [webhook])
  })

  promised('one account sees and changes nothing of another', async (bench) => {
    const webhook = await bench.webhook({ accountId: 'one' })
    assert.equal(await bench.store.webhooks.read('two', webhook.id), undefined)
    assert.deepEqual(await bench.store.webhooks.list(['two']), [])
    assert.deepEqual(await bench.store.webhooks.candidates(['two'], 'channel_create'), [])
    assert.equal(await bench.store.webhooks.replace(next(webhook, { accountId: 'two' }), 1), false)
    assert.deepEqual(await bench.store.webhooks.read('one', webhook.id), webhook)
  })
}
