/** Streams of nodes that share a store, in virtual time. */
import { HookswitchError, memoryStore, type StreamItem } from 'hookswitch'
import type { LiveBatch, LiveStore, Store } from 'hookswitch/store'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { deferred } from '../support/deferred.js'
import { addLiveItems } from '../support/live-store.js'
import { type Instance, type Reader, readStream, startInstance, typesOf } from './harness.js'

interface Nodes {
  readonly nodeA: Instance
  readonly nodeB: Instance
  /** Starts another node. */
  start(): Promise<Instance>
  /** Batches that were written. */
  readonly batches: LiveBatch[]
  /** Calls of the store, by name. */
  readonly calls: string[]
  /** The store for live items, with no method replaced. */
  readonly live: LiveStore
  /** Replaces methods of the store for live items. */
  replace(methods: Partial<LiveStore>): void
}

/** Two nodes on one store. The node `one` has the readers of these tests. */
async function startNodes(): Promise<Nodes> {
  const clock = manualClock()
  const batches: LiveBatch[] = []
  const calls: string[] = []
  const shared = addLiveItems(memoryStore({ shared: true, clock }), clock)
  const original = shared.live!
  let replaced: Partial<LiveStore> = {}
  const call = <Name extends keyof LiveStore>(name: Name): LiveStore[Name] =>
    ((...args: unknown[]) => {
      calls.push(name)
      if (name === 'put') batches.push(args[0] as LiveBatch)
      return ((replaced[name] ?? original[name]) as (...args: unknown[]) => unknown)(...args)
    }) as LiveStore[Name]
  const store: Store = {
    ...shared,
    live: {
      watch: call('watch'),
      watched: call('watched'),
      put: call('put'),
      forget: call('forget'),
      ends: call('ends'),
      read: call('read'),
      subscribe: original.subscribe,
    },
  }
  const start = () => startInstance({ store }, clock)
  const nodeA = await start()
  const nodeB = await start()
  const replace = (methods: Partial<LiveStore>) => {
    replaced = methods
  }
  return { nodeA, nodeB, start, batches, calls, live: original, replace }
}

const EVENTS = { accountId: 'top', types: ['event'] } as const

/** Opens a stream of a node that all nodes know of. */
async function openStream(instance: Instance, request: Parameters<typeof readStream>[1]): Promise<Reader> {
  const reader = await readStream(instance, request)
  await instance.clock.advance(100)
  return reader
}

const callsOf = (items: readonly StreamItem[]) =>
  items.map(({ data }) => (data as { readonly call_id?: unknown }).call_id)
const droppedOf = (items: readonly StreamItem[]) =>
  items.flatMap((item) => (item.type === 'gap' ? [item.data.dropped] : []))

/** The item of an event as each node shows it, without the id at which a stream resumes. */
const documentsOf = (items: readonly StreamItem[]) => items.map(({ type, data }) => ({ type, data }))

describe('attempts', () => {
  it('of all nodes name the parties of the call to the readers of every node', async () => {
    const { nodeA, nodeB } = await startNodes()
    await nodeA.webhook('top', { ordering: 'none' })
    const request = { accountId: 'top', types: ['attempt'] } as const
    const readers = [await openStream(nodeA, request), await openStream(nodeB, request)]
    await nodeA.publish(1, 'top', { from: '1@a.example' })
    await nodeA.clock.advance(30_000)
    for (const reader of readers) {
      const items = await reader.until(1)
      expect(items.map(({ data }) => data)).toMatchObject([{ call: { from: '1@a.example' } }])
    }
  })
})

