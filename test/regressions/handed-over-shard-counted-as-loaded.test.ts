/**
 * A node that had handed shards over and then loaded its queue again, because the answer to a commit was lost, counted them as
 * loaded: its grant still named them. When it got them back at its next renewal, it did not load them, and what waited there
 * was not sent.
 */
import { expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { aWebhook } from '../delivery/fixtures.js'
import { createHarness, responseWith } from '../delivery/harness.js'

const WEBHOOKS = Array.from({ length: 30 }, (_, index) =>
  aWebhook({ uri: `https://hook-${index}.example/` }, { id: `hook-${index}` }),
)

it('a shard that comes back after it was handed over is loaded', async () => {
  const harness = await createHarness(WEBHOOKS, true)
  const { clock, sender, faults } = harness
  sender.script = () => undefined
  const [first, second] = [harness.node(), harness.node()]
  await first.start()
  await second.start()
  await clock.advance(LEASE_MS / 3 + 100)
  faults.losesAnswer.add('commit')
  const published = harness.publish('a')
  await clock.settle()
  faults.losesAnswer.clear()
  await clock.advance(2000)
  await published
  const taken = WEBHOOKS.filter(({ id }) => second.inFlight(id) > 0)
  expect(taken.length).toBeGreaterThan(5)
  sender.script = () => responseWith(200)
  const closing = second.close(0)
  await clock.advance(LEASE_MS)
  await closing
  for (const { id } of WEBHOOKS) expect(await harness.deliveries(id)).toMatchObject([{ state: 'delivered' }])
  const closed = first.close(0)
  await clock.advance(5000)
  await closed
})
