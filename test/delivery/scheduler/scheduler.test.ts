import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReadyEndpoint } from '../../../src/delivery/delivery-store.js'
import type { Caps } from '../../../src/delivery/scheduler/fair-queue.js'
import { createScheduler, type Scheduler, type Selection } from '../../../src/delivery/scheduler/scheduler.js'
import { propertyRuns } from '../../support/property-runs.js'

const CAPS: Caps = { perEndpoint: 10, perAccount: 100, perOrigin: 1000, total: 500, probes: 1000 }
const ready = (
  webhookId: string,
  dueMs: number | undefined,
  accountId = 'acc',
  origin = 'https://a.example',
) => ({
  webhookId,
  accountId,
  origin,
  failing: false,
  probed: false,
  limit: Number.POSITIVE_INFINITY,
  dueMs,
})

/** A scheduler with the last update of each endpoint. */
interface ObservedScheduler extends Scheduler {
  openProbes(): number
  /** Updates an endpoint that has not answered yet. */
  addUntried(endpoint: ReadyEndpoint): void
  readonly updated: ReadonlyMap<string, ReadyEndpoint>
}

/** What it starts is sent at once. */
function createSendingScheduler(caps: Caps): Scheduler & Pick<ObservedScheduler, 'openProbes'> {
  const scheduler = createScheduler(caps)
  const start: Scheduler['start'] = (endpoint, now) => {
    const request = scheduler.start(endpoint, now)
    scheduler.sent(request, now)
    return request
  }
  return { ...scheduler, start, openProbes: () => scheduler.probes }
}

function createObservedScheduler(caps: Caps): ObservedScheduler {
  const scheduler = createSendingScheduler(caps)
  const updated = new Map<string, ReadyEndpoint>()
  const update: Scheduler['update'] = (endpoint) => {
    updated.set(endpoint.webhookId, endpoint)
    scheduler.update(endpoint)
  }
  return { ...scheduler, update, addUntried: update, updated }
}

/** A scheduler in which every endpoint has answered fast. Priority classes have their own tests. */
function createFastScheduler(caps: Caps): ObservedScheduler {
  const scheduler = createObservedScheduler(caps)
  const update: Scheduler['update'] = (endpoint) => {
    if (!scheduler.updated.has(endpoint.webhookId) && endpoint.dueMs !== undefined) {
      const request = scheduler.start(endpoint, 0)
      scheduler.recordAnswer(request, 'fast', 0)
      scheduler.end(request, 0)
    }
    scheduler.update(endpoint)
  }
  return { ...scheduler, update }
}

/** A selection of which nothing is taken. */
function select(
  scheduler: ObservedScheduler,
  now: number,
  free: number,
): readonly Pick<Selection, 'webhookId' | 'slots'>[] {
  const selections = scheduler.next(now, free)
  for (const { webhookId } of selections) scheduler.update(scheduler.updated.get(webhookId)!)
  return selections.map(({ webhookId, slots }) => ({ webhookId, slots }))
}

