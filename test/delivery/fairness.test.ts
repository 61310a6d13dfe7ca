import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Caps, createSchedule } from '../../src/delivery/fairness.js'

const CAPS: Caps = { perEndpoint: 10, perAccount: 100, inAll: 500 }
const ready = (webhookId: string, dueMs: number | undefined, accountId = 'acc') => ({
  webhookId,
  accountId,
  dueMs,
})

describe('the schedule of endpoints', () => {
  it('gives a due endpoint all the room that its caps leave', () => {
    const schedule = createSchedule(CAPS)
    schedule.learn(ready('w', 100))
    expect(schedule.pick(99, 500)).toEqual([])
    expect(schedule.nextDueMs()).toBe(100)
    expect(schedule.pick(100, 500)).toEqual([{ webhookId: 'w', room: 10 }])
    for (let count = 0; count < 7; count++) schedule.started('w', 'acc')
    expect(schedule.pick(100, 500)).toEqual([{ webhookId: 'w', room: 3 }])
    expect(schedule.pick(100, 2)).toEqual([{ webhookId: 'w', room: 2 }])
  })

  it('shares the room of an account among its endpoints, and of all among the accounts', () => {
    const schedule = createSchedule({ perEndpoint: 10, perAccount: 6, inAll: 8 })
    for (const id of ['a', 'b', 'c']) schedule.learn(ready(id, 0, 'one'))
    schedule.learn(ready('d', 0, 'two'))
    const picks = schedule.pick(0, 8)
    expect(picks.find(({ webhookId }) => webhookId === 'd')?.room).toBe(4)
    const rooms = picks.filter(({ webhookId }) => webhookId !== 'd').map(({ room }) => room)
    expect(rooms.sort()).toEqual([1, 1, 2])
  })

  it('lets an account with one endpoint keep pace with one that has a thousand', () => {
    const schedule = createSchedule({ perEndpoint: 10, perAccount: 100, inAll: 500 })
    for (let index = 0; index < 1000; index++) schedule.learn(ready(`big-${index}`, 0, 'big'))
    schedule.learn(ready('small', 0, 'small'))
    expect(schedule.pick(0, 12).find(({ webhookId }) => webhookId === 'small')?.room).toBe(6)
  })

  it('serves an account although the one before it in turn has nothing due any more', () => {
    const schedule = createSchedule({ ...CAPS, perEndpoint: 1 })
    schedule.learn(ready('first', 0, 'one'))
    schedule.learn(ready('second', 0, 'two'))
    expect(schedule.pick(0, 500)).toHaveLength(2)
    const since = schedule.tick()
    schedule.learn(ready('first', undefined, 'one'), since)
    expect(schedule.pick(0, 500)).toEqual([{ webhookId: 'second', room: 1 }])
  })

  it('reaches every endpoint of an account, however few go at a time', () => {
    const schedule = createSchedule({ perEndpoint: 1, perAccount: 1, inAll: 1 })
    const served = new Set<string>()
    for (let index = 0; index < 20; index++) schedule.learn(ready(`w${index}`, 0, `acc-${index % 3}`))
    for (let turn = 0; turn < 60; turn++) {
      for (const { webhookId } of schedule.pick(0, 1)) served.add(webhookId)
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
    schedule.started('w', 'acc')
    expect(schedule.inFlight('w')).toBe(1)
    schedule.learn(ready('w', undefined), schedule.tick())
    schedule.ended('w', 'acc')
    expect(schedule.inFlight('w')).toBe(0)
    expect(schedule.pick(0, 500)).toEqual([])
    expect(schedule.nextDueMs()).toBeUndefined()
  })
})

/** One thing that happens to a schedule; numbers are taken modulo what there is. */
const steps = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('due' as const), endpoint: fc.nat(11), dueMs: fc.nat(50) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('idle' as const), endpoint: fc.nat(11) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pick' as const), free: fc.nat(12) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('later' as const), ms: fc.nat(30) }) },
)

describe('under any history', () => {
  it('no cap is passed, nothing idle or not yet due is picked, and nothing due is left while there is room', () => {
    const caps = fc.record({
      perEndpoint: fc.integer({ min: 1, max: 4 }),
      perAccount: fc.integer({ min: 1, max: 6 }),
      inAll: fc.integer({ min: 1, max: 10 }),
    })
    fc.assert(
      fc.property(caps, fc.array(steps, { maxLength: 120 }), (limits, history) => {
        const schedule = createSchedule(limits)
        const due = new Map<string, number>()
        const flying: string[] = []
        let now = 0
        const accountOf = (id: string) => `acc-${Number(id.slice(1)) % 3}`
        const inFlight = (fits: (id: string) => boolean) => flying.filter(fits).length
        const roomOf = (id: string) =>
          Math.min(
            limits.perEndpoint - inFlight((one) => one === id),
            limits.perAccount - inFlight((one) => accountOf(one) === accountOf(id)),
          )
        for (const step of history) {
          if (step.kind === 'due') {
            const id = `w${step.endpoint}`
            due.set(id, Math.min(due.get(id) ?? Infinity, now + step.dueMs))
            schedule.learn({ webhookId: id, accountId: accountOf(id), dueMs: now + step.dueMs })
          } else if (step.kind === 'idle') {
            const id = `w${step.endpoint}`
            due.delete(id)
            schedule.learn({ webhookId: id, accountId: accountOf(id), dueMs: undefined }, schedule.tick())
          } else if (step.kind === 'later') now += step.ms
          else if (step.kind === 'end') {
            const [id] = flying.splice(step.which % Math.max(1, flying.length), 1)
            if (id) schedule.ended(id, accountOf(id))
          } else {
            const free = Math.min(step.free, limits.inAll - flying.length)
            const picks = free > 0 ? schedule.pick(now, free) : []
            for (const { webhookId, room } of picks) {
              expect(due.get(webhookId)).toBeLessThanOrEqual(now)
              expect(room).toBeGreaterThan(0)
              for (let count = 0; count < room; count++) {
                schedule.started(webhookId, accountOf(webhookId))
                flying.push(webhookId)
              }
              expect(roomOf(webhookId)).toBeGreaterThanOrEqual(0)
            }
            expect(flying.length).toBeLessThanOrEqual(limits.inAll)
            const given = picks.reduce((sum, { room }) => sum + room, 0)
            expect(given).toBeLessThanOrEqual(Math.max(0, free))
            if (given < free) {
              const left = [...due].filter(([id, dueMs]) => dueMs <= now && roomOf(id) > 0)
              expect(left).toEqual([])
            }
          }
        }
        for (let id = 0; id < 12; id++)
          expect(schedule.inFlight(`w${id}`)).toBe(inFlight((one) => one === `w${id}`))
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
          for (const { webhookId } of schedule.pick(now, 500)) {
            found.set(webhookId, now)
            schedule.learn(ready(webhookId, undefined), schedule.tick())
          }
          schedule.pick(now, 500)
        }
        expect(found).toEqual(due)
      }),
    )
  })
})
