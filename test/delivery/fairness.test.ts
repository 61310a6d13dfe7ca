import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSchedule as createUntrusting, type Pick, type Schedule } from '../../src/delivery/fairness.js'
import type { Caps } from '../../src/delivery/turns.js'

const CAPS: Caps = { perEndpoint: 10, perAccount: 100, perOrigin: 1000, inAll: 500 }
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
  dueMs,
})

/** A schedule in which every endpoint is known to answer quickly: how far others are trusted has tests of its own. */
function createSchedule(caps: Caps): Schedule {
  const schedule = createUntrusting(caps)
  const known = new Set<string>()
  const learn: Schedule['learn'] = (told, since) => {
    if (!known.has(told.webhookId) && told.dueMs !== undefined) {
      known.add(told.webhookId)
      const flight = schedule.started(told, false, 0)
      schedule.answered(flight, true, 0)
      schedule.ended(flight)
    }
    schedule.learn(told, since)
  }
  return { ...schedule, learn }
}

/** A pick of which nothing is claimed. */
function pickAll(schedule: Schedule, now: number, free: number): readonly Omit<Pick, 'retriesFirst'>[] {
  const picks = schedule.pick(now, free)
  schedule.claimed(picks, undefined, schedule.tick())
  return picks.map(({ webhookId, room }) => ({ webhookId, room }))
}

describe('the schedule of endpoints', () => {
  it('gives a due endpoint all the room that its caps leave', () => {
    const schedule = createSchedule(CAPS)
    schedule.learn(ready('w', 100))
    expect(schedule.pick(99, 500)).toEqual([])
    expect(schedule.nextDueMs()).toBe(100)
    expect(pickAll(schedule, 100, 500)).toEqual([{ webhookId: 'w', room: 10 }])
    for (let count = 0; count < 7; count++) schedule.started(ready('w', 100), false, 0)
    expect(pickAll(schedule, 100, 500)).toEqual([{ webhookId: 'w', room: 3 }])
    expect(pickAll(schedule, 100, 2)).toEqual([{ webhookId: 'w', room: 2 }])
  })

  it('shares the room of an account among its endpoints, and of all among the accounts', () => {
    const schedule = createSchedule({ ...CAPS, perAccount: 6, inAll: 8 })
    for (const id of ['a', 'b', 'c']) schedule.learn(ready(id, 0, 'one'))
    schedule.learn(ready('d', 0, 'two'))
    const picks = schedule.pick(0, 8)
    expect(picks.find(({ webhookId }) => webhookId === 'd')?.room).toBe(4)
    const rooms = picks.filter(({ webhookId }) => webhookId !== 'd').map(({ room }) => room)
    expect(rooms.sort()).toEqual([1, 1, 2])
  })

  it('lets an account with one endpoint keep pace with one that has a thousand', () => {
    const schedule = createSchedule(CAPS)
    for (let index = 0; index < 1000; index++) schedule.learn(ready(`big-${index}`, 0, 'big'))
    schedule.learn(ready('small', 0, 'small'))
    expect(schedule.pick(0, 12).find(({ webhookId }) => webhookId === 'small')?.room).toBe(6)
  })

  it('serves an account although the one before it in turn has nothing due any more', () => {
    const schedule = createSchedule({ ...CAPS, perEndpoint: 1 })
    schedule.learn(ready('first', 0, 'one'))
    schedule.learn(ready('second', 0, 'two'))
    expect(pickAll(schedule, 0, 500)).toHaveLength(2)
    const since = schedule.tick()
    schedule.learn(ready('first', undefined, 'one'), since)
    expect(pickAll(schedule, 0, 500)).toEqual([{ webhookId: 'second', room: 1 }])
  })

  it('reaches every endpoint of an account, however few go at a time', () => {
    const schedule = createSchedule({ ...CAPS, perEndpoint: 1, perAccount: 1, inAll: 1 })
    const served = new Set<string>()
    for (let index = 0; index < 20; index++) schedule.learn(ready(`w${index}`, 0, `acc-${index % 3}`))
    for (let turn = 0; turn < 60; turn++) {
      for (const { webhookId } of pickAll(schedule, 0, 1)) served.add(webhookId)
    }
    expect(served.size).toBe(20)
  })

  it('keeps the earlier time when an answer may be older than what was learnt since', () => {
    const schedule = createSchedule(CAPS)
    const since = schedule.tick()
    schedule.learn(ready('w', 50))
    schedule.learn(ready('w', undefined), since)
    expect(schedule.nextDueMs()).toBe(50)
    schedule.learn(ready('w', 900), schedule.tick())
    expect(schedule.nextDueMs()).toBe(900)
  })

  it('forgets what is neither waiting nor in flight', () => {
    const schedule = createSchedule(CAPS)
    schedule.learn(ready('w', 0))
    const flight = schedule.started(ready('w', 0), false, 0)
    expect(schedule.inFlight('w')).toBe(1)
    schedule.learn(ready('w', undefined), schedule.tick())
    schedule.ended(flight)
    expect(schedule.inFlight('w')).toBe(0)
    expect(schedule.pick(0, 500)).toEqual([])
    expect(schedule.nextDueMs()).toBeUndefined()
  })
})