describe('the scheduler', () => {
  it('allocates all slots that its caps leave to a due endpoint', () => {
    const scheduler = createFastScheduler(CAPS)
    scheduler.update(ready('w', 100))
    expect(scheduler.next(99, 500)).toEqual([])
    expect(scheduler.nextDueMs()).toBe(100)
    expect(select(scheduler, 100, 500)).toEqual([{ webhookId: 'w', slots: 10 }])
    for (let count = 0; count < 7; count++) scheduler.start(ready('w', 100), 0)
    expect(select(scheduler, 100, 500)).toEqual([{ webhookId: 'w', slots: 3 }])
    expect(select(scheduler, 100, 2)).toEqual([{ webhookId: 'w', slots: 2 }])
  })

  it('shares the slots of an account among its endpoints, and all slots among the accounts', () => {
    const scheduler = createFastScheduler({ ...CAPS, perAccount: 6, total: 8 })
    for (const id of ['a', 'b', 'c']) scheduler.update(ready(id, 0, 'one'))
    scheduler.update(ready('d', 0, 'two'))
    const selections = scheduler.next(0, 8)
    expect(selections.find(({ webhookId }) => webhookId === 'd')?.slots).toBe(4)
    const slotCounts = selections.filter(({ webhookId }) => webhookId !== 'd').map(({ slots }) => slots)
    expect(slotCounts.sort()).toEqual([1, 1, 2])
  })

  it('allocates as many slots to an account with one endpoint as to one with a thousand', () => {
    const scheduler = createFastScheduler(CAPS)
    for (let index = 0; index < 1000; index++) scheduler.update(ready(`big-${index}`, 0, 'big'))
    scheduler.update(ready('small', 0, 'small'))
    expect(scheduler.next(0, 12).find(({ webhookId }) => webhookId === 'small')?.slots).toBe(6)
  })

  it('selects fast endpoints ahead of free slots, within the other caps, and only while no slower one waits', () => {
    const scheduler = createFastScheduler({ ...CAPS, total: 8 })
    scheduler.update(ready('w', 0))
    for (let count = 0; count < 8; count++) scheduler.start(ready('w', 0), 0)
    expect(select(scheduler, 0, 0)).toEqual([])
    const slots = (ahead: number) => scheduler.next(0, 0, ahead).map((selection) => selection.slots)
    expect(slots(1)).toEqual([1])
    scheduler.update(ready('w', 0))
    // Two are left of the ten of an endpoint.
    expect(slots(8)).toEqual([2])
    scheduler.update(ready('w', 0))
    const slower = ready('slower', 0, 'other', 'https://b.example')
    scheduler.update(slower)
    scheduler.recordAnswer(scheduler.start(slower, 0), 'slow', 0)
    expect(slots(8)).toEqual([])
  })

  it('selects ahead of free slots beside those that are started ahead already', () => {
    const scheduler = createFastScheduler({ ...CAPS, perEndpoint: 100, total: 64 })
    scheduler.update(ready('w', 0))
    for (let count = 0; count < 74; count++) scheduler.start(ready('w', 0), 0)
    expect(select(scheduler, 0, 0)).toEqual([])
    expect(scheduler.next(0, 0, 10).map(({ slots }) => slots)).toEqual([10])
  })

  it('selects nothing ahead of free slots while an endpoint waits for its zone', () => {
    const scheduler = createFastScheduler({ ...CAPS, perEndpoint: 100, total: 64 })
    const hosts = Array.from({ length: 40 }, (_, index) => `host-${index}`)
    const inZone = (host: string) => ready(host, 0, host, `https://${host}.zone.example`)
    for (const host of hosts) scheduler.addUntried(inZone(host))
    const served = scheduler.next(0, 64)
    expect(served.length).toBeLessThan(hosts.length)
    for (const { webhookId } of served) {
      scheduler.start(inZone(webhookId), 0)
      scheduler.update({ ...inZone(webhookId), dueMs: undefined })
    }
    scheduler.update(ready('w', 0))
    for (let count = served.length; count < 64; count++) scheduler.start(ready('w', 0), 0)
    expect(scheduler.next(0, 0, 4)).toEqual([])
  })

  it('selects a fast endpoint ahead of free slots that waited for its origin, which has room again', () => {
    const scheduler = createFastScheduler({ ...CAPS, perOrigin: 1, total: 1 })
    const request = scheduler.start(ready('first', undefined, 'one'), 0)
    scheduler.update(ready('second', 0, 'two'))
    expect(scheduler.next(0, 0, 1)).toEqual([])
    scheduler.end(request, 0)
    scheduler.start(ready('third', 0, 'three', 'https://c.example'), 0)
    expect(scheduler.next(0, 0, 1).map(({ webhookId }) => webhookId)).toEqual(['second'])
  })

  it('serves an account although the one before it in the queue has nothing due any more', () => {
    const scheduler = createFastScheduler({ ...CAPS, perEndpoint: 1 })
    scheduler.update(ready('first', 0, 'one'))
    scheduler.update(ready('second', 0, 'two'))
    expect(select(scheduler, 0, 500)).toHaveLength(2)
    scheduler.update(ready('first', undefined, 'one'))
    expect(select(scheduler, 0, 500)).toEqual([{ webhookId: 'second', slots: 1 }])
  })

  it('reaches every endpoint of an account, however few slots there are', () => {
    const scheduler = createFastScheduler({ ...CAPS, perEndpoint: 1, perAccount: 1, total: 1 })
    const served = new Set<string>()
    for (let index = 0; index < 20; index++) scheduler.update(ready(`w${index}`, 0, `acc-${index % 3}`))
    for (let turn = 0; turn < 60; turn++) {
      for (const { webhookId } of select(scheduler, 0, 1)) served.add(webhookId)
    }
    expect(served.size).toBe(20)
  })

  it('replaces the due time of an endpoint by each update', () => {
    const scheduler = createFastScheduler(CAPS)
    for (const dueMs of [50, 900, 20]) {
      scheduler.update(ready('w', dueMs))
      expect(scheduler.nextDueMs()).toBe(dueMs)
    }
    scheduler.update(ready('w', undefined))
    expect(scheduler.nextDueMs()).toBeUndefined()
    expect(select(scheduler, 1000, 500)).toEqual([])
  })

  it('looks at an endpoint again when it is due, if it was selected before anything of it was', () => {
    for (const create of [createFastScheduler, createObservedScheduler]) {
      const scheduler = create(CAPS)
      scheduler.update(ready('w1', 1_000))
      expect(scheduler.next(1_000, 500).map(({ webhookId }) => webhookId)).toEqual(['w1'])
      scheduler.update(ready('w1', 5_000))
      expect(scheduler.nextDueMs()).toBe(5_000)
      expect(scheduler.next(4_999, 500)).toEqual([])
      expect(scheduler.next(5_000, 500).map(({ webhookId }) => webhookId)).toEqual(['w1'])
    }
  })

  it('removes an endpoint with nothing waiting and nothing in flight', () => {
    const scheduler = createFastScheduler(CAPS)
    scheduler.update(ready('w', 0))
    const request = scheduler.start(ready('w', 0), 0)
    expect(scheduler.inFlight('w')).toBe(1)
    scheduler.update(ready('w', undefined))
    scheduler.end(request, 0)
    expect(scheduler.inFlight('w')).toBe(0)
    expect(scheduler.next(0, 500)).toEqual([])
    expect(scheduler.nextDueMs()).toBeUndefined()
  })
})

