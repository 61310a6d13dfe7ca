import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { DeliveryStore, Settled, Settlement } from '../../src/delivery/delivery-store.js'
import { recentHealth } from '../../src/delivery/recent-health.js'
import { persist } from '../../src/delivery/settler.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { silent } from './world.js'

const delivery = aDelivery()
const record = { id: 'r', attempt: 1 } as Settlement['record'] & object
function settlement(changes: Partial<Settlement> = {}): Settlement {
  return {
    owner: 'node',
    deliveryId: 'd1',
    webhookId: 'w1',
    expect: { state: 'in_flight', fence: 1 },
    next: { state: 'delivered', attempts: 1, tries: 1, interruptions: 0 },
    record,
    ...changes,
  }
}
const pair = (changes: Partial<Settlement> = {}) => ({ delivery, settlement: settlement(changes) })
const settled: Settled = {
  kind: 'settled',
  endpoint: {
    webhookId: 'w1',
    accountId: 'acc',
    origin: 'https://a.example',
    failing: false,
    dueMs: undefined,
  },
}

function settlerWorld(answers: (Settled | Error)[] = []) {
  const clock = manualClock()
  const told: [string, unknown][] = []
  const asked: { readonly settlements: readonly Settlement[]; readonly now: number }[] = []
  const stop = new AbortController()
  const store = {
    async settle(settlements: readonly Settlement[], now: number) {
      asked.push({ settlements, now })
      const answer = answers.shift() ?? settled
      if (answer instanceof Error) throw answer
      return settlements.map(() => answer)
    },
  } as unknown as DeliveryStore
  const doors = {
    store,
    clock,
    log: silent,
    tell: (name: string, payload: unknown) => void told.push([name, payload]),
  }
  const write = (pairs = [pair()], newest = (one: Settlement) => one) =>
    persist(doors, pairs, newest, clock.now, stop.signal)
  return { clock, told, asked, stop, write }
}

describe('writing outcomes', () => {
  it('tells the host once of the attempt and of the end', async () => {
    const { told, write } = settlerWorld()
    expect(await write()).toEqual([settled])
    expect(told).toEqual([
      ['attempt', record],
      [
        'delivered',
        {
          deliveryId: 'd1',
          webhookId: 'w1',
          accountId: 'acc',
          eventId: 'e1',
          hook: 'channel_create',
          callId: 'call-1',
          attempts: 1,
        },
      ],
    ])
  })

  it('tells of an attempt that leaves the delivery waiting, and of no end', async () => {
    const { told, write } = settlerWorld()
    await write([pair({ next: { state: 'waiting', dueMs: 9, attempts: 1, tries: 1, interruptions: 0 } })])
    expect(told.map(([name]) => name)).toEqual(['attempt'])
  })

  it('tells why it ended, and that the webhook was disabled', async () => {
    const disabled = aWebhook({ enabled: false }, { disableReason: 'gone' })
    const { told, write } = settlerWorld([{ ...settled, disabled } as Settled])
    const next = { state: 'cancelled', attempts: 1, tries: 1, interruptions: 0, reason: 'gone' } as const
    await write([pair({ next })])
    expect(told[1]).toEqual(['cancelled', expect.objectContaining({ reason: 'gone' })])
    expect(told[2]).toEqual(['webhook_disabled', { webhookId: 'w1', accountId: 'acc', reason: 'gone' }])
  })

  it('tells nothing of an end without a request but the end, and nothing of what was fenced', async () => {
    const { attempt: _, ...unsent } = record
    const ended = settlerWorld()
    await ended.write([pair({ record: unsent as Settlement['record'] & object })])
    expect(ended.told.map(([name]) => name)).toEqual(['delivered'])
    const fenced = settlerWorld([{ kind: 'fenced' }])
    expect(await fenced.write()).toEqual([{ kind: 'fenced' }])
    expect(fenced.told).toEqual([])
  })

  it('goes on until the store is there, more and more slowly, with the time of each try', async () => {
    const { clock, told, asked, write } = settlerWorld(Array.from({ length: 10 }, () => new Error('out')))
    const begun = clock.now()
    const writing = write()
    await clock.advance(60_000)
    expect(await writing).toEqual([settled])
    const pauses = asked.map(({ now }, index) => now - (asked[index - 1]?.now ?? begun))
    expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000])
    expect(told.filter(([name]) => name === 'attempt')).toHaveLength(1)
  })

  it('gives up when the node must go, after one more try', async () => {
    const { clock, told, asked, stop, write } = settlerWorld(
      Array.from({ length: 99 }, () => new Error('out')),
    )
    const writing = write()
    await clock.advance(50)
    stop.abort()
    await clock.settle()
    expect(await writing).toBeUndefined()
    expect(asked).toHaveLength(2)
    expect(told).toEqual([])
    expect(clock.sleepers().count).toBe(0)
  })

  it('writes what it has even when the node must go', async () => {
    const { stop, write } = settlerWorld()
    stop.abort()
    expect(await write()).toEqual([settled])
  })

  it('writes the newest of what may have changed while it waited', async () => {
    const { clock, asked, write } = settlerWorld([new Error('out')])
    let failures = 1
    const writing = write([pair()], (one) => ({
      ...one,
      endpoint: { epoch: 1, health: { failuresInRow: failures } },
    }))
    failures = 7
    await clock.advance(100)
    await writing
    expect(asked.map(({ settlements }) => settlements[0]?.endpoint?.health?.failuresInRow)).toEqual([1, 7])
  })
})

describe('recent health', () => {
  const withHealth = (failuresInRow: number | null, epoch = 1) =>
    settlement({ endpoint: { epoch, health: failuresInRow === null ? null : { failuresInRow } } })
  const webhook = aWebhook({}, { health: { failuresInRow: 3 } })

  it('is what the store says until something was decided here', () => {
    const recent = recentHealth()
    expect(recent.of(webhook)).toEqual({ failuresInRow: 3 })
    recent.decided(settlement())
    expect(recent.of(webhook)).toEqual({ failuresInRow: 3 })
    recent.decided(withHealth(4))
    expect(recent.of(webhook)).toEqual({ failuresInRow: 4 })
    recent.decided(withHealth(null))
    expect(recent.of(webhook)).toBeUndefined()
  })

  it('is of one epoch: a webhook that was enabled again starts clean', () => {
    const recent = recentHealth()
    recent.decided(withHealth(4))
    expect(recent.of(aWebhook({}, { epoch: 2 }))).toBeUndefined()
    expect(recent.newest(withHealth(1, 2))).toEqual(withHealth(1, 2))
  })

  it('goes into settlements that were decided before it, not into those that say nothing of health', () => {
    const recent = recentHealth()
    recent.decided(withHealth(2))
    expect(recent.newest(withHealth(1))).toEqual(withHealth(2))
    expect(recent.newest(settlement())).toEqual(settlement())
    recent.decided(withHealth(null))
    expect(recent.newest(withHealth(1))).toEqual(withHealth(null))
  })

  it('is forgotten by the claim after the last request ended, not before', () => {
    const recent = recentHealth()
    recent.decided(withHealth(4))
    recent.claiming()
    expect(recent.of(webhook)).toEqual({ failuresInRow: 4 })
    recent.idle('w1')
    recent.busy('w1')
    recent.claiming()
    expect(recent.of(webhook)).toEqual({ failuresInRow: 4 })
    recent.idle('w1')
    expect(recent.of(webhook)).toEqual({ failuresInRow: 4 })
    recent.claiming()
    expect(recent.of(webhook)).toEqual({ failuresInRow: 3 })
  })
})