describe('events', () => {
  it('of all nodes reach the readers of every node, each once and alike', async () => {
    const { nodeA, nodeB } = await startNodes()
    const readers = [await openStream(nodeA, EVENTS), await openStream(nodeB, EVENTS)]
    await nodeA.publish(1, 'top', { callId: 'of one', from: 'a@x', customChannelVars: { n: [1, 'ü'] } })
    await nodeB.publish(1, 'top', { callId: 'of two' })
    for (const reader of readers) await reader.until(2)
    await nodeA.clock.advance(30_000)
    for (const { items } of readers) {
      expect(callsOf(items).toSorted()).toEqual(['of one', 'of two'])
      expect(typesOf(items)).toEqual(['event', 'event'])
    }
    const [first, second] = readers.map(({ items }) =>
      documentsOf(items).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    )
    expect(first).toEqual(second)
  })

  it('of a node that starts while streams are open are written from its start on', async () => {
    const { nodeA, start } = await startNodes()
    const { until } = await openStream(nodeA, EVENTS)
    const third = await start()
    await third.publish(1, 'top', { callId: 'of the third' })
    expect(callsOf(await until(1))).toEqual(['of the third'])
  })

  it('of one call that another node accepts arrive in order, with their numbers', async () => {
    const { nodeA, nodeB } = await startNodes()
    const { until } = await openStream(nodeA, EVENTS)
    for (let n = 0; n < 5; n += 1) {
      await nodeB.publish(20, 'top', { callId: 'call' })
      await nodeB.clock.advance(60)
    }
    const items = await until(100)
    expect(items.map(({ data }) => (data as { readonly sequence?: unknown }).sequence)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    )
  })

  it('of a call that other nodes accept bring its other legs into a stream', async () => {
    const { nodeA, nodeB } = await startNodes()
    const { until } = await openStream(nodeA, { ...EVENTS, callId: 'a' })
    await nodeB.publish(1, 'top', { callId: 'a', hook: 'channel_bridge', otherLegCallId: 'b' })
    await nodeB.publish(1, 'top', { callId: 'stranger' })
    await nodeB.publish(1, 'top', { callId: 'b' })
    expect(callsOf(await until(2))).toEqual(['a', 'b'])
  })

  it('of a call that other nodes accept bring attempts of its other legs into a stream', async () => {
    const { nodeA, nodeB } = await startNodes()
    await nodeB.webhook()
    const { items, until } = await openStream(nodeA, { accountId: 'top', types: ['attempt'], callId: 'a' })
    await nodeB.publish(1, 'top', { callId: 'a', hook: 'channel_bridge', otherLegCallId: 'b' })
    await until(1)
    await nodeA.clock.advance(200)
    await nodeB.publish(1, 'top', { callId: 'stranger' })
    await nodeB.publish(1, 'top', { callId: 'b' })
    await until(2)
    await nodeA.clock.advance(5_000)
    expect(callsOf(items)).toEqual(['a', 'b'])
  })

  it('arrive only for the accounts of a stream', async () => {
    const { nodeA, nodeB, batches } = await startNodes()
    const own = await openStream(nodeA, EVENTS)
    const tree = await openStream(nodeA, { ...EVENTS, descendants: true })
    for (const accountId of ['other', 'left', 'top']) await nodeB.publish(1, accountId, { callId: accountId })
    await tree.until(2)
    await nodeA.clock.advance(5_000)
    expect(callsOf(own.items)).toEqual(['top'])
    expect(callsOf(tree.items)).toEqual(['left', 'top'])
    expect(batches.flatMap(({ items }) => items.map(({ accountId }) => accountId))).toEqual(['left', 'top'])
  })

  it('are not sent to a reader that may not see the account any more', async () => {
    const { nodeA, nodeB } = await startNodes()
    const { token } = await nodeA.hs.auth.signIn({ apiKey: 'top'.padEnd(64, 'k') })
    const { stream } = await nodeA.hs.handle({
      method: 'GET',
      url: '/v2/accounts/left/stream?types=event',
      headers: { 'x-auth-token': token },
    })
    let text = ''
    void (async () => {
      for (let part = await stream?.next(); part !== undefined; part = await stream?.next()) text += part
    })()
    await nodeA.clock.advance(100)
    await nodeB.publish(1, 'left', { callId: 'before' })
    await nodeA.clock.runUntil(() => text.includes('before'), { limitMs: 5_000 })
    await nodeA.hs.accounts.update('left', { parentId: 'other' })
    await nodeB.publish(1, 'left', { callId: 'after' })
    await nodeA.clock.advance(5_000)
    expect(text).not.toContain('after')
    stream?.close()
  })

  it('above the limits are counted: what arrives and what is missing is all that was published', async () => {
    const { nodeA, nodeB, batches } = await startNodes()
    const { items } = await openStream(nodeA, EVENTS)
    await Promise.all(
      Array.from({ length: 5_000 }, (_, n) =>
        nodeB.hs.publish({ hook: 'channel_create', accountId: 'top', callId: `${n}` }),
      ),
    )
    await nodeA.clock.advance(10_000)
    const shown = typesOf(items).filter((type) => type === 'event').length
    const missing = droppedOf(items).reduce((sum: number, count) => sum + (count ?? Number.NaN), 0)
    expect(shown).toBe(200)
    expect(shown + missing).toBe(5_000)
    const written = batches.reduce((sum, batch) => sum + batch.items.length, 0)
    expect(written).toBe(2_000 + 1)
    for (const batch of batches) expect(batch.items.length).toBeLessThanOrEqual(500)
  })

  it('that are large are written in small batches', async () => {
    const { nodeA, nodeB, batches } = await startNodes()
    const { until } = await openStream(nodeA, EVENTS)
    const customChannelVars = { text: 'x'.repeat(60_000) }
    await nodeB.publish(40, 'top', { customChannelVars })
    const items = await until(5)
    expect(items.length).toBeGreaterThan(4)
    await nodeA.clock.advance(2_000)
    expect(batches.flatMap((batch) => batch.items)).toHaveLength(40)
    for (const batch of batches)
      expect(batch.items.reduce((sum, { json }) => sum + json.length, 0)).toBeLessThan(262_144 + 65_536)
  })
})