describe('an account that has used more than its share of slot time', () => {
  /** Eight slots that `busy` has used for five seconds, and `idle` has not; both have as much due as there are slots. */
  function createContested() {
    const scheduler = createFastScheduler({ ...CAPS, total: 8 })
    scheduler.update(ready('busy', 0, 'busy'))
    const requests = Array.from({ length: 8 }, () => scheduler.start(ready('busy', 0, 'busy'), 0))
    for (const request of requests) scheduler.sent(request, 0)
    scheduler.update(ready('idle', 0, 'idle'))
    return { scheduler, requests }
  }
  const endAll = ({ scheduler, requests }: ReturnType<typeof createContested>, now: number) => {
    for (const request of requests) scheduler.end(request, now)
  }

  it('goes after the others, and in turns with them when it has not', () => {
    const contested = createContested()
    endAll(contested, 5_000)
    expect(select(contested.scheduler, 5_000, 6)).toEqual([{ webhookId: 'idle', slots: 6 }])
    const other = createContested()
    endAll(other, 100)
    const slots = select(other.scheduler, 100, 6).map((selection) => selection.slots)
    expect(slots).toEqual([3, 3])
  })

  it('goes after them whatever class their endpoints have', () => {
    const contested = createContested()
    const { scheduler } = contested
    const slow = ready('slow', 0, 'idle', 'https://slow.example')
    scheduler.update({ ...ready('idle', undefined, 'idle') })
    scheduler.update(slow)
    const request = scheduler.start(slow, 0)
    scheduler.recordAnswer(request, 'slow', 0)
    scheduler.end(request, 0)
    endAll(contested, 5_000)
    // In every order of the classes.
    for (let round = 0; round < 10; round++)
      expect(select(scheduler, 5_000, 1)).toEqual([{ webhookId: 'slow', slots: 1 }])
  })

  it('gets what the others leave, and is as the others again when its use is some seconds old', () => {
    const contested = createContested()
    const { scheduler } = contested
    endAll(contested, 5_000)
    scheduler.update({ ...ready('idle', undefined, 'idle') })
    expect(select(scheduler, 5_000, 6)).toEqual([{ webhookId: 'busy', slots: 6 }])
    scheduler.update({ ...ready('idle', 0, 'idle') })
    expect(select(scheduler, 20_000, 6).map(({ slots }) => slots)).toEqual([3, 3])
  })

  it('is remembered as such while it has nothing to send', () => {
    const contested = createContested()
    const { scheduler } = contested
    scheduler.update(ready('busy', undefined, 'busy'))
    endAll(contested, 5_000)
    scheduler.update({ ...ready('busy', 5_000, 'busy'), webhookId: 'another' })
    expect(select(scheduler, 5_000, 6)).toEqual([{ webhookId: 'idle', slots: 6 }])
  })

  it('starts nothing ahead of free slots', () => {
    const contested = createContested()
    const { scheduler } = contested
    endAll(contested, 5_000)
    for (let count = 0; count < 8; count++) scheduler.start(ready('busy', 0, 'busy'), 5_000)
    expect(scheduler.next(5_000, 0, 4)).toEqual([{ webhookId: 'idle', slots: 4, isProbe: false }])
  })
})

describe('the last sixteenth of the slots', () => {
  it('is for accounts that hold few, which is what holds the endpoint of the others back', () => {
    const scheduler = createFastScheduler({ ...CAPS, perEndpoint: 100, total: 64 })
    for (const account of ['one', 'two']) {
      scheduler.update(ready(account, 0, account))
      for (let count = 0; count < 30; count++) scheduler.start(ready(account, 0, account), 0)
    }
    expect(select(scheduler, 0, 4)).toEqual([])
    expect(scheduler.limitReached('one')).toBe('share')
    scheduler.update(ready('three', 0, 'three'))
    expect(select(scheduler, 0, 4)).toEqual([{ webhookId: 'three', slots: 3 }])
    // All slots are in use: that is no share.
    for (let count = 0; count < 4; count++) scheduler.start(ready('three', 0, 'three'), 0)
    expect(scheduler.limitReached('one')).not.toBe('share')
  })

  it('is for everybody while one account alone has something to send', () => {
    const scheduler = createFastScheduler({ ...CAPS, perEndpoint: 100, total: 64 })
    scheduler.update(ready('one', 0, 'one'))
    expect(select(scheduler, 0, 64)).toEqual([{ webhookId: 'one', slots: 64 }])
  })
})

