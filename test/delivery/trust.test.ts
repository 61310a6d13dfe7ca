import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSchedule, type Schedule } from '../../src/delivery/fairness.js'
import {
  createFlights,
  HINDERED,
  lineOf,
  PROMPT,
  QUICK_MS,
  shareOf,
  UNKNOWN,
} from '../../src/delivery/trust.js'
import type { Caps } from '../../src/delivery/turns.js'

const CAPS: Caps = { perEndpoint: 10, perAccount: 40, perOrigin: 1000, inAll: 100 }
const ready = (webhookId: string, accountId: string, failing = false) => ({
  webhookId,
  accountId,
  origin: `https://${webhookId}.example`,
  failing,
  dueMs: 0,
})

/** A node at work: everything that is picked is claimed, and in flight until the test lands it. */
function atWork(caps: Caps = CAPS) {
  const schedule = createSchedule(caps)
  const flying: { id: string; flight: ReturnType<Schedule['started']> }[] = []
  const known = new Map<string, ReturnType<typeof ready>>()
  const add = (endpoint: ReturnType<typeof ready>) => {
    known.set(endpoint.webhookId, endpoint)
    schedule.learn(endpoint)
  }
  const send = (now: number) => {
    for (let rounds = 0; rounds < 100; rounds++) {
      const picks = schedule.pick(now, caps.inAll - flying.length)
      if (picks.length === 0) break
      for (const { webhookId, room } of picks) {
        for (let place = 0; place < room; place++) {
          flying.push({ id: webhookId, flight: schedule.started(known.get(webhookId)!, false, now) })
        }
      }
      schedule.claimed(
        picks,
        picks.map(({ webhookId }) => known.get(webhookId)!),
        schedule.tick(),
      )
    }
  }
  const land = (fits: (id: string) => boolean, quickly: boolean, now: number) => {
    const landing = flying.filter(({ id }) => fits(id))
    for (const one of landing) {
      flying.splice(flying.indexOf(one), 1)
      schedule.answered(one.flight, quickly, now)
      schedule.ended(one.flight)
    }
    return landing.length
  }
  const count = (fits: (id: string) => boolean) => flying.filter(({ id }) => fits(id)).length
  return { schedule, flying, add, send, land, count }
}

describe('how far an endpoint is trusted', () => {
  it('follows from how it answered this node when last asked, else from what the store says', () => {
    const never = Number.NEGATIVE_INFINITY
    expect(lineOf({ promptMs: never, slow: undefined, failing: false, overdue: 0 }, never)).toBe(UNKNOWN)
    expect(lineOf({ promptMs: never, slow: undefined, failing: true, overdue: 0 }, never)).toBe(HINDERED)
    expect(lineOf({ promptMs: 5, slow: false, failing: true, overdue: 0 }, never)).toBe(PROMPT)
    expect(lineOf({ promptMs: 5, slow: true, failing: false, overdue: 0 }, never)).toBe(HINDERED)
    expect(lineOf({ promptMs: 5, slow: false, failing: false, overdue: 1 }, never)).toBe(HINDERED)
  })

  it('is no more than for a stranger while a request is overdue that was sent after its last answer', () => {
    expect(lineOf({ promptMs: 500, slow: false, failing: false, overdue: 0 }, 400)).toBe(PROMPT)
    expect(lineOf({ promptMs: 500, slow: false, failing: false, overdue: 0 }, 600)).toBe(UNKNOWN)
  })

  it('leaves at least one place to every line, however small the cap', () => {
    for (const line of [PROMPT, UNKNOWN, HINDERED]) expect(shareOf(line, 1)).toBe(1)
    expect([PROMPT, UNKNOWN, HINDERED].map((line) => shareOf(line, 100))).toEqual([100, 75, 50])
  })

  it('a request is overdue after a second, is told once, and is trouble until it ends', () => {
    const flights = createFlights<string>()
    const told: string[] = []
    const look = (now: number) => flights.look(now, (endpoint) => told.push(endpoint))
    const [first, second, third] = [flights.begin('a', 0), flights.begin('b', 100), flights.begin('c', 2000)]
    second.isOver = true
    look(1000)
    expect([told, flights.troubleMs()]).toEqual([[], Number.NEGATIVE_INFINITY])
    look(1001)
    look(2500)
    expect([told, flights.troubleMs()]).toEqual([['a'], 0])
    look(3001)
    first.isOver = true
    expect([told, flights.troubleMs()]).toEqual([['a', 'c'], 2000])
    third.isOver = true
    expect(flights.troubleMs()).toBe(Number.NEGATIVE_INFINITY)
  })
})

