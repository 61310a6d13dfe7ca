/** What receivers that do not answer cost those that do: loads in simulated time, and invariants under any load. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Caps } from '../../../src/delivery/scheduler/fair-queue.js'
import {
  DOUBTFUL,
  FAST,
  maxSlots,
  type PriorityClass,
  SILENT,
  SLOW,
  UNKNOWN,
} from '../../../src/delivery/scheduler/priority.js'
import { propertyRuns } from '../../support/property-runs.js'
import {
  ATTEMPT_MS,
  atRate,
  DEFAULT_CAPS,
  isOf,
  list,
  p99,
  type Receiver,
  simulateReceivers,
} from './receivers-simulation.js'

const RUN_MS = 15_000
const GOAL_MS = 50

interface DeadLoad {
  readonly endpoints: number
  readonly accounts: number
  readonly zones: number
  /** Accounts of dead endpoints that have healthy ones too. */
  readonly mixed: number
  readonly afterMs: number
  readonly fails?: boolean
}

/**
 * 100 healthy endpoints, each with one delivery every 5 s; 400 deliveries a second to dead endpoints; one new account
 * with a healthy endpoint every second; ten receivers that answer after 9 s, with two deliveries a second in all; a
 * hostile tenant that has 20 new silent endpoints every second and one delivery a second to each. All of them start at
 * 0, and nothing is known about any.
 */
function runLoad({ endpoints, accounts, zones, mixed, afterMs, fails = false }: DeadLoad) {
  const simulation = simulateReceivers()
  const { deliver } = simulation
  const healthy = list(100, (n) => ({
    id: `healthy-${n}`,
    accountId: `healthy-${n % 20}`,
    origin: `https://healthy-${n}.example`,
    afterMs: 5,
  }))
  const dead = list(endpoints, (n) => ({
    id: `dead-${n}`,
    accountId: n % accounts < mixed ? `healthy-${n % accounts}` : `dead-${n % accounts}`,
    origin: `https://dead-${n}.zone-${n % zones}.example`,
    afterMs,
    fails,
  }))
  const slow = list(10, (n) => ({
    id: `slow-${n}`,
    accountId: `slow-${n}`,
    origin: `https://slow-${n}.example`,
    afterMs: 9_000,
  }))
  const hostile = list((RUN_MS / 1000) * 20, (n) => ({
    id: `hostile-${n}`,
    accountId: 'hostile',
    origin: `https://hostile-${n}.example`,
    afterMs: Number.POSITIVE_INFINITY,
  }))
  const fresh = (n: number) => ({
    id: `fresh-${n}`,
    accountId: `fresh-${n}`,
    origin: `https://fresh-${n}.example`,
    afterMs: 5,
  })
  const acts = [
    atRate(20, (count) => deliver(healthy[count % 100]!)),
    atRate(400, (count) => deliver(dead[count % endpoints]!)),
    atRate(2, (count) => deliver(slow[count % 10]!)),
    atRate(1, (count) => {
      for (const receiver of hostile.slice(0, count * 20)) deliver(receiver)
    }),
    atRate(1, (count) => deliver(fresh(count))),
  ]
  simulation.run(RUN_MS, (now) => {
    for (const act of acts) act(now)
  })
  return simulation
}

describe('healthy endpoints, from the first second on', () => {
  const NEVER = Number.POSITIVE_INFINITY
  it.each<[string, DeadLoad]>([
    [
      '10,000 silent ones in 200 zones and 500 accounts',
      { endpoints: 10_000, accounts: 500, zones: 200, mixed: 5, afterMs: NEVER },
    ],
    [
      '10,000 silent ones in 200 zones, each in its own account',
      { endpoints: 10_000, accounts: 10_000, zones: 200, mixed: 5, afterMs: NEVER },
    ],
    [
      '120 silent ones in 120 zones and six accounts, five with healthy ones',
      { endpoints: 120, accounts: 6, zones: 120, mixed: 5, afterMs: NEVER },
    ],
    [
      '1,000 names without an answer in a zone for each of ten accounts',
      { endpoints: 1_000, accounts: 10, zones: 10, mixed: 5, afterMs: 5_000, fails: true },
    ],
    [
      '1,000 names without an answer in 1,000 zones and ten accounts',
      { endpoints: 1_000, accounts: 10, zones: 1_000, mixed: 0, afterMs: 5_000, fails: true },
    ],
    [
      '10,000 silent ones in 10,000 zones and 50 accounts',
      { endpoints: 10_000, accounts: 50, zones: 10_000, mixed: 0, afterMs: NEVER },
    ],
    [
      '10,000 that refuse connections, in 200 zones and 500 accounts',
      { endpoints: 10_000, accounts: 500, zones: 200, mixed: 5, afterMs: 1, fails: true },
    ],
  ])('wait at most 50 ms beside %s, and so do new ones', (_, load) => {
    const simulation = runLoad(load)
    expect(p99(simulation.waitsOf(isOf('healthy')))).toBeLessThanOrEqual(GOAL_MS)
    expect(simulation.waitsOf(isOf('fresh')).at(-1)).toBeLessThanOrEqual(GOAL_MS)
    // Slow receivers are served: they wait at most for the end of their first request.
    expect(simulation.waitsOf(isOf('slow')).at(-1)).toBeLessThanOrEqual(9_000)
    // The others are tried, too.
    const hostile = simulation.waitsOf(isOf('hostile'))
    expect(hostile[0]).toBeLessThanOrEqual(1_000)
    expect(
      simulation.inFlight().filter(({ receiver }) => isOf('hostile')(receiver)).length,
    ).toBeLessThanOrEqual(maxSlots(UNKNOWN, DEFAULT_CAPS.total) / 4)
  })
})

