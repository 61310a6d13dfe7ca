import { type ChannelEvent, HookswitchError } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { pump, type Rejected } from '../../../../adapters/telephony/source/pump.js'

const event = (callId: string, timestampMs: number): ChannelEvent => ({
  hook: 'channel_create',
  accountId: 'acme',
  callId,
  timestampMs,
})

interface Held {
  readonly event: ChannelEvent
  readonly take: () => void
  readonly refuse: (error: unknown) => void
}

/** A pump in front of a service that answers when the test says so. */
function underTest() {
  const clock = manualClock()
  const held: Held[] = []
  const rejected: Rejected[] = []
  const postponed: unknown[] = []
  const known: ChannelEvent[] = []
  let rooms = 0
  const made = pump({
    clock,
    random: seededRandom(1),
    publish: (given) =>
      new Promise<void>((resolve, reject) => held.push({ event: given, take: resolve, refuse: reject })),
    onRejected: (one) => rejected.push(one),
    onPostponed: (error) => postponed.push(error),
    onKnown: (one) => known.push(one),
    onRoom: () => {
      rooms += 1
    },
  })
  return { ...made, clock, held, rejected, postponed, known, rooms: () => rooms }
}

const settled = async () => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve()
}

describe('the events of a leg', () => {
  it('are published one after the other, those of others at the same time', async () => {
    const { put, held, size } = underTest()
    for (const one of [event('a', 1), event('a', 2), event('b', 3)]) put(one)
    expect(held.map((h) => h.event.timestampMs)).toEqual([1, 3])
    held[0]?.take()
    await settled()
    expect(held.map((h) => h.event.timestampMs)).toEqual([1, 3, 2])
    held[1]?.take()
    held[2]?.take()
    await settled()
    expect(size()).toBe(0)
  })

  it('wait behind one that the service cannot take now, which is tried again until it can', async () => {
    const { put, held, clock, postponed } = underTest()
    put(event('a', 1))
    put(event('a', 2))
    for (let tries = 0; tries < 40; tries += 1) {
      held.at(-1)?.refuse(new HookswitchError('QueueFull', 'full'))
      await settled()
      await clock.advance(30_000)
      await settled()
    }
    expect(new Set(held.map((h) => h.event.timestampMs))).toEqual(new Set([1]))
    expect(held).toHaveLength(41)
    expect(postponed).toHaveLength(40)
    held.at(-1)?.take()
    await settled()
    expect(held.at(-1)?.event.timestampMs).toBe(2)
  })

  it('go on after one that is refused for good, which is told', async () => {
    const { put, held, rejected } = underTest()
    put(event('a', 1))
    put(event('a', 2))
    held[0]?.refuse(new HookswitchError('NotFound', 'no such account'))
    await settled()
    expect(rejected).toMatchObject([{ event: { timestampMs: 1 }, error: { code: 'NotFound' } }])
    expect(held[1]?.event.timestampMs).toBe(2)
  })

  it('count as published when the service has had them already', async () => {
    const { put, held, rejected, known, size } = underTest()
    put(event('a', 1))
    held[0]?.refuse(new HookswitchError('Conflict', 'another body under this key'))
    await settled()
    expect(rejected).toEqual([])
    expect(known).toEqual([event('a', 1)])
    expect(size()).toBe(0)
  })

  it('are given up after ten tries when what is thrown may be their own fault', async () => {
    const { put, held, clock, rejected } = underTest()
    put(event('a', 1))
    for (let tries = 0; tries < 10; tries += 1) {
      held.at(-1)?.refuse(new TypeError('oops'))
      await settled()
      await clock.advance(30_000)
      await settled()
    }
    expect(held).toHaveLength(10)
    expect(rejected).toMatchObject([{ event: { timestampMs: 1 }, error: new TypeError('oops') }])
  })
})

describe('a full pump', () => {
  it('says so, and that there is room again when half is gone', async () => {
    const { put, held, isFull, rooms } = underTest()
    for (let i = 0; i < 1_024; i += 1) put(event(`leg-${i}`, i))
    expect(isFull()).toBe(true)
    expect(held).toHaveLength(256)
    for (let i = 0; i < 512; i += 1) {
      held[i]?.take()
      await settled()
      expect(rooms()).toBe(0)
    }
    held[512]?.take()
    await settled()
    expect(rooms()).toBe(1)
    expect(isFull()).toBe(false)
  })
})

describe('a pump that is closed', () => {
  it('tells of everything that is left, once', async () => {
    const { put, held, close, rejected } = underTest()
    for (const one of [event('a', 1), event('a', 2), event('b', 3)]) put(one)
    close()
    expect(rejected.map((r) => r.event.timestampMs).sort()).toEqual([1, 2, 3])
    held[0]?.refuse(new HookswitchError('QueueFull', 'full'))
    await settled()
    put(event('c', 4))
    expect(rejected).toHaveLength(4)
  })

  it('is drained first, for as long as is allowed', async () => {
    const { put, held, drain, clock } = underTest()
    put(event('a', 1))
    let over = false
    const first = drain(1_000).then(() => {
      over = true
    })
    await settled()
    expect(over).toBe(false)
    held[0]?.take()
    await first
    put(event('a', 2))
    const second = drain(1_000)
    await clock.advance(1_000)
    await second
  })

  it('publishes nothing any more that it has told of', async () => {
    const { put, held, close, rejected, clock } = underTest()
    put(event('a', 1))
    held[0]?.refuse(new HookswitchError('QueueFull', 'full'))
    await settled()
    close()
    await clock.advance(60_000)
    await settled()
    expect(rejected).toHaveLength(1)
    expect(held).toHaveLength(1)
  })
})