describe('receivers that do not answer', () => {
  const isDead = (id: string) => id.startsWith('dead')

  it('never hold the places of those that do, however many they are', () => {
    const { add, send, land, count } = atWork()
    for (let index = 0; index < 2000; index++) add(ready(`dead-${index}`, `of-${index % 200}`))
    for (let index = 0; index < 10; index++) add(ready(`alive-${index}`, `healthy-${index}`))
    let served = 0
    // Ten minutes in which the dead end after ten seconds each, those alive within a fifth of one.
    const started: number[] = []
    for (let now = 0; now < 600_000; now += 200) {
      send(now)
      served += land((id) => !isDead(id), true, now + 50)
      started.push(count(isDead))
      if (now % 10_000 === 9_800) land(isDead, false, now)
    }
    expect(Math.max(...started)).toBeLessThanOrEqual(75)
    // 25 places and more for those alive, five times a second.
    expect(served).toBeGreaterThan(25 * 5 * 600 * 0.9)
  })

  it('hold half of all places at most once they are known, and three quarters while they are strangers', () => {
    const { add, send, land, count } = atWork()
    for (let index = 0; index < 300; index++) add(ready(`dead-${index}`, `of-${index}`))
    send(0)
    expect(count(isDead)).toBe(75)
    send(1500)
    expect(count(isDead)).toBe(75)
    land(isDead, false, 10_000)
    for (let index = 300; index < 600; index++) add(ready(`dead-${index}`, `of-${index}`, true))
    send(10_000)
    // Strangers again, or known as failing to the store: never more together.
    expect(count(isDead)).toBe(75)
    expect(count((id) => Number(id.slice(5)) >= 300)).toBeLessThanOrEqual(50)
  })

  it('leave a part of their own account to its other endpoints', () => {
    const { add, send, land, count } = atWork()
    for (let index = 0; index < 8; index++) add(ready(`dead-${index}`, 'one', true))
    send(0)
    expect(count(isDead)).toBe(20)
    add(ready('alive', 'one'))
    send(0)
    expect(count((id) => id === 'alive')).toBe(10)
    expect(land((id) => id === 'alive', true, 10)).toBe(10)
  })

  it('go on being asked while those that answer take all they get', () => {
    const { add, send, land } = atWork()
    add(ready('dead', 'bad', true))
    for (let index = 0; index < 50; index++) add(ready(`alive-${index}`, `good-${index}`))
    let asked = 0
    for (let now = 0; now < 100_000; now += 100) {
      send(now)
      land((id) => id.startsWith('alive'), true, now)
      asked += land(isDead, false, now)
    }
    // Every fourth time it has the first turn, as far as its own share of ten places goes.
    expect(asked).toBeGreaterThan(100)
  })

  it('are no better for a new address, which makes a good one a stranger', () => {
    const { schedule, add, send, land, count } = atWork({ ...CAPS, perEndpoint: 100, perAccount: 100 })
    for (const [id, quickly, most] of [
      ['dead', false, 50],
      ['good', true, 75],
    ] as const) {
      add(ready(id, id))
      send(0)
      land((one) => one === id, quickly, 0)
      const moved = { ...ready(id, id), origin: `https://${id}.elsewhere.example` }
      schedule.learn({ ...ready(id, id), dueMs: undefined as never }, schedule.tick())
      add(moved)
      send(0)
      expect(count((one) => one === id)).toBe(most)
      schedule.learn({ ...moved, dueMs: undefined as never }, schedule.tick())
      land((one) => one === id, quickly, 0)
    }
  })

  it('are trusted again with their first quick answer', () => {
    const { schedule, add, send, land, count } = atWork({ ...CAPS, perEndpoint: 100, perAccount: 100 })
    add(ready('dead', 'one', true))
    send(0)
    expect(count(isDead)).toBe(50)
    expect(schedule.fullAt('dead')).toBe('trust')
    land(isDead, true, 0)
    send(0)
    expect(count(isDead)).toBe(100)
  })
})

it('no line ever holds more than its share, of all and of an account, whoever answers when', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('send' as const), ms: fc.nat(1500) }),
      fc.record({ kind: fc.constant('land' as const), which: fc.nat(11), quickly: fc.boolean() }),
    ),
    { maxLength: 60 },
  )
  const anyCaps = fc.record({
    perEndpoint: fc.integer({ min: 1, max: 5 }),
    perAccount: fc.integer({ min: 1, max: 12 }),
    perOrigin: fc.constant(1000),
    inAll: fc.integer({ min: 1, max: 20 }),
  })
  fc.assert(
    fc.property(anyCaps, steps, (caps, history) => {
      const { flying, add, send, land } = atWork(caps)
      for (let index = 0; index < 12; index++) add(ready(`w${index}`, `acc-${index % 3}`, index % 4 === 0))
      /** As the schedule must see it: what is known of each endpoint when it is asked. */
      const slow = new Map<string, boolean>()
      let now = 0
      for (const step of history) {
        if (step.kind === 'land') {
          const id = `w${step.which}`
          if (land((one) => one === id, step.quickly, now) > 0) slow.set(id, !step.quickly)
          continue
        }
        now += step.ms
        const before = new Set(flying)
        for (const { id, flight } of flying) if (now - flight.startedMs > QUICK_MS / 2) slow.set(id, true)
        send(now)
        const hindered = (id: string) => slow.get(id) ?? Number(id.slice(1)) % 4 === 0
        const isNew = flying.some((one) => !before.has(one) && hindered(one.id))
        const held = flying.filter(({ id }) => hindered(id)).length
        // What was in flight before its endpoint fell behind is not taken back.
        if (isNew) expect(held).toBeLessThanOrEqual(shareOf(HINDERED, caps.inAll))
        expect(flying.length).toBeLessThanOrEqual(caps.inAll)
      }
    }),
    { numRuns: 300 },
  )
})

it('an answer is quick within two seconds', () => {
  expect(QUICK_MS).toBe(2000)
})
