import assert from 'node:assert/strict'
import type { Settlement } from '../../delivery/delivery-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { DefineRule, Fixture } from './fixture.js'
import { DISABLING, WALL_MS } from './sample-data.js'

/** Accepts one event and settles its delivery with this change of the endpoint. */
async function acceptAndSettle(
  fixture: Fixture,
  webhook: Webhook,
  endpoint: NonNullable<Settlement['endpoint']>,
) {
  const [delivery] = await fixture.accept(webhook)
  return fixture.settle(delivery!, 'exhausted', { endpoint })
}

const readWebhook = (fixture: Fixture, webhook: Webhook) =>
  fixture.store.webhooks.read(webhook.accountId, webhook.id)

/** Rules of endpoint health and of disabling by the service. */
export function healthRules(rule: DefineRule): void {
  rule('a settlement writes the health, keeps it, or removes it when clean', async (fixture) => {
    const webhook = await fixture.webhook()
    const health = { failuresInRow: 3, pausedUntilMs: fixture.now() }
    await acceptAndSettle(fixture, webhook, { epoch: 1, health })
    assert.deepEqual(await readWebhook(fixture, webhook), { ...webhook, health })
    await acceptAndSettle(fixture, webhook, { epoch: 1 })
    assert.deepEqual(await readWebhook(fixture, webhook), { ...webhook, health })
    await acceptAndSettle(fixture, webhook, { epoch: 1, health: null })
    assert.deepEqual(await readWebhook(fixture, webhook), webhook)
  })

  rule('unhealthy lists the webhooks with health or a disable reason, by id', async (fixture) => {
    const ids = ['w-d', 'w-B', 'w-c', 'w-a', 'w-e', 'w-f']
    const webhooks = new Map<string, Webhook>()
    for (const [index, id] of ids.entries()) {
      webhooks.set(id, await fixture.webhook({ id, accountId: `account-${index}` }))
    }
    for (const id of ['w-d', 'w-B', 'w-e']) {
      await acceptAndSettle(fixture, webhooks.get(id)!, { epoch: 1, health: { failuresInRow: 1 } })
    }
    const disable = { reason: 'gone', atMs: WALL_MS }
    await acceptAndSettle(fixture, webhooks.get('w-c')!, { epoch: 1, disable })
    await acceptAndSettle(fixture, webhooks.get('w-d')!, { epoch: 1, health: null })
    const failing = (await readWebhook(fixture, webhooks.get('w-e')!))!
    await fixture.remove(failing)
    // A store may list a webhook whose own keys look like a reason, and must not fail because of it.
    await fixture.webhook({ id: 'w-z', accountId: 'account-z', extra: { key: { disableReason: 'a\0b' } } })
    const list = async (limit: number, afterId?: string) =>
      (await fixture.store.webhooks.unhealthy(limit, afterId))
        .map(({ id }) => id)
        .filter((id) => id !== 'w-z')
    assert.deepEqual(await list(9), ['w-B', 'w-c'])
    assert.deepEqual(await list(1), ['w-B'])
    assert.deepEqual(await list(9, 'w-B'), ['w-c'])
    assert.deepEqual(await list(9, 'w-c'), [])
    const [first] = await fixture.store.webhooks.unhealthy(1)
    assert.deepEqual(first, await readWebhook(fixture, webhooks.get('w-B')!))
  })

  rule('ids lists the webhooks of all accounts that are not deleted, by id', async (fixture) => {
    for (const id of ['w-d', 'w-B', 'w-c']) await fixture.webhook({ id, accountId: `account-${id}` })
    const removed = await fixture.webhook({ id: 'w-a', accountId: 'account-1' })
    await fixture.remove(removed)
    const row = (id: string) => ({ id, accountId: `account-${id}` })
    assert.deepEqual(await fixture.store.webhooks.ids(9), [row('w-B'), row('w-c'), row('w-d')])
    assert.deepEqual(await fixture.store.webhooks.ids(1), [row('w-B')])
    assert.deepEqual(await fixture.store.webhooks.ids(1, 'w-B'), [row('w-c')])
    assert.deepEqual(await fixture.store.webhooks.ids(9, 'w-d'), [])
  })

  rule('a load has the health of the webhooks', async (fixture) => {
    const webhook = await fixture.webhook()
    const health = { failuresInRow: 3, pausedUntilMs: fixture.now() + 9_000, openings: 1 }
    await acceptAndSettle(fixture, webhook, { epoch: 1, health })
    await fixture.accept(webhook)
    const { webhooks } = await fixture.node.load()
    assert.deepEqual(webhooks.get(webhook.id), { ...webhook, health })
    assert.deepEqual(await fixture.store.deliveries.webhookOf(webhook.id), { ...webhook, health })
  })

  rule('of several settlements in a group the last one decides the health', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted = await fixture.acceptMany(webhook, 3)
    const ended = [1, 2, 3].map((failuresInRow, index) =>
      fixture.settlement(accepted[index]!, 'exhausted', {
        endpoint: { epoch: 1, health: { failuresInRow } },
      }),
    )
    await fixture.node.commit({ ended })
    assert.deepEqual((await readWebhook(fixture, webhook))?.health, { failuresInRow: 3 })
  })

  rule('of a settlement for another epoch, health and disabling are ignored', async (fixture) => {
    const webhook = await fixture.webhook({ epoch: 5 })
    const disable = { reason: 'gone', atMs: WALL_MS }
    const settled = await acceptAndSettle(fixture, webhook, {
      epoch: 4,
      health: { failuresInRow: 1 },
      disable,
    })
    assert.equal(settled.disabled, undefined)
    assert.deepEqual(await readWebhook(fixture, webhook), webhook)
    assert.equal((await fixture.attempts()).length, 1)
  })

  rule('disabling by the service raises revision and epoch, and cancels what waits', async (fixture) => {
    const webhook = await fixture.webhook()
    const atMs = WALL_MS + 77
    const [delivery] = await fixture.accept(webhook, { callId: 'call' })
    const [waiting] = await fixture.accept(webhook, { callId: 'call' })
    const settled = await fixture.settle(delivery!, 'exhausted', {
      endpoint: { epoch: 1, health: { failuresInRow: 2 }, disable: { reason: 'gone', atMs } },
    })
    const stored = await readWebhook(fixture, webhook)
    assert.deepEqual(stored, settled.disabled)
    assert.deepEqual(
      [stored?.settings.enabled, stored?.disableReason, stored?.disabledMs, stored?.revision, stored?.epoch],
      [false, 'gone', atMs, 2, 2],
    )
    assert.equal(stored?.health?.failuresInRow, 2)
    assert.equal(await fixture.state(webhook, waiting!.id), 'cancelled')
  })

  rule('several settlements disable a webhook only once', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted = await fixture.acceptMany(webhook, 2)
    const { ended } = await fixture.node.commit({
      ended: accepted.map((delivery) => fixture.settlement(delivery, 'exhausted', { endpoint: DISABLING })),
    })
    assert.deepEqual(
      ended.map((result) => result.kind === 'settled' && result.disabled !== undefined),
      [true, false],
    )
    assert.equal((await readWebhook(fixture, webhook))?.epoch, 2)
  })

  rule('a fenced settlement changes no health', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const endpoint = { epoch: 1, health: { failuresInRow: 1 }, disable: { reason: 'gone', atMs: WALL_MS } }
    const fenced = fixture.settlement({ ...delivery, attempts: 9 }, 'delivered', { endpoint })
    assert.deepEqual((await fixture.node.commit({ ended: [fenced] })).ended, [{ kind: 'fenced' }])
    assert.deepEqual(await readWebhook(fixture, webhook), webhook)
  })

  rule('health changes without a new revision, and a replacement keeps it', async (fixture) => {
    const webhook = await fixture.webhook()
    const health = { failuresInRow: 4, pausedUntilMs: fixture.now() + 60_000 }
    await acceptAndSettle(fixture, webhook, { epoch: 1, health })
    const renamed = await fixture.edit(webhook, { settings: { name: 'Renamed' } })
    assert.deepEqual(await readWebhook(fixture, webhook), { ...renamed, health })
  })

  rule('a replacement does not restore the older health it contains', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptAndSettle(fixture, webhook, { epoch: 1, health: { failuresInRow: 1 } })
    const readEarlier = (await readWebhook(fixture, webhook))!
    await acceptAndSettle(fixture, webhook, { epoch: 1, health: null })
    await fixture.edit(readEarlier, {})
    assert.equal((await readWebhook(fixture, webhook))?.health, undefined)
  })

  rule('a webhook with a new URI starts with clean health and without pause', async (fixture) => {
    const webhook = await fixture.webhook()
    const health = { failuresInRow: 4, pausedUntilMs: fixture.now() + 60_000 }
    await acceptAndSettle(fixture, webhook, { epoch: 1, health })
    await fixture.accept(webhook)
    const moved = await fixture.edit(webhook, { settings: { uri: 'https://elsewhere.example.com/' }, health })
    const { health: _old, ...clean } = moved
    assert.deepEqual(await readWebhook(fixture, webhook), clean)
    assert.deepEqual((await fixture.node.load()).webhooks.get(webhook.id), clean)
  })

  rule('a replacement that resumes a webhook ends its pause alone', async (fixture) => {
    const webhook = await fixture.webhook()
    const failing = { failuresInRow: 12, openings: 2, failingSinceMs: fixture.now(), exhausted: 1 }
    const pausedUntilMs = fixture.now() + 60_000
    await acceptAndSettle(fixture, webhook, { epoch: 1, health: { ...failing, pausedUntilMs } })
    const resumed = await fixture.edit(webhook, { resumedRevision: 2 })
    assert.deepEqual(await readWebhook(fixture, webhook), { ...resumed, health: failing })
    const { webhooks } = (await fixture.store.deliveries.changes(fixture.node.lease, fixture.node.version))!
    assert.deepEqual(webhooks, [{ ...resumed, health: failing }])
    await fixture.accept(webhook)
    await fixture.node.load()
    // A later change is not another one, and a pause without failures leaves nothing.
    await acceptAndSettle(fixture, webhook, { epoch: 1, health: { failuresInRow: 0, pausedUntilMs } })
    const renamed = await fixture.edit(resumed, { settings: { name: 'Renamed' } })
    assert.deepEqual((await readWebhook(fixture, webhook))?.health, { failuresInRow: 0, pausedUntilMs })
    const again = await fixture.edit(renamed, { resumedRevision: 4 })
    assert.deepEqual(await readWebhook(fixture, webhook), again)
  })

  rule('a webhook that is enabled again starts with clean health', async (fixture) => {
    const webhook = await fixture.webhook()
    const endpoint = {
      epoch: 1,
      health: { failuresInRow: 4, pausedUntilMs: fixture.now() + 60_000 },
      disable: { reason: 'gone', atMs: WALL_MS },
    }
    const { disabled } = await acceptAndSettle(fixture, webhook, endpoint)
    assert.ok(disabled)
    const { health: _old, disableReason: _why, ...row } = disabled
    const enabled = await fixture.enable(row)
    assert.deepEqual(await readWebhook(fixture, webhook), enabled)
    await fixture.accept(enabled)
    assert.deepEqual((await fixture.node.load()).webhooks.get(webhook.id), enabled)
  })
}
