import assert from 'node:assert/strict'
import type { Group } from '../../delivery/queue-store.js'
import { type DefineRule, type Fixture, valuesOf } from './fixture.js'
import { acceptanceOf, keyOf, keysOf, startOf } from './node.js'
import { newDelivery, newEvent, WALL_MS } from './sample-data.js'
import { withoutRecord } from './settle.js'

/** A group with an acceptance, a settlement, a health change, a start and a finished key. */
async function fullGroup(fixture: Fixture) {
  const [webhook, waiting, running] = await fixture.webhookWith(2)
  const { key } = await fixture.node.start(running!)
  const until = fixture.now() + 9_000
  const { acceptance, deliveries } = fixture.prepare(webhook, {
    callId: 'call',
    idempotency: { key: 'key', bodyHash: 'hash', untilMs: until },
  })
  const endpoint = { epoch: 1, health: { failuresInRow: 1 }, disable: { reason: 'gone', atMs: WALL_MS } }
  const parts: Partial<Group> = {
    accepted: [acceptance],
    ended: [fixture.settlement(waiting, 'exhausted', { endpoint })],
    starting: { key: 99, deliveries: deliveries.map(startOf) },
    finished: [key],
  }
  return { webhook, waiting, running: running!, accepted: deliveries[0]!, parts }
}

/** Expects that nothing of `fullGroup` was written. */
async function expectNothing(
  fixture: Fixture,
  { webhook, waiting, running, accepted }: Awaited<ReturnType<typeof fullGroup>>,
) {
  const { deliveries } = fixture.store
  assert.equal(await deliveries.delivery('account', accepted.id), undefined)
  assert.deepEqual(await deliveries.legs('account', 'call'), [])
  assert.deepEqual(await fixture.attempts(), [])
  assert.equal((await deliveries.webhookOf(webhook.id))?.health, undefined)
  assert.equal((await deliveries.webhookOf(webhook.id))?.disableReason, undefined)
  const next = await fixture.takeOver('node-3')
  assert.deepEqual(keysOf(next.loaded.rows), keysOf([waiting, running]))
  assert.deepEqual(next.loaded.interrupted, [startOf(running)])
  const event = newEvent({
    callId: 'call',
    idempotency: { key: 'key', bodyHash: 'another', untilMs: fixture.now() + 1 },
  })
  assert.deepEqual(await next.acceptEvents(event), [{ id: event.id, sequence: 1, duplicate: false }])
}

