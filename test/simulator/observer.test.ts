import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createRunHistory } from '../../src/simulator/history.js'
import { createNodeLife } from '../../src/simulator/node-life.js'
import { createObserver } from '../../src/simulator/observer.js'
import { DEFAULT_CAPS } from '../../src/simulator/options.js'
import { createRunQueue } from '../../src/simulator/run-queue.js'
import { createSecrets } from '../../src/simulator/secrets.js'
import { createTrackedState } from '../../src/simulator/tracked-state.js'
import { createViolationLog } from '../../src/simulator/violation.js'
import type { Store } from '../../src/store/contract.js'
import { memoryStore } from '../../src/store/memory.js'
import { createNode, type Queued } from '../../src/testkit/conformance/node.js'
import { newRecord, newWebhook } from '../../src/testkit/conformance/sample-data.js'
import { silentLog } from '../delivery/harness.js'

const LEASE_MS = 30_000

/** A memory store, and nodes whose calls are observed. */
async function createObservedStore() {
  const clock = manualClock()
  const startMs = clock.now()
  const queue = createRunQueue()
  const violations = createViolationLog()
  const observer = createObserver({
    queue,
    startMs,
    violations,
    history: createRunHistory(),
    tracked: createTrackedState(),
    secrets: createSecrets(),
    caps: DEFAULT_CAPS,
    receivers: 1,
    cover() {},
  })
  const store = memoryStore({ shared: true, clock })
  await store.open({ clock, log: silentLog })
  const webhook = newWebhook()
  await store.webhooks.insert(webhook)

  /** A node with its share of the shards. */
  async function join(number: number) {
    const life = createNodeLife(queue, startMs, { node: number, generation: 1 }, { aheadMs: 0, drift: 0 })
    const methods = Object.entries(store.deliveries as object) as [string, (...args: unknown[]) => unknown][]
    const deliveries = methods.map(([name, method]) => [
      name,
      async (...args: unknown[]) => {
        const result = await method(...args)
        observer.executed({ number: 0, name, life }, args, result)
        return result
      },
    ])
    const observed = { ...store, deliveries: Object.fromEntries(deliveries) } as Store
    const node = createNode(`node-${number}`, LEASE_MS, () => observed, clock.now)
    await node.own()
    await node.load()
    return {
      node,
      /** Stores the start of the next attempt and sends it. */
      async send(delivery: Queued): Promise<void> {
        await node.start(delivery)
        observer.sent(life, delivery.id, delivery.attempts + 1)
      },
      release: () => observed.deliveries.release(node.owner),
    }
  }
  return { clock, webhook, join, broken: () => violations.list.map(({ invariant }) => invariant) }
}

describe('a node that releases its lease', () => {
  it('leaves what it was sending under an earlier lease to the next owner', async () => {
    const { clock, webhook, join, broken } = await createObservedStore()
    const first = await join(1)
    const [delivery] = await first.node.accept(webhook)
    await first.send(delivery!)
    await clock.advance(LEASE_MS)
    const two = await join(2)
    await first.node.own()
    await first.release()
    expect(two.node.loaded.interrupted).toHaveLength(1)
    await two.node.settle(delivery!, 'waiting', {
      next: { tries: 0, interruptions: 1, reason: 'interrupted' },
      record: newRecord(delivery!, { reason: 'interrupted' }),
    })
    expect(broken()).toEqual([])
  })

  it('must not be sending anything', async () => {
    const { webhook, join, broken } = await createObservedStore()
    const first = await join(1)
    const [delivery] = await first.node.accept(webhook)
    await first.send(delivery!)
    await first.release()
    expect(broken()).toEqual(['I8'])
  })
})

describe('a failed attempt that costs no try', () => {
  const GONE = { endpoint: { epoch: 1, disable: { reason: 'gone', atMs: 0 } } } as const

  /** Invariants that a group breaks: a free attempt, perhaps another end, and a failure after which the pause has ended. */
  async function brokenBy(other?: 'success' | 'gone'): Promise<readonly string[]> {
    const { clock, webhook, join, broken } = await createObservedStore()
    const { node } = await join(1)
    const [free, between, last] = await node.acceptMany(webhook, 3)
    await node.start(free!, between!, last!)
    const dueMs = clock.now() + 5000
    const rejected = (queued: Queued) => ({
      record: newRecord(queued, { status: 500, attempt: 1, reason: 'bad status' }),
    })
    await node.commit({
      ended: [
        node.settlement(free!, 'waiting', { next: { tries: 0, dueMs }, ...rejected(free!) }),
        ...(other === 'success' ? [node.settlement(between!, 'delivered')] : []),
        ...(other === 'gone' ? [node.settlement(between!, 'cancelled', GONE)] : []),
        node.settlement(last!, 'waiting', {
          next: { dueMs },
          ...rejected(last!),
          endpoint: { epoch: 1, health: { failuresInRow: 1 } },
        }),
      ],
    })
    return broken()
  }

  it('may be a probe if a success of its group can have ended the pause', async () => {
    expect(await brokenBy('success')).toEqual([])
  })

  it('may be a probe of a webhook that its group disables: the health is not written then', async () => {
    expect(await brokenBy('gone')).not.toContain('I7')
  })

  it('is reported if there was no pause', async () => {
    expect(await brokenBy()).toEqual(['I7'])
  })
})
