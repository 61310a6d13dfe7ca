import { describe, expect, it } from 'vitest'
import type { GroupResult } from '../../../src/delivery/queue-store.js'
import { shardOf } from '../../../src/store/shards.js'
import { newEvent } from '../../../src/testkit/conformance/sample-data.js'
import { deleteWebhook, type Webhook } from '../../../src/webhooks/webhook.js'
import { LEASE_MS, openStore, settlement, startOf, type TestNode } from './fixture.js'

const WAITS = { state: 'waiting', attempts: 1, tries: 1, interruptions: 0, dueMs: 7 } as const

const ids = (keys: readonly { readonly position: number }[] | undefined) =>
  keys?.map(({ position }) => position)

describe('groups', () => {
  it('apply acceptances, then ends, then starts', async () => {
    const { webhook, node } = await openStore()
    const owner = await node()
    const target = await webhook()
    const [first, second] = [owner.acceptance([target]), owner.acceptance([target])]
    const [ended, started] = [first.deliveries[0]!, second.deliveries[0]!]
    const result = await owner.write({
      accepted: [first, second],
      ended: [settlement(ended)],
      starting: { key: 1, deliveries: [startOf(ended), startOf(started), startOf(started, 2)] },
    })
    expect(result.ended).toEqual([{ kind: 'settled' }])
    expect(result.notStarted).toEqual([0, 2])
  })

  it('refuse one acceptance without the others', async () => {
    const { webhook, node } = await openStore()
    const owner = await node()
    const [target, unknown] = [await webhook(), { ...(await webhook()), id: 'unknown' }]
    const accepted = [
      owner.acceptance([target], { callId: 'call' }),
      owner.acceptance([target, unknown], { callId: 'call' }),
      owner.acceptance([target], { callId: 'call' }),
    ]
    const refused = accepted[1]!.deliveries.map((delivery) => startOf(delivery))
    const result = await owner.write({ accepted, starting: { key: 1, deliveries: refused } })
    expect(result.accepted).toMatchObject([
      { kind: 'accepted', events: [{ sequence: 1 }] },
      { kind: 'refused', error: { code: 'NotFound', id: 'unknown' } },
      { kind: 'accepted', events: [{ sequence: 2 }] },
    ])
    expect(result.notStarted).toEqual([0, 1])
    expect((await owner.load())?.keys).toHaveLength(2)
  })

  it('settle each delivery alone, and only with the expected attempts', async () => {
    const { store, webhook, node } = await openStore()
    const owner = await node()
    const target = await webhook()
    const [one, two] = [await owner.accept(target), await owner.accept(target)]
    const results = await owner.end(
      settlement(one, { next: WAITS }),
      settlement(one),
      settlement(two, { attempts: 1 }),
      settlement({ ...two, position: 1 }),
      settlement({ ...two, id: 'another' }),
    )
    expect(results.map(({ kind }) => kind)).toEqual(['settled', 'fenced', 'fenced', 'fenced', 'fenced'])
    expect(await store.deliveries.delivery('account', one.id)).toMatchObject({ attempts: 1, dueMs: 7 })
  })

  it('write nothing under a lease that ended, or with another version', async () => {
    const { store, webhook, node } = await openStore()
    const [old, target] = [await node('old'), await webhook()]
    const accepted = [old.acceptance([target])]
    await node('new')
    expect(await old.commit({ accepted })).toEqual({ kind: 'fenced' })
    const current = await node('new')
    await store.webhooks.replace({ ...target, revision: 2 }, 1)
    expect(await current.commit({ accepted })).toEqual({ kind: 'outdated' })
    expect((await current.load())?.keys).toEqual([])
    expect(await current.commit({ accepted })).toMatchObject({ kind: 'committed' })
  })

  it('only accept without a lease: every delivery gets a nudge', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const waiting = await owner.accept(target)
    const acceptance = owner.acceptance([target])
    const calls: number[] = []
    const unsubscribe = store.deliveries.subscribe(() => calls.push(1))
    const result = await owner.write({
      lease: undefined,
      version: 99,
      accepted: [acceptance],
      ended: [settlement(waiting)],
      starting: { key: 1, deliveries: [startOf(waiting)] },
    })
    expect(result).toMatchObject({ ended: [{ kind: 'fenced' }], notStarted: [0] })
    expect(calls).toHaveLength(1)
    unsubscribe()
    const polled = await store.deliveries.poll(owner.lease)
    expect([...polled!.waiting.position]).toEqual([acceptance.events[0]!.position])
    expect(polled!.webhooks).toEqual([target])
    expect((await store.deliveries.poll(owner.lease))!.waiting.count).toBe(0)
  })
})

