import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createEndpointRegistry,
  IDLE,
  type ScheduledEndpoint,
  type ScheduledOrigin,
  statsOf,
} from '../../../src/delivery/scheduler/endpoint-registry.js'
import { type Answer, SILENT, UNKNOWN } from '../../../src/delivery/scheduler/priority.js'
import { createReputation } from '../../../src/delivery/scheduler/reputation.js'
import { enqueue } from '../../../src/values/linked-queue.js'

const ONE = 'https://one.example'
const TWO = 'https://two.example'
const MAX_IDLE_ANSWERED = 50_000
const MAX_IDLE_OTHERS = 20_000

function createRegistry() {
  const registry = createEndpointRegistry()
  const upsert = (webhookId: string, { accountId = 'acc', origin = ONE, failing = false } = {}) =>
    registry.upsert({
      webhookId,
      accountId,
      origin,
      failing,
      probed: false,
      limit: Number.POSITIVE_INFINITY,
    })
  return {
    registry,
    upsert,
    /** Registers an endpoint, lets it answer and removes it. */
    answerAndLeave(
      webhookId: string,
      history: { lastAnswer?: Answer; lastFastMs?: number } = { lastAnswer: 'slow' },
    ) {
      const endpoint = Object.assign(upsert(webhookId), history)
      registry.remove(endpoint)
    },
  }
}

describe('an endpoint registry', () => {
  it('is empty at first', () => {
    const { registry } = createRegistry()
    expect(registry.size).toBe(0)
    expect([...registry.all()]).toEqual([])
    expect(registry.find('a')).toBeUndefined()
  })

  it('adds an endpoint for which nothing waits and of which nothing is known', () => {
    const { upsert } = createRegistry()
    const endpoint = upsert('a', { failing: true })
    expect(endpoint).toMatchObject({
      id: 'a',
      account: { id: 'acc', endpoints: 1, isQueued: new Array(6).fill(false) },
      origin: { id: ONE, endpoints: 1, inFlight: 0, allocated: 0 },
      dueMs: IDLE,
      inFlight: 0,
      slots: 0,
      allocated: 0,
      priority: UNKNOWN,
      lastFastMs: Number.NEGATIVE_INFINITY,
      lastAnswer: undefined,
      isFailing: true,
      overdueCount: 0,
      isProbed: false,
      queue: undefined,
      isDowngraded: false,
    })
    expect(endpoint.queuedDueMs).toBeNaN()
    const none = [0, 0, 0, 0, 0, 0]
    for (const { slots, downgraded } of [endpoint.account, endpoint.origin.zone]) {
      expect(slots).toEqual(none)
      expect(downgraded.size).toBe(0)
    }
    for (const queues of [endpoint.account.due, endpoint.origin.zone.waiting]) {
      expect(queues.map(({ length }) => length)).toEqual(none)
      expect(new Set(queues).size).toBe(6)
    }
  })

  it('finds and lists the endpoints in the order in which they came', () => {
    const { registry, upsert } = createRegistry()
    const added = ['b', 'a', 'c'].map((id) => upsert(id))
    upsert('b')
    expect(registry.size).toBe(3)
    expect([...registry.all()]).toEqual(added)
    expect(registry.find('a')).toBe(added[1])
    registry.remove(added[1]!)
    expect(registry.size).toBe(2)
    expect(registry.find('a')).toBeUndefined()
    expect([...registry.all()]).toEqual([added[0], added[2]])
  })

  it('updates whether a known endpoint fails, and nothing else', () => {
    const { upsert } = createRegistry()
    const endpoint = upsert('a')
    Object.assign(endpoint, { dueMs: 5, inFlight: 2, lastFastMs: 7, lastAnswer: 'fast' })
    const before = { ...endpoint }
    expect(upsert('a', { failing: true })).toBe(endpoint)
    expect(endpoint).toEqual({ ...before, isFailing: true })
    expect(endpoint.origin.endpoints).toBe(1)
    expect(endpoint.account.endpoints).toBe(1)
    upsert('a')
    expect(endpoint.isFailing).toBe(false)
  })

  it('keeps an account and an origin until their last endpoint is removed', () => {
    const { registry, upsert } = createRegistry()
    const { account, origin } = upsert('a')
    const b = upsert('b')
    registry.remove(registry.find('a')!)
    expect([account.endpoints, origin.endpoints]).toEqual([1, 1])
    const again = upsert('a')
    expect(again.account).toBe(account)
    expect(again.origin).toBe(origin)
    registry.remove(again)
    registry.remove(b)
    const fresh = upsert('a')
    expect(fresh.account).not.toBe(account)
    expect(fresh.origin).not.toBe(origin)
    expect([fresh.account.endpoints, fresh.origin.endpoints]).toEqual([1, 1])
  })

  it('ignores an endpoint that was removed before', () => {
    const { registry, upsert } = createRegistry()
    const a = upsert('a')
    const b = upsert('b')
    upsert('c')
    registry.remove(a)
    registry.remove(a)
    expect(registry.size).toBe(2)
    expect([b.account.endpoints, b.origin.endpoints]).toEqual([2, 2])
  })
})

