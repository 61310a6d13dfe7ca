import assert from 'node:assert/strict'
import type { AttemptRecord } from '../../delivery/attempt-record.js'
import type { EndpointActivity } from '../../delivery/delivery-queries.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { WebhookPosition, WebhookQuery } from '../../webhooks/webhook-store.js'
import { type DefineRule, type Fixture, idsOf, RETRY_MS, readPages } from './fixture.js'
import { newRecord, newWebhook, WALL_MS } from './sample-data.js'

/** The first nine webhooks of the account, or those behind a position. */
const firstPage = ({ store }: Fixture, after?: WebhookPosition) =>
  store.webhooks.page('account', { ascending: true, limit: 9, ...(after && { after }) })

/** The ids of all webhooks of an account, in the order of the pages. */
const pageIds = async ({ store }: Fixture, accountId = 'account', ascending = true) =>
  idsOf(
    await readPages<Webhook>((last, limit) =>
      store.webhooks.page(accountId, {
        ...(last && { after: [last.settings.name, last.id] as const }),
        ...{ ascending, limit },
      }),
    ),
  )

async function activityOf(
  { store }: Fixture,
  { id }: Webhook,
  maxPending = 9,
): Promise<EndpointActivity | undefined> {
  return (await store.deliveries.activity([id], maxPending)).get(id)
}

