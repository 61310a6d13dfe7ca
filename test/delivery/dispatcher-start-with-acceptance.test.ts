import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { constant } from '../../src/delivery/policy.js'
import {
  type DeliveryKey,
  type Group,
  type GroupResult,
  notWritten,
  type QueueStore,
} from '../../src/delivery/queue-store.js'
import { HookswitchError } from '../../src/errors.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, headerOf, type NodeOptions, responseWith } from './harness.js'

expectNothingUnhandled()

interface ReadyNodeOptions extends NodeOptions {
  readonly webhooks?: readonly ReturnType<typeof aWebhook>[]
  readonly isShared?: boolean
  /** Whether the node gets no notifications of the store. */
  readonly isDeaf?: boolean
}

/** A node whose endpoints are known. `harness.sent()` and `groups` are empty. */
async function createReadyNode(options: ReadyNodeOptions = {}) {
  const { webhooks = [aWebhook()], isShared = false, isDeaf = false, ...nodeOptions } = options
  const harness = await createHarness(webhooks, isShared)
  const groups: Group[] = []
  /** Deliveries that a group accepts and starts. */
  const startedAtOnce: { readonly callId: string | undefined; readonly position: number | undefined }[] = []
  const { store } = harness.faults
  let intercept = (group: Group, commit: QueueStore['commit']): Promise<GroupResult> =>
    Promise.resolve(commit(group))
  let isReadSlow = false
  let mustReload = false
  const node = harness.node(nodeOptions, {
    store: {
      ...store,
      async changes(...input) {
        const changes = await store.changes(...input)
        return changes && { ...changes, mustReload }
      },
      async bodies(keys) {
        const read = await store.bodies(keys)
        if (isReadSlow) await harness.clock.sleep(100)
        return read
      },
      ...(isDeaf && { subscribe: () => () => {} }),
      commit(group) {
        groups.push(group)
        const keyOf = ({ webhookId, position = 0 }: Partial<DeliveryKey>) => `${webhookId} ${position}`
        const starts = new Set(group.starting?.deliveries.map(keyOf))
        for (const { deliveries } of group.accepted)
          for (const { webhookId, callId, position } of deliveries)
            if (starts.has(keyOf({ webhookId, position: position! })))
              startedAtOnce.push({ callId, position })
        return intercept(group, store.commit)
      },
    },
  })
  await node.start()
  await harness.publish('warm-up')
  await harness.clock.settle()
  harness.sender.requests.length = 0
  groups.length = startedAtOnce.length = 0
  return {
    harness,
    node,
    groups,
    /** What the store does with the next groups. */
    onCommit(next: typeof intercept) {
      intercept = next
    },
    startedAtOnce,
    /** Whether changes are too many to list. */
    setMustReload(value: boolean) {
      mustReload = value
    },
    slowDownReads() {
      isReadSlow = true
    },
    async close() {
      const closing = node.close(0)
      await harness.clock.advance(5_000)
      await closing
    },
  }
}

const COLLISION = {
  kind: 'refused',
  error: new HookswitchError('Conflict', 'the position is taken', { field: 'id' }),
}

const codeOf = (published: Promise<unknown>) =>
  published.then(
    () => undefined,
    ({ code, message }: HookswitchError) => code ?? message,
  )

const states = async (harness: Harness, webhookId = 'w1') =>
  (await harness.deliveries(webhookId)).map(({ callId, state }) => `${callId} ${state}`)

/** Nothing is left of a delivery that was not accepted. */
function expectNothingPending({ node, harness }: Awaited<ReturnType<typeof createReadyNode>>) {
  expect(node.pending()).toBe(0)
  expect(node.inFlight('w1')).toBe(0)
  expect(node.stats().inFlight).toBe(0)
  expect(harness.sender.requests).toHaveLength(0)
}