describe('changes of webhooks', () => {
  it('by another node arrive, each once, also while events are not wanted', async () => {
    const { nodeA, nodeB, batches } = await startNodes()
    const { items, until } = await openStream(nodeA, { accountId: 'top', types: ['webhook'] })
    await nodeB.publish(3)
    const id = await nodeB.webhook()
    await nodeB.hs.webhooks.patch('top', id, { name: 'another' })
    await nodeB.hs.webhooks.patch('top', id, { enabled: false })
    await nodeB.hs.webhooks.remove('top', id)
    await until(4)
    await nodeA.clock.advance(30_000)
    expect(items.map(({ data }) => data)).toEqual(
      ['created', 'changed', 'disabled', 'deleted'].map((change) => ({ id, account_id: 'top', change })),
    )
    expect(batches.flatMap((batch) => batch.items)).toHaveLength(4)
  })

  it('by the service arrive with their reason', async () => {
    const { nodeA, nodeB } = await startNodes()
    const id = await nodeB.webhook()
    const { until } = await openStream(nodeA, { accountId: 'top', types: ['webhook'] })
    for (const node of [nodeA, nodeB])
      node.answers.push({ kind: 'response', status: 410, headers: [], body: '', bodyEnd: 'complete' })
    await nodeB.publish()
    expect((await until(1))[0]!.data).toEqual({
      id,
      account_id: 'top',
      change: 'disabled',
      disable_reason: expect.any(String),
    })
  })
})

