/**
 * First attempts got half of the free slots, rounded up: all of them where slots came free one at a time. A due retry
 * was never sent during 900 requests, as long as first attempts were waiting.
 */
import { expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { aWebhook } from '../delivery/fixtures.js'
import { createHarness, headerOf, responseWith } from '../delivery/harness.js'

it.each([1, 4, 10])(
  'a due retry is sent although first attempts never run out (%i slots)',
  async (perEndpoint) => {
    const harness = await createHarness([aWebhook({ retries: 5 })])
    harness.sender.script = () => undefined
    const node = harness.node({ caps: { perEndpoint }, policy: constant(1000, { jitter: 0 }) })
    await node.start()
    for (let call = 0; call < 1000; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    harness.sender.open[0]!.answer(responseWith(500))
    await harness.clock.advance(2000)
    for (let n = 0; n < 900; n++) {
      harness.sender.open[0]!.answer(responseWith(200))
      await harness.clock.settle()
    }
    const retry = harness.sender.requests.findIndex((request) => headerOf(request, 'x-hook-attempt') === '2')
    expect(retry).toBeGreaterThan(0)
  },
)