/** Rules of webhooks as endpoints: pages by name, backlog and last attempt. */
export function endpointRules(rule: DefineRule): void {
  rule('pages of webhooks are in order of name, then id, forwards or backwards', async (fixture) => {
    const names = ['beta', 'alpha', 'alpha', '\u{1F4DE}', '\uffee', 'Zeta']
    const made = [0, 2, 1, 3, 4, 5]
    for (const index of made) await fixture.webhook({ id: `w${index}`, settings: { name: names[index]! } })
    await fixture.webhook({ id: 'w9', accountId: 'stranger', settings: { name: 'alpha' } })
    // By code points: U+FFEE is before U+1F4DE.
    const sorted = ['w5', 'w1', 'w2', 'w0', 'w4', 'w3']
    assert.deepEqual(await pageIds(fixture), sorted)
    assert.deepEqual(await pageIds(fixture, 'account', false), sorted.toReversed())
    assert.deepEqual(idsOf(await firstPage(fixture, ['alpha', 'w1'])), ['w2', 'w0', 'w4', 'w3'])
    assert.deepEqual(idsOf(await firstPage(fixture, ['b', 'w0'])), ['w0', 'w4', 'w3'])
    const before = async (after: WebhookPosition) =>
      idsOf(await fixture.store.webhooks.page('account', { ascending: false, limit: 9, after }))
    assert.deepEqual(await before(['alpha', 'w3']), ['w2', 'w1', 'w5'])
    assert.deepEqual(await before(['', '']), [])
    for (const ascending of [true, false]) assert.deepEqual(await pageIds(fixture, 'nobody', ascending), [])
  })

  rule('a page of troubled webhooks has those with a health and those that are disabled', async (fixture) => {
    const named = (name: string, enabled = true) => fixture.webhook({ id: name, settings: { name, enabled } })
    const failing = await named('a')
    await named('b')
    await named('c', false)
    await named('d')
    await named('e', false)
    const [delivery] = await fixture.accept(failing)
    const health = { failuresInRow: 1, failingSinceMs: fixture.now() }
    await fixture.settle(delivery!, 'exhausted', { endpoint: { epoch: 1, health } })
    const page = async (query: Partial<WebhookQuery> = {}) =>
      idsOf(
        await fixture.store.webhooks.page('account', {
          onlyTroubled: true,
          ascending: true,
          limit: 9,
          ...query,
        }),
      )
    assert.deepEqual(await page(), ['a', 'c', 'e'])
    assert.deepEqual(await page({ limit: 2 }), ['a', 'c'])
    assert.deepEqual(await page({ after: ['b', 'b'], limit: 1 }), ['c'])
    assert.deepEqual(await page({ after: ['e', 'e'], ascending: false }), ['c', 'a'])
    assert.deepEqual(await page({ ascending: false, limit: 1 }), ['e'])
  })

  rule('a page reflects new webhooks and names, deleted webhooks and health', async (fixture) => {
    const [first, second] = [
      await fixture.webhook({ id: 'w1', settings: { name: 'a' } }),
      await fixture.webhook({ id: 'w2', settings: { name: 'b' } }),
    ]
    const renamed = await fixture.edit(first, { settings: { name: 'c' } })
    const [delivery] = await fixture.accept(second)
    const health = { failuresInRow: 3, failingSinceMs: fixture.now() }
    await fixture.settle(delivery!, 'exhausted', { endpoint: { epoch: 1, health } })
    assert.deepEqual(await firstPage(fixture), [{ ...second, health }, renamed])
    const between = await fixture.webhook({ id: 'w0', settings: { name: 'b' } })
    assert.deepEqual(await firstPage(fixture), [between, { ...second, health }, renamed])
    await fixture.remove(renamed)
    assert.deepEqual(await pageIds(fixture), ['w0', 'w2'])
  })

  rule('a webhook is in its page exactly as it was inserted, whatever text it contains', async (fixture) => {
    const webhook = newWebhook({
      settings: { name: 'Zoë "\u{1F4DE}" \\ \'', customData: { a: 'b' } },
      sealedHeaders: 'sealed',
      extra: { nul: '\u0000', half: '\ud800', deep: [{ name: 'x' }] },
    })
    await fixture.store.webhooks.insert(webhook)
    assert.deepEqual(await firstPage(fixture), [webhook])
  })

  rule('the backlog counts deliveries that wait or are in flight, up to the limit', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook()]
    const accepted = await fixture.acceptMany(webhook, 4)
    await fixture.accept(other)
    assert.equal((await activityOf(fixture, webhook))?.pending, 4)
    assert.equal((await activityOf(fixture, webhook, 3))?.pending, 3)
    await fixture.settle(accepted[0]!, 'delivered')
    await fixture.retry(accepted[1]!, { dueMs: fixture.now() + RETRY_MS })
    assert.equal((await activityOf(fixture, webhook))?.pending, 3)
    const found = await fixture.store.deliveries.activity([webhook.id, other.id, 'unknown'], 9)
    assert.equal(found.get(other.id)?.pending, 1)
    assert.equal(found.get('unknown')?.pending ?? 0, 0)
    assert.equal((await fixture.store.deliveries.activity([], 9)).size, 0)
  })

  rule('deliveries that a change of the webhook cancelled are in no backlog', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.acceptMany(webhook, 2)
    await fixture.disable(webhook)
    const activity = await activityOf(fixture, webhook)
    assert.equal(activity?.pending ?? 0, 0)
    assert.equal(activity?.oldestDueMs, undefined)
  })

  rule('the earliest due time of a backlog is that of a retry, or of an acceptance', async (fixture) => {
    const webhook = await fixture.webhook()
    const acceptedMs = fixture.now()
    const [first] = await fixture.accept(webhook)
    await fixture.retry(first!, { dueMs: acceptedMs + RETRY_MS })
    assert.equal((await activityOf(fixture, webhook))?.oldestDueMs, acceptedMs + RETRY_MS)
    await fixture.advance(1_000)
    await fixture.accept(webhook)
    assert.equal((await activityOf(fixture, webhook))?.oldestDueMs, acceptedMs + 1_000)
  })

  rule('the oldest delivery of a backlog is the one that was accepted first', async (fixture) => {
    const webhook = await fixture.webhook()
    const acceptedMs = fixture.now()
    const [first] = await fixture.accept(webhook)
    await fixture.advance(1_000)
    await fixture.accept(webhook)
    await fixture.retry(first!, { dueMs: acceptedMs + RETRY_MS })
    assert.equal((await activityOf(fixture, webhook))?.oldestAcceptedMs, acceptedMs)
    const [oldest] = await fixture.waiting(webhook)
    await fixture.settle(oldest!, 'exhausted')
    assert.equal((await activityOf(fixture, webhook))?.oldestAcceptedMs, acceptedMs + 1_000)
    await fixture.settle(await fixture.waitingOne(webhook), 'exhausted')
    assert.equal((await activityOf(fixture, webhook))?.oldestAcceptedMs, undefined)
  })

  rule('the last attempt is the newest record with a number', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook()]
    const end = async (toRecord: (record: AttemptRecord) => AttemptRecord) => {
      const [delivery] = await fixture.accept(webhook)
      await fixture.settle(delivery!, 'exhausted', { record: toRecord(newRecord(delivery!)) })
    }
    assert.equal((await activityOf(fixture, other))?.last, undefined)
    const misleading = '{"result":"success","status":299}'
    await end((record) => ({ ...record, atMs: WALL_MS + 1, result: 'success', status: 204 }))
    assert.deepEqual((await activityOf(fixture, webhook))?.last, {
      atMs: WALL_MS + 1,
      result: 'success',
      status: 204,
    })
    await end((record) => ({ ...record, atMs: WALL_MS + 2, status: 503, responseBody: misleading }))
    await end(({ attempt: _none, status: _unknown, ...record }) => ({ ...record, atMs: WALL_MS + 3 }))
    assert.deepEqual((await activityOf(fixture, webhook))?.last, {
      atMs: WALL_MS + 2,
      result: 'failure',
      status: 503,
    })
    const nul = '\u0000 "refused"'
    await end(({ status: _unknown, ...record }) => ({
      ...record,
      atMs: WALL_MS + 3,
      cause: 'closed_early',
      detail: nul,
    }))
    assert.deepEqual((await activityOf(fixture, webhook))?.last, {
      atMs: WALL_MS + 3,
      result: 'failure',
      cause: 'closed_early',
    })
    await end(({ status: _unknown, ...record }) => ({ ...record, atMs: WALL_MS + 4 }))
    assert.deepEqual((await activityOf(fixture, webhook))?.last, { atMs: WALL_MS + 4, result: 'failure' })
    assert.equal((await activityOf(fixture, other))?.last, undefined)
  })
}
