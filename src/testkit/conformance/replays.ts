import assert from 'node:assert/strict'
import type { DeliveryReplays, ReplayableQuery, StoredDelivery } from '../../delivery/delivery-queries.js'
import type { NewDelivery, NewEvent } from '../../delivery/delivery-store.js'
import type { DeliveryState } from '../../delivery/lifecycle.js'
import { positionAt } from '../../delivery/positions.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { acceptanceOf, assertRefused, type Queued, queuedOf } from './node.js'
import { freshEventId, newDelivery, newEvent, newReplay } from './sample-data.js'
import { withoutRecord } from './settle.js'

/** A delivery that can be replayed. */
interface Ended {
  readonly webhook: Webhook
  readonly event: NewEvent
  readonly delivery: Queued
}

/** Accepts an event for one webhook and ends its delivery in this state. */
export async function ended(
  fixture: Fixture,
  webhook: Webhook,
  state: DeliveryState,
  { reason, ...event }: Partial<NewEvent> & { readonly reason?: string } = {},
): Promise<Ended> {
  const { acceptance, deliveries } = fixture.prepare(webhook, event)
  await fixture.acceptOne(acceptance)
  await fixture.settle(deliveries[0]!, state, reason === undefined ? {} : { next: { reason } })
  return { webhook, event: acceptance.events[0]!, delivery: deliveries[0]! }
}

/** Accepts a replay, which waits. */
export async function replay(
  fixture: Fixture,
  { webhook, event, delivery }: Ended,
  overrides: Partial<NewDelivery> = {},
): Promise<Queued> {
  const acceptance = acceptanceOf([], [newReplay(webhook, event, delivery, overrides)])
  assert.equal((await fixture.acceptOne(acceptance)).kind, 'accepted')
  return queuedOf(acceptance, fixture.now())[0]!
}

/** What all reads say of the replays of a delivery. */
async function marksOf({ store }: Fixture, { id, accountId, webhookId }: Queued) {
  const { deliveries } = store
  const rows = [
    await deliveries.delivery(accountId, id),
    (await deliveries.deliveries({ accountId, webhookId, limit: 99 })).find((row) => row.id === id),
    (await deliveries.search({ webhookId, limit: 99 })).deliveries.find((row) => row.id === id),
  ]
  for (const row of rows) assert.deepEqual(row?.replays, rows[0]?.replays, 'all reads say the same')
  return rows[0]?.replays
}

const markOf = (last: Queued, hasRecovered: boolean): DeliveryReplays => ({
  lastId: last.id,
  lastAcceptedMs: last.acceptedMs,
  hasRecovered,
})

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const ENDS: readonly DeliveryState[] = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']