describe('the cap of an origin', () => {
  const caps: Caps = { perEndpoint: 10, perAccount: 100, perOrigin: 3, inAll: 500 }
  const at = (id: string, origin: string, account = 'acc') => ready(id, 0, account, origin)

  it('is shared by all webhooks that lead there, and holds back no other', () => {
    const schedule = createSchedule(caps)
    for (const id of ['a', 'b']) schedule.learn(at(id, 'https://shared.example'))
    schedule.learn(at('c', 'https://other.example'))
    const rooms = Object.fromEntries(
      pickAll(schedule, 0, 500).map(({ webhookId, room }) => [webhookId, room]),
    )
    expect(rooms.a! + rooms.b!).toBe(3)
    expect(rooms.c).toBe(3)
  })

  it('lets those that wait for it go in their turn, as soon as one request ends', () => {
    const schedule = createSchedule({ ...caps, perOrigin: 1 })
    const names = ['a', 'b', 'c']
    for (const id of names) schedule.learn(at(id, 'https://shared.example', `of-${id}`))
    const served: string[] = []
    for (let round = 0; round < 6; round++) {
      const picks = schedule.pick(0, 500)
      expect(picks).toHaveLength(1)
      const { webhookId } = picks[0]!
      const flight = schedule.started(at(webhookId, 'https://shared.example', `of-${webhookId}`), false, 0)
      schedule.claimed(picks, [at(webhookId, 'https://shared.example', `of-${webhookId}`)], schedule.tick())
      expect(pickAll(schedule, 0, 500)).toEqual([])
      expect(schedule.fullAt(webhookId)).toBe('origin')
      served.push(webhookId)
      schedule.ended(flight)
    }
    expect(served.slice(0, 3).sort()).toEqual(names)
    expect(served.slice(3).sort()).toEqual(names)
  })

  it('is not used up by room that was given and not taken', () => {
    const schedule = createSchedule({ ...caps, perOrigin: 2 })
    schedule.learn(at('a', 'https://shared.example', 'one'))
    schedule.learn(at('b', 'https://shared.example', 'two'))
    schedule.learn(at('c', 'https://shared.example', 'three'))
    const picks = schedule.pick(0, 500)
    const told = picks.map(({ webhookId }) =>
      ready(webhookId, undefined, undefined, 'https://shared.example'),
    )
    schedule.claimed(picks, told, schedule.tick())
    const left = ['a', 'b', 'c'].filter((id) => !picks.some(({ webhookId }) => webhookId === id))
    expect(pickAll(schedule, 0, 500).map(({ webhookId }) => webhookId)).toEqual(left)
    expect(left).toHaveLength(1)
  })

  it('goes to the next that waits for it when the one let in has nothing due any more', () => {
    const schedule = createSchedule({ ...caps, perOrigin: 1 })
    for (const id of ['a', 'b', 'c']) schedule.learn(at(id, 'https://shared.example', `of-${id}`))
    const served: string[] = []
    for (let round = 0; round < 3; round++) {
      const picks = schedule.pick(0, 500)
      served.push(...picks.map(({ webhookId }) => webhookId))
      const told = picks.map(({ webhookId }) => ({
        ...at(webhookId, 'https://shared.example'),
        dueMs: undefined,
      }))
      schedule.claimed(picks, told, schedule.tick())
    }
    expect(served.sort()).toEqual(['a', 'b', 'c'])
  })

  it('follows a webhook that leads elsewhere by now', () => {
    const schedule = createSchedule({ ...caps, perOrigin: 1 })
    schedule.learn(at('a', 'https://slow.example'))
    schedule.started(at('a', 'https://slow.example'), false, 0)
    schedule.learn(at('b', 'https://slow.example'))
    expect(pickAll(schedule, 0, 500)).toEqual([])
    schedule.learn(at('b', 'https://quick.example'))
    expect(pickAll(schedule, 0, 500)).toEqual([{ webhookId: 'b', room: 1 }])
  })
})