describe('a delivery that can be sent at once', () => {
  it('starts in the group that accepts it, and is sent once that is committed, with its number', async () => {
    const ready = await createReadyNode()
    const { harness, groups, onCommit } = ready
    let release = () => {}
    onCommit(async (group, commit) => {
      const result = await commit(group)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return result
    })
    const published = harness.publish('warm-up')
    await harness.clock.settle()
    expect(groups).toHaveLength(1)
    expect(groups[0]!.starting?.deliveries).toEqual([
      { webhookId: 'w1', position: groups[0]!.accepted[0]!.deliveries[0]!.position, attempt: 1, epoch: 1 },
    ])
    expect(harness.sender.requests).toHaveLength(0)
    onCommit(async (group, commit) => commit(group))
    release()
    await published
    await harness.clock.settle()
    const [request] = harness.sender.requests
    expect(JSON.parse(request!.body!)).toMatchObject({ call_id: 'warm-up', sequence: 2 })
    expect(headerOf(request!, 'x-hook-attempt')).toBe('1')
    expect(await states(harness)).toEqual(['warm-up delivered', 'warm-up delivered'])
    await ready.close()
  })

  it('is given up if its position is taken and its publisher has waited too long', async () => {
    const ready = await createReadyNode()
    const { harness, groups, onCommit } = ready
    onCommit(async (group, commit) => {
      if (group.accepted.length === 0) return commit(group)
      await harness.clock.sleep(11_000)
      const { starting: _, ...rest } = group
      return { ...(await commit({ ...rest, accepted: [] })), accepted: [COLLISION] } as GroupResult
    })
    const code = codeOf(harness.publish('late'))
    await harness.clock.advance(20_000)
    expect(await code).toBe('StoreUnavailable')
    await harness.clock.advance(60_000)
    expect(groups.filter(({ accepted }) => accepted.length > 0)).toHaveLength(1)
    expectNothingPending(ready)
    await ready.close()
  })

  it('is refused if its position is taken and the node has stopped: no further group is formed', async () => {
    const ready = await createReadyNode()
    const { harness, groups, node, onCommit } = ready
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    onCommit(async (group, commit) => {
      if (group.accepted.length === 0) return commit(group)
      await released
      const { starting: _, ...rest } = group
      return { ...(await commit({ ...rest, accepted: [] })), accepted: [COLLISION] } as GroupResult
    })
    const code = codeOf(harness.publish('late'))
    await harness.clock.settle()
    const closing = node.close(0)
    await harness.clock.settle()
    release()
    await harness.clock.advance(5_000)
    await closing
    expect(await code).toBe('Conflict')
    expect(groups.filter(({ accepted }) => accepted.length > 0)).toHaveLength(1)
    expectNothingPending(ready)
  })

  it('is not shown as in flight before it is accepted', async () => {
    const ready = await createReadyNode()
    const { node, harness, onCommit } = ready
    const shown: number[] = []
    onCommit(async (group, commit) => {
      shown.push([...node.inFlightDeliveries()].length)
      return commit(group)
    })
    harness.sender.script = () => undefined
    await harness.publish('a')
    await harness.clock.settle()
    expect(shown).toEqual([0])
    expect([...node.inFlightDeliveries()].map(({ callId }) => callId)).toEqual(['a'])
    await ready.close()
  })

  it('is counted once among those that are pending', async () => {
    const ready = await createReadyNode()
    const { harness, node, onCommit } = ready
    harness.sender.script = () => undefined
    const counts: number[] = []
    onCommit(async (group, commit) => {
      counts.push(node.pending())
      const result = await commit(group)
      counts.push(node.pending())
      return result
    })
    const event = { hook: 'channel_create', accountId: 'acc', callId: 'a' }
    await acceptEvents(harness.accept, [event])
    expect(counts).toEqual([1, 1])
    expect(node.pending()).toBe(1)
    await ready.close()
  })
})