describe('what nodes exchange', () => {
  it('is nothing while nobody reads, and ends with the last reader', async () => {
    const { nodeA, nodeB, calls } = await startNodes()
    const publishAll = async () => {
      await nodeA.publish(5)
      await nodeB.publish(5)
      await nodeB.webhook()
      await nodeA.clock.advance(60_000)
    }
    // Each node has looked once, when it started.
    expect(calls).toEqual(['watched', 'watched'])
    calls.length = 0
    const attempts = await readStream(nodeA, { accountId: 'top', types: ['attempt'] })
    await publishAll()
    attempts.stop()
    expect(calls).toEqual([])

    const { items, stop } = await openStream(nodeA, EVENTS)
    await nodeB.publish(1)
    await nodeA.clock.advance(60_000)
    expect(items).toHaveLength(1)
    stop()
    await nodeA.clock.advance(60_000)
    calls.length = 0
    await publishAll()
    expect(calls).toEqual([])
  })

  it('is watched as long as there are readers, and forgotten some time after it was written', async () => {
    const { nodeA, nodeB, calls, batches } = await startNodes()
    const { items } = await openStream(nodeA, EVENTS)
    for (let minute = 0; minute < 5; minute += 1) {
      await nodeA.clock.advance(60_000)
      await nodeB.publish(1)
    }
    await nodeA.clock.advance(60_000)
    expect(typesOf(items)).toEqual(['event', 'event', 'event', 'event', 'event'])
    expect(calls.filter((name) => name === 'watch').length).toBeLessThanOrEqual(6 * 12 + 2)
    expect(calls.filter((name) => name === 'forget')).toHaveLength(batches.length)
  })

  it('continues with a batch whose outcome is unknown, which arrives once', async () => {
    const { nodeA, nodeB, replace, batches } = await startNodes()
    const { items, until } = await openStream(nodeA, EVENTS)
    replace({
      async put() {
        replace({})
        throw new HookswitchError('StoreUnavailable', 'no answer')
      },
    })
    await nodeB.publish(1, 'top', { callId: 'repeated' })
    await nodeB.publish(1, 'top', { callId: 'next' })
    await until(2)
    await nodeA.clock.advance(10_000)
    expect(callsOf(items)).toEqual(['repeated', 'next'])
    expect(batches.map(({ number }) => number)).toEqual([1, 1])
  })

  it('has a gap where a batch could not be written', async () => {
    const { nodeA, nodeB, replace } = await startNodes()
    const { items, until } = await openStream(nodeA, EVENTS)
    const loseBatch = async () => {
      replace({
        async put() {
          throw new HookswitchError('InvalidInput', 'refused')
        },
      })
      await nodeB.publish(1, 'top', { callId: 'lost' })
      await nodeA.clock.advance(100)
      replace({})
    }
    await loseBatch()
    await nodeB.publish(1, 'top', { callId: 'next' })
    await until(1)
    await nodeA.clock.advance(10_000)
    // The first batch of a writer that this node has not read from: nothing shows that there was one before.
    expect(callsOf(items)).toEqual(['next'])
    await loseBatch()
    await nodeB.publish(1, 'top', { callId: 'last' })
    await until(3)
    expect(typesOf(items)).toEqual(['event', 'gap', 'event'])
    expect(droppedOf(items)).toEqual([null])
  })

  it.each([
    ['read', ['before', undefined, 'meanwhile', 'after']],
    ['watch', ['before', 'meanwhile', undefined, 'after']],
    ['ends', [undefined, 'after']],
  ] as const)('has a gap after an outage of the store (%s), and goes on', async (name, expected) => {
    const { nodeA, nodeB, replace } = await startNodes()
    const reject = async () => {
      throw new HookswitchError('StoreUnavailable', 'out')
    }
    if (name === 'ends') replace({ ends: reject })
    const { items, until } = await openStream(nodeA, EVENTS)
    if (name !== 'ends') {
      await nodeB.publish(1, 'top', { callId: 'before' })
      await until(1)
    }
    replace({ [name]: reject })
    await nodeB.publish(1, 'top', { callId: 'meanwhile' })
    await nodeA.clock.advance(30_000)
    replace({})
    await nodeA.clock.advance(6_000)
    await nodeB.publish(1, 'top', { callId: 'after' })
    await nodeA.clock.runUntil(() => callsOf(items).includes('after'), { limitMs: 5_000 })
    expect(droppedOf(items)).toEqual([null])
    expect(callsOf(items)).toEqual(expected)
  })

  it('is not mixed up by readers that come and go while items are read', async () => {
    const { nodeA, nodeB, live, replace } = await startNodes()
    const first = await openStream(nodeA, EVENTS)
    await nodeB.publish(1, 'top', { callId: 'first' })
    await first.until(1)
    const { promise: isReleased, resolve: release } = deferred()
    replace({
      async read(reader, after) {
        const result = await live.read(reader, after)
        await isReleased
        return result
      },
    })
    await nodeB.publish(1, 'top', { callId: 'read for the first' })
    await nodeA.clock.advance(1_000)
    first.stop()
    await nodeA.clock.advance(1_000)
    replace({})
    await nodeB.hs.publish({ hook: 'channel_create', accountId: 'top', callId: 'for nobody' })
    const second = await openStream(nodeA, EVENTS)
    release()
    await nodeB.publish(1, 'top', { callId: 'second' })
    await nodeA.clock.advance(10_000)
    expect(callsOf(second.items)).toEqual(['second'])
  })

  it('begins later where what others watch could not be read at first', async () => {
    const { nodeA, nodeB, replace } = await startNodes()
    replace({
      async watched() {
        throw new HookswitchError('StoreUnavailable', 'out')
      },
    })
    const { until } = await openStream(nodeA, EVENTS)
    await nodeB.publish(1, 'top', { callId: 'before' })
    replace({})
    await nodeA.clock.advance(1_100)
    await nodeB.publish(1, 'top', { callId: 'after' })
    expect(callsOf(await until(1))).toEqual(['after'])
  })

  it('ends with a node: it writes what waits, and watches nothing any more', async () => {
    const { nodeA, nodeB, calls, live, replace } = await startNodes()
    const { items, until } = await openStream(nodeA, EVENTS)
    const steps: string[] = []
    replace({
      async put(batch, forget) {
        await nodeA.clock.sleep(500)
        steps.push('written')
        return live.put(batch, forget)
      },
    })
    await nodeB.hs.publish({ hook: 'channel_create', accountId: 'top', callId: 'last' })
    const closed = nodeB.hs.close({ drainMs: 0 }).then(() => steps.push('closed'))
    expect(callsOf(await until(1))).toEqual(['last'])
    await closed
    expect(steps).toEqual(['written', 'closed'])
    replace({})
    expect(items).toHaveLength(1)
    await readStream(nodeB, EVENTS)
    const closing = nodeA.hs.close({ drainMs: 0 })
    await nodeA.clock.advance(2_000)
    await closing
    calls.length = 0
    await nodeA.clock.advance(60_000)
    expect(calls).toEqual([])
  })
})

