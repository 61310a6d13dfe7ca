import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { constant } from '../../src/delivery/policy.js'
import { HookswitchError } from '../../src/errors.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, headerOf, responseWith } from './harness.js'

expectNothingUnhandled()

const WEBHOOKS = Array.from({ length: 30 }, (_, index) =>
  aWebhook({ uri: `https://hook-${index}.example/` }, { id: `hook-${index}` }),
)

async function closeAll(harness: Harness, ...nodes: ReturnType<Harness['node']>[]) {
  const closing = nodes.map((node) => node.close(0))
  await harness.clock.advance(5000)
  await Promise.all(closing)
}

describe('shards that a node gives up', () => {
  it('are handed over when nothing is in flight; a retry is left to the next owner, and nothing is lost', async () => {
    const harness = await createHarness(WEBHOOKS, true)
    harness.sender.script = () => undefined
    const owner = harness.node({ policy: constant(500, { jitter: 0 }) })
    await owner.start()
    await harness.publish('a')
    await harness.publish('a')
    await harness.clock.advance(3000)
    expect(harness.sender.open).toHaveLength(30)
    const two = harness.node({ policy: constant(500, { jitter: 0 }) })
    await two.start()
    // The first node has learned which shards it gives up; their requests are still open.
    await harness.clock.advance(LEASE_MS / 3 + 1000)
    expect(WEBHOOKS.filter(({ id }) => two.inFlight(id) > 0)).toEqual([])
    harness.sender.script = () => responseWith(200)
    for (const { answer } of [...harness.sender.open]) answer(responseWith(500))
    await harness.clock.advance(30_000)
    for (const { id } of WEBHOOKS)
      expect((await harness.deliveries(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
        ['delivered', 2],
        ['delivered', 1],
      ])
    expect(harness.sender.requests).toHaveLength(90)
    expect(owner.pending() + two.pending()).toBe(0)
    // Both own shards now: each sends a part of the next event.
    harness.sender.script = () => undefined
    await harness.publish('b')
    await harness.clock.advance(1000)
    for (const node of [owner, two])
      expect(WEBHOOKS.filter(({ id }) => node.inFlight(id) > 0).length).toBeGreaterThan(5)
    await closeAll(harness, owner, two)
  })

  it('are handed over by a later renewal when the first try fails', async () => {
    const harness = await createHarness(WEBHOOKS, true)
    const [first, second] = [harness.node(), harness.node()]
    await first.start()
    harness.faults.failing.add('handOver')
    await second.start()
    await harness.clock.advance(LEASE_MS)
    harness.faults.failing.clear()
    await harness.clock.advance(LEASE_MS)
    harness.sender.script = () => undefined
    await harness.publish('a')
    await harness.clock.advance(1000)
    expect(WEBHOOKS.filter(({ id }) => second.inFlight(id) > 0).length).toBeGreaterThan(5)
    await closeAll(harness, first, second)
  })
})

describe('a load', () => {
  it('that fails after its first part is repeated, and the endpoints of that part are served', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    for (let call = 0; call < 3; call++) await harness.publish(`call-${call}`)
    const { store } = harness.faults
    let failures = 2
    const node = harness.node(
      {},
      {
        store: {
          ...store,
          // As if each load had a second part.
          async load(lease, shards, cursor) {
            if (cursor === 'second' && failures-- > 0) throw new Error('unavailable')
            const part = await store.load(lease, shards)
            if (!part) return undefined
            return cursor === 'second' ? part : { ...part, cursor: 'second' }
          },
        },
      },
    )
    const started = node.start()
    await harness.clock.advance(5000)
    await started
    expect(harness.sender.requests).toHaveLength(6)
    await node.close(0)
  })

  it('of everything that fails after its first part is repeated as a whole', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    const { store } = harness.faults
    let isCut = false
    let failures = 2
    const node = harness.node(
      { caps: { perEndpoint: 1 } },
      {
        store: {
          ...store,
          async changes(lease, version) {
            const changes = await store.changes(lease, version)
            return changes && isCut ? { ...changes, mustReload: true } : changes
          },
          async load(lease, shards, cursor) {
            if (cursor === 'second' && isCut && failures-- > 0) throw new Error('unavailable')
            const part = await store.load(lease, shards)
            if (!part) return undefined
            return cursor === 'second' ? part : { ...part, cursor: 'second' }
          },
        },
      },
    )
    await node.start()
    for (const call of ['a', 'b', 'c']) await harness.publish(call)
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(1)
    isCut = true
    const row = (await harness.store.webhooks.read('acc', 'w1'))!
    await harness.store.webhooks.replace({ ...row, revision: 2, settings: { ...row.settings, name: 'x' } }, 1)
    await harness.clock.advance(5000)
    isCut = false
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.advance(5000)
    expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual(
      new Array(3).fill(['delivered', 1]),
    )
    expect(harness.sender.requests).toHaveLength(3)
    await node.close(0)
  })
})

