import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Caps } from '../../../src/delivery/scheduler/fair-queue.js'
import {
  createInFlightRequests,
  FAST,
  FAST_ANSWER_MS,
  maxSlots,
  priorityOf,
  SLOW,
  UNKNOWN,
} from '../../../src/delivery/scheduler/priority.js'
import { createScheduler, type Scheduler } from '../../../src/delivery/scheduler/scheduler.js'
import { propertyRuns } from '../../support/property-runs.js'

const CAPS: Caps = { perEndpoint: 10, perAccount: 40, perOrigin: 1000, total: 100 }
const ready = (webhookId: string, accountId: string, failing = false) => ({
  webhookId,
  accountId,
  origin: `https://${webhookId}.example`,
  failing,
  dueMs: 0,
})

/** A scheduler in use: everything selected is claimed, and in flight until `finish`. */
function createActiveScheduler(caps: Caps = CAPS) {
  const scheduler = createScheduler(caps)
  const inFlight: { id: string; request: ReturnType<Scheduler['start']> }[] = []
  const known = new Map<string, ReturnType<typeof ready>>()
  const add = (endpoint: ReturnType<typeof ready>) => {
    known.set(endpoint.webhookId, endpoint)
    scheduler.update(endpoint)
  }
  const send = (now: number) => {
    for (let rounds = 0; rounds < 100; rounds++) {
      const selections = scheduler.next(now, caps.total - inFlight.length)
      if (selections.length === 0) break
      for (const { webhookId, slots } of selections) {
        for (let count = 0; count < slots; count++) {
          inFlight.push({ id: webhookId, request: scheduler.start(known.get(webhookId)!, false, now) })
        }
      }
      scheduler.completeClaim(
        selections,
        selections.map(({ webhookId }) => known.get(webhookId)!),
        scheduler.version(),
      )
    }
  }
  const finish = (isMatch: (id: string) => boolean, isFast: boolean, now: number) => {
    const ending = inFlight.filter(({ id }) => isMatch(id))
    for (const one of ending) {
      inFlight.splice(inFlight.indexOf(one), 1)
      scheduler.recordLatency(one.request, isFast, now)
      scheduler.end(one.request)
    }
    return ending.length
  }
  const count = (isMatch: (id: string) => boolean) => inFlight.filter(({ id }) => isMatch(id)).length
  return { scheduler, inFlight, add, send, finish, count }
}

describe('priorityOf', () => {
  it('follows from the last answer to this node, otherwise from the stored state', () => {
    const never = Number.NEGATIVE_INFINITY
    expect(
      priorityOf({ lastFastMs: never, isSlow: undefined, isFailing: false, overdueCount: 0 }, never),
    ).toBe(UNKNOWN)
    expect(
      priorityOf({ lastFastMs: never, isSlow: undefined, isFailing: true, overdueCount: 0 }, never),
    ).toBe(SLOW)
    expect(priorityOf({ lastFastMs: 5, isSlow: false, isFailing: true, overdueCount: 0 }, never)).toBe(FAST)
    expect(priorityOf({ lastFastMs: 5, isSlow: true, isFailing: false, overdueCount: 0 }, never)).toBe(SLOW)
    expect(priorityOf({ lastFastMs: 5, isSlow: false, isFailing: false, overdueCount: 1 }, never)).toBe(SLOW)
  })

  it('is unknown while a request is overdue that was sent after the last fast answer', () => {
    expect(priorityOf({ lastFastMs: 500, isSlow: false, isFailing: false, overdueCount: 0 }, 400)).toBe(FAST)
    expect(priorityOf({ lastFastMs: 500, isSlow: false, isFailing: false, overdueCount: 0 }, 600)).toBe(
      UNKNOWN,
    )
  })

  it('has at least one slot in every class, however small the cap', () => {
    for (const priority of [FAST, UNKNOWN, SLOW]) expect(maxSlots(priority, 1)).toBe(1)
    expect([FAST, UNKNOWN, SLOW].map((priority) => maxSlots(priority, 100))).toEqual([100, 75, 50])
  })

  it('is affected by a request that is overdue after a second, until it ends', () => {
    const requests = createInFlightRequests<string>()
    const overdue: string[] = []
    const scan = (now: number) => requests.scanOverdue(now, (endpoint) => overdue.push(endpoint))
    const [first, second, third] = [
      requests.start('a', 0),
      requests.start('b', 100),
      requests.start('c', 2000),
    ]
    second.hasEnded = true
    scan(1000)
    expect([overdue, requests.oldestOverdueMs()]).toEqual([[], Number.NEGATIVE_INFINITY])
    scan(1001)
    scan(2500)
    expect([overdue, requests.oldestOverdueMs()]).toEqual([['a'], 0])
    scan(3001)
    first.hasEnded = true
    expect([overdue, requests.oldestOverdueMs()]).toEqual([['a', 'c'], 2000])
    third.hasEnded = true
    expect(requests.oldestOverdueMs()).toBe(Number.NEGATIVE_INFINITY)
  })
})