/** Rules of replays: how they mark their originals, and how originals are counted. */
export function replayRules(rule: DefineRule): void {
  rule('a replay marks its original from its acceptance on, and no other delivery', async (fixture) => {
    const [webhook, sibling] = [await fixture.webhook(), await fixture.webhook({ accountId: 'other' })]
    const event = newEvent()
    const acceptance = acceptanceOf(event, [newDelivery(webhook, event), newDelivery(sibling, event)])
    await fixture.acceptOne(acceptance)
    const [original, twin] = queuedOf(acceptance, fixture.now())
    for (const delivery of [original!, twin!]) await fixture.settle(delivery, 'exhausted')
    const { delivery: later } = await ended(fixture, webhook, 'exhausted')
    assert.equal(await marksOf(fixture, original!), undefined)
    await fixture.advance(500)
    const copy = await replay(fixture, { webhook, event, delivery: original! })
    assert.deepEqual(await marksOf(fixture, original!), markOf(copy, true))
    for (const delivery of [twin!, later, copy]) assert.equal(await marksOf(fixture, delivery), undefined)
    const stored = await fixture.delivery(copy.id)
    assert.deepEqual([stored?.replayOf, stored?.originalPosition], [original!.id, original!.position])
  })

  rule('an original has recovered while its replay waits, is in flight or was delivered', async (fixture) => {
    const webhook = await fixture.webhook()
    const original = await ended(fixture, webhook, 'exhausted')
    const copy = await replay(fixture, original)
    await fixture.node.start(copy)
    assert.deepEqual(await marksOf(fixture, original.delivery), markOf(copy, true))
    const again = await fixture.retry(copy)
    assert.deepEqual(await marksOf(fixture, original.delivery), markOf(copy, true))
    await fixture.settle(again, 'delivered')
    assert.deepEqual(await marksOf(fixture, original.delivery), markOf(copy, true))
    const slim = await ended(fixture, webhook, 'exhausted')
    const unrecorded = await replay(fixture, slim)
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(unrecorded, 'delivered'))] })
    assert.deepEqual(await marksOf(fixture, slim.delivery), markOf(unrecorded, true))
  })

  rule('an original has not recovered where its replay ended otherwise', async (fixture) => {
    const webhook = await fixture.webhook()
    for (const state of ENDS.slice(1)) {
      const original = await ended(fixture, webhook, 'exhausted')
      const copy = await replay(fixture, original)
      await fixture.settle(copy, state)
      assert.deepEqual(await marksOf(fixture, original.delivery), markOf(copy, false), state)
    }
  })

  rule('an original has not recovered where its replay is cancelled by a newer epoch', async (fixture) => {
    const webhook = await fixture.webhook()
    const original = await ended(fixture, webhook, 'expired')
    const copy = await replay(fixture, original)
    const disabled = await fixture.disable(webhook)
    assert.deepEqual(await marksOf(fixture, original.delivery), markOf(copy, false))
    const enabled = await fixture.enable(disabled)
    assert.deepEqual(await marksOf(fixture, original.delivery), markOf(copy, false))
    const newer = await replay(fixture, { ...original, webhook: enabled })
    assert.deepEqual(await marksOf(fixture, original.delivery), markOf(newer, true))
  })

  rule('of several replays the one with the highest position counts as the newest', async (fixture) => {
    const webhook = await fixture.webhook()
    const original = await ended(fixture, webhook, 'exhausted')
    const { event, delivery } = original
    const acceptances = [1, 2, 3].map(() => acceptanceOf([], [newReplay(webhook, event, delivery)]))
    const group = fixture.node.group({ accepted: acceptances })
    const [low, middle, high] = acceptances.flatMap((acceptance) => queuedOf(acceptance, fixture.now()))
    const [first, second, third] = group.accepted
    await fixture.node.commit({ accepted: [third!] })
    await fixture.node.commit({ accepted: [first!, second!] })
    assert.deepEqual(await marksOf(fixture, delivery), markOf(high!, true))
    await fixture.settle(low!, 'delivered')
    for (const delivery of [middle!, high!]) await fixture.settle(delivery, 'exhausted')
    assert.deepEqual(await marksOf(fixture, delivery), markOf(high!, true))
  })

  rule('a replay that is removed marks nothing any more', async (fixture) => {
    const webhook = await fixture.webhook()
    const { acceptance, deliveries } = fixture.prepare(webhook)
    await fixture.acceptOne(acceptance)
    const current = await fixture.enable(await fixture.disable(webhook))
    const original = { webhook: current, event: acceptance.events[0]!, delivery: deliveries[0]! }
    const copy = await replay(fixture, original)
    await fixture.settle(copy, 'delivered')
    assert.deepEqual(await marksOf(fixture, original.delivery), markOf(copy, true))
    await fixture.advance(1_000)
    const limits = { attemptsPerWebhook: 1_000, beforeMs: fixture.now(), limit: 1_000 }
    while ((await fixture.store.deliveries.prune(limits, fixture.now())) > 0) {}
    assert.equal(await fixture.state(webhook, original.delivery.id), 'cancelled', 'its row still waits')
    assert.equal(await marksOf(fixture, original.delivery), undefined)
  })

  rule('erasing a call removes its replays, and no mark of another call', async (fixture) => {
    const webhook = await fixture.webhook()
    const gone = await ended(fixture, webhook, 'exhausted', { callId: 'gone' })
    const kept = await ended(fixture, webhook, 'exhausted', { callId: 'kept' })
    const copies = [await replay(fixture, gone), await replay(fixture, kept)]
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    assert.deepEqual(idsOf(await fixture.waiting(webhook)), [copies[1]!.id])
    assert.equal(await fixture.delivery(copies[0]!.id), undefined)
    assert.deepEqual(await marksOf(fixture, kept.delivery), markOf(copies[1]!, true))
  })

  rule('onlyOriginals leaves out replays, and no tests', async (fixture) => {
    const webhook = await fixture.webhook()
    const original = await ended(fixture, webhook, 'exhausted')
    await fixture.settle(await replay(fixture, original), 'exhausted')
    const event = newEvent({ numbered: false })
    const test = newDelivery(webhook, event, { lane: `test/${event.id}` })
    await fixture.acceptOne(acceptanceOf(event, [test]))
    const two = await ended(fixture, webhook, 'delivered')
    await replay(fixture, two)
    const three = await ended(fixture, webhook, 'exhausted')
    const originals = [original.delivery.id, test.id, two.delivery.id, three.delivery.id]
    const list = async (query: object) => {
      const whole = {
        accountId: 'account',
        webhookId: webhook.id,
        onlyOriginals: true,
        ascending: true,
        limit: 99,
        ...query,
      }
      const found = await fixture.store.deliveries.deliveries(whole)
      return idsOf(found)
    }
    assert.deepEqual(await list({}), originals)
    assert.deepEqual(await list({ ascending: false }), originals.toReversed())
    assert.deepEqual(
      await list({ onlyOriginals: false, states: ['exhausted', 'waiting'] }).then(({ length }) => length),
      5,
    )
    assert.deepEqual(await list({ states: ['exhausted'] }), [originals[0], originals[3]])
    assert.deepEqual(await list({ limit: 2 }), originals.slice(0, 2))
    assert.deepEqual(await list({ cursor: original.delivery.position, limit: 2 }), originals.slice(1, 3))
  })

  rule('what a replay would repeat of a range is found whatever its position is', async (fixture) => {
    const webhook = await fixture.webhook()
    const { id: webhookId } = webhook
    fixture.node.raise(positionAt(fixture.now() + DAY_MS))
    const { delivery } = await ended(fixture, webhook, 'exhausted')
    const [fromMs, toMs] = [fixture.now() - MINUTE_MS, fixture.now() + MINUTE_MS]
    const { deliveries } = fixture.store
    const replayable = { webhookIds: [webhookId], states: ENDS, fromMs, toMs, includeRecovered: false }
    assert.deepEqual([...(await deliveries.countReplayable(replayable))], [[webhookId, 1]])
    const list = { accountId: 'account', webhookId, ascending: true, fromMs }
    const { cursor, end } = await deliveries.listPart({ list: 'deliveries', ...list })
    const found = await deliveries.deliveries({ ...list, toMs, cursor, end, limit: 9 })
    assert.deepEqual(idsOf(found), [delivery.id])
  })

  rule('a replay with an id that is taken is refused with Conflict', async (fixture) => {
    const webhook = await fixture.webhook()
    const original = await ended(fixture, webhook, 'exhausted')
    const { event, delivery } = original
    const again = (id: string) => acceptanceOf([], [newReplay(webhook, event, delivery, { id })])
    const isRefused = async (id: string) => {
      for (const parts of [{}, { lease: undefined }]) {
        const results = (await fixture.node.commit({ ...parts, accepted: [again(id), again(id)] })).accepted
        const errors = results.map((result) => result.kind === 'refused' && result.error)
        assert.deepEqual(
          errors.map((error) => error && [error.code, error.field]),
          [1, 2].map(() => ['Conflict', 'id']),
        )
      }
    }
    const copy = await replay(fixture, original)
    await isRefused(copy.id)
    await fixture.settle(await fixture.retry(copy), 'exhausted')
    await isRefused(copy.id)
    const slim = await replay(fixture, original)
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(slim, 'delivered'))] })
    await isRefused(slim.id)
    await isRefused(delivery.id)
    assert.deepEqual(await fixture.waiting(), [])
    assert.deepEqual(await marksOf(fixture, delivery), markOf(slim, true))
  })

  rule('of two replays with one id in a group the first is accepted', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first, second] = [
      await ended(fixture, webhook, 'exhausted'),
      await ended(fixture, webhook, 'exhausted'),
    ]
    const copy = newReplay(webhook, first.event, first.delivery)
    const twin = newReplay(webhook, first.event, first.delivery, { id: copy.id })
    const other = newReplay(webhook, second.event, second.delivery)
    const { accepted } = await fixture.node.commit({
      accepted: [acceptanceOf([], [copy]), acceptanceOf([], [other, twin])],
    })
    assert.deepEqual(
      accepted.map((result) => (result.kind === 'refused' ? result.error.code : result.kind)),
      ['accepted', 'Conflict'],
    )
    assert.deepEqual(idsOf(await fixture.waiting()), [copy.id])
    assert.equal(await marksOf(fixture, second.delivery), undefined)
  })

  rule('repeated: replays of which only some are stored are refused', async (fixture) => {
    const webhook = await fixture.webhook()
    const originals = [await ended(fixture, webhook, 'exhausted'), await ended(fixture, webhook, 'exhausted')]
    const first = await replay(fixture, originals[0]!)
    const copies = originals.map(({ event, delivery }, index) =>
      newReplay(webhook, event, delivery, index === 0 ? { id: first.id } : {}),
    )
    const { accepted } = await fixture.node.commit({ accepted: [acceptanceOf([], copies)], isRepeat: true })
    assertRefused(accepted[0], 'Conflict')
    const whole = acceptanceOf([], [newReplay(webhook, originals[1]!.event, originals[1]!.delivery)])
    for (const isRepeat of [false, true]) {
      const result = await fixture.node.commit({ accepted: [whole], isRepeat })
      assert.equal(result.accepted[0]?.kind, 'accepted')
    }
    assert.equal((await fixture.waiting()).length, 2)
  })

  rule('countReplayable counts what deliveries selects, under all conditions', async (fixture) => {
    const startMs = fixture.now()
    const webhooks = await manyEnds(fixture)
    const rows = new Map<string, readonly StoredDelivery[]>()
    for (const { accountId, id: webhookId } of webhooks)
      rows.set(
        webhookId,
        await fixture.store.deliveries.deliveries({
          accountId,
          webhookId,
          onlyOriginals: true,
          limit: 999,
        }),
      )
    const counts = new Set<number>()
    for (const query of queriesOf(webhooks, startMs)) {
      const found = query.webhookIds.flatMap((id) => rows.get(id) ?? [])
      const expected = found.filter((row) => isReplayable(row, query)).length
      const counted = await fixture.store.deliveries.countReplayable(query)
      assert.equal(sumOf(counted), expected, JSON.stringify(query))
      counts.add(expected)
    }
    assert.ok(counts.size > 9, 'the conditions select differently')
  })

  rule('countReplayable counts the deliveries of a thousand webhooks', async (fixture) => {
    const [first, second] = [await fixture.webhook(), await fixture.webhook({ accountId: 'other' })]
    for (const webhook of [first, second, second]) await ended(fixture, webhook, 'exhausted')
    const unknown = Array.from({ length: 998 }, freshEventId)
    const query = { states: ['exhausted'], includeRecovered: false } as const
    const count = async (webhookIds: readonly string[]) =>
      Object.fromEntries(await fixture.store.deliveries.countReplayable({ ...query, webhookIds }))
    const all = { [first.id]: 1, [second.id]: 2 }
    assert.deepEqual(await count([second.id, ...unknown, first.id]), all)
    assert.deepEqual(await count([second.id, first.id, second.id]), all, 'each once')
    assert.deepEqual(await count(unknown), {})
    assert.deepEqual(await count([]), {})
  })
}