describe('the reputation of an endpoint that answered fast', () => {
  const good = { id: 'good', accountId: 'good', origin: 'https://good.example', afterMs: 5 }
  const silentIn = (zone: string, accountId: string) => (n: number) => ({
    id: `silent-${accountId}-${n}`,
    accountId,
    origin: `https://silent-${n}.${zone}`,
    afterMs: Number.POSITIVE_INFINITY,
  })

  it('lasts for hours without an event, while others never stop being silent', () => {
    const simulation = simulateReceivers()
    simulation.deliver(good)
    simulation.run(100)
    const silent = list(4_000, (n) => silentIn(`zone-${n}.example`, `of-${n}`)(n))
    const act = atRate(60, (count) => simulation.deliver(silent[count % silent.length]!))
    simulation.run(60_000, act)
    // So many silent endpoints in a zone and an account each hold all slots that never-tried endpoints may have.
    const unknown = { ...good, id: 'unknown', accountId: 'unknown', origin: 'https://unknown.example' }
    simulation.deliver(unknown)
    simulation.deliver(good)
    simulation.run(100)
    expect(simulation.waitsOf(isOf('good')).at(-1)).toBe(0)
    expect(simulation.waitsOf(isOf('unknown'))).toEqual([100])
  })

  it('does not let a zone that goes silent take the slots of other quiet endpoints', () => {
    const simulation = simulateReceivers()
    const quiet = list(20, (n) => ({
      ...good,
      id: `good-${n}`,
      accountId: `good-${n}`,
      origin: `https://good-${n}.example`,
    }))
    const outage = list(600, (n) => ({ ...silentIn('provider.example', `of-${n}`)(n), afterMs: 5 }))
    for (const receiver of [...quiet, ...outage]) simulation.deliver(receiver)
    simulation.run(20_000)
    const first = { ...good, id: 'first', accountId: 'first', origin: 'https://first.example', afterMs: 1e9 }
    simulation.deliver(first)
    simulation.run(2_000)
    for (const receiver of outage) receiver.afterMs = Number.POSITIVE_INFINITY
    for (const receiver of outage) simulation.deliver(receiver)
    simulation.run(500)
    for (const receiver of quiet) simulation.deliver(receiver)
    simulation.run(100)
    expect(simulation.waitsOf(isOf('good-')).at(-1)).toBe(0)
  })
})

describe('a fast answer', () => {
  it('lets never-tried endpoints of its zone go at once that were suspect', () => {
    // Three slots for silent endpoints.
    const simulation = simulateReceivers({ ...DEFAULT_CAPS, total: 12 })
    const at = (id: string, zone: string, afterMs: number, fails = false) => ({
      id,
      accountId: `of-${id}`,
      origin: `https://${id}.${zone}.example`,
      afterMs,
      fails,
    })
    const late = at('late', 'shared', 1_500)
    const refusing = at('refusing', 'refusing', 100, true)
    for (const receiver of [late, at('dead-a', 'a', 1e9), at('dead-b', 'b', 1e9), refusing])
      simulation.deliver(receiver)
    simulation.run(1_050)
    // All slots of silent endpoints are in use. The next one is for the endpoint that has refused.
    refusing.afterMs = 1e9
    simulation.deliver(refusing)
    simulation.run(50)
    simulation.deliver(at('suspect', 'shared', 5))
    simulation.run(395)
    expect(simulation.waitsOf(isOf('suspect'))).toEqual([395])
    simulation.run(100)
    expect(simulation.waitsOf(isOf('suspect'))).toEqual([400])
  })
})

const anyReceiver = fc.record({
  account: fc.nat(3),
  zone: fc.nat(5),
  afterMs: fc.constantFrom(5, 5, 300, 1_500, 4_000, 1e9, 1e9),
  fails: fc.boolean(),
})
const anyStep = fc.record({
  which: fc.nat(99),
  deliveries: fc.integer({ min: 0, max: 4 }),
  ms: fc.nat(2_500),
})
const anyCaps = fc.record({
  perEndpoint: fc.integer({ min: 1, max: 4 }),
  perAccount: fc.integer({ min: 1, max: 12 }),
  perOrigin: fc.integer({ min: 1, max: 6 }),
  total: fc.oneof(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 32, max: 80 })),
  probes: fc.constant(1_000),
})

