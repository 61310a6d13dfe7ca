/**
 * A filtered list of attempts was read without a pause. With 1,000 conditions over 27,000 attempts the event loop was
 * blocked for 1.6 s.
 */
import { memoryStore } from 'hookswitch'
import { systemClock } from 'hookswitch/adapter'
import { expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

it('other work runs between the batches of a long list', async () => {
  const system = systemClock()
  let yields = 0
  const clock = {
    ...system,
    yield() {
      yields += 1
      return system.yield()
    },
  }
  const sender = { send: async () => OK, close: async () => {} }
  const store = memoryStore({ attemptsPerWebhook: 2_000 })
  const { hs, callApi, createWebhook } = await startService({ clock, sender, store })
  await createWebhook('/hook', { ordering: 'none' })
  const delivered = nextEvents(hs, 'delivered', 1_200)
  for (let n = 0; n < 1_200; n++) await hs.publish(channelCreate(`${n}`))
  await delivered
  // The dispatcher checks for more work once.
  await system.yield()
  yields = 0
  const response = await callApi('GET', '/v1/accounts/parent/webhooks/attempts?filter_hook_event=none')
  expect(response.json.data).toEqual([])
  expect(yields).toBeGreaterThanOrEqual(2)
})