describe('an endpoint whose origin changes', () => {
  it('takes the former origin with it when it was the last one there', () => {
    const { upsert } = createRegistry()
    const a = upsert('a')
    const origin = a.origin
    upsert('a', { origin: TWO })
    expect(origin.endpoints).toBe(0)
    expect(upsert('b').origin).not.toBe(origin)
    expect(upsert('c', { origin: TWO }).origin).toBe(a.origin)
  })

  it.each([
    ['a fast one becomes unknown', { lastAnswer: 'fast', lastFastMs: 7 }, undefined],
    ['a slow one stays slow', { lastAnswer: 'slow', lastFastMs: 7 }, 'slow'],
    [
      'an unknown one stays unknown',
      { lastAnswer: undefined, lastFastMs: Number.NEGATIVE_INFINITY },
      undefined,
    ],
  ])('is a new receiver: %s', (_, history, lastAnswer) => {
    const { upsert } = createRegistry()
    const endpoint = Object.assign(upsert('a'), history)
    upsert('a', { origin: TWO })
    expect([endpoint.lastAnswer, endpoint.lastFastMs]).toEqual([lastAnswer, Number.NEGATIVE_INFINITY])
  })

  it.each([
    ['leaves the queue of its former origin', ({ origin }: ScheduledEndpoint) => origin.waiting, true],
    [
      'leaves the queue of its former zone',
      ({ origin }: ScheduledEndpoint) => origin.zone.waiting[UNKNOWN]!,
      true,
    ],
    ['stays in the queue of its account', ({ account }: ScheduledEndpoint) => account.due[UNKNOWN]!, false],
  ])('%s', (_, queueOf, leaves) => {
    const { upsert } = createRegistry()
    const endpoint = upsert('a')
    upsert('stays')
    const queue = queueOf(endpoint)
    enqueue(queue, endpoint)
    upsert('a', { origin: TWO })
    expect(endpoint.queue).toBe(leaves ? undefined : queue)
    expect(queue.length).toBe(leaves ? 0 : 1)
  })

  it('moves its slots and its suspicion to the new zone', () => {
    const { upsert } = createRegistry()
    const endpoint = upsert('a')
    const { zone } = upsert('stays').origin
    Object.assign(endpoint, { inFlight: 3, slots: 2, priority: SILENT, isDowngraded: true })
    zone.slots[SILENT] = 3
    zone.downgraded.add(endpoint)
    upsert('a', { origin: TWO })
    expect([zone.slots[SILENT], zone.downgraded.size]).toEqual([1, 0])
    expect(endpoint.origin.zone.slots[SILENT]).toBe(2)
    expect([...endpoint.origin.zone.downgraded]).toEqual([endpoint])
  })
})

describe('the removal of an endpoint', () => {
  it('concerns only the object that is registered', () => {
    const { registry, upsert } = createRegistry()
    const before = upsert('a')
    registry.remove(before)
    const now = upsert('a')
    registry.remove(before)
    expect(registry.find('a')).toBe(now)
    expect(now.account.endpoints).toBe(1)
  })
})