describe('receivers that do not answer', () => {
  const isDead = (id: string) => id.startsWith('dead')

  it('never use the slots reserved for those that do, however many they are', () => {
    const { add, send, finish, count } = createActiveScheduler()
    for (let index = 0; index < 2000; index++) add(ready(`dead-${index}`, `of-${index % 200}`))
    for (let index = 0; index < 10; index++) add(ready(`alive-${index}`, `healthy-${index}`))
    let served = 0
    // Ten minutes: requests to dead receivers end after ten seconds each, to live ones within 0.2 s.
    const deadInFlight: number[] = []
    for (let now = 0; now < 600_000; now += 200) {
      send(now)
      served += finish((id) => !isDead(id), true, now + 50)
      deadInFlight.push(count(isDead))
      if (now % 10_000 === 9_800) finish(isDead, false, now)
    }
    expect(Math.max(...deadInFlight)).toBeLessThanOrEqual(75)
    // At least 25 slots for live receivers, five times a second.
    expect(served).toBeGreaterThan(25 * 5 * 600 * 0.9)
  })

  it('use at most half of all slots once known as slow, and three quarters while unknown', () => {
    const { add, send, finish, count } = createActiveScheduler()
    for (let index = 0; index < 300; index++) add(ready(`dead-${index}`, `of-${index}`))
    send(0)
    expect(count(isDead)).toBe(75)
    send(1500)
    expect(count(isDead)).toBe(75)
    finish(isDead, false, 10_000)
    for (let index = 300; index < 600; index++) add(ready(`dead-${index}`, `of-${index}`, true))
    send(10_000)
    // Unknown again, or failing according to the store: never more together.
    expect(count(isDead)).toBe(75)
    expect(count((id) => Number(id.slice(5)) >= 300)).toBeLessThanOrEqual(50)
  })

  it('leave a share of their own account to its other endpoints', () => {
    const { add, send, finish, count } = createActiveScheduler()
    for (let index = 0; index < 8; index++) add(ready(`dead-${index}`, 'one', true))
    send(0)
    expect(count(isDead)).toBe(20)
    add(ready('alive', 'one'))
    send(0)
    expect(count((id) => id === 'alive')).toBe(10)
    expect(finish((id) => id === 'alive', true, 10)).toBe(10)
  })

  it('are still tried while fast endpoints take every slot they get', () => {
    const { add, send, finish } = createActiveScheduler()
    add(ready('dead', 'bad', true))
    for (let index = 0; index < 50; index++) add(ready(`alive-${index}`, `good-${index}`))
    let attempts = 0
    for (let now = 0; now < 100_000; now += 100) {
      send(now)
      finish((id) => id.startsWith('alive'), true, now)
      attempts += finish(isDead, false, now)
    }
    // In one round of four the slow class goes first, within its own share of ten slots.
    expect(attempts).toBeGreaterThan(100)
  })

  it('stay slow after a change of origin, which makes a fast endpoint unknown', () => {
    const { scheduler, add, send, finish, count } = createActiveScheduler({
      ...CAPS,
      perEndpoint: 100,
      perAccount: 100,
    })
    for (const [id, isFast, most] of [
      ['dead', false, 50],
      ['good', true, 75],
    ] as const) {
      add(ready(id, id))
      send(0)
      finish((one) => one === id, isFast, 0)
      const moved = { ...ready(id, id), origin: `https://${id}.elsewhere.example` }
      scheduler.update({ ...ready(id, id), dueMs: undefined as never }, scheduler.version())
      add(moved)
      send(0)
      expect(count((one) => one === id)).toBe(most)
      scheduler.update({ ...moved, dueMs: undefined as never }, scheduler.version())
      finish((one) => one === id, isFast, 0)
    }
  })

  it('are fast again after their first fast answer', () => {
    const { scheduler, add, send, finish, count } = createActiveScheduler({
      ...CAPS,
      perEndpoint: 100,
      perAccount: 100,
    })
    add(ready('dead', 'one', true))
    send(0)
    expect(count(isDead)).toBe(50)
    expect(scheduler.limitReached('dead')).toBe('priority')
    finish(isDead, true, 0)
    send(0)
    expect(count(isDead)).toBe(100)
  })
})

it('no priority class ever exceeds its share of the total and of an account', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('send' as const), ms: fc.nat(1500) }),
      fc.record({ kind: fc.constant('finish' as const), which: fc.nat(11), isFast: fc.boolean() }),
    ),
    { maxLength: 60 },
  )
  const anyCaps = fc.record({
    perEndpoint: fc.integer({ min: 1, max: 5 }),
    perAccount: fc.integer({ min: 1, max: 12 }),
    perOrigin: fc.constant(1000),
    total: fc.integer({ min: 1, max: 20 }),
  })
  fc.assert(
    fc.property(anyCaps, steps, (caps, history) => {
      const { inFlight, add, send, finish } = createActiveScheduler(caps)
      for (let index = 0; index < 12; index++) add(ready(`w${index}`, `acc-${index % 3}`, index % 4 === 0))
      /** The last known latency of each endpoint, as the scheduler must see it. */
      const slow = new Map<string, boolean>()
      let now = 0
      for (const step of history) {
        if (step.kind === 'finish') {
          const id = `w${step.which}`
          if (finish((one) => one === id, step.isFast, now) > 0) slow.set(id, !step.isFast)
          continue
        }
        now += step.ms
        const before = new Set(inFlight)
        for (const { id, request } of inFlight)
          if (now - request.startedMs > FAST_ANSWER_MS / 2) slow.set(id, true)
        send(now)
        const isSlow = (id: string) => slow.get(id) ?? Number(id.slice(1)) % 4 === 0
        const isNew = inFlight.some((one) => !before.has(one) && isSlow(one.id))
        const held = inFlight.filter(({ id }) => isSlow(id)).length
        // Requests that were in flight before their endpoint became slow keep their slots.
        if (isNew) expect(held).toBeLessThanOrEqual(maxSlots(SLOW, caps.total))
        expect(inFlight.length).toBeLessThanOrEqual(caps.total)
      }
    }),
    { numRuns: propertyRuns(300) },
  )
})

it('an answer within two seconds is fast', () => {
  expect(FAST_ANSWER_MS).toBe(2000)
})
