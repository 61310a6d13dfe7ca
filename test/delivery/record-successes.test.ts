import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../src/delivery/attempt-record.js'
import { constant } from '../../src/delivery/policy.js'
import { replayDeliveries } from '../../src/delivery/replay.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, headerOf, type World } from './world.js'

const POLICY = constant(1000, { jitter: 0 })
const toldAttempts = (world: World) =>
  world.told.filter(({ name }) => name === 'attempt').map(({ payload }) => payload as AttemptRecord)

describe('when successes are not recorded', () => {
  it('the list has the failures, numbered as they were; the host is told of every attempt', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 5 })])
    world.sender.script = (_, attempt) => answered([500, 302, 204][attempt - 1]!)
    const node = world.node({ policy: POLICY, recordSuccesses: false })
    await node.start()
    await world.publish('call')
    await world.clock.advance(5000)
    expect((await world.attempts()).map(({ attempt, result, status }) => [attempt, result, status])).toEqual([
      [1, 'failure', 500],
      [2, 'failure', 302],
    ])
    const told = toldAttempts(world)
    expect(told.map(({ attempt, result, status }) => [attempt, result, status])).toEqual([
      [1, 'failure', 500],
      [2, 'failure', 302],
      [3, 'success', 204],
    ])
    // What is told is whole, kept or not.
    expect(Object.keys(told[2]!).sort()).toEqual(
      Object.keys(told[0]!)
        .filter((key) => key !== 'reason')
        .sort(),
    )
    expect(await world.deliveries()).toMatchObject([{ state: 'delivered', attempts: 3, tries: 3 }])
    expect(world.told.at(-1)).toMatchObject({ name: 'delivered', payload: { attempts: 3 } })
    await node.close(0)
  })

  it('faults of ours, withdrawals and ends without a request are recorded as ever', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 0, maxAgeSeconds: 60 })])
    world.sender.script = (request, attempt) => {
      const { call_id: call } = JSON.parse(request.body!)
      if (call === 'ours' && attempt === 1) return { kind: 'own_fault', detail: 'EMFILE' }
      return answered(call === 'gone' ? 410 : 200)
    }
    const node = world.node({ recordSuccesses: false })
    await world.publish('old')
    await world.clock.advance(61_000)
    await node.start()
    await world.publish('ours')
    await world.clock.advance(2000)
    await world.publish('gone')
    await world.clock.settle()
    expect((await world.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [undefined, 'expired'],
      [1, 'kazoo http client error'],
      [1, 'bad response code'],
    ])
    await node.close(0)
  })

  it('a delivered one is still read as such, and can be replayed', async () => {
    const world = await deliveryWorld()
    const node = world.node({ recordSuccesses: false })
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    const [old] = await world.deliveries()
    const doors = { ...world.accept, ...world.store }
    const [again] = await replayDeliveries(doors, 'acc', 'w1', { deliveryId: old!.id }, 100)
    await world.clock.settle()
    expect(world.sender.requests.map((request) => headerOf(request, 'webhook-id'))).toEqual([old!.id, again])
    expect(await world.attempts()).toEqual([])
    await node.close(0)
  })

  it('states, numbers and what is told are the same as when they are', async () => {
    const answers = fc.array(fc.constantFrom(200, 204, 302, 404, 500, 503), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(answers, fc.nat(12), async (script, calls) => {
        const run = async (recordSuccesses: boolean) => {
          const world = await deliveryWorld([aWebhook({ retries: 2 })])
          let turn = 0
          world.sender.script = () => answered(script[turn++ % script.length]!)
          const node = world.node({ policy: POLICY, recordSuccesses })
          await node.start()
          for (let call = 0; call < calls; call++) await world.publish(`call-${call % 4}`)
          await world.clock.advance(7_200_000)
          await node.close(0)
          const seen = await world.attempts()
          return { deliveries: await world.deliveries(), told: world.told, seen }
        }
        const [all, failures] = [await run(true), await run(false)]
        expect(failures.deliveries).toEqual(all.deliveries)
        expect(failures.told).toEqual(all.told)
        const facts = (list: readonly AttemptRecord[]) =>
          list.map(({ id, attempt, result }) => [id, attempt, result])
        expect(facts(failures.seen)).toEqual(facts(all.seen).filter(([, , result]) => result === 'failure'))
      }),
      { numRuns: 25 },
    )
  })
})