const eventsOf = ({ accepted }: Extract<GroupResult, { kind: 'committed' }>) =>
  accepted.map((one) => one.kind === 'accepted' && one.events)

describe('repeated groups', () => {
  it('find what is stored, with and without deliveries, and write nothing twice', async () => {
    const { store, webhook, node, attemptsOf } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const old = await owner.accept(target)
    const group = {
      accepted: [owner.acceptance([target], { callId: 'a' }), owner.acceptance([], { callId: 'a' })],
      ended: [settlement(old, { next: WAITS })],
      starting: { key: 1, deliveries: [] as ReturnType<typeof startOf>[] },
    }
    group.starting.deliveries.push(startOf(group.accepted[0]!.deliveries[0]!))
    const first = await owner.write(group)
    const again = await owner.write({ ...group, isRepeat: true })
    // The second event of its call: a repeat may report a gap without need.
    expect(again.accepted.map(({ kind }) => kind)).toEqual(['accepted', 'accepted'])
    expect({ ...again, accepted: eventsOf(again) }).toEqual({ ...first, accepted: eventsOf(first) })
    expect(await attemptsOf(target)).toEqual([old.id])
    const end = { ended: [settlement(old, { attempts: 1 })] }
    expect((await owner.write(end)).ended).toEqual([{ kind: 'settled' }])
    expect((await owner.write({ ...end, isRepeat: true })).ended).toEqual([{ kind: 'settled' }])
    expect((await owner.write(end)).ended).toEqual([{ kind: 'fenced' }])
    expect(await attemptsOf(target)).toEqual([old.id, old.id])
    expect((await store.deliveries.delivery('account', old.id))?.state).toBe('delivered')
  })

  it('without a lease find what the lease had written', async () => {
    const { webhook, node } = await openStore({ shared: true })
    const [owner, target] = [await node(), await webhook()]
    const accepted = [owner.acceptance([target], { callId: 'a' })]
    const first = await owner.write({ accepted })
    const again = await owner.write({ accepted, lease: undefined, isRepeat: true })
    expect(again.accepted).toEqual(first.accepted)
  })

  it('report the webhook that their settlement disabled, after its change was read', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const delivery = await owner.accept(target)
    const disable = { reason: 'too many', atMs: 9 }
    const ended = [settlement(delivery, { endpoint: { epoch: 1, disable } })]
    const first = await owner.write({ ended })
    expect(first.version).toBe(owner.version + 1)
    expect(await owner.commit({ ended, isRepeat: true })).toEqual({ kind: 'outdated' })
    const changes = await store.deliveries.changes(owner.lease, owner.version)
    expect(changes).toMatchObject({ version: first.version, webhooks: [{ id: target.id, epoch: 2 }] })
    owner.version = changes!.version
    expect((await owner.write({ ended, isRepeat: true })).ended).toEqual(first.ended)
    expect(first.ended).toMatchObject([{ kind: 'settled', disabled: { disableReason: 'too many' } }])
  })
})