describe('the cap of an origin', () => {
  const caps: Caps = { perEndpoint: 10, perAccount: 100, perOrigin: 3, total: 500, probes: 1000 }
  const at = (id: string, origin: string, account = 'acc') => ready(id, 0, account, origin)

  it('is shared by all its webhooks, and does not limit others', () => {
    const scheduler = createFastScheduler(caps)
    for (const id of ['a', 'b']) scheduler.update(at(id, 'https://shared.example'))
    scheduler.update(at('c', 'https://other.example'))
    const slotCounts = Object.fromEntries(
      select(scheduler, 0, 500).map(({ webhookId, slots }) => [webhookId, slots]),
    )
    expect(slotCounts.a! + slotCounts.b!).toBe(3)
    expect(slotCounts.c).toBe(3)
  })

  it('admits waiting endpoints in their order, as soon as a request ends', () => {
    const scheduler = createFastScheduler({ ...caps, perOrigin: 1 })
    const names = ['a', 'b', 'c']
    for (const id of names) scheduler.update(at(id, 'https://shared.example', `of-${id}`))
    const served: string[] = []
    for (let round = 0; round < 6; round++) {
      const selections = scheduler.next(0, 500)
      expect(selections).toHaveLength(1)
      const { webhookId } = selections[0]!
      const request = scheduler.start(at(webhookId, 'https://shared.example', `of-${webhookId}`), 0)
      scheduler.update(at(webhookId, 'https://shared.example', `of-${webhookId}`))
      expect(select(scheduler, 0, 500)).toEqual([])
      expect(scheduler.limitReached(webhookId)).toBe('origin')
      served.push(webhookId)
      scheduler.end(request, 0)
    }
    expect(served.slice(0, 3).sort()).toEqual(names)
    expect(served.slice(3).sort()).toEqual(names)
  })

  it('is not used up by slots that were allocated but not taken', () => {
    const scheduler = createFastScheduler({ ...caps, perOrigin: 2 })
    scheduler.update(at('a', 'https://shared.example', 'one'))
    scheduler.update(at('b', 'https://shared.example', 'two'))
    scheduler.update(at('c', 'https://shared.example', 'three'))
    const selections = scheduler.next(0, 500)
    for (const { webhookId } of selections)
      scheduler.update(ready(webhookId, undefined, undefined, 'https://shared.example'))
    const left = ['a', 'b', 'c'].filter((id) => !selections.some(({ webhookId }) => webhookId === id))
    expect(select(scheduler, 0, 500).map(({ webhookId }) => webhookId)).toEqual(left)
    expect(left).toHaveLength(1)
  })

  it('admits the next waiting endpoint when the admitted one has nothing due any more', () => {
    const scheduler = createFastScheduler({ ...caps, perOrigin: 1 })
    for (const id of ['a', 'b', 'c']) scheduler.update(at(id, 'https://shared.example', `of-${id}`))
    const served: string[] = []
    for (let round = 0; round < 3; round++) {
      const selections = scheduler.next(0, 500)
      served.push(...selections.map(({ webhookId }) => webhookId))
      for (const { webhookId } of selections)
        scheduler.update({ ...at(webhookId, 'https://shared.example'), dueMs: undefined })
    }
    expect(served.sort()).toEqual(['a', 'b', 'c'])
  })

  it('follows a webhook that moves to another origin', () => {
    const scheduler = createFastScheduler({ ...caps, perOrigin: 1 })
    scheduler.update(at('a', 'https://slow.example'))
    scheduler.start(at('a', 'https://slow.example'), 0)
    scheduler.update(at('b', 'https://slow.example'))
    expect(select(scheduler, 0, 500)).toEqual([])
    scheduler.update(at('b', 'https://quick.example'))
    expect(select(scheduler, 0, 500)).toEqual([{ webhookId: 'b', slots: 1 }])
  })
})

describe('an endpoint with a limit', () => {
  it('has no more requests at once, and more when the limit rises', () => {
    const scheduler = createFastScheduler(CAPS)
    const limited = (limit: number) => ({ ...ready('w', 0), limit })
    scheduler.update(limited(1))
    expect(select(scheduler, 0, 500)).toEqual([{ webhookId: 'w', slots: 1 }])
    const request = scheduler.start(limited(1), 0)
    expect(select(scheduler, 0, 500)).toEqual([])
    expect(scheduler.limitReached('w')).toBe('endpoint')
    scheduler.update(limited(4))
    expect(select(scheduler, 0, 500)).toEqual([{ webhookId: 'w', slots: 3 }])
    scheduler.update(limited(99))
    expect(select(scheduler, 0, 500)).toEqual([{ webhookId: 'w', slots: 9 }])
    scheduler.update(limited(1))
    scheduler.end(request, 0)
    expect(select(scheduler, 0, 500)).toEqual([{ webhookId: 'w', slots: 1 }])
  })
})

