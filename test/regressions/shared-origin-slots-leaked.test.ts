/**
 * Three ways in which endpoints waited forever although slots were free: a webhook that moved to another origin kept the
 * slot of its request there, and no waiting endpoint was admitted at the former origin; endpoints admitted at an origin
 * without a free slot in their own account kept the origin's slot; endpoints of the class `unknown` never got a slot while
 * fast ones and immediately failing ones took every slot as it was released.
 */
import { expect, it } from 'vitest'
import type { Caps } from '../../src/delivery/scheduler/fair-queue.js'
import { createScheduler, type Scheduler } from '../../src/delivery/scheduler/scheduler.js'

const CAPS: Caps = { perEndpoint: 10, perAccount: 100, perOrigin: 100, total: 500, probes: 1_000 }
const endpointAt = (webhookId: string, accountId: string, origin: string, failing = false) => ({
  webhookId,
  accountId,
  origin,
  failing,
  probed: false,
  limit: Number.POSITIVE_INFINITY,
  dueMs: 0,
})

/** Starts everything that the scheduler selects, up to `free` slots; returns the started requests. */
function send(
  scheduler: Scheduler,
  endpoints: Map<string, ReturnType<typeof endpointAt>>,
  now: number,
  free: number,
) {
  const requests: { id: string; request: ReturnType<Scheduler['start']> }[] = []
  for (let left = free; left > 0; ) {
    const selections = scheduler.next(now, left)
    if (selections.length === 0) break
    for (const { webhookId: id, slots } of selections) {
      left -= slots
      for (let n = 0; n < slots; n++) {
        const request = scheduler.start(endpoints.get(id)!, now)
        scheduler.sent(request, now)
        requests.push({ id, request })
      }
    }
    for (const { webhookId } of selections) scheduler.update(endpoints.get(webhookId)!)
  }
  return requests
}

it('a webhook that moves to another origin releases its slot at the former one', () => {
  const scheduler = createScheduler({ ...CAPS, perOrigin: 1 })
  const endpoints = new Map([
    ['a', endpointAt('a', 'one', 'https://shared.example')],
    ['b', endpointAt('b', 'two', 'https://shared.example')],
  ])
  for (const endpoint of endpoints.values()) scheduler.update(endpoint)
  const [first] = send(scheduler, endpoints, 0, 10)
  const other = first!.id === 'a' ? 'b' : 'a'
  endpoints.set(first!.id, endpointAt(first!.id, 'one', 'https://elsewhere.example'))
  scheduler.update({ ...endpoints.get(first!.id)!, dueMs: undefined })
  scheduler.end(first!.request, 0)
  expect(send(scheduler, endpoints, 0, 10).map(({ id }) => id)).toEqual([other])
})

it('an endpoint admitted at an origin passes its slot on if its account has no free slot', () => {
  const scheduler = createScheduler({ ...CAPS, perEndpoint: 1, perAccount: 4, perOrigin: 3 })
  const shared = 'https://shared.example'
  const endpoints = new Map<string, ReturnType<typeof endpointAt>>()
  const add = (endpoint: ReturnType<typeof endpointAt>) => {
    endpoints.set(endpoint.webhookId, endpoint)
    scheduler.update(endpoint)
  }
  for (let n = 0; n < 3; n++) {
    const request = scheduler.start(endpointAt(`first-${n}`, `of-${n}`, shared), 0)
    scheduler.recordAnswer(request, 'fast', 0)
    scheduler.end(request, 0)
    add(endpointAt(`first-${n}`, `of-${n}`, shared))
  }
  const atShared = send(scheduler, endpoints, 0, 100)
  expect(atShared).toHaveLength(3)
  // One tenant queues at the origin, then reaches its account's cap elsewhere; another tenant queues behind it.
  for (let n = 0; n < 3; n++) add(endpointAt(`queued-${n}`, 'tenant', shared))
  expect(send(scheduler, endpoints, 0, 100)).toEqual([])
  for (let n = 0; n < 4; n++) add(endpointAt(`elsewhere-${n}`, 'tenant', `https://silent-${n}.example`))
  expect(send(scheduler, endpoints, 0, 100).length).toBeGreaterThanOrEqual(3)
  add(endpointAt('behind', 'other', shared))
  expect(send(scheduler, endpoints, 0, 100)).toEqual([])
  for (const { id, request } of atShared) {
    endpoints.delete(id)
    scheduler.update({ ...endpointAt(id, `of-${id.slice(6)}`, shared), dueMs: undefined })
    scheduler.recordAnswer(request, 'fast', 0)
    scheduler.end(request, 0)
  }
  expect(send(scheduler, endpoints, 0, 100).map(({ id }) => id)).toContain('behind')
})

it('an unknown endpoint is served although fast and immediately failing endpoints never run out of work', () => {
  const scheduler = createScheduler({ ...CAPS, total: 8 })
  const endpoints = new Map<string, ReturnType<typeof endpointAt>>()
  const add = (endpoint: ReturnType<typeof endpointAt>) => {
    endpoints.set(endpoint.webhookId, endpoint)
    scheduler.update(endpoint)
  }
  add(endpointAt('good', 'good', 'https://good.example'))
  add(endpointAt('dead', 'dead', 'https://dead.example', true))
  let inFlight = send(scheduler, endpoints, 0, 8)
  let newEndpoints = 0
  for (let now = 1; now < 500 && newEndpoints === 0; now++) {
    // By now the good endpoint has the class `fast` and takes every slot that is released.
    if (now === 100) add(endpointAt('stranger', 'new', 'https://new.example'))
    const ended = inFlight.shift()!
    scheduler.recordAnswer(ended.request, ended.id === 'good' ? 'fast' : 'none', now)
    scheduler.end(ended.request, now)
    inFlight = [...inFlight, ...send(scheduler, endpoints, now, 8 - inFlight.length)]
    newEndpoints = inFlight.filter(({ id }) => id === 'stranger').length
  }
  expect(newEndpoints).toBeGreaterThan(0)
})

it('a receiver that responds to some requests quickly and lets others hang gets the priority class of one that hangs', () => {
  const scheduler = createScheduler({ ...CAPS, perEndpoint: 100, total: 40 })
  const endpoints = new Map([['game', endpointAt('game', 'one', 'https://game.example')]])
  scheduler.update(endpoints.get('game')!)
  let inFlight = send(scheduler, endpoints, 0, 40)
  for (let now = 200; now < 5000; now += 200) {
    // Every fourth request is answered at once.
    const quick = inFlight.filter((_, index) => index % 4 === 0).slice(0, 2)
    for (const { request } of quick) {
      scheduler.recordAnswer(request, 'fast', now)
      scheduler.end(request, now)
    }
    inFlight = inFlight.filter((request) => !quick.includes(request))
    inFlight = [...inFlight, ...send(scheduler, endpoints, now, 40 - inFlight.length)]
  }
  expect(scheduler.limitReached('game')).toBe('priority')
  expect(inFlight.length).toBeLessThan(40)
})