describe('load', () => {
  it('returns the columns of waiting deliveries, each lane in order', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const unordered = await webhook()
    const late = owner.positions.next(owner.now())
    const numbered = await owner.accept(target, { callId: 'a' })
    // Another node's clock is behind: a later number has an earlier position.
    const behind = owner.acceptance([target], { callId: 'a' })
    const moved = [{ ...behind.events[0]!, position: late }]
    const deliveries = [{ ...behind.deliveries[0]!, position: late }]
    await owner.write({ accepted: [{ ...behind, events: moved, deliveries }] })
    const test = await owner.accept(unordered, { numbered: false })
    await owner.end(settlement(numbered, { next: { ...WAITS, interruptions: 2, tries: 0, failedMs: 5 } }))
    const { waiting, webhooks } = (await store.deliveries.load(owner.lease, owner.lease.shards))!
    expect(webhooks.map(({ id }) => id)).toEqual(waiting.webhookIds)
    const rows = Array.from({ length: waiting.count }, (_, index) => ({
      webhook: waiting.webhookIds[waiting.webhook[index]!],
      position: waiting.position[index],
      sequence: waiting.sequence[index],
      dueMs: waiting.dueMs[index],
      attempts: waiting.attempts[index],
      tries: waiting.tries[index],
      interruptions: waiting.interruptions[index],
      failedMs: waiting.failedMs[index],
      epoch: waiting.epoch[index],
    }))
    const fresh = { dueMs: 0, attempts: 0, tries: 0, interruptions: 0, failedMs: 0, epoch: 1 }
    expect(rows).toEqual([
      {
        ...fresh,
        webhook: target.id,
        position: numbered.position,
        sequence: 1,
        dueMs: 7,
        attempts: 1,
        interruptions: 2,
        failedMs: 5,
      },
      { ...fresh, webhook: target.id, position: late, sequence: 2 },
      { ...fresh, webhook: unordered.id, position: test.position, sequence: 0 },
    ])
    expect(new Set(waiting.lane.slice(0, 2)).size).toBe(1)
  })

  it('orders deliveries of a lane without numbers by position', async () => {
    const { webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const made = [1, 2, 3].map(() => owner.acceptance([target], { callId: 'a', numbered: false }))
    const [first, second, third] = made.map(({ events }) => events[0]!.position)
    for (const acceptance of [made[1]!, made[2]!, made[0]!]) await owner.write({ accepted: [acceptance] })
    expect(ids((await owner.load())?.keys)).toEqual([first, second, third])
  })

  it('comes in parts, with what was interrupted in the last one', async () => {
    const { webhook, node } = await openStore()
    const owner = await node('old')
    const [first, second] = [await webhook(), await webhook()]
    const accepted = Array.from({ length: 4_096 }, () => owner.acceptance([first]))
    accepted.push(owner.acceptance([second]))
    const last = accepted.at(-1)!.deliveries[0]!
    await owner.write({ accepted, starting: { key: 1, deliveries: [startOf(last)] } })
    const next = await node('new')
    const loaded = await next.load()
    expect(loaded?.parts).toBe(2)
    expect(new Set(ids(loaded?.keys)).size).toBe(4_097)
    expect(loaded?.interrupted).toEqual([startOf(last)])
  })

  it('names only the shards of the lease', async () => {
    const { webhook, node } = await openStore({ shared: true })
    const one = await node('one')
    const target = await webhook()
    await one.accept(target)
    const two = await node('two')
    expect((await two.load([shardOf(target.id)]))?.keys).toEqual([])
    expect((await one.load([shardOf(target.id)]))?.keys).toHaveLength(1)
    expect((await one.load([]))?.keys).toEqual([])
  })
})