/** Rules of groups as a whole. */
export function groupRules(rule: DefineRule): void {
  rule('a group without a lease only accepts', async (fixture) => {
    const [webhook, started, waiting] = await fixture.webhookWith(2)
    const { key } = await fixture.node.start(started)
    const { acceptance, deliveries } = fixture.prepare(webhook)
    const result = await fixture.node.tryCommit({
      lease: undefined,
      accepted: [acceptance],
      ended: [fixture.settlement(started, 'delivered')],
      starting: { key, deliveries: [startOf(waiting!)] },
      finished: [key],
    })
    assert.ok(result.kind === 'committed')
    assert.equal(result.accepted[0]?.kind, 'accepted')
    assert.deepEqual([result.ended, result.notStarted], [[{ kind: 'fenced' }], [0]])
    const { rows, interrupted } = (await fixture.takeOver()).loaded
    assert.deepEqual(keysOf(rows), keysOf([started, waiting!, deliveries[0]!]))
    assert.deepEqual(interrupted, [startOf(started)])
  })

  rule('an empty group is committed', async (fixture) => {
    assert.deepEqual(await fixture.node.tryCommit(), {
      kind: 'committed',
      accepted: [],
      ended: [],
      notStarted: [],
      version: fixture.node.version,
    })
  })

  rule('the parts of a group are applied in order, and so are its results', async (fixture) => {
    const { webhook, waiting, accepted, parts } = await fullGroup(fixture)
    const { disable: _none, ...endpoint } = parts.ended![0]!.endpoint!
    const ended = [{ ...parts.ended![0]!, endpoint }]
    const result = await fixture.node.tryCommit({ ...parts, ended })
    assert.deepEqual(result, {
      kind: 'committed',
      accepted: [
        {
          kind: 'accepted',
          events: [{ id: accepted.eventId, sequence: 1, duplicate: false }],
          mayHaveGap: false,
        },
      ],
      ended: [{ kind: 'settled' }],
      notStarted: [],
      version: fixture.node.version,
    })
    assert.equal(await fixture.state(webhook, waiting.id), 'exhausted')
    assert.equal(await fixture.state(webhook, accepted.id), 'waiting')
    const next = await fixture.takeOver()
    assert.deepEqual(next.loaded.interrupted, [startOf(accepted)])
  })

  rule('a refused acceptance is refused alone: the others are written', async (fixture) => {
    const webhook = await fixture.webhook()
    const unknown = { ...webhook, id: 'unknown' }
    const [first, second] = [fixture.prepare(webhook), fixture.prepare(webhook)]
    const event = newEvent()
    const refused = acceptanceOf(event, [newDelivery(webhook, event), newDelivery(unknown, event)])
    const [waiting] = await fixture.accept(webhook)
    const result = await fixture.node.commit({
      accepted: [first.acceptance, refused, second.acceptance],
      ended: [fixture.settlement(waiting!, 'delivered')],
    })
    assert.deepEqual(valuesOf(result.accepted, 'kind'), ['accepted', 'refused', 'accepted'])
    assert.deepEqual(result.ended, [{ kind: 'settled' }])
    const ids = (await fixture.waiting(webhook)).map(({ id }) => id)
    assert.deepEqual(ids, [first.deliveries[0]!.id, second.deliveries[0]!.id])
  })

  rule('a fenced settlement does not affect the rest of its group', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const { acceptance, deliveries } = fixture.prepare(webhook)
    const late = fixture.settlement({ ...delivery, attempts: 3 }, 'delivered')
    const result = await fixture.node.commit({ accepted: [acceptance], ended: [late] })
    assert.deepEqual([result.accepted[0]?.kind, result.ended[0]?.kind], ['accepted', 'fenced'])
    assert.equal(await fixture.state(webhook, deliveries[0]!.id), 'waiting')
  })

  rule('a group under an older fence writes nothing', async (fixture) => {
    const full = await fullGroup(fixture)
    const group = fixture.node.group(full.parts)
    const next = await fixture.takeOver()
    assert.deepEqual(await fixture.store.deliveries.commit(group), { kind: 'fenced' })
    assert.deepEqual(await fixture.store.deliveries.commit({ ...group, isRepeat: true }), { kind: 'fenced' })
    const { owner } = fixture.node.lease
    const guessed = { ...group, lease: { owner, fence: next.lease.fence + 1 } }
    assert.deepEqual(await fixture.store.deliveries.commit(guessed), { kind: 'fenced' })
    await expectNothing(fixture, full)
  })

  rule('a group of a node without lease is fenced', async (fixture) => {
    const full = await fullGroup(fixture)
    const group = { ...fixture.node.group(full.parts), lease: { owner: 'stranger', fence: 1 } }
    assert.deepEqual(await fixture.store.deliveries.commit(group), { kind: 'fenced' })
    await expectNothing(fixture, full)
  })

  rule('a group of an older version writes nothing', async (fixture) => {
    const full = await fullGroup(fixture)
    const other = await fixture.webhook()
    await fixture.accept(other)
    const group = fixture.node.group(full.parts)
    await fixture.disable(other)
    assert.deepEqual(await fixture.store.deliveries.commit(group), { kind: 'outdated' })
    assert.deepEqual(await fixture.store.deliveries.commit({ ...group, isRepeat: true }), {
      kind: 'outdated',
    })
    await fixture.node.applyChanges()
    const cancelled = await fixture.waitingOne(other)
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(cancelled, 'cancelled'))] })
    await expectNothing(fixture, full)
  })

  rule('a group without lease only accepts, and the owner polls its deliveries once', async (fixture) => {
    const webhook = await fixture.webhook()
    const { deliveries } = fixture.store
    const { node } = fixture
    const prepared = [fixture.prepare(webhook), fixture.prepare(webhook, { callId: 'call' })]
    const accepted = prepared.map(({ acceptance }) => acceptance)
    const event = newEvent()
    const refused = acceptanceOf(event, [newDelivery({ ...webhook, id: 'unknown' }, event)])
    const result = await node.tryCommit({ lease: undefined, accepted: [...accepted, refused] })
    assert.ok(result.kind === 'committed')
    assert.deepEqual(valuesOf(result.accepted, 'kind'), ['accepted', 'accepted', 'refused'])
    assert.deepEqual([result.ended, result.notStarted], [[], []])
    const polled = await node.poll()
    const expected = keysOf(prepared.flatMap((acceptance) => acceptance.deliveries))
    assert.deepEqual(keysOf(polled.rows), expected)
    assert.deepEqual(
      polled.rows.map(({ sequence, attempts, epoch }) => [sequence, attempts, epoch]),
      [
        [1, 0, 1],
        [1, 0, 1],
      ],
    )
    assert.deepEqual(polled.webhooks, [webhook])
    assert.deepEqual((await node.poll()).rows, [])
    assert.deepEqual(keysOf((await node.load()).rows), expected)
    assert.ok((await deliveries.bodies(expected)).every((content) => content !== undefined))
  })

  rule('a node polls nothing that it accepted for its own shards', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.acceptMany(webhook, 3)
    const polled = await fixture.node.poll()
    assert.deepEqual([polled.rows, polled.webhooks], [[], []])
    assert.equal(polled.version, fixture.node.version)
    assert.equal(polled.pendingElsewhere, 0)
  })

  rule('a delivery that ended before it was polled is not polled', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first, second] = [fixture.prepare(webhook), fixture.prepare(webhook)]
    await fixture.node.tryCommit({ lease: undefined, accepted: [first.acceptance, second.acceptance] })
    await fixture.settle(first.deliveries[0]!, 'delivered')
    assert.deepEqual((await fixture.node.poll()).rows.map(keyOf), [keyOf(second.deliveries[0]!)])
  })

  rule('a delivery that failed before it was polled is polled with its first failure', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first, second] = [fixture.prepare(webhook), fixture.prepare(webhook)]
    await fixture.node.tryCommit({ lease: undefined, accepted: [first.acceptance, second.acceptance] })
    const failedMs = fixture.now() + 5
    await fixture.retry(first.deliveries[0]!, { failedMs })
    assert.deepEqual(
      (await fixture.node.poll()).rows.map((row) => [row.attempts, row.failedMs]),
      [
        [1, failedMs],
        [0, 0],
      ],
    )
  })
}