describe('a paused endpoint', () => {
  const paused = (id: string, dueMs: number | undefined, accountId?: string, origin?: string) => ({
    ...ready(id, dueMs, accountId, origin),
    failing: true,
    probed: true,
  })
  const probeOf = (webhookId: string): Selection => ({ webhookId, slots: 1, isProbe: true })

  /** An account and an origin whose slots, and all others, are in use. */
  function createFull() {
    const scheduler = createScheduler({ ...CAPS, perEndpoint: 2, perAccount: 2, perOrigin: 2, total: 2 })
    const requests = [0, 1].map(() => scheduler.start(ready('busy', undefined), 0))
    return { scheduler, requests }
  }

  it('is probed by one request when it is due, although all slots are in use', () => {
    const { scheduler } = createFull()
    scheduler.update(paused('w', 100))
    expect(scheduler.next(99, 0)).toEqual([])
    expect([scheduler.nextDueMs(), scheduler.nextProbeDueMs()]).toEqual([100, 100])
    expect(scheduler.next(100, 0)).toEqual([probeOf('w')])
    const probe = scheduler.start(paused('w', 100), 100)
    expect([scheduler.probes, scheduler.inFlight('w')]).toEqual([1, 1])
    scheduler.update(paused('w', 100))
    expect(scheduler.next(100, 0)).toEqual([])
    expect(scheduler.nextDueMs()).toBeUndefined()
    expect(scheduler.limitReached('w')).toBe('endpoint')
    scheduler.end(probe, 200)
    expect([scheduler.probes, scheduler.inFlight('w')]).toEqual([0, 0])
    expect(scheduler.next(200, 0)).toEqual([probeOf('w')])
  })

  it('is probed after its last request from before the pause has ended', () => {
    const scheduler = createScheduler(CAPS)
    const request = scheduler.start(ready('w', 0), 0)
    scheduler.update(paused('w', 0))
    expect(scheduler.next(0, 500)).toEqual([])
    scheduler.end(request, 0)
    expect(scheduler.next(0, 500)).toEqual([probeOf('w')])
  })

  it.each([
    ['its account', paused('w', 0), ready('w', 0)],
    ['its origin', paused('w', 0, 'other'), ready('w', 0, 'other')],
  ])('does not wait for the slot of %s for which it waited before', (_, after, before) => {
    const { scheduler } = createFull()
    scheduler.update(before)
    expect(scheduler.next(0, 1)).toEqual([])
    scheduler.update(after)
    expect(scheduler.next(0, 0)).toEqual([probeOf('w')])
  })

  it('waits for slots again once its pause has ended', () => {
    const { scheduler, requests } = createFull()
    scheduler.update(paused('w', 0))
    scheduler.next(0, 0)
    const probe = scheduler.start(paused('w', 0), 0)
    scheduler.recordAnswer(probe, 'fast', 0)
    scheduler.update(ready('w', 0))
    expect(scheduler.next(0, 1)).toEqual([])
    for (const request of requests) scheduler.end(request, 0)
    // The probe has not ended, and is one of the two requests of its endpoint.
    expect(scheduler.next(0, 2)).toEqual([{ webhookId: 'w', slots: 1, isProbe: false }])
  })

  it('is not probed when it is due no more, or is paused no more, before the probe starts', () => {
    const scheduler = createScheduler({ ...CAPS, probes: 1 })
    scheduler.update(paused('first', 0))
    scheduler.next(0, 0)
    const probe = scheduler.start(paused('first', 0), 0)
    scheduler.update(paused('first', undefined))
    for (const id of ['later', 'gone', 'ended']) scheduler.update(paused(id, 0))
    expect(scheduler.next(0, 0)).toEqual([])
    scheduler.update(paused('later', 50))
    scheduler.update(paused('gone', undefined))
    scheduler.update(ready('ended', 0))
    scheduler.end(probe, 0)
    expect(scheduler.next(0, 500)).toMatchObject([{ webhookId: 'ended', isProbe: false }])
    expect(scheduler.next(50, 0)).toEqual([probeOf('later')])
  })

  it('has a socket while fewer probes are open than may be', () => {
    const scheduler = createScheduler({ ...CAPS, probes: 2 })
    for (const [dueMs, id] of ['a', 'b', 'c'].entries()) scheduler.update(paused(id, dueMs - 3))
    expect(scheduler.next(0, 0)).toEqual([probeOf('a'), probeOf('b')])
    const probes = ['a', 'b'].map((id) => scheduler.start(paused(id, undefined), 0))
    for (const id of ['a', 'b']) scheduler.update(paused(id, undefined))
    expect(scheduler.next(0, 500)).toEqual([])
    scheduler.end(probes[0]!, 0)
    expect(scheduler.next(0, 500)).toEqual([probeOf('c')])
  })

  it('is one of fifty that are probed at once, and of two hundred a second, with a wake-up for the next one', () => {
    const scheduler = createScheduler(CAPS)
    for (let n = 0; n < 1_500; n++) scheduler.update(paused(`w${n}`, 0, `of-${n}`))
    const probeAll = (now: number) => {
      const selections = scheduler.next(now, 500)
      for (const { webhookId, isProbe } of selections) {
        expect(isProbe).toBe(true)
        const probe = scheduler.start(paused(webhookId, undefined), now)
        scheduler.update(paused(webhookId, undefined))
        scheduler.end(probe, now)
      }
      return selections.length
    }
    expect(probeAll(10_000)).toBe(50)
    expect([scheduler.nextDueMs(), scheduler.nextProbeDueMs()]).toEqual([10_005, 10_005])
    expect([probeAll(10_004), probeAll(10_005), probeAll(10_025)]).toEqual([0, 1, 4])
    let count = 55
    for (let now = 10_030; now <= 11_000; now += 5) count += probeAll(now)
    expect(count).toBe(250)
    // A clock that is set back does not stop them.
    expect(probeAll(0)).toBe(50)
  })

  it('leaves the counts of slots as they were when its class or its origin changes during a probe', () => {
    const scheduler = createScheduler(CAPS)
    for (const [round, answer] of (['fast', 'none', 'slow', 'fast'] as const).entries()) {
      const origin = `https://${round}.example`
      scheduler.update(paused('w', 0))
      scheduler.next(0, 0)
      const probe = scheduler.start(paused('w', 0), 0)
      const before = probe.endpoint.origin
      scheduler.recordAnswer(probe, answer, 0)
      scheduler.update(paused('w', 0, 'acc', origin))
      const { account } = probe.endpoint
      for (const { slots } of [account, before.zone, probe.endpoint.origin.zone])
        expect(slots).toEqual([0, 0, 0, 0, 0, 0])
      expect([before.inFlight, probe.endpoint.origin.inFlight]).toEqual([0, 0])
      scheduler.end(probe, 0)
      expect(account.slots).toEqual([0, 0, 0, 0, 0, 0])
    }
  })

  it('becomes neither slow nor silent by a probe that takes long, and its class follows from the answer', () => {
    const scheduler = createScheduler(CAPS)
    scheduler.update(paused('w', 0))
    scheduler.next(0, 0)
    const probe = scheduler.start(paused('w', 0), 0)
    scheduler.sent(probe, 0)
    scheduler.update(ready('other', 0, 'acc', 'https://b.example'))
    scheduler.next(5_000, 500)
    expect([probe.isOverdue, probe.endpoint.overdueCount]).toEqual([false, 0])
    scheduler.recordAnswer(probe, 'fast', 5_000)
    expect(scheduler.isFast(probe, 5_000)).toBe(true)
  })

  it('counts in the stats as open or half-open, beside the longest due time', () => {
    const scheduler = createSendingScheduler(CAPS)
    scheduler.update(ready('old', 100))
    scheduler.update(ready('new', 900))
    scheduler.update(ready('later', 5000))
    scheduler.update(paused('probed', 1_000, 'other'))
    expect(scheduler.next(1_000, 0)).toEqual([probeOf('probed')])
    const probe = scheduler.start(paused('probed', undefined, 'other'), 1_000)
    scheduler.update(paused('probed', undefined, 'other'))
    expect(scheduler.stats(1000)).toEqual({ oldestDueMs: 900, open: 0, halfOpen: 1 })
    scheduler.update(paused('probed', 9000, 'other'))
    scheduler.end(probe, 1_000)
    expect(scheduler.stats(1000)).toEqual({ oldestDueMs: 900, open: 1, halfOpen: 0 })
  })
})