describe('starts', () => {
  it('are interrupted while no outcome is stored, until the takeover is complete', async () => {
    const { store, webhook, node } = await openStore()
    const [old, target] = [await node('old'), await webhook()]
    const made = [1, 2, 3, 4, 5].map(() => old.acceptance([target]))
    const [delivered, failed, crashed, finished, twice] = made.map(({ deliveries }) => deliveries[0]!)
    await old.write({
      accepted: made,
      starting: { key: 1, deliveries: [delivered, failed, crashed, twice].map((one) => startOf(one!)) },
    })
    await old.write({ starting: { key: 2, deliveries: [startOf(finished!)] } })
    await old.write({ starting: { key: 3, deliveries: [startOf(twice!)] }, finished: [2] })
    await old.end(settlement(delivered!), settlement(failed!, { next: WAITS }))
    const next = await node('new')
    expect((await next.load())?.interrupted).toEqual([startOf(crashed!), startOf(twice!)])
    const { interrupted } = (await next.load())!
    expect(interrupted).toHaveLength(2)
    await store.deliveries.completeTakeover(next.lease, next.lease.shards)
    expect((await next.load())?.interrupted).toEqual([])
  })

  it('are forgotten by release', async () => {
    const { store, webhook, node } = await openStore()
    const [old, target] = [await node('old'), await webhook()]
    const delivery = await old.accept(target)
    await old.write({ starting: { key: 1, deliveries: [startOf(delivery)] } })
    await store.deliveries.release('old')
    expect((await (await node('new')).load())?.interrupted).toEqual([])
  })

  it('of a shard that was handed over are forgotten, those of others stay', async () => {
    const { store, webhook, node, clock } = await openStore({ shared: true })
    const old = await node('old')
    const [kept, given] = await twoShards(webhook)
    const made = [old.acceptance([kept]), old.acceptance([given])]
    const starts = made.map(({ deliveries }) => startOf(deliveries[0]!))
    await old.write({ accepted: made, starting: { key: 1, deliveries: starts } })
    await store.deliveries.handOver(old.lease, [shardOf(given.id)])
    await clock.advance(LEASE_MS)
    const next = await node('new')
    expect((await next.load())?.interrupted).toEqual([starts[0]])
  })

  it('of an older epoch than the webhook’s, or of another node’s shard, do not begin', async () => {
    const { store, webhook, node } = await openStore({ shared: true })
    const [one, target] = [await node('one'), await webhook()]
    const delivery = await one.accept(target)
    const starting = { key: 1, deliveries: [startOf(delivery)] }
    const two = await node('two')
    expect((await two.write({ starting })).notStarted).toEqual([0])
    await store.webhooks.replace({ ...target, revision: 2, epoch: 2 }, 1)
    await one.load()
    expect((await one.write({ starting })).notStarted).toEqual([0])
  })
})

/** Two webhooks in different shards. */
async function twoShards(webhook: () => Promise<Webhook>): Promise<[Webhook, Webhook]> {
  const first = await webhook()
  for (;;) {
    const second = await webhook()
    if (shardOf(second.id) !== shardOf(first.id)) return [first, second]
  }
}