describe('watchEvents', () => {
  it('calls back for the events of an account on every node, until it is ended', async () => {
    const { nodeA, nodeB, calls } = await startNodes()
    const seen: string[] = []
    const listener = ({ callId, sequence, eventId }: { callId: string; sequence: number; eventId: string }) =>
      seen.push(`${callId} ${sequence} ${eventId.length}`)
    const end = nodeA.hs.watchEvents('top', listener)
    const endAgain = nodeA.hs.watchEvents('top', listener)
    await nodeA.clock.advance(100)
    await nodeA.publish(1, 'top', { callId: 'own' })
    await nodeB.publish(1, 'top', { callId: 'other' })
    await nodeB.publish(1, 'left', { callId: 'of another account' })
    await nodeA.clock.advance(1_000)
    expect(seen).toEqual(['own 1 32', 'own 1 32', 'other 1 32', 'other 1 32'])
    end()
    end()
    await nodeB.publish(1, 'top', { callId: 'last' })
    await nodeA.clock.advance(1_000)
    expect(seen.slice(4)).toEqual(['last 1 32'])
    endAgain()
    await nodeA.clock.advance(60_000)
    calls.length = 0
    await nodeA.publish(1)
    await nodeB.publish(1)
    await nodeA.clock.advance(60_000)
    expect(seen).toHaveLength(5)
    expect(calls).toEqual([])
  })

  it('works before the start and in a store of one node; a listener that throws harms nobody', async () => {
    const instance = await startInstance()
    const seen: string[] = []
    instance.hs.watchEvents('top', () => {
      throw new Error('a broken listener')
    })
    instance.hs.watchEvents('top', ({ callId }) => seen.push(callId))
    await instance.publish(2)
    expect(seen).toEqual(['call-1', 'call-2'])
  })
})