describe('the history of an idle endpoint', () => {
  it.each<[string, { lastAnswer: Answer; lastFastMs: number }]>([
    ['fast', { lastAnswer: 'fast', lastFastMs: 7 }],
    ['slow', { lastAnswer: 'slow', lastFastMs: 3 }],
  ])('is remembered when it is %s', (_, history) => {
    const { upsert, answerAndLeave } = createRegistry()
    answerAndLeave('a', history)
    expect(upsert('a')).toMatchObject(history)
    expect(upsert('b')).toMatchObject({ lastAnswer: undefined, lastFastMs: Number.NEGATIVE_INFINITY })
  })

  it('belongs to the origin where it was measured: at another one a fast endpoint is unknown, a slow one slow', () => {
    const { upsert, answerAndLeave } = createRegistry()
    answerAndLeave('a', { lastAnswer: 'fast', lastFastMs: 7 })
    answerAndLeave('b', { lastAnswer: 'slow', lastFastMs: 7 })
    const unknown = { lastAnswer: undefined, lastFastMs: Number.NEGATIVE_INFINITY }
    expect(upsert('a', { origin: TWO })).toMatchObject(unknown)
    expect(upsert('b', { origin: TWO })).toMatchObject({ ...unknown, lastAnswer: 'slow' })
  })

  it('is not remembered when this node has sent no request', () => {
    const { upsert, answerAndLeave } = createRegistry()
    answerAndLeave('a', { lastFastMs: 7 })
    expect(upsert('a')).toMatchObject({ lastAnswer: undefined, lastFastMs: Number.NEGATIVE_INFINITY })
  })

  it('is replaced by what was seen last', () => {
    const { upsert, answerAndLeave } = createRegistry()
    answerAndLeave('a', { lastAnswer: 'slow', lastFastMs: 3 })
    answerAndLeave('a', { lastAnswer: 'fast', lastFastMs: 9 })
    expect(upsert('a')).toMatchObject({ lastAnswer: 'fast', lastFastMs: 9 })
  })

  it('is all that is remembered of it', () => {
    const { registry, upsert } = createRegistry()
    const before = Object.assign(upsert('a', { failing: true }), {
      lastAnswer: 'slow',
      dueMs: 5,
      overdueCount: 2,
      isProbed: true,
      queuedDueMs: 5,
    })
    registry.remove(before)
    const endpoint = upsert('a')
    expect(endpoint).not.toBe(before)
    expect(endpoint).toMatchObject({
      lastAnswer: 'slow',
      dueMs: IDLE,
      overdueCount: 0,
      isProbed: false,
      isFailing: false,
      queuedDueMs: Number.NaN,
    })
  })

  it('is remembered for 20,000 endpoints and then forgotten, the oldest first', () => {
    const { upsert, answerAndLeave } = createRegistry()
    for (let n = 0; n < MAX_IDLE_OTHERS; n++) answerAndLeave(`e-${n}`)
    expect(upsert('e-0').lastAnswer).toBe('slow')
    answerAndLeave('one-more')
    expect(upsert('e-1').lastAnswer).toBe('slow')
    const { upsert: upsertAgain, answerAndLeave: answerAgain } = createRegistry()
    for (let n = 0; n <= MAX_IDLE_OTHERS; n++) answerAgain(`e-${n}`)
    expect(['e-0', 'e-1', `e-${MAX_IDLE_OTHERS}`].map((id) => upsertAgain(id).lastAnswer)).toEqual([
      undefined,
      'slow',
      'slow',
    ])
  })

  it('counts as recent again after the endpoint was in use', () => {
    const { upsert, answerAndLeave } = createRegistry()
    for (let n = 0; n < MAX_IDLE_OTHERS; n++) answerAndLeave(`e-${n}`)
    answerAndLeave('e-0')
    answerAndLeave('one-more')
    expect(['e-0', 'e-1', 'e-2'].map((id) => upsert(id).lastAnswer)).toEqual(['slow', undefined, 'slow'])
  })
})

describe('the history of endpoints that answered fast', () => {
  it('is not displaced by any number of endpoints that do not answer', () => {
    const { upsert, answerAndLeave } = createRegistry()
    answerAndLeave('good', { lastAnswer: 'fast', lastFastMs: 7 })
    for (let n = 0; n < 3 * MAX_IDLE_ANSWERED; n++) answerAndLeave(`dead-${n}`, { lastAnswer: 'none' })
    expect(upsert('good')).toMatchObject({ lastAnswer: 'fast', lastFastMs: 7 })
  })

  it('is remembered for 50,000 of them, the oldest is forgotten first', () => {
    const { upsert, answerAndLeave } = createRegistry()
    for (let n = 0; n <= MAX_IDLE_ANSWERED; n++)
      answerAndLeave(`e-${n}`, { lastAnswer: 'fast', lastFastMs: n })
    expect(upsert('e-0').lastAnswer).toBeUndefined()
    expect(upsert('e-1').lastAnswer).toBe('fast')
  })

  it('gives way to a later answer that was not', () => {
    const { upsert, answerAndLeave } = createRegistry()
    answerAndLeave('a', { lastAnswer: 'fast', lastFastMs: 7 })
    answerAndLeave('a', { lastAnswer: 'none' })
    expect(upsert('a').lastAnswer).toBe('none')
  })
})