describe('leases of a shared store', () => {
  it('divide the shards: those above the fair share leave, and go to the other node when handed over', async () => {
    const { store, node } = await openStore({ shared: true })
    const one = await node('one')
    expect(one.lease.shards).toHaveLength(64)
    const two = await node('two')
    expect(two.lease.shards).toEqual([])
    const { leaving } = await one.renew()
    expect(leaving).toHaveLength(32)
    expect((await two.renew()).shards).toEqual([])
    const calls: number[] = []
    store.deliveries.subscribe(() => calls.push(1))
    await store.deliveries.handOver(one.lease, leaving.slice(0, 3))
    expect(calls).toHaveLength(1)
    expect((await two.renew()).shards).toEqual(leaving.slice(0, 3))
    expect((await one.renew()).shards).toHaveLength(61)
    expect(one.lease.leaving).toEqual(leaving.slice(3))
  })

  it('have fences and node numbers of their own', async () => {
    const { node, clock } = await openStore({ shared: true })
    const [one, two] = [await node('one'), await node('two')]
    expect(new Set([one.lease.node, two.lease.node]).size).toBe(2)
    const { fence } = one.lease
    expect((await one.renew()).fence).toBe(fence)
    await clock.advance(LEASE_MS)
    const three = await node('three')
    expect(three.lease.shards).toHaveLength(64)
    expect((await one.renew()).fence).toBeGreaterThan(fence)
    expect(one.lease.node).not.toBe(three.lease.node)
  })

  it('never share a number, however many nodes came before', async () => {
    const { store, node } = await openStore({ shared: true })
    const one = await node('one')
    const numbers = new Set<number>()
    for (let index = 0; index < 130; index += 1) {
      numbers.add((await node(`other ${index}`)).lease.node)
      await store.deliveries.release(`other ${index}`)
    }
    expect(numbers.size).toBe(127)
    expect(numbers).not.toContain(one.lease.node)
  })

  it('that ended write nothing, whether another node took the shards or not', async () => {
    const { store, webhook, node, clock } = await openStore({ shared: true })
    const [one, target] = [await node('one'), await webhook()]
    const accepted = [one.acceptance([target])]
    await clock.advance(LEASE_MS)
    const ended = { ...one.lease }
    expect(await one.commit({ accepted })).toEqual({ kind: 'fenced' })
    expect(await store.deliveries.load(ended, [0])).toBeUndefined()
    expect(await store.deliveries.poll(ended)).toBeUndefined()
    expect(await store.deliveries.changes(ended, 0)).toBeUndefined()
    await one.renew()
    expect(await store.deliveries.commit({ ...one.group({ accepted }), lease: ended })).toEqual({
      kind: 'fenced',
    })
  })

  it('granted again do not know the old version: the node has to load', async () => {
    const { store, webhook, node, clock } = await openStore({ shared: true })
    const [one, target] = [await node('one'), await webhook()]
    await clock.advance(LEASE_MS)
    await node('two')
    await store.webhooks.replace({ ...target, revision: 2 }, 1)
    await one.renew()
    expect(await one.commit({})).toEqual({ kind: 'outdated' })
    expect(await store.deliveries.changes(one.lease, one.version)).toMatchObject({ mustReload: true })
    await one.load()
    expect(await one.commit({})).toMatchObject({ kind: 'committed' })
  })

  it('report the deliveries of the other nodes', async () => {
    const { store, node } = await openStore({ shared: true })
    const [one, two] = [await node('one'), await node('two')]
    await one.write({ pending: 7 })
    await two.write({ pending: 5 })
    expect((await one.renew()).pendingElsewhere).toBe(5)
    expect((await store.deliveries.poll(two.lease))?.pendingElsewhere).toBe(7)
    await store.deliveries.release('one')
    expect((await two.renew()).pendingElsewhere).toBe(0)
  })

  it('name a position that no delivery exceeds', async () => {
    const { webhook, node } = await openStore({ shared: true })
    const [one, target] = [await node('one'), await webhook()]
    const { position } = await one.accept(target)
    expect((await node('two')).lease.position).toBeGreaterThanOrEqual(position!)
  })

  it('route deliveries for other nodes by nudges, and report gaps in the numbers of a call', async () => {
    const { store, webhook, node } = await openStore({ shared: true })
    const [one, target] = [await node('one'), await webhook()]
    const two = await node('two')
    const accept = async (from: TestNode) => {
      const [result] = (await from.write({ accepted: [from.acceptance([target], { callId: 'a' })] })).accepted
      return result?.kind === 'accepted' && [result.events[0]!.sequence, result.mayHaveGap]
    }
    expect([await accept(one), await accept(one)]).toEqual([
      [1, false],
      [2, false],
    ])
    expect([await accept(two), await accept(two)]).toEqual([
      [3, true],
      [4, false],
    ])
    expect(await accept(one)).toEqual([5, true])
    const { waiting } = (await store.deliveries.poll(one.lease))!
    expect([...waiting.sequence]).toEqual([3, 4])
    expect((await store.deliveries.poll(two.lease))!.waiting.count).toBe(0)
  })
})

describe('leases of a store that is not shared', () => {
  it('never end, until another run of the node owns the store', async () => {
    const { store, node, clock } = await openStore()
    const old = await node('old')
    await clock.advance(10 * LEASE_MS)
    expect((await old.renew()).aliveUntilMs).toBe(Number.POSITIVE_INFINITY)
    const next = await node('new')
    expect(next.lease.fence).toBeGreaterThan(old.lease.fence)
    expect(await old.renew()).toMatchObject({ shards: [], fence: 0 })
    expect(await old.commit({})).toEqual({ kind: 'fenced' })
    await store.deliveries.release('old')
    expect(await next.commit({})).toMatchObject({ kind: 'committed' })
  })
})