describe('a delivery starts in a later group', () => {
  it('when one of the same call waits, is in flight or comes before it in the group', async () => {
    const ready = await createReadyNode()
    const { harness, startedAtOnce } = ready
    harness.sender.script = () => undefined
    await harness.publish('in flight')
    await harness.clock.settle()
    const event = (callId: string) => ({ hook: 'channel_create', accountId: 'acc', callId })
    await acceptEvents(harness.accept, ['in flight', 'new', 'new', 'other'].map(event))
    await harness.clock.settle()
    expect(startedAtOnce.map(({ callId }) => callId)).toEqual(['in flight', 'new', 'other'])
    expect(harness.sent()).toEqual(['in flight', 'new', 'other'])
    harness.sender.script = () => responseWith(200)
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['in flight', 'new', 'other', 'in flight', 'new'])
    await ready.close()
  })

  it('when there are more of them than free slots: they are divided among accounts first', async () => {
    const webhooks = [aWebhook(), aWebhook({}, { id: 'w2', accountId: 'sub' })]
    const ready = await createReadyNode({ webhooks, caps: { total: 2 } })
    const { harness, startedAtOnce, node } = ready
    await harness.publish('warm-up', { accountId: 'sub' })
    await harness.clock.settle()
    harness.sender.requests.length = 0
    harness.sender.script = () => undefined
    const event = (callId: string, accountId: string) => ({ hook: 'channel_create', accountId, callId })
    const events = [event('a', 'acc'), event('b', 'acc'), event('c', 'sub')]
    await acceptEvents(harness.accept, events)
    await harness.clock.settle()
    expect(startedAtOnce).toEqual([])
    expect(harness.sender.requests.map(({ group }) => group).sort()).toEqual(['w1', 'w2'])
    expect(node.pending()).toBe(3)
    await ready.close()
  })

  it('when its endpoint has no free slot', async () => {
    const ready = await createReadyNode({ caps: { perEndpoint: 1 } })
    const { harness, startedAtOnce, node } = ready
    harness.sender.script = () => undefined
    const event = (callId: string) => ({ hook: 'channel_create', accountId: 'acc', callId })
    await acceptEvents(harness.accept, [event('a'), event('b')])
    await harness.clock.settle()
    expect(startedAtOnce.map(({ callId }) => callId)).toEqual(['a'])
    expect(node.pending()).toBe(2)
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['a', 'b'])
    await ready.close()
  })

  it('when the contents of those that wait fill the memory', async () => {
    const webhooks = [aWebhook(), aWebhook({ uri: 'https://other.example/' }, { id: 'w2', accountId: 'sub' })]
    const ready = await createReadyNode({ webhooks, caps: { total: 2, perEndpoint: 1 } })
    const { harness, startedAtOnce, onCommit, slowDownReads } = ready
    await harness.publish('warm-up', { accountId: 'sub' })
    await harness.clock.settle()
    harness.sender.requests.length = startedAtOnce.length = 0
    harness.sender.script = () => undefined
    // Four contents for each slot.
    for (let call = 0; call < 12; call++) await harness.publish(`waiting ${call}`)
    await harness.clock.settle()
    slowDownReads()
    // What is read before the commit says that the delivery is gone.
    onCommit(async (group, commit) => {
      await harness.clock.sleep(10)
      return commit(group)
    })
    void harness.publish('other', { accountId: 'sub' })
    await harness.clock.advance(1_000)
    expect(startedAtOnce.map(({ callId }) => callId)).toEqual(['waiting 0'])
    expect(harness.sent()).toEqual(['waiting 0', 'other'])
    await ready.close()
  })

  it('when another node has the shard of its webhook', async () => {
    const webhooks = Array.from({ length: 30 }, (_, index) =>
      aWebhook({ uri: `https://host-${index}.example/` }, { id: `hook-${index}` }),
    )
    const ready = await createReadyNode({ webhooks, isShared: true })
    const { harness, startedAtOnce } = ready
    const other = harness.node()
    await harness.publish('alone')
    await harness.clock.settle()
    expect(startedAtOnce).toHaveLength(30)
    startedAtOnce.length = 0
    await other.start()
    // The other node gets half of the shards.
    await harness.clock.advance(LEASE_MS)
    await harness.publish('later')
    await harness.clock.settle()
    expect(startedAtOnce.length).toBeGreaterThan(0)
    expect(startedAtOnce.length).toBeLessThan(30)
    expect(harness.sent()).toHaveLength(60)
    await ready.close()
    await other.close(0)
  })

  it('when its webhook is paused', async () => {
    const policy = constant(600_000, { jitter: 0 })
    const ready = await createReadyNode({ policy })
    const { harness, startedAtOnce } = ready
    harness.sender.script = () => responseWith(503)
    // The breaker opens after some failures.
    for (let call = 0; call < 30; call++) await harness.publish(`failing ${call}`)
    await harness.clock.settle()
    const health = (await harness.store.webhooks.read('acc', 'w1'))!.health!
    expect(health.pausedUntilMs).toBeGreaterThan(harness.clock.now())
    startedAtOnce.length = 0
    harness.sender.requests.length = 0
    await harness.publish('paused')
    await harness.clock.settle()
    expect(startedAtOnce).toEqual([])
    expect(harness.sender.requests).toHaveLength(0)
    await ready.close()
  })
})

