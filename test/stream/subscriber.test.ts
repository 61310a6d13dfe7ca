import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  contentOf,
  HEARTBEAT_MS,
  MAX_PER_SECOND,
  MAX_QUEUED,
  MAX_STALL_MS,
  Subscriber,
  type Taken,
} from '../../src/stream/subscriber.js'

function newSubscriber() {
  const clock = manualClock()
  const counts = { dropped: 0, ended: 0, stalled: 0 }
  const subscriber = new Subscriber(
    {
      clock,
      onDrop: (count) => {
        counts.dropped += count
      },
      onEnd: () => {
        counts.ended += 1
      },
    },
    'start',
  )
  subscriber.onStall = () => {
    counts.stalled += 1
  }
  return { clock, counts, subscriber }
}

const attempt = (id: string, fields: object = {}) =>
  contentOf('attempt', { id, hook_id: 'w', result: 'success', ...fields })
const large = (id: string) => attempt(id, { text: 'x'.repeat(10_000) })

function takeAll(subscriber: Subscriber): readonly Exclude<Taken, 'idle' | undefined>[] {
  const taken = []
  for (let item = subscriber.takeNow(); item; item = subscriber.takeNow()) taken.push(item)
  return taken
}

describe('the queue of a stream', () => {
  it('gives items in order, at once or when they arrive', async () => {
    const { subscriber } = newSubscriber()
    subscriber.push(attempt('a'), '1')
    subscriber.push(attempt('b'), '2')
    expect(await subscriber.take()).toMatchObject({ type: 'attempt', id: '1' })
    expect(await subscriber.take()).toMatchObject({ type: 'attempt', id: '2' })
    const waiting = subscriber.take()
    subscriber.push(attempt('c'), '3')
    expect(await waiting).toMatchObject({ id: '3', json: '{"id":"c","hook_id":"w","result":"success"}' })
  })

  it('holds at most 256 KiB, then drops, and says in its place how many are missing after which id', () => {
    const { subscriber, counts } = newSubscriber()
    for (let index = 0; index < 100; index += 1) subscriber.push(large(`i${index}`), String(index))
    const first = takeAll(subscriber)
    const kept = first.length - 1
    expect(kept).toBe(Math.floor(MAX_QUEUED / 10_110))
    expect(first.at(-1)).toMatchObject({
      type: 'gap',
      data: { from: String(kept - 1), dropped: 100 - kept },
    })
    expect(counts.dropped).toBe(100 - kept)
    subscriber.push(large('next'), 'next')
    expect(takeAll(subscriber)).toMatchObject([{ id: 'next' }])
  })

  it('drops until half of it is free, so that not every second item is a gap', () => {
    const { subscriber } = newSubscriber()
    for (let index = 0; index < 30; index += 1) subscriber.push(large(`a${index}`), `a${index}`)
    subscriber.takeNow()
    subscriber.push(large('still'), 'still')
    for (let index = 0; index < 13; index += 1) subscriber.takeNow()
    subscriber.push(large('again'), 'again')
    const rest = takeAll(subscriber)
    expect(rest.filter(({ type }) => type === 'gap')).toHaveLength(1)
    expect(rest.at(-2)).toMatchObject({ type: 'gap', data: { dropped: 6 } })
    expect(rest.at(-1)).toMatchObject({ id: 'again' })
  })

  it('an unknown number of missing items makes the whole gap unknown', () => {
    const { subscriber } = newSubscriber()
    subscriber.drop(3)
    subscriber.drop(null)
    subscriber.drop(2)
    expect(takeAll(subscriber)).toMatchObject([{ type: 'gap', data: { from: 'start', dropped: null } }])
  })

  it('has room again when it is at most half full', async () => {
    const { subscriber } = newSubscriber()
    for (let index = 0; index < 20; index += 1) subscriber.pushPast(large(`a${index}`), `a${index}`)
    let hasRoom = false
    const room = subscriber.whenRoom().then(() => {
      hasRoom = true
    })
    for (let index = 0; index < 7; index += 1) subscriber.takeNow()
    await Promise.resolve()
    expect(hasRoom).toBe(false)
    subscriber.takeNow()
    await room
    await subscriber.whenRoom()
  })
})