describe('changes', () => {
  it('raise the version of the owner only, and list rows once', async () => {
    const { store, webhook, node } = await openStore({ shared: true })
    const [one, target] = [await node('one'), await webhook()]
    const two = await node('two')
    await store.webhooks.replace({ ...target, revision: 2 }, 1)
    await store.webhooks.replace(deleteWebhook({ ...target, revision: 2 }, 5), 2)
    expect(await two.commit({})).toMatchObject({ kind: 'committed' })
    expect(await one.commit({})).toEqual({ kind: 'outdated' })
    const changes = await store.deliveries.changes(one.lease, one.version)
    expect(changes).toMatchObject({
      webhooks: [{ id: target.id, revision: 3, epoch: 2 }],
      removed: [],
      mustReload: false,
    })
    expect((await store.deliveries.poll(one.lease))?.version).toBe(changes!.version)
    expect(await store.deliveries.changes(one.lease, changes!.version)).toMatchObject({ webhooks: [] })
    one.version = changes!.version
    expect(await one.commit({})).toMatchObject({ kind: 'committed' })
  })

  it('list waiting deliveries that were erased; their lanes continue and late settlements are fenced', async () => {
    const { store, webhook, node, attemptsOf } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const gone = await owner.accept(target, { callId: 'gone' })
    const kept = await owner.accept(target, { callId: 'kept' })
    await owner.deliver(target, { callId: 'gone' })
    const calls: number[] = []
    store.deliveries.subscribe(() => calls.push(1))
    while ((await store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 1)) > 0);
    expect(calls.length).toBeGreaterThan(0)
    expect(await owner.commit({ ended: [settlement(gone)] })).toEqual({ kind: 'outdated' })
    const changes = await store.deliveries.changes(owner.lease, owner.version)
    expect(changes?.removed).toEqual([{ webhookId: target.id, position: gone.position }])
    owner.version = changes!.version
    expect(await owner.end(settlement(gone), settlement(kept))).toEqual([
      { kind: 'fenced' },
      { kind: 'settled' },
    ])
    expect(await attemptsOf(target)).toEqual([kept.id])
  })

  it('and erased ends without a record leave nothing to prune', async () => {
    const { store, webhook, node, now } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const { record: _none, ...withoutRecord } = settlement(await owner.accept(target, { callId: 'gone' }))
    await owner.end(withoutRecord)
    await store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 9)
    const limits = { attemptsPerWebhook: 9, beforeMs: now() + 1, limit: 9 }
    expect(await store.deliveries.prune(limits, now())).toBe(0)
  })

  it('that are too many to list require a reload', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    for (let revision = 1; revision <= 10_001; revision += 1)
      await store.webhooks.replace({ ...target, revision: revision + 1 }, revision)
    expect(await store.deliveries.changes(owner.lease, owner.version)).toMatchObject({ mustReload: true })
    expect(await store.deliveries.changes(owner.lease, 10_001)).toMatchObject({ mustReload: false })
    expect(await store.deliveries.changes(owner.lease, 10_002)).toMatchObject({ mustReload: true })
  })

  it('of an endpoint by its own settlement are no edits', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const health = { failuresInRow: 1 }
    const result = await owner.write({
      accepted: [],
      ended: [settlement(await owner.accept(target), { next: WAITS, endpoint: { epoch: 1, health } })],
    })
    expect(result.version).toBe(owner.version)
    expect((await store.deliveries.webhookOf(target.id))?.health).toEqual(health)
  })

  it('of a webhook’s ciphertexts are edits', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const [row] = await store.encryption.encryptedRows('webhook', undefined, 1)
    expect(await store.encryption.reencrypt(row!, row!)).toBe(true)
    expect(await store.deliveries.changes(owner.lease, 0)).toMatchObject({ webhooks: [{ id: target.id }] })
  })
})

describe('bodies', () => {
  it('are those of waiting deliveries, with their counters', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const made = await owner.accept(target, { callId: 'a', traceparent: 'trace' })
    const ended = await owner.accept(target)
    await owner.end(settlement(ended), settlement(made, { next: { ...WAITS, reason: 'bad' } }))
    const keys = [ended, made, { webhookId: 'unknown', position: 1 }].map(({ webhookId, position }) => ({
      webhookId,
      position: position!,
    }))
    const [gone, found, unknown] = await store.deliveries.bodies(keys)
    expect([gone, unknown]).toEqual([undefined, undefined])
    expect(found).toMatchObject({
      delivery: { id: made.id, state: 'waiting', attempts: 1, dueMs: 7, reason: 'bad', lane: 'account/a' },
      body: `{"event_id":"${made.eventId}","sequence":1}`,
      traceparent: 'trace',
    })
  })
})