describe('a poll', () => {
  it('whose answer is lost loses no delivery', async () => {
    const harness = await createHarness(WEBHOOKS, true)
    const [first, second] = [harness.node(), harness.node()]
    await first.start()
    await second.start()
    await harness.clock.advance(LEASE_MS)
    harness.faults.losesAnswer.add('poll')
    await harness.publish('a')
    await harness.clock.advance(5000)
    harness.faults.losesAnswer.clear()
    await harness.clock.advance(10_000)
    for (const { id } of WEBHOOKS)
      expect((await harness.deliveries(id)).map(({ state }) => state)).toEqual(['delivered'])
    expect(harness.sender.requests).toHaveLength(30)
    await closeAll(harness, first, second)
  })

  it('comes before the sending of an event of a call that another node has accepted events of', async () => {
    const harness = await createHarness([aWebhook()], true)
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    // Another node accepts the next event; a poll alone finds it.
    const { store } = harness.faults
    const other = harness.node({}, { store: { ...store, subscribe: () => () => {} } })
    harness.faults.failing.add('poll')
    const lateStart = other.accept
    const [before] = harness.sender.requests
    const event = {
      id: 'from-another-node',
      accountId: 'acc',
      callId: 'a',
      hook: 'channel_create',
      timestampMs: 0,
      numbered: true,
      bodies: [{ head: '{"call_id":"a","sequence":', tail: '}' }],
    }
    const { id: _i, ahead: _a, position: _p, ...old } = (await harness.deliveries())[0]!
    const accepted = lateStart({
      events: [event],
      deliveries: [{ ...old, id: 'delivery-of-another-node', eventId: event.id }],
    })
    await accepted
    const published = harness.publish('a')
    await harness.clock.advance(50)
    expect(harness.sender.requests).toEqual([before])
    harness.faults.failing.clear()
    await harness.clock.advance(10_000)
    await published
    const sequences = harness.sender.requests.map(({ body }) => JSON.parse(body!).sequence)
    expect(sequences).toEqual([1, 2, 3])
    await closeAll(harness, node)
  })
})

describe('the health of an endpoint', () => {
  it('is that of the store when a node gets its shard again: another node may have changed it', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })], true)
    harness.sender.script = () => responseWith(500)
    const healthRules = { ...HEALTH_PRESETS.standard, pauses: false }
    const node = harness.node({ healthRules })
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    harness.faults.failing.add('renew').add('own')
    await harness.clock.advance(LEASE_MS + 1000)
    const other = harness.node({ healthRules }, { store: harness.store.deliveries })
    await other.start()
    await harness.clock.settle()
    harness.sender.script = () => responseWith(200)
    await other.accept({ events: [], deliveries: [] })
    await harness.publish('b')
    await harness.clock.advance(1000)
    expect((await harness.store.webhooks.read('acc', 'w1'))?.health).toBeUndefined()
    await closeAll(harness, other)
    harness.faults.failing.clear()
    harness.sender.script = () => responseWith(500)
    await harness.clock.advance(LEASE_MS)
    await harness.publish('c')
    await harness.clock.advance(1000)
    expect((await harness.store.webhooks.read('acc', 'w1'))?.health).toMatchObject({ failuresInRow: 1 })
    expect(headerOf(harness.sender.requests.at(-1)!, 'x-hook-attempt')).toBe('1')
    await closeAll(harness, node)
  })
})

describe('shards that a node gets while it loads those of an earlier grant', () => {
  it('are loaded before the starts of their former owner are forgotten', async () => {
    const harness = await createHarness(WEBHOOKS, true)
    harness.sender.script = () => undefined
    const crashed = harness.node()
    await crashed.start()
    await harness.publish('a')
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(WEBHOOKS.length)
    await harness.clock.advance(1)
    // Its process stops without a word.
    for (const call of ['renew', 'commit', 'release'] as const) harness.faults.failing.add(call)
    await harness.clock.advance(2 * LEASE_MS)
    const { deliveries } = harness.store
    let renewals = 0
    let isLoading = false
    let goOn = () => {}
    const node = harness.node(
      {},
      {
        store: {
          ...deliveries,
          async own(...input) {
            const grant = await deliveries.own(...input)
            return { ...grant, shards: grant.shards.slice(0, 1) }
          },
          renew(...input) {
            renewals += 1
            return deliveries.renew(...input)
          },
          async load(...input) {
            if (!isLoading) {
              isLoading = true
              await new Promise<void>((resolve) => {
                goOn = resolve
              })
            }
            return deliveries.load(...input)
          },
        },
      },
    )
    harness.sender.script = () => responseWith(200)
    const starting = node.start()
    await harness.clock.advance(LEASE_MS)
    expect(renewals).toBeGreaterThan(0)
    goOn()
    await starting
    await harness.clock.advance(LEASE_MS)
    for (const { id } of WEBHOOKS)
      expect((await harness.deliveries(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
        ['delivered', 2],
      ])
    const records = await harness.attempts()
    expect(records.filter(({ reason }) => reason === 'interrupted')).toHaveLength(WEBHOOKS.length)
    await closeAll(harness, node, crashed)
  })
})

describe('a node that must load everything again while it settles what its predecessor was sending', () => {
  it('settles it once', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    const crashed = harness.node()
    await crashed.start()
    await harness.publish('a')
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(1)
    for (const call of ['renew', 'commit', 'release'] as const) harness.faults.failing.add(call)
    await harness.clock.advance(2 * LEASE_MS)
    const { deliveries } = harness.store
    const commits: string[] = []
    const node = harness.node(
      {},
      {
        store: {
          ...deliveries,
          async commit(group) {
            const isFirst = commits.length === 0
            if (group.ended.length > 0) commits.push(group.isRepeat ? 'repeat' : 'commit')
            if (group.ended.length > 0 && isFirst)
              throw new HookswitchError('StoreUnavailable', 'unavailable')
            if (group.isRepeat && commits.length === 2) return { kind: 'outdated' }
            return deliveries.commit(group)
          },
          async changes(...input) {
            const found = await deliveries.changes(...input)
            return found && { ...found, mustReload: true }
          },
        },
      },
    )
    harness.sender.script = () => responseWith(200)
    const starting = node.start()
    await harness.clock.advance(LEASE_MS)
    await starting
    // The last one is the success.
    expect(commits).toEqual(['commit', 'repeat', 'commit', 'commit'])
    const reported = harness.emitted.filter(({ name }) => name === 'attempt')
    expect(reported).toHaveLength(2)
    expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 2],
    ])
    await closeAll(harness, node, crashed)
  })
})