describe('the room of an endpoint', () => {
  it('is one while it is probed, and what waits goes on when it answers again', () => {
    const schedule = createSchedule(CAPS)
    schedule.learn(ready('w', 0))
    const flight = schedule.started(ready('w', 0), true, 0)
    expect(pickAll(schedule, 0, 500)).toEqual([])
    expect(schedule.fullAt('w')).toBe('endpoint')
    schedule.probing('w', false)
    expect(pickAll(schedule, 0, 500)).toEqual([{ webhookId: 'w', room: 9 }])
    schedule.ended(flight)
    expect(schedule.fullAt('w')).toBeUndefined()
  })

  it('tells how the node stands: what is due for longest, and whose breaker is open or probed', () => {
    const schedule = createUntrusting(CAPS)
    schedule.learn(ready('old', 100))
    schedule.learn(ready('new', 900))
    schedule.learn(ready('later', 5000))
    schedule.learn(ready('probed', undefined), schedule.tick())
    schedule.started(ready('probed', undefined), true, 0)
    expect(schedule.overview(1000)).toEqual({ oldestDueMs: 900, open: 0, halfOpen: 1 })
    const since = schedule.tick()
    schedule.learn(ready('probed', 9000), since)
    expect(schedule.overview(1000)).toEqual({ oldestDueMs: 900, open: 1, halfOpen: 0 })
  })
})

/** One thing that happens to a schedule; numbers are taken modulo what there is. */
const steps = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('due' as const), endpoint: fc.nat(11), dueMs: fc.nat(50) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('idle' as const), endpoint: fc.nat(11) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), endpoint: fc.nat(11) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pick' as const), free: fc.nat(12), taken: fc.nat(3) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('later' as const), ms: fc.nat(30) }) },
)

