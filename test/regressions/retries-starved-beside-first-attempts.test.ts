/**
 * Half of the free room, rounded up, went to first attempts: all of it where one place came free at a time. A due retry
 * was not sent once in 900 requests while first attempts never ran out.
 */
import { expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { aWebhook } from '../delivery/fixtures.js'
import { answered, deliveryWorld, headerOf } from '../delivery/world.js'

it.each([1, 4, 10])(
  'a due retry has its turn although first attempts never run out (%i places)',
  async (perEndpoint) => {
    const world = await deliveryWorld([aWebhook({ retries: 5 })])
    world.sender.script = () => undefined
    const node = world.node({ caps: { perEndpoint }, policy: constant(1000, { jitter: 0 }) })
    await node.start()
    for (let call = 0; call < 1000; call++) await world.publish(`call-${call}`)
    await world.clock.settle()
    world.sender.open[0]!.answer(answered(500))
    await world.clock.advance(2000)
    for (let n = 0; n < 900; n++) {
      world.sender.open[0]!.answer(answered(200))
      await world.clock.settle()
    }
    const retry = world.sender.requests.findIndex((request) => headerOf(request, 'x-hook-attempt') === '2')
    expect(retry).toBeGreaterThan(0)
  },
)