describe('reads', () => {
  it('count what is ahead in a lane, by number, without what is cancelled', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const made = [1, 2, 3].map(() => owner.acceptance([target], { callId: 'a' }))
    const lane = made.map(({ deliveries }, index) =>
      index === 0 ? { ...deliveries[0]!, epoch: 0 } : deliveries[0]!,
    )
    await owner.write({
      accepted: made.map((acceptance, index) => ({ ...acceptance, deliveries: [lane[index]!] })),
    })
    const query = { accountId: 'account', webhookId: target.id, ascending: true, limit: 9 }
    const rows = await store.deliveries.deliveries(query)
    expect(rows.map(({ state, ahead, dueMs }) => [state, ahead, dueMs])).toEqual([
      ['cancelled', 0, undefined],
      ['waiting', 0, owner.now()],
      ['waiting', 1, undefined],
    ])
  })

  it('show replays with their own position, in the lane of their kind, with the body of their event', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const acceptance = owner.acceptance([target], { callId: 'a' })
    await owner.write({ accepted: [acceptance] })
    const [original, event] = [acceptance.deliveries[0]!, acceptance.events[0]!]
    await owner.end(settlement(original))
    const replays = [owner.replay(target, original, event), owner.replay(target, original, event)]
    expect((await owner.write({ accepted: replays })).accepted).toEqual([
      { kind: 'accepted', events: [], mayHaveGap: false },
      { kind: 'accepted', events: [], mayHaveGap: false },
    ])
    const keys = replays.map(({ deliveries }) => ({
      webhookId: target.id,
      position: deliveries[0]!.position!,
    }))
    const found = await store.deliveries.bodies(keys)
    expect(found.map((one) => [one?.delivery.replayOf, one?.body])).toEqual([
      [original.id, `{"event_id":"${event.id}","sequence":1}`],
      [original.id, `{"event_id":"${event.id}","sequence":1}`],
    ])
    expect(found[0]?.delivery.lane).toMatch(/^replay\/\d+$/)
    const gone = owner.replay(target, original, newEvent())
    expect((await owner.write({ accepted: [gone] })).accepted).toMatchObject([
      { kind: 'refused', error: { code: 'NotFound' } },
    ])
  })

  it('refuse a replay of an event whose last delivery was removed', async () => {
    const { webhook, node } = await openStore({ attemptsPerWebhook: 1 })
    const [owner, target] = [await node(), await webhook()]
    const acceptance = owner.acceptance([target])
    const [original, event] = [acceptance.deliveries[0]!, acceptance.events[0]!]
    await owner.write({ accepted: [acceptance], ended: [settlement(original)] })
    await owner.deliver(target)
    expect((await owner.write({ accepted: [owner.replay(target, original, event)] })).accepted).toMatchObject(
      [{ kind: 'refused', error: { code: 'NotFound', id: event.id } }],
    )
  })

  it('list deliveries by position, whatever the order in which they were stored', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const made = Array.from({ length: 40 }, () => owner.acceptance([target]))
    const shuffled = [
      ...made.filter((_, index) => index % 3 > 0),
      ...made.filter((_, index) => index % 3 === 0),
    ]
    await owner.write({ accepted: shuffled })
    const query = { accountId: 'account', webhookId: target.id, ascending: true, limit: 99 }
    const rows = await store.deliveries.deliveries(query)
    expect(rows.map(({ position }) => position)).toEqual(made.map(({ events }) => events[0]!.position))
    const page = await store.deliveries.search({ limit: 5, cursor: rows[20]!.position })
    expect(page.deliveries.map(({ id }) => id)).toEqual(
      rows
        .slice(15, 20)
        .reverse()
        .map(({ id }) => id),
    )
  })
})