describe('under any history', () => {
  it('no cap is passed, nothing idle or not yet due is picked, and nothing due is left while there is room', () => {
    const anyCaps = fc.record({
      perEndpoint: fc.integer({ min: 1, max: 4 }),
      perAccount: fc.integer({ min: 1, max: 6 }),
      perOrigin: fc.integer({ min: 1, max: 5 }),
      inAll: fc.integer({ min: 1, max: 10 }),
    })
    fc.assert(
      fc.property(anyCaps, fc.array(steps, { maxLength: 120 }), (limits, history) => {
        const schedule = createSchedule(limits)
        const due = new Map<string, number>()
        const origins = new Map<string, number>()
        const flying: { id: string; flight: ReturnType<Schedule['started']> }[] = []
        let now = 0
        const accountOf = (id: string) => `acc-${Number(id.slice(1)) % 3}`
        const originOf = (id: string) => `https://${(origins.get(id) ?? Number(id.slice(1))) % 4}.example`
        const told = (id: string, dueMs: number | undefined) => ready(id, dueMs, accountOf(id), originOf(id))
        const inFlight = (fits: (id: string) => boolean) => flying.filter(({ id }) => fits(id)).length
        const roomOf = (id: string) =>
          Math.min(
            limits.perEndpoint - inFlight((one) => one === id),
            limits.perAccount - inFlight((one) => accountOf(one) === accountOf(id)),
            limits.perOrigin - inFlight((one) => originOf(one) === originOf(id)),
          )
        for (const step of history) {
          if (step.kind === 'due') {
            const id = `w${step.endpoint}`
            due.set(id, Math.min(due.get(id) ?? Infinity, now + step.dueMs))
            schedule.learn(told(id, now + step.dueMs))
          } else if (step.kind === 'idle') {
            const id = `w${step.endpoint}`
            due.delete(id)
            schedule.learn(told(id, undefined), schedule.tick())
          } else if (step.kind === 'move') {
            const id = `w${step.endpoint}`
            // What is in flight moves along, so only one without any: the caps hold at the moment of a pick.
            if (inFlight((one) => one === id) > 0) continue
            origins.set(id, (origins.get(id) ?? 0) + 1)
            schedule.learn(told(id, due.get(id)), schedule.tick())
          } else if (step.kind === 'later') now += step.ms
          else if (step.kind === 'end') {
            const [one] = flying.splice(step.which % Math.max(1, flying.length), 1)
            if (one) schedule.ended(one.flight)
          } else {
            const free = Math.min(step.free, limits.inAll - flying.length)
            const picks = free > 0 ? schedule.pick(now, free) : []
            let taken = 0
            for (const { webhookId, room } of picks) {
              expect(due.get(webhookId)).toBeLessThanOrEqual(now)
              expect(room).toBeGreaterThan(0)
              expect(room).toBeLessThanOrEqual(roomOf(webhookId))
              for (let count = 0; count < room; count++) {
                if (step.taken > 0 && (taken + count) % (step.taken + 1) === 0) continue
                const flight = schedule.started(told(webhookId, undefined), false, now)
                flying.push({ id: webhookId, flight })
              }
              taken += room
              expect(roomOf(webhookId)).toBeGreaterThanOrEqual(0)
            }
            schedule.claimed(
              picks,
              picks.map(({ webhookId }) => told(webhookId, due.get(webhookId))),
              schedule.tick(),
            )
            expect(flying.length).toBeLessThanOrEqual(limits.inAll)
            const given = picks.reduce((sum, { room }) => sum + room, 0)
            expect(given).toBeLessThanOrEqual(Math.max(0, free))
            if (given < free && step.taken === 0) {
              const left = [...due].filter(([id, dueMs]) => dueMs <= now && roomOf(id) > 0)
              expect(left).toEqual([])
            }
          }
        }
        for (let id = 0; id < 12; id++)
          expect(schedule.inFlight(`w${id}`)).toBe(inFlight((one) => one === `w${id}`))
        // With everything landed, whatever is due is picked.
        for (const { flight } of flying.splice(0)) schedule.ended(flight)
        const reached = new Set<string>()
        for (let round = 0; round < 200 && reached.size < due.size; round++) {
          const picks = schedule.pick(now + 50, limits.inAll)
          for (const { webhookId } of picks) reached.add(webhookId)
          schedule.claimed(
            picks,
            picks.map(({ webhookId }) => told(webhookId, undefined)),
            schedule.tick(),
          )
        }
        expect([...reached].sort()).toEqual([...due.keys()].sort())
      }),
      { numRuns: 500 },
    )
  })

  it('everything due is found by its timer alone', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(100)), { maxLength: 40 }), (learnt) => {
        const schedule = createSchedule(CAPS)
        const due = new Map<string, number>()
        for (const [endpoint, dueMs] of learnt) {
          const id = `w${endpoint}`
          due.set(id, dueMs)
          schedule.learn(ready(id, dueMs, `acc-${endpoint % 2}`), schedule.tick())
        }
        const found = new Map<string, number>()
        for (let now = schedule.nextDueMs(); now !== undefined; now = schedule.nextDueMs()) {
          for (const { webhookId } of pickAll(schedule, now, 500)) {
            found.set(webhookId, now)
            schedule.learn(ready(webhookId, undefined), schedule.tick())
          }
          pickAll(schedule, now, 500)
        }
        expect(found).toEqual(due)
      }),
    )
  })
})
