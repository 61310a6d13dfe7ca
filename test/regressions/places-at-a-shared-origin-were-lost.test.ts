/**
 * Three ways in which endpoints waited for ever though there was room: a webhook that moved to another origin took the
 * place of its request along, and nobody let the next in where it had been; of those let in at an origin some had no
 * place in their own account, and kept it from the others; strangers never had the first turn while those that answer and
 * those that fail at once took every place as it came free.
 */
import { expect, it } from 'vitest'
import { createSchedule, type Schedule } from '../../src/delivery/fairness.js'
import type { Caps } from '../../src/delivery/turns.js'

const CAPS: Caps = { perEndpoint: 10, perAccount: 100, perOrigin: 100, inAll: 500 }
const at = (webhookId: string, accountId: string, origin: string, failing = false) => ({
  webhookId,
  accountId,
  origin,
  failing,
  dueMs: 0,
})

/** Claims and starts all that is picked; who was served. */
function send(schedule: Schedule, known: Map<string, ReturnType<typeof at>>, now: number, free: number) {
  const flights: { id: string; flight: ReturnType<Schedule['started']> }[] = []
  for (let left = free; left > 0; ) {
    const picks = schedule.pick(now, left)
    if (picks.length === 0) break
    for (const { webhookId: id, room } of picks) {
      left -= room
      for (let n = 0; n < room; n++)
        flights.push({ id, flight: schedule.started(known.get(id)!, false, now) })
    }
    schedule.claimed(
      picks,
      picks.map(({ webhookId }) => known.get(webhookId)!),
      schedule.tick(),
    )
  }
  return flights
}

it('a webhook that moves to another origin leaves its place to those that wait at the former', () => {
  const schedule = createSchedule({ ...CAPS, perOrigin: 1 })
  const known = new Map([
    ['a', at('a', 'one', 'https://shared.example')],
    ['b', at('b', 'two', 'https://shared.example')],
  ])
  for (const endpoint of known.values()) schedule.learn(endpoint)
  const [first] = send(schedule, known, 0, 10)
  const other = first!.id === 'a' ? 'b' : 'a'
  known.set(first!.id, at(first!.id, 'one', 'https://elsewhere.example'))
  schedule.learn({ ...known.get(first!.id)!, dueMs: undefined }, schedule.tick())
  schedule.ended(first!.flight)
  expect(send(schedule, known, 0, 10).map(({ id }) => id)).toEqual([other])
})

it('those let in at an origin whose account has no place leave it to the next', () => {
  const schedule = createSchedule({ ...CAPS, perEndpoint: 1, perAccount: 4, perOrigin: 3 })
  const shared = 'https://shared.example'
  const known = new Map<string, ReturnType<typeof at>>()
  const add = (endpoint: ReturnType<typeof at>) => {
    known.set(endpoint.webhookId, endpoint)
    schedule.learn(endpoint)
  }
  for (let n = 0; n < 3; n++) add(at(`first-${n}`, `of-${n}`, shared))
  const atShared = send(schedule, known, 0, 100)
  expect(atShared).toHaveLength(3)
  // One tenant queues at the origin, then fills its own cap elsewhere; another one queues behind it.
  for (let n = 0; n < 3; n++) add(at(`queued-${n}`, 'tenant', shared))
  expect(send(schedule, known, 0, 100)).toEqual([])
  for (let n = 0; n < 4; n++) add(at(`elsewhere-${n}`, 'tenant', `https://silent-${n}.example`))
  expect(send(schedule, known, 0, 100).length).toBeGreaterThanOrEqual(3)
  add(at('behind', 'other', shared))
  expect(send(schedule, known, 0, 100)).toEqual([])
  for (const { id, flight } of atShared) {
    known.delete(id)
    schedule.learn({ ...at(id, `of-${id.slice(6)}`, shared), dueMs: undefined }, schedule.tick())
    schedule.answered(flight, true, 0)
    schedule.ended(flight)
  }
  expect(send(schedule, known, 0, 100).map(({ id }) => id)).toContain('behind')
})

it('strangers are served beside those that answer and those that fail at once, both without end', () => {
  const schedule = createSchedule({ ...CAPS, inAll: 8 })
  const known = new Map<string, ReturnType<typeof at>>()
  const add = (endpoint: ReturnType<typeof at>) => {
    known.set(endpoint.webhookId, endpoint)
    schedule.learn(endpoint)
  }
  add(at('good', 'good', 'https://good.example'))
  add(at('dead', 'dead', 'https://dead.example', true))
  let flying = send(schedule, known, 0, 8)
  let strangers = 0
  for (let now = 1; now < 500 && strangers === 0; now++) {
    // By now the good one is known as such, and takes every place that comes free in its turn.
    if (now === 100) add(at('stranger', 'new', 'https://new.example'))
    const one = flying.shift()!
    schedule.answered(one.flight, one.id === 'good', now)
    schedule.ended(one.flight)
    flying = [...flying, ...send(schedule, known, now, 8 - flying.length)]
    strangers = flying.filter(({ id }) => id === 'stranger').length
  }
  expect(strangers).toBeGreaterThan(0)
})

it('a receiver that answers some requests quickly and lets others hang is trusted like one that hangs', () => {
  const schedule = createSchedule({ ...CAPS, perEndpoint: 100, inAll: 40 })
  const known = new Map([['game', at('game', 'one', 'https://game.example')]])
  schedule.learn(known.get('game')!)
  let flying = send(schedule, known, 0, 40)
  for (let now = 200; now < 5000; now += 200) {
    // Each fourth answers at once.
    const quick = flying.filter((_, index) => index % 4 === 0).slice(0, 2)
    for (const { flight } of quick) {
      schedule.answered(flight, true, now)
      schedule.ended(flight)
    }
    flying = flying.filter((one) => !quick.includes(one))
    flying = [...flying, ...send(schedule, known, now, 40 - flying.length)]
  }
  expect(schedule.fullAt('game')).toBe('trust')
  expect(flying.length).toBeLessThan(40)
})