describe('under any load', () => {
  const receiverOf = (
    receiver: { account: number; zone: number; afterMs: number; fails: boolean },
    n: number,
  ) => ({
    id: `w${n}`,
    accountId: `account-${receiver.account}`,
    origin: `https://host-${n % 2}.zone-${receiver.zone}.example`,
    afterMs: receiver.afterMs,
    fails: receiver.fails,
  })

  it('no cap and no share is exceeded, fast endpoints get every slot that is free, and nothing starves', () => {
    fc.assert(
      fc.property(
        anyCaps,
        fc.array(anyReceiver, { minLength: 1, maxLength: 16 }),
        fc.array(anyStep, { maxLength: 40 }),
        (caps, parts, steps) => {
          const receivers = parts.map(receiverOf)
          const simulation = simulateReceivers(caps, (started) => {
            const all = simulation.inFlight()
            const classOf = (sent: (typeof all)[number]) => sent.request.endpoint.priority
            expectWithinCaps(caps, all)
            for (const request of started) {
              const priority = classOf(request)
              expect(priority).toBe(request.request.priority)
              const held = all.filter((other) => classOf(other) >= priority).length
              const own = all.filter((other) => classOf(other) === priority).length
              const isReserve = priority === SLOW && own <= Math.ceil(caps.total / 8)
              const isWithin = held <= maxSlots(priority, caps.total) || isReserve
              expect(isWithin || isWithinShareOfSmall(caps, all, started, request.receiver, priority)).toBe(
                true,
              )
              if (priority === UNKNOWN || priority === DOUBTFUL) expectFewProbes(caps, all, request.receiver)
            }
          })
          for (const { which, deliveries, ms } of steps) {
            for (let n = 0; n < deliveries; n++) simulation.deliver(receivers[which % receivers.length]!)
            simulation.run(ms)
            expectFastAreServed(caps, simulation)
          }
          for (const receiver of receivers) Object.assign(receiver, { afterMs: 5, fails: false })
          simulation.run(ATTEMPT_MS + 20_000)
          expect(simulation.waiting()).toEqual([])
        },
      ),
      { numRuns: propertyRuns(500) },
    )
  })
})

type Simulation = ReturnType<typeof simulateReceivers>
type InFlight = ReturnType<Simulation['inFlight']>

function expectWithinCaps(caps: Caps, all: InFlight): void {
  const most = (keyOf: (receiver: Receiver) => string) => {
    const counts = new Map<string, number>()
    for (const { receiver } of all) counts.set(keyOf(receiver), (counts.get(keyOf(receiver)) ?? 0) + 1)
    return Math.max(0, ...counts.values())
  }
  expect(all.length).toBeLessThanOrEqual(caps.total)
  expect(most(({ id }) => id)).toBeLessThanOrEqual(caps.perEndpoint)
  expect(most(({ accountId }) => accountId)).toBeLessThanOrEqual(caps.perAccount)
  expect(most(({ origin }) => origin)).toBeLessThanOrEqual(caps.perOrigin)
}

/** An account that holds few may use a class as far as it is free in what the accounts leave that hold many. */
function isWithinShareOfSmall(
  caps: Caps,
  all: InFlight,
  started: readonly InFlight[number][],
  { accountId }: Receiver,
  priority: PriorityClass,
): boolean {
  const heldBefore = (id: string) =>
    all.filter((sent) => sent.receiver.accountId === id && !started.includes(sent)).length
  const isSmall = (id: string) => heldBefore(id) <= Math.floor(caps.total / 32)
  if (caps.total < 32 || !isSmall(accountId)) return false
  const ofSmall = all.filter(({ receiver }) => isSmall(receiver.accountId))
  const slower = ofSmall.filter(({ request }) => request.endpoint.priority >= priority)
  const own = slower.filter(({ request }) => request.endpoint.priority === priority)
  const cap = caps.total - (all.length - ofSmall.length)
  return slower.length <= maxSlots(priority, cap) || (priority === SLOW && own.length <= Math.ceil(cap / 8))
}

/** An account holds at most a quarter of the slots of never-tried endpoints, and one more for each second. */
function expectFewProbes(caps: Caps, all: InFlight, { accountId }: Receiver): void {
  const isProbe = ({ request }: InFlight[number]) =>
    request.priority === UNKNOWN || request.priority === DOUBTFUL
  const probes = all.filter((sent) => sent.receiver.accountId === accountId && isProbe(sent))
  const limit = Math.ceil(maxSlots(UNKNOWN, caps.total) / 4) + ATTEMPT_MS / 1_000
  expect(probes.length).toBeLessThanOrEqual(limit)
}

/**
 * A fast endpoint waits only for a slot of its own, of its account or of its origin, while all slots are used, or while those
 * that are left are for accounts that hold fewer.
 */
function expectFastAreServed(caps: Caps, { scheduler, waiting, inFlight }: Simulation): void {
  if (inFlight().length >= caps.total) return
  const classes = new Map<string, PriorityClass>()
  for (const { request, receiver } of inFlight()) classes.set(receiver.id, request.endpoint.priority)
  for (const { id } of waiting()) {
    const priority = classes.get(id)
    if (priority === FAST) expect(scheduler.limitReached(id)).toMatch(/endpoint|account|origin|share/)
    if (priority === SILENT) expect(scheduler.inFlight(id)).toBeGreaterThan(0)
  }
}