describe('endpoints that were never tried', () => {
  const at = (id: string) => ready(id, 0, `of-${id}`, `https://${id}.shared.example`)

  it('wait for the first requests to their zone, and go when one of those is answered fast', () => {
    const scheduler = createObservedScheduler(CAPS)
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) scheduler.update(at(id))
    const selections = scheduler.next(0, 500)
    const waiting = ids.filter((id) => !selections.some(({ webhookId }) => webhookId === id))
    expect(selections.map(({ slots }) => slots)).toEqual([1, 1])
    const requests = selections.map(({ webhookId }) => scheduler.start(at(webhookId), 0))
    for (const { webhookId } of selections) scheduler.update({ ...at(webhookId), dueMs: undefined })
    expect(select(scheduler, 10, 500)).toEqual([])
    expect(scheduler.limitReached(waiting[0]!)).toBe('priority')
    scheduler.recordAnswer(requests[0]!, 'fast', 20)
    expect(new Set(select(scheduler, 20, 500).map(({ webhookId }) => webhookId))).toEqual(new Set(waiting))
  })

  it('are selected as silent ones when the first request to their zone is overdue, which has a wake-up', () => {
    const scheduler = createSendingScheduler({ ...CAPS, total: 100 })
    for (const id of ['a', 'b', 'c']) scheduler.update(at(id))
    const selections = scheduler.next(5, 500)
    expect(selections).toHaveLength(1)
    const { webhookId } = selections[0]!
    scheduler.start(at(webhookId), 5)
    scheduler.update({ ...at(webhookId), dueMs: undefined })
    expect(scheduler.next(900, 500)).toEqual([])
    expect(scheduler.nextDueMs()).toBe(1005)
    const others = scheduler.next(1005, 500).map(({ webhookId }) => webhookId)
    expect(new Set([webhookId, ...others])).toEqual(new Set(['a', 'b', 'c']))
  })

  it('cause no wake-up while none of them waits', () => {
    const scheduler = createSendingScheduler(CAPS)
    scheduler.start(at('a'), 0)
    expect(scheduler.nextDueMs()).toBeUndefined()
  })
})