describe('the reputation of an account and of a zone', () => {
  it('is remembered while it has no endpoint, unless it says nothing', () => {
    const { registry, upsert } = createRegistry()
    const before = upsert('a', { accountId: 'bad' })
    before.account.reputation.failures = 4
    before.origin.zone.reputation.lastFastMs = 9
    registry.remove(before)
    const { account, origin } = upsert('b', { accountId: 'bad' })
    expect(account).not.toBe(before.account)
    expect(account.reputation.failures).toBe(4)
    expect(origin.zone.reputation.lastFastMs).toBe(9)
    expect(upsert('c', { accountId: 'other', origin: TWO })).toMatchObject({
      account: { reputation: createReputation() },
      origin: { zone: { reputation: createReputation() } },
    })
  })

  it('belongs to all hosts of a domain, and to one port', () => {
    const { upsert } = createRegistry()
    const zoneAt = (origin: string) => upsert(origin, { origin }).origin.zone
    expect(zoneAt('https://a.example.com')).toBe(zoneAt('https://b.example.com'))
    expect(zoneAt('https://a.example.com:8443')).not.toBe(zoneAt('https://a.example.com'))
  })
})

describe('any sequence of updates and removals', () => {
  const action = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    origin: fc.constantFrom(ONE, TWO, 'https://three.example'),
    started: fc.nat(3),
    leaves: fc.boolean(),
  })

  it('counts the endpoints and requests of every account and origin', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { registry, upsert } = createRegistry()
        const model = new Map<string, ScheduledEndpoint>()
        for (const { id, origin, started, leaves } of actions) {
          const endpoint = upsert(id, { origin, accountId: id < 'c' ? 'early' : 'late' })
          expect(model.get(id) ?? endpoint).toBe(endpoint)
          expect(endpoint.origin.id).toBe(origin)
          model.set(id, endpoint)
          endpoint.slots += started
          endpoint.origin.inFlight += started
          if (leaves) {
            endpoint.origin.inFlight -= endpoint.slots
            endpoint.slots = 0
            registry.remove(endpoint)
            model.delete(id)
          }
          const all = [...model.values()]
          expect(registry.size).toBe(all.length)
          const origins = new Map<string, ScheduledOrigin>()
          for (const { origin, account } of all) {
            expect(origins.get(origin.id) ?? origin).toBe(origin)
            origins.set(origin.id, origin)
            const there = all.filter((other) => other.origin === origin)
            expect(origin.endpoints).toBe(there.length)
            expect(origin.inFlight).toBe(there.reduce((sum, { slots }) => sum + slots, 0))
            expect(account.endpoints).toBe(all.filter((other) => other.account.id === account.id).length)
          }
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('the state of the scheduler', () => {
  const NOW = 1_000
  const stats = (...states: { dueMs: number; isProbed?: boolean; inFlight?: number }[]) => {
    const { upsert } = createRegistry()
    return statsOf(
      states.map((state, index) => Object.assign(upsert(`e-${index}`), state)),
      ({ inFlight }) => inFlight > 1,
      NOW,
    )
  }

  it('is zero without endpoints', () => {
    expect(stats()).toEqual({ oldestDueMs: 0, open: 0, halfOpen: 0 })
  })

  it('has the longest time for which a delivery has been due', () => {
    expect(stats({ dueMs: 900 }, { dueMs: 300 }, { dueMs: 600 }).oldestDueMs).toBe(700)
    expect(stats({ dueMs: NOW - 1 }, { dueMs: NOW }).oldestDueMs).toBe(1)
  })

  it('leaves out what is probed, or waits for requests of its own', () => {
    const others = [
      { dueMs: 300, isProbed: true },
      { dueMs: 200, inFlight: 2 },
    ]
    expect(stats({ dueMs: 900 }, ...others).oldestDueMs).toBe(100)
  })

  it('counts neither future nor idle endpoints as due', () => {
    expect(stats({ dueMs: NOW + 1 }, { dueMs: NOW + 500 }, { dueMs: IDLE }).oldestDueMs).toBe(0)
  })

  it.each([
    ['open until it is due', NOW + 1, { open: 1, halfOpen: 0 }],
    ['half open when it is due', NOW, { open: 0, halfOpen: 1 }],
    ['half open when it has been due', NOW - 1, { open: 0, halfOpen: 1 }],
    ['half open when nothing waits', IDLE, { open: 0, halfOpen: 1 }],
  ])('counts a probed endpoint as %s', (_, dueMs, counts) => {
    expect(stats({ dueMs, isProbed: true })).toMatchObject(counts)
    expect(stats({ dueMs, isProbed: false })).toMatchObject({ open: 0, halfOpen: 0 })
  })

  it('counts every endpoint', () => {
    const probed = [NOW + 1, NOW + 2, IDLE, 0, NOW].map((dueMs) => ({ dueMs, isProbed: true }))
    expect(stats(...probed, { dueMs: 400 })).toEqual({ oldestDueMs: 600, open: 2, halfOpen: 3 })
  })
})
