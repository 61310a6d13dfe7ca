import { type ChannelEvent, HookswitchError } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  createOrderedPublisher,
  type Rejected,
} from '../../../../adapters/telephony/source/ordered-publisher.js'

const event = (callId: string, timestampMs: number): ChannelEvent => ({
  hook: 'channel_create',
  accountId: 'acme',
  callId,
  timestampMs,
})

interface PendingPublish {
  readonly event: ChannelEvent
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Creates a publisher whose publishes settle when the test settles them. */
function startPublisher() {
  const clock = manualClock()
  const pending: PendingPublish[] = []
  const done: ChannelEvent[] = []
  const rejected: Rejected[] = []
  const retried: unknown[] = []
  const duplicates: ChannelEvent[] = []
  let capacityCalls = 0
  const publisher = createOrderedPublisher({
    clock,
    random: seededRandom(1),
    publish: (given) =>
      new Promise<void>((resolve, reject) => pending.push({ event: given, resolve, reject })),
    onPublished: (item) => done.push(item),
    onRejected: (item) => rejected.push(item),
    onRetry: (error) => retried.push(error),
    onDuplicate: (item) => duplicates.push(item),
    onCapacity: () => {
      capacityCalls += 1
    },
  })
  return { ...publisher, clock, pending, rejected, retried, duplicates, capacityCalls: () => capacityCalls }
}

const flushMicrotasks = async () => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve()
}

describe('the ordered publisher', () => {
  it('publishes the events of a leg one after the other, and legs concurrently', async () => {
    const { enqueue, pending, size } = startPublisher()
    for (const item of [event('a', 1), event('a', 2), event('b', 3)]) enqueue(item)
    expect(pending.map((h) => h.event.timestampMs)).toEqual([1, 3])
    pending[0]?.resolve()
    await flushMicrotasks()
    expect(pending.map((h) => h.event.timestampMs)).toEqual([1, 3, 2])
    pending[1]?.resolve()
    pending[2]?.resolve()
    await flushMicrotasks()
    expect(size()).toBe(0)
  })

  it.each(['QueueFull', 'StoreUnavailable', 'Closing'] as const)(
    'retries an event while publish rejects with %s, and the others of the leg wait',
    async (code) => {
      const { enqueue, pending, clock, retried } = startPublisher()
      enqueue(event('a', 1))
      enqueue(event('a', 2))
      for (let tries = 0; tries < 40; tries += 1) {
        pending.at(-1)?.reject(new HookswitchError(code, 'not now'))
        await flushMicrotasks()
        await clock.advance(30_000)
        await flushMicrotasks()
      }
      expect(new Set(pending.map((h) => h.event.timestampMs))).toEqual(new Set([1]))
      expect(pending).toHaveLength(41)
      expect(retried).toHaveLength(40)
      pending.at(-1)?.resolve()
      await flushMicrotasks()
      expect(pending.at(-1)?.event.timestampMs).toBe(2)
    },
  )

  it('rejects an event that is refused for good and continues with the next', async () => {
    const { enqueue, pending, rejected } = startPublisher()
    enqueue(event('a', 1))
    enqueue(event('a', 2))
    pending[0]?.reject(new HookswitchError('NotFound', 'no such account'))
    await flushMicrotasks()
    expect(rejected).toMatchObject([{ event: { timestampMs: 1 }, error: { code: 'NotFound' } }])
    expect(pending[1]?.event.timestampMs).toBe(2)
  })

  it('counts an event as published if its key is in use already', async () => {
    const { enqueue, pending, rejected, duplicates, size } = startPublisher()
    enqueue(event('a', 1))
    pending[0]?.reject(new HookswitchError('Conflict', 'another body under this key'))
    await flushMicrotasks()
    expect(rejected).toEqual([])
    expect(duplicates).toEqual([event('a', 1)])
    expect(size()).toBe(0)
  })

  it('rejects an event after ten attempts with an ambiguous error', async () => {
    const { enqueue, pending, clock, rejected } = startPublisher()
    enqueue(event('a', 1))
    for (let tries = 0; tries < 10; tries += 1) {
      pending.at(-1)?.reject(new TypeError('oops'))
      await flushMicrotasks()
      await clock.advance(30_000)
      await flushMicrotasks()
    }
    expect(pending).toHaveLength(10)
    expect(rejected).toMatchObject([{ event: { timestampMs: 1 }, error: new TypeError('oops') }])
  })
})

describe('a full ordered publisher', () => {
  it('is full at 1,024 events and has capacity again below half', async () => {
    const { enqueue, pending, isFull, capacityCalls } = startPublisher()
    for (let i = 0; i < 1_024; i += 1) enqueue(event(`leg-${i}`, i))
    expect(isFull()).toBe(true)
    expect(pending).toHaveLength(256)
    for (let i = 0; i < 512; i += 1) {
      pending[i]?.resolve()
      await flushMicrotasks()
      expect(capacityCalls()).toBe(0)
    }
    pending[512]?.resolve()
    await flushMicrotasks()
    expect(capacityCalls()).toBe(1)
    expect(isFull()).toBe(false)
  })
})

describe('closing an ordered publisher', () => {
  it('rejects every remaining event once', async () => {
    const { enqueue, pending, close, rejected } = startPublisher()
    for (const item of [event('a', 1), event('a', 2), event('b', 3)]) enqueue(item)
    close()
    expect(rejected.map((r) => r.event.timestampMs).sort()).toEqual([1, 2, 3])
    pending[0]?.reject(new HookswitchError('QueueFull', 'full'))
    await flushMicrotasks()
    enqueue(event('c', 4))
    expect(rejected).toHaveLength(4)
  })

  it('drain waits until everything is published, or for its time limit', async () => {
    const { enqueue, pending, drain, clock } = startPublisher()
    enqueue(event('a', 1))
    let over = false
    const first = drain(1_000).then(() => {
      over = true
    })
    await flushMicrotasks()
    expect(over).toBe(false)
    pending[0]?.resolve()
    await first
    enqueue(event('a', 2))
    const second = drain(1_000)
    await clock.advance(1_000)
    await second
  })

  it('publishes no event that it has rejected', async () => {
    const { enqueue, pending, close, rejected, clock } = startPublisher()
    enqueue(event('a', 1))
    pending[0]?.reject(new HookswitchError('QueueFull', 'full'))
    await flushMicrotasks()
    close()
    await clock.advance(60_000)
    await flushMicrotasks()
    expect(rejected).toHaveLength(1)
    expect(pending).toHaveLength(1)
  })
})