describe('endpoints that refuse connections', () => {
  const dead = Array.from({ length: 40 }, (_, n) => ({
    ...ready(`dead-${n}`, 0, `of-${n}`, `https://dead-${n}.example`),
    failing: true,
  }))

  /** Selects and ends requests at a time until none is selected. */
  function tryAll(scheduler: Scheduler, now: number, answer: 'fast' | 'none'): number {
    let count = 0
    for (;;) {
      const selections = scheduler.next(now, 500)
      if (selections.length === 0 || count > 1_000) return count
      count += selections.length
      const requests = selections.map(({ webhookId }) =>
        scheduler.start(dead.find((endpoint) => endpoint.webhookId === webhookId)!, now),
      )
      for (const { webhookId } of selections)
        scheduler.update(dead.find((endpoint) => endpoint.webhookId === webhookId)!)
      for (const request of requests) {
        scheduler.recordAnswer(request, answer, now)
        scheduler.end(request, now)
      }
      if (answer === 'fast' && count >= dead.length) return count
    }
  }

  it('are tried ten at once, then fifty times a second, with a wake-up for the next one', () => {
    const scheduler = createSendingScheduler({ ...CAPS, perEndpoint: 1 })
    for (const endpoint of dead) scheduler.update(endpoint)
    expect(tryAll(scheduler, 0, 'none')).toBe(10)
    expect(scheduler.nextDueMs()).toBe(20)
    expect(tryAll(scheduler, 19, 'none')).toBe(0)
    expect(tryAll(scheduler, 20, 'none')).toBe(1)
    expect(tryAll(scheduler, 100, 'none')).toBe(4)
    let count = 0
    for (let now = 100; now <= 10_100; now += 20) count += tryAll(scheduler, now, 'none')
    expect(count).toBe(500)
  })

  it('are not held back once they answer', () => {
    const scheduler = createSendingScheduler({ ...CAPS, perEndpoint: 1 })
    for (const endpoint of dead) scheduler.update(endpoint)
    expect(tryAll(scheduler, 0, 'fast')).toBeGreaterThanOrEqual(dead.length)
  })

  it('are tried although the clock was set back', () => {
    const scheduler = createSendingScheduler({ ...CAPS, perEndpoint: 1 })
    for (const endpoint of dead) scheduler.update(endpoint)
    expect(tryAll(scheduler, 3_600_000, 'none')).toBe(10)
    expect(tryAll(scheduler, 0, 'none')).toBe(10)
  })
})

/** One step of a history; numbers are taken modulo the number of candidates. */
const steps = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('due' as const), endpoint: fc.nat(11), dueMs: fc.nat(50) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('idle' as const), endpoint: fc.nat(11) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), endpoint: fc.nat(11) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const), endpoint: fc.nat(11) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), endpoint: fc.nat(11), limit: fc.nat(3) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('select' as const), free: fc.nat(12), taken: fc.nat(3) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('later' as const), ms: fc.nat(30) }) },
)