describe('a start in the group of its acceptance, which', () => {
  it('is refused is not sent, and leaves nothing behind', async () => {
    const ready = await createReadyNode()
    const { harness, startedAtOnce } = ready
    await harness.publish('a', { idempotencyKey: 'key' })
    await harness.clock.settle()
    harness.sender.requests.length = 0
    expect(await codeOf(harness.publish('b', { idempotencyKey: 'key' }))).toBe('Conflict')
    await harness.clock.settle()
    expect(startedAtOnce).toHaveLength(2)
    expectNothingPending(ready)
    await harness.publish('c')
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['c'])
    await ready.close()
  })

  it('is a duplicate is not sent again, and costs no read of the store', async () => {
    const ready = await createReadyNode()
    const { harness } = ready
    harness.faults.failing.add('bodies')
    const first = await harness.publish('a', { idempotencyKey: 'key', timestampMs: 1 })
    await harness.clock.settle()
    harness.sender.requests.length = 0
    expect(await harness.publish('a', { idempotencyKey: 'key', timestampMs: 1 })).toBe(first)
    await harness.clock.settle()
    expectNothingPending(ready)
    expect(await states(harness)).toEqual(['warm-up delivered', 'a delivered'])
    await ready.close()
  })

  it('collides with a position of another is sent once, at its new position', async () => {
    const ready = await createReadyNode()
    const { harness, onCommit, startedAtOnce } = ready
    let isFirst = true
    onCommit(async (group, commit) => {
      if (!isFirst || group.accepted.length === 0) return commit(group)
      isFirst = false
      const { starting: _, ...rest } = group
      // The store has a delivery of another node there, and has stored its start.
      return { ...(await commit({ ...rest, accepted: [] })), accepted: [COLLISION] } as GroupResult
    })
    await harness.publish('a')
    await harness.clock.settle()
    expect(new Set(startedAtOnce.map(({ position }) => position)).size).toBe(2)
    expect(harness.sent()).toEqual(['a'])
    expect(await states(harness)).toEqual(['warm-up delivered', 'a delivered'])
    await ready.close()
  })

  it('collides without a lease is not counted any more once it is accepted', async () => {
    const ready = await createReadyNode({ isShared: true })
    const { harness, onCommit, node, groups } = ready
    harness.faults.failing.add('renew')
    let isFirst = true
    onCommit(async (group, commit) => {
      if (group.lease) return { kind: 'fenced' }
      if (!isFirst) return commit(group)
      isFirst = false
      return { ...(await commit({ ...group, accepted: [] })), accepted: [COLLISION] } as GroupResult
    })
    await harness.publish('a')
    expect(groups.map(({ lease }) => lease !== undefined)).toEqual([true, false, false])
    expect(node.pending()).toBe(0)
    harness.faults.failing.clear()
    await ready.close()
  })

  it('was not written is given up with it', async () => {
    const ready = await createReadyNode()
    const { harness, onCommit } = ready
    onCommit(async () => {
      throw notWritten(new HookswitchError('StoreUnavailable', 'unavailable'))
    })
    expect(await codeOf(harness.publish('a'))).toBe('StoreUnavailable')
    await harness.clock.settle()
    expectNothingPending(ready)
    onCommit(async (group, commit) => commit(group))
    const published = harness.publish('a')
    await harness.clock.advance(1_000)
    await published
    expect(harness.sent()).toEqual(['a'])
    await ready.close()
  })

  it('was written without an answer is sent once', async () => {
    const ready = await createReadyNode()
    const { harness, onCommit } = ready
    let isFirst = true
    onCommit(async (group, commit) => {
      const result = await commit(group)
      if (!isFirst) return result
      isFirst = false
      throw new HookswitchError('StoreUnavailable', 'unavailable')
    })
    const published = harness.publish('a')
    await harness.clock.advance(5_000)
    await published
    expect(harness.sent()).toEqual(['a'])
    expect(await states(harness)).toEqual(['warm-up delivered', 'a delivered'])
    expect((await harness.attempts()).map(({ callId, attempt }) => [callId, attempt])).toEqual([
      ['warm-up', 1],
      ['a', 1],
    ])
    await ready.close()
  })

  it('fails the whole group is refused alone: the others are sent', async () => {
    const ready = await createReadyNode()
    const { harness, onCommit, node } = ready
    onCommit(async (group, commit) => {
      if (group.accepted.some(({ events }) => events[0]?.callId === 'poison')) throw new Error('out of range')
      return commit(group)
    })
    const calls = ['a', 'poison', 'b']
    const codes = await Promise.all(calls.map((call) => codeOf(harness.publish(call))))
    await harness.clock.settle()
    expect(codes).toEqual([undefined, 'out of range', undefined])
    expect(harness.sent()).toEqual(['a', 'b'])
    expect(await states(harness)).toEqual(['warm-up delivered', 'a delivered', 'b delivered'])
    expect(node.pending()).toBe(0)
    expect(node.inFlight('w1')).toBe(0)
    await ready.close()
  })

  it('is committed after the webhook was disabled and the queue loaded again is cancelled', async () => {
    const ready = await createReadyNode()
    const { harness, onCommit, node, setMustReload } = ready
    let commits = 0
    onCommit(async (group, commit) => {
      commits++
      if (commits === 2) {
        setMustReload(true)
        return { kind: 'outdated' }
      }
      setMustReload(false)
      if (commits === 1) {
        const row = (await harness.store.webhooks.read('acc', 'w1'))!
        const settings = { ...row.settings, enabled: false }
        await harness.store.webhooks.replace(
          { ...row, settings, revision: row.revision + 1, epoch: row.epoch + 1 },
          row.revision,
        )
      }
      return commit(group)
    })
    await harness.publish('a')
    await harness.clock.advance(2_000)
    expect(harness.sender.requests).toHaveLength(0)
    expect(await states(harness)).toEqual(['warm-up delivered', 'a cancelled'])
    expect(harness.emitted.at(-1)!.name).toBe('cancelled')
    expect(node.pending()).toBe(0)
    await ready.close()
  })

  it('is committed after the lease has ended is left to the next owner', async () => {
    const ready = await createReadyNode({ isShared: true })
    const { harness, onCommit, node, groups } = ready
    let isFenced = true
    onCommit(async (group, commit) => (group.lease && isFenced ? { kind: 'fenced' } : commit(group)))
    await harness.publish('a')
    expect(groups[0]!.starting?.deliveries).toHaveLength(1)
    expect(groups[1]!.starting).toBeUndefined()
    expect(node.inFlight('w1')).toBe(0)
    expect(harness.sender.requests).toHaveLength(0)
    isFenced = false
    await harness.clock.advance(LEASE_MS)
    expect(harness.sent()).toEqual(['a'])
    expect(await states(harness)).toEqual(['warm-up delivered', 'a delivered'])
    await ready.close()
  })

  it('is committed while the node closes waits for its next start', async () => {
    const ready = await createReadyNode()
    const { harness, onCommit, node } = ready
    let closing: Promise<void> | undefined
    onCommit(async (group, commit) => {
      if (group.accepted.length > 0) closing = node.close(0)
      return commit(group)
    })
    await harness.publish('a')
    await harness.clock.advance(5_000)
    await closing
    expect(harness.sender.requests).toHaveLength(0)
    const next = harness.node()
    await next.start()
    await harness.clock.advance(LEASE_MS)
    expect(harness.sent()).toEqual(['a'])
    expect(await states(harness)).toEqual(['warm-up delivered', 'a delivered'])
    await next.close(0)
  })

  it('may come after an event that another node has accepted waits for that one', async () => {
    const ready = await createReadyNode({ isShared: true, isDeaf: true })
    const { harness, startedAtOnce } = ready
    const event = { hook: 'channel_create', accountId: 'acc', callId: 'a' }
    const elsewhere = { ...harness.accept, accept: harness.acceptWithoutNode }
    await acceptEvents(elsewhere, [{ ...event, timestampMs: 1 }])
    harness.sender.script = () => undefined
    await acceptEvents(harness.accept, [{ ...event, timestampMs: 2 }])
    await harness.clock.settle()
    expect(startedAtOnce).toHaveLength(1)
    const sequences = () => harness.sender.requests.map(({ body }) => JSON.parse(body!).sequence)
    expect(sequences()).toEqual([1])
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(sequences()).toEqual([1, 2])
    expect((await harness.attempts()).map(({ attempt }) => attempt)).toEqual([1, 1, 1])
    await ready.close()
  })
})

