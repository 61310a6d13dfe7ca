import assert from 'node:assert/strict'
import type { Group } from '../../delivery/queue-store.js'
import { type DefineRule, type Fixture, valuesOf } from './fixture.js'
import { acceptanceOf, assertRefused, keysOf, startOf } from './node.js'
import { DISABLING, newDelivery, newEvent } from './sample-data.js'
import { withoutRecord } from './settle.js'

/** Commits a group, and again as a node does that has no answer. Returns both results. */
async function commitTwice(fixture: Fixture, parts: Partial<Group>) {
  const group = fixture.node.group(parts)
  const first = await fixture.node.tryCommit(group)
  assert.ok(first.kind === 'committed')
  const again = await fixture.node.tryCommit({ ...group, isRepeat: true })
  assert.ok(again.kind === 'committed')
  return [first, again] as const
}

/** Rules of groups that are committed again because their outcome is unknown. */
export function repeatRules(rule: DefineRule): void {
  rule('repeated: events that are stored are accepted with their stored number', async (fixture) => {
    const webhook = await fixture.webhook()
    const until = fixture.now() + 9_000
    const idempotency = { key: 'key', bodyHash: 'hash', untilMs: until }
    const prepared = [
      fixture.prepare(webhook, { callId: 'call' }),
      fixture.prepare(webhook, { callId: 'call', idempotency }),
    ]
    const accepted = prepared.map(({ acceptance }) => acceptance)
    const [, again] = await commitTwice(fixture, { accepted })
    assert.deepEqual(
      again.accepted.flatMap((result) => (result.kind === 'accepted' ? result.events : [])),
      prepared.map(({ acceptance }, index) => ({
        id: acceptance.events[0]!.id,
        sequence: index + 1,
        duplicate: false,
      })),
    )
    assert.deepEqual(
      keysOf((await fixture.node.load()).rows),
      keysOf(prepared.flatMap(({ deliveries }) => deliveries)),
    )
    const [next] = await fixture.acceptEvents(newEvent({ callId: 'call' }))
    assert.equal(next?.sequence, 3)
  })

  rule('repeated: duplicates and refusals are those of the first time', async (fixture) => {
    const webhook = await fixture.webhook()
    const until = fixture.now() + 9_000
    const keyed = (bodyHash: string) => newEvent({ idempotency: { key: 'key', bodyHash, untilMs: until } })
    const unknown = { ...webhook, id: 'unknown' }
    const [eventA, eventB, other, lost] = [keyed('hash'), keyed('hash'), keyed('another'), newEvent()]
    const [first, again] = await commitTwice(fixture, {
      accepted: [
        acceptanceOf(eventA!),
        acceptanceOf(eventB!, [newDelivery(webhook, eventB!)]),
        acceptanceOf(other!),
        acceptanceOf(lost!, [newDelivery(unknown, lost!)]),
      ],
    })
    assert.deepEqual(
      again.accepted.map((result) =>
        result.kind === 'accepted' ? result.events[0]!.duplicate : result.error.code,
      ),
      [false, true, 'Conflict', 'NotFound'],
    )
    assert.deepEqual(again.accepted.slice(0, 2), first.accepted.slice(0, 2))
    assert.deepEqual(await fixture.waiting(), [])
  })

  rule('repeated: an acceptance that is stored only in part is refused', async (fixture) => {
    const webhook = await fixture.webhook()
    const { acceptance, deliveries } = fixture.prepare(webhook)
    await fixture.acceptOne(acceptance)
    const more = newEvent({ callId: 'call' })
    const larger = acceptanceOf(
      [...acceptance.events.map((event) => ({ ...event })), more],
      acceptance.deliveries.map((delivery) => ({ ...delivery })),
    )
    const { accepted } = await fixture.node.commit({ accepted: [larger], isRepeat: true })
    assertRefused(accepted[0], 'Conflict', 'id')
    assert.deepEqual(keysOf((await fixture.node.load()).rows), keysOf(deliveries))
    assert.deepEqual(await fixture.store.deliveries.legs('account', 'call'), [])
  })

  rule('repeated: what was not stored the first time is stored now', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const { acceptance, deliveries } = fixture.prepare(webhook)
    const result = await fixture.node.commit({
      accepted: [acceptance],
      ended: [fixture.settlement(delivery, 'delivered')],
      starting: { key: 1, deliveries: deliveries.map(startOf) },
      isRepeat: true,
    })
    assert.deepEqual(
      [result.accepted[0]?.kind, result.ended, result.notStarted],
      ['accepted', [{ kind: 'settled' }], []],
    )
    assert.deepEqual(keysOf((await fixture.node.load()).rows), keysOf(deliveries))
    assert.equal((await fixture.attempts()).length, 1)
    assert.deepEqual((await fixture.takeOver()).loaded.interrupted, deliveries.map(startOf))
  })

  rule('repeated: settlements whose effect is stored are settled, and recorded once', async (fixture) => {
    const [webhook, ends, waits, slim, unsent] = await fixture.webhookWith(4)
    const retry = fixture.settlement(waits!, 'waiting')
    const [, again] = await commitTwice(fixture, {
      ended: [
        fixture.settlement(ends, 'delivered'),
        retry,
        withoutRecord(fixture.settlement(slim!, 'delivered')),
        fixture.settlement(unsent!, 'cancelled'),
      ],
    })
    assert.deepEqual(valuesOf(again.ended, 'kind'), Array(4).fill('settled'))
    assert.equal((await fixture.attempts()).length, 3)
    const [row, ...others] = (await fixture.node.load()).rows
    assert.deepEqual([row?.position, row?.attempts, row?.dueMs], [waits!.position, 1, retry.next.dueMs])
    assert.deepEqual(others, [])
    const states = await Promise.all(
      [ends, slim, unsent].map((delivery) => fixture.state(webhook, delivery!.id)),
    )
    assert.deepEqual(states, ['delivered', 'delivered', 'cancelled'])
  })

  rule('repeated: settlements that were fenced are fenced again', async (fixture) => {
    const [, delivery, other] = await fixture.webhookWith(2)
    await fixture.settle(delivery, 'exhausted')
    const late = fixture.settlement({ ...delivery, attempts: 1 }, 'delivered')
    const early = fixture.settlement({ ...other!, attempts: 1 }, 'delivered')
    const [, again] = await commitTwice(fixture, { ended: [late, early] })
    assert.deepEqual(valuesOf(again.ended, 'kind'), ['fenced', 'fenced'])
    assert.equal((await fixture.attempts()).length, 1)
  })

  rule('repeated after another node took over: its settlements stand', async (fixture) => {
    const [webhook, settled, taken] = await fixture.webhookWith(2)
    const first = fixture.settlement(settled, 'delivered')
    await fixture.node.commit({ ended: [first] })
    const late = fixture.settlement(taken!, 'exhausted')
    const next = await fixture.takeOver()
    await next.settle(taken!, 'delivered')
    const { ended } = await next.commit({ ended: [first, late], isRepeat: true })
    assert.deepEqual(ended, [{ kind: 'settled' }, { kind: 'fenced' }])
    assert.equal(await fixture.state(webhook, taken!.id), 'delivered')
    assert.equal((await fixture.attempts()).length, 2)
  })

  rule('repeated: a webhook is disabled once', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const group = fixture.node.group({
      ended: [fixture.settlement(delivery, 'exhausted', { endpoint: DISABLING })],
    })
    const first = await fixture.node.tryCommit(group)
    assert.ok(first.kind === 'committed')
    await fixture.node.commit({ ended: group.ended, isRepeat: true })
    const stored = await fixture.store.webhooks.read('account', webhook.id)
    assert.deepEqual([stored?.revision, stored?.epoch], [2, 2])
    assert.equal((await fixture.attempts()).length, 1)
  })

  rule('repeated: starts are stored once, and forgotten with their key', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first, second] = [fixture.prepare(webhook), fixture.prepare(webhook)]
    for (const [index, { acceptance, deliveries }] of [first, second].entries()) {
      const starting = { key: index + 1, deliveries: deliveries.map(startOf) }
      const [, again] = await commitTwice(fixture, { accepted: [acceptance], starting })
      assert.deepEqual(again.notStarted, [])
    }
    await fixture.node.commit({ finished: [1] })
    const next = await fixture.takeOver()
    assert.deepEqual(next.loaded.interrupted, second.deliveries.map(startOf))
  })

  rule('repeated: starts that are refused the second time are forgotten', async (fixture) => {
    const [disabled, enabled] = [await fixture.webhook(), await fixture.webhook()]
    const [[first], [two], [three]] = [
      await fixture.accept(disabled),
      await fixture.accept(enabled),
      await fixture.accept(disabled),
    ]
    const both = { key: 1, deliveries: [first, two].map((delivery) => startOf(delivery!)) }
    const all = { key: 2, deliveries: [startOf(three!)] }
    await fixture.node.commit({ starting: both })
    await fixture.node.commit({ starting: all })
    await fixture.disable(disabled)
    assert.deepEqual((await fixture.node.commit({ starting: both, isRepeat: true })).notStarted, [0])
    assert.deepEqual((await fixture.node.commit({ starting: all, isRepeat: true })).notStarted, [0])
    assert.deepEqual((await fixture.takeOver()).loaded.interrupted, [startOf(two!)])
  })

  rule('repeated: finished starts stay forgotten', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    const { key } = await fixture.node.start(delivery)
    await commitTwice(fixture, { finished: [key] })
    assert.deepEqual((await fixture.takeOver()).loaded.interrupted, [])
  })

  rule('repeated after another node took over: accepted events are not written again', async (fixture) => {
    const webhook = await fixture.webhook()
    const [ended, waiting] = [fixture.prepare(webhook), fixture.prepare(webhook)]
    const acceptances = [ended.acceptance, waiting.acceptance]
    await fixture.node.commit({ accepted: acceptances })
    const next = await fixture.takeOver()
    await next.settle(ended.deliveries[0]!, 'delivered')
    for (const lease of [undefined, next.lease]) {
      const result = await next.commit({ lease, accepted: acceptances, isRepeat: true })
      assert.deepEqual(
        result.accepted.map((result) => result.kind === 'accepted' && result.events[0]),
        acceptances.map(({ events }) => ({ id: events[0]!.id, sequence: 1, duplicate: false })),
      )
    }
    const starts = [ended, waiting].map(({ deliveries }) => startOf(deliveries[0]!))
    const started = await next.commit({
      accepted: acceptances,
      starting: { key: 1, deliveries: starts },
      isRepeat: true,
    })
    assert.deepEqual(started.notStarted, [0])
    assert.deepEqual(keysOf((await next.load()).rows), keysOf(waiting.deliveries))
    assert.equal(await fixture.state(webhook, ended.deliveries[0]!.id), 'delivered')
    assert.equal((await fixture.attempts()).length, 1)
  })
}