describe('the scheduler under any history', () => {
  it('exceeds no cap, selects nothing idle or not yet due, and leaves nothing due while slots are free', () => {
    const anyCaps = fc.record({
      perEndpoint: fc.integer({ min: 1, max: 4 }),
      perAccount: fc.integer({ min: 1, max: 6 }),
      perOrigin: fc.integer({ min: 1, max: 5 }),
      total: fc.integer({ min: 1, max: 10 }),
      probes: fc.integer({ min: 1, max: 4 }),
    })
    fc.assert(
      fc.property(anyCaps, fc.array(steps, { maxLength: 120 }), (limits, history) => {
        const scheduler = createFastScheduler(limits)
        const due = new Map<string, number>()
        const origins = new Map<string, number>()
        const paused = new Set<string>()
        const limitOf = new Map<string, number>()
        const inFlightRequests: { id: string; request: ReturnType<Scheduler['start']> }[] = []
        let now = 0
        /** Probes that may start: 50 at once, 200 a second. */
        let probeTokens = 50
        const accountOf = (id: string) => `acc-${Number(id.slice(1)) % 3}`
        const originOf = (id: string) => `https://${(origins.get(id) ?? Number(id.slice(1))) % 4}.example`
        const endpointOf = (id: string, dueMs: number | undefined) => ({
          ...ready(id, dueMs, accountOf(id), originOf(id)),
          probed: paused.has(id),
          limit: limitOf.get(id) || Number.POSITIVE_INFINITY,
        })
        const countOf = (id: string) =>
          inFlightRequests.filter((inFlightRequest) => inFlightRequest.id === id).length
        /** Requests in flight that use slots. */
        const inFlight = (isCounted: (id: string) => boolean) =>
          inFlightRequests.filter(({ id, request }) => !request.isProbe && isCounted(id)).length
        const probes = () => inFlightRequests.filter(({ request }) => request.isProbe).length
        const freeSlotsOf = (id: string) =>
          Math.min(
            Math.min(limits.perEndpoint, limitOf.get(id) || Number.POSITIVE_INFINITY) - countOf(id),
            limits.perAccount - inFlight((other) => accountOf(other) === accountOf(id)),
            limits.perOrigin - inFlight((other) => originOf(other) === originOf(id)),
          )
        for (const step of history) {
          if (step.kind === 'due') {
            const id = `w${step.endpoint}`
            due.set(id, Math.min(due.get(id) ?? Infinity, now + step.dueMs))
            scheduler.update(endpointOf(id, due.get(id)))
          } else if (step.kind === 'idle') {
            const id = `w${step.endpoint}`
            due.delete(id)
            scheduler.update(endpointOf(id, undefined))
          } else if (step.kind === 'move') {
            const id = `w${step.endpoint}`
            // Requests in flight move along, so only endpoints without any are moved: caps hold when slots
            // are allocated.
            if (inFlight((other) => other === id) > 0) continue
            origins.set(id, (origins.get(id) ?? 0) + 1)
            scheduler.update(endpointOf(id, due.get(id)))
          } else if (step.kind === 'pause') {
            const id = `w${step.endpoint}`
            if (!paused.delete(id)) paused.add(id)
            scheduler.update(endpointOf(id, due.get(id)))
          } else if (step.kind === 'limit') {
            const id = `w${step.endpoint}`
            limitOf.set(id, step.limit)
            scheduler.update(endpointOf(id, due.get(id)))
          } else if (step.kind === 'later') {
            now += step.ms
            probeTokens = Math.min(50, probeTokens + step.ms / 5)
          } else if (step.kind === 'end') {
            const [ended] = inFlightRequests.splice(step.which % Math.max(1, inFlightRequests.length), 1)
            if (ended) scheduler.end(ended.request, now)
          } else {
            const free = Math.min(step.free, limits.total - inFlight(() => true))
            const selections = scheduler.next(now, free)
            let taken = 0
            for (const { webhookId, slots, isProbe } of selections) {
              expect(due.get(webhookId)).toBeLessThanOrEqual(now)
              expect(isProbe).toBe(paused.has(webhookId))
              if (isProbe) expect([slots, countOf(webhookId)]).toEqual([1, 0])
              else {
                expect(slots).toBeGreaterThan(0)
                expect(slots).toBeLessThanOrEqual(freeSlotsOf(webhookId))
              }
              for (let count = 0; count < slots; count++) {
                if (step.taken > 0 && (taken + count) % (step.taken + 1) === 0) continue
                const request = scheduler.start(endpointOf(webhookId, undefined), now)
                expect(request.isProbe).toBe(isProbe)
                if (isProbe) probeTokens--
                inFlightRequests.push({ id: webhookId, request })
              }
              taken += slots
              if (!isProbe) expect(freeSlotsOf(webhookId)).toBeGreaterThanOrEqual(0)
            }
            for (const { webhookId } of selections)
              scheduler.update(endpointOf(webhookId, due.get(webhookId)))
            expect(inFlight(() => true)).toBeLessThanOrEqual(limits.total)
            expect(scheduler.openProbes()).toBe(probes())
            expect(probes()).toBeLessThanOrEqual(limits.probes)
            expect(probeTokens).toBeGreaterThan(-1e-6)
            const given = selections.reduce((sum, { slots, isProbe }) => sum + (isProbe ? 0 : slots), 0)
            expect(given).toBeLessThanOrEqual(Math.max(0, free))
            if (step.taken > 0) continue
            const left = [...due].filter(([, dueMs]) => dueMs <= now).map(([id]) => id)
            if (given < free) expect(left.filter((id) => !paused.has(id) && freeSlotsOf(id) > 0)).toEqual([])
            if (probes() < limits.probes && probeTokens > 1.001)
              expect(left.filter((id) => paused.has(id) && countOf(id) === 0)).toEqual([])
          }
        }
        for (let id = 0; id < 12; id++) expect(scheduler.inFlight(`w${id}`)).toBe(countOf(`w${id}`))
        // When all requests have ended, everything that is due is selected.
        for (const { request } of inFlightRequests.splice(0)) scheduler.end(request, now)
        const reached = new Set<string>()
        for (let round = 0; round < 200 && reached.size < due.size; round++) {
          const selections = scheduler.next(now + 50, limits.total)
          for (const { webhookId } of selections) {
            reached.add(webhookId)
            scheduler.update(endpointOf(webhookId, undefined))
          }
        }
        expect([...reached].sort()).toEqual([...due.keys()].sort())
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  it('finds everything due by the timer alone', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(100)), { maxLength: 40 }), (updates) => {
        const scheduler = createFastScheduler(CAPS)
        const due = new Map<string, number>()
        for (const [endpoint, dueMs] of updates) {
          const id = `w${endpoint}`
          due.set(id, dueMs)
          scheduler.update(ready(id, dueMs, `acc-${endpoint % 2}`))
        }
        const found = new Map<string, number>()
        for (let now = scheduler.nextDueMs(); now !== undefined; now = scheduler.nextDueMs()) {
          for (const { webhookId } of select(scheduler, now, 500)) {
            found.set(webhookId, now)
            scheduler.update(ready(webhookId, undefined))
          }
          select(scheduler, now, 500)
        }
        expect(found).toEqual(due)
      }),
    )
  })
})