describe('what a group accepts at once', () => {
  const event = { hook: 'channel_create', accountId: 'acc', callId: 'a' }
  const sequencesTo = ({ sender }: Harness, webhookId: string) =>
    sender.requests
      .filter(({ group }) => group === webhookId)
      .map(({ body }) => JSON.parse(body!).sequence as number)

  /**
   * A node that hears nothing of others has two webhooks; another one has accepted the first event of a call, for `w2`. Now
   * the node accepts an event for `w1`, these calls, and an event for `w2`, in one group.
   */
  async function acceptAfterOther(
    ready: Awaited<ReturnType<typeof createReadyNode>>,
    between: readonly string[] = [],
  ) {
    const { harness } = ready
    const destroyed = { ...event, hook: 'channel_destroy' }
    await harness.publish('warm-up', { hook: 'channel_destroy' })
    await harness.clock.settle()
    harness.sender.requests.length = 0
    const elsewhere = { ...harness.accept, accept: harness.acceptWithoutNode }
    await acceptEvents(elsewhere, [destroyed])
    harness.sender.script = () => undefined
    const inputs = [event, ...between.map((callId) => ({ ...event, callId })), destroyed]
    await Promise.all(inputs.map((input) => codeOf(acceptEvents(harness.accept, [input]))))
    await harness.clock.settle()
  }
  const createNodeWithTwo = () =>
    createReadyNode({
      isShared: true,
      isDeaf: true,
      webhooks: [
        aWebhook({ uri: 'https://one.example/', hook: 'channel_create' }),
        aWebhook({ uri: 'https://two.example/', hook: 'channel_destroy' }, { id: 'w2' }),
      ],
    })

  it('is not sent before an event of another node, which only the number of an earlier event shows', async () => {
    const ready = await createNodeWithTwo()
    await acceptAfterOther(ready)
    expect(ready.groups.map(({ accepted }) => accepted.length)).toContain(2)
    expect(sequencesTo(ready.harness, 'w2')).toEqual([1])
    await ready.close()
  })

  it('is not sent before it either when the group is refused and committed in parts', async () => {
    const ready = await createNodeWithTwo()
    ready.onCommit(async (group, commit) => {
      if (group.accepted.some(({ events }) => events[0]?.callId === 'poison')) throw new Error('out of range')
      return commit(group)
    })
    await acceptAfterOther(ready, ['poison'])
    expect(ready.groups.map(({ accepted }) => accepted.length)).toContain(3)
    expect(sequencesTo(ready.harness, 'w2')).toEqual([1])
    await ready.close()
  })

  it('is not counted any more when it collides and is then refused', async () => {
    const ready = await createReadyNode({ isShared: true })
    const { harness, onCommit, node } = ready
    let isFirst = true
    onCommit(async (group, commit) => {
      if (!isFirst || group.accepted.length === 0) return commit(group)
      isFirst = false
      const { starting: _, ...rest } = group
      // The poll that is requested meanwhile keeps the acceptance out of the next group.
      harness.faults.failing.add('poll').add('load')
      node.wake()
      return { ...(await commit({ ...rest, accepted: [] })), accepted: [COLLISION] } as GroupResult
    })
    const code = codeOf(harness.publish('a'))
    await harness.clock.advance(11_000)
    expect(await code).toBe('StoreUnavailable')
    harness.faults.failing.clear()
    await harness.clock.advance(10_000)
    expectNothingPending(ready)
    await ready.close()
  })
})