const sumOf = (counts: ReadonlyMap<string, number>) =>
  [...counts.values()].reduce((sum, count) => sum + count, 0)

const isReplayable = (
  { lane, state, acceptedMs, hook, reason, replays }: StoredDelivery,
  query: ReplayableQuery,
): boolean =>
  !lane.startsWith('test/') &&
  query.states.includes(state) &&
  acceptedMs >= (query.fromMs ?? 0) &&
  acceptedMs <= (query.toMs ?? Number.POSITIVE_INFINITY) &&
  (query.hooks?.includes(hook) ?? true) &&
  (query.reason === undefined || query.reason === reason) &&
  (query.includeRecovered || !replays?.hasRecovered)

const REASONS = ['bad response code', 'no response'] as const
const HOOKS = ['channel_create', 'channel_answer'] as const
const STEP_MS = 1_000

/** Webhooks of two accounts with deliveries in every state, at three times; the last one was disabled and enabled since. */
async function manyEnds(fixture: Fixture): Promise<readonly Webhook[]> {
  const webhooks = [
    await fixture.webhook(),
    await fixture.webhook({ accountId: 'other' }),
    await fixture.webhook(),
  ]
  let made = 0
  for (let step = 0; step < 3; step += 1) {
    for (const webhook of webhooks) {
      for (const state of ENDS) {
        made += 1
        const reason = state === 'delivered' ? {} : { reason: REASONS[made % 2]! }
        const original = await ended(fixture, webhook, state, { hook: HOOKS[step % 2]!, ...reason })
        if (made % 3 === 0) continue
        const copy = await replay(fixture, original)
        if (made % 3 === 1) await fixture.settle(copy, ENDS[made % 5]!)
      }
      const event = newEvent({ accountId: webhook.accountId, numbered: false })
      await fixture.acceptOne(
        acceptanceOf(event, [newDelivery(webhook, event, { lane: `test/${event.id}` })]),
      )
      const test = (await fixture.waiting(webhook)).find(({ eventId }) => eventId === event.id)
      await fixture.settle(test!, 'exhausted')
      await fixture.accept(webhook)
    }
    await fixture.advance(STEP_MS)
  }
  const enabled = await fixture.enable(await fixture.disable(webhooks[2]!))
  await fixture.accept(enabled)
  return webhooks
}

function queriesOf(webhooks: readonly Webhook[], startMs: number): ReplayableQuery[] {
  const ids = idsOf(webhooks)
  const queries: ReplayableQuery[] = []
  for (const webhookIds of [ids, ids.slice(0, 1), ids.slice(2)])
    for (const states of [ENDS, ENDS.slice(1), ['exhausted'], ['cancelled']] as const)
      for (const times of [{}, { fromMs: startMs + STEP_MS }, { toMs: startMs + STEP_MS }])
        for (const hooks of [{}, { hooks: HOOKS.slice(0, 1) }, { hooks: ['unknown', ...HOOKS] }])
          for (const reason of [{}, { reason: REASONS[0] }, { reason: 'cancelled' }])
            for (const includeRecovered of [true, false])
              queries.push({ webhookIds, states, ...times, ...hooks, ...reason, includeRecovered })
  return queries
}