describe('more than 200 items in a second', () => {
  it('are counted by webhook; a second later the counts are sent', async () => {
    const { subscriber, clock, counts } = newSubscriber()
    for (let index = 0; index < MAX_PER_SECOND + 50; index += 1) {
      const fields = { hook_id: index % 2 ? 'v' : 'w', result: index % 5 ? 'success' : 'failure' }
      subscriber.push(attempt(`i${index}`, fields), String(index))
    }
    expect(takeAll(subscriber)).toHaveLength(MAX_PER_SECOND)
    await clock.advance(1_000)
    subscriber.tick()
    const rates = takeAll(subscriber)
    const timestamp = 62_167_219_200 + Date.UTC(2026, 0, 1) / 1000
    expect(rates.map(({ type, id, data }) => ({ type, id, data }))).toEqual([
      { type: 'rate', id: '249', data: { hook_id: 'w', ok: 20, failed: 5, timestamp } },
      { type: 'rate', id: '249', data: { hook_id: 'v', ok: 20, failed: 5, timestamp } },
    ])
    expect(counts.dropped).toBe(0)
    subscriber.push(attempt('later'), 'later')
    expect(takeAll(subscriber)).toMatchObject([{ type: 'attempt', id: 'later' }])
  })

  it('are counted without changes of webhooks: 200 others are sent beside as many changes as there are', () => {
    const { subscriber, counts } = newSubscriber()
    for (let index = 0; index < 300; index += 1)
      subscriber.push(contentOf('webhook', { id: 'w', change: 'changed' }), '0')
    for (let index = 0; index < 100; index += 1) {
      subscriber.push(attempt(`i${index}`), '1')
      subscriber.push(contentOf('event', { event_id: `e${index}` }), '1')
    }
    expect(takeAll(subscriber)).toHaveLength(500)
    subscriber.push(contentOf('event', { event_id: 'above' }), '1')
    expect([takeAll(subscriber), counts.dropped]).toEqual([[], 1])
  })

  it('never hide the change of a webhook; events are dropped', async () => {
    const { subscriber, clock, counts } = newSubscriber()
    for (let index = 0; index < MAX_PER_SECOND; index += 1) subscriber.push(attempt(`i${index}`), '0')
    subscriber.push(contentOf('webhook', { id: 'w', change: 'disabled' }), '1')
    subscriber.push(contentOf('event', { event_id: 'e' }), '1')
    expect(takeAll(subscriber).at(-1)).toMatchObject({ type: 'webhook' })
    expect(counts.dropped).toBe(1)
    await clock.advance(1_000)
    subscriber.tick()
    expect(takeAll(subscriber)).toMatchObject([{ type: 'gap', data: { from: '1', dropped: 1 } }])
  })

  it('are one gap for a second, however fast the reader is', async () => {
    const { subscriber, clock, counts } = newSubscriber()
    const taken: object[] = []
    for (let second = 0; second < 3; second += 1) {
      for (let index = 1; index <= MAX_PER_SECOND + 300; index += 1) {
        subscriber.push(contentOf('event', {}), `${second}-${index}`)
        taken.push(...takeAll(subscriber))
      }
      await clock.advance(1_000)
      subscriber.tick()
      taken.push(...takeAll(subscriber))
    }
    expect(taken).toHaveLength(3 * (MAX_PER_SECOND + 1))
    expect(taken.filter((item) => 'type' in item && item.type === 'gap')).toMatchObject(
      [0, 1, 2].map((second) => ({ data: { from: `${second}-${MAX_PER_SECOND}`, dropped: 300 } })),
    )
    expect(counts.dropped).toBe(900)
  })

  it('are a gap before the end when the service closes', () => {
    const { subscriber } = newSubscriber()
    for (let index = 1; index <= MAX_PER_SECOND + 5; index += 1)
      subscriber.push(contentOf('event', {}), String(index))
    subscriber.end('closing')
    expect(takeAll(subscriber).slice(MAX_PER_SECOND)).toMatchObject([
      { type: 'gap', data: { from: String(MAX_PER_SECOND), dropped: 5 } },
      { type: 'end' },
    ])
  })

  it('of the past are sent all', () => {
    const { subscriber } = newSubscriber()
    for (let index = 0; index < 300; index += 1) subscriber.pushPast(attempt(`i${index}`), '0')
    expect(takeAll(subscriber)).toHaveLength(300)
  })
})

describe('a quiet stream', () => {
  it('is idle after fifteen seconds, once in fifteen seconds', async () => {
    const { subscriber, clock } = newSubscriber()
    const taken: Taken[] = []
    void (async () => {
      for (;;) taken.push(await subscriber.take())
    })()
    for (let second = 0; second < 46; second += 1) {
      await clock.advance(1_000)
      subscriber.tick()
      await clock.settle()
    }
    expect(taken).toEqual(['idle', 'idle', 'idle'])
  })
})

describe('a reader that takes nothing', () => {
  it('for thirty seconds ends the stream, whether an item or only a sign of life waits', async () => {
    for (const hasItem of [true, false]) {
      const { subscriber, clock, counts } = newSubscriber()
      if (hasItem) subscriber.push(attempt('a'), '1')
      const dueMs = hasItem ? MAX_STALL_MS : HEARTBEAT_MS + MAX_STALL_MS
      for (let passed = 1_000; passed < dueMs; passed += 1_000) {
        await clock.advance(1_000)
        subscriber.tick()
      }
      expect(counts).toMatchObject({ ended: 0, stalled: 0 })
      await clock.advance(1_000)
      subscriber.tick()
      expect(counts).toMatchObject({ ended: 1, stalled: 1 })
      expect(await subscriber.take()).toMatchObject({ type: 'end', data: { reason: 'slow' } })
      expect(await subscriber.take()).toBeUndefined()
      subscriber.push(attempt('b'), '2')
      expect(subscriber.takeNow()).toBeUndefined()
    }
  })
})

describe('the end of a stream', () => {
  it('by its token drops what waits; by the close of the service it comes after it', async () => {
    const [revoked, closing] = [newSubscriber(), newSubscriber()]
    for (const { subscriber } of [revoked, closing]) subscriber.push(attempt('a'), '1')
    revoked.subscriber.end('token')
    closing.subscriber.end('closing')
    closing.subscriber.end('token')
    expect(takeAll(revoked.subscriber)).toMatchObject([{ type: 'end', data: { reason: 'token' } }])
    expect(takeAll(closing.subscriber)).toMatchObject([
      { type: 'attempt' },
      { type: 'end', data: { reason: 'closing' } },
    ])
  })

  it('releases a waiting reader and whoever waits for room, and is reported once', async () => {
    const { subscriber, counts } = newSubscriber()
    const waiting = subscriber.take()
    subscriber.close()
    subscriber.close()
    expect(await waiting).toBeUndefined()
    await subscriber.whenRoom()
    expect(counts.ended).toBe(1)
  })
})
