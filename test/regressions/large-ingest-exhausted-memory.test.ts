/**
 * A list of events for many webhooks was prepared completely before the limit of pending deliveries was checked. 2,000
 * events for 1,000 webhooks took 1.3 GB and eleven seconds, only to be rejected.
 */
import { expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import { serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()

it('a list of events is rejected as soon as its deliveries exceed maxPending', async () => {
  const { callApi, hs, createWebhook } = await startService({ ingest: true, maxPending: 25 })
  for (let n = 0; n < 10; n++) await createWebhook(`/${n}`)
  const data = Array.from({ length: 1_000 }, (_, n) => ({ hook: 'channel_create', call_id: `call ${n}` }))
  const response = await callApi('PUT', '/v1/accounts/parent/events', { data })
  expect([response.status, response.json.message]).toEqual([429, 'too_many_requests'])
  expect(await hs.webhooks.attempts('parent')).toEqual([])
})

it('the rest of a rejected list is not matched', async () => {
  let examined = 0
  const account = { id: 'a', enabled: true } as never
  const settings = { enabled: true, hook: 'all', ordering: 'call', format: 'json', httpVerb: 'post' }
  const webhook = {
    id: 'w',
    accountId: 'a',
    epoch: 1,
    get settings() {
      examined += 1
      return { ...settings, includeInternalLegs: true }
    },
  }
  const deps = {
    clock: { now: () => 0, monotonic: () => 0, yield: async () => {} },
    limits: { maxEventsPerRequest: 100, maxDeliveriesPerRequest: 100 },
    directory: { lineage: async () => [account] },
    webhooks: {
      candidates: async () => [webhook],
    },
    deliveries: { accept: async () => [] },
    newId: () => 'id',
    isKnownHook: () => true,
    storeNow: () => 0,
  }
  const events = Array.from({ length: 100 }, (_, n) => ({ hook: 'x', accountId: 'a', callId: `${n}` }))
  await expect(acceptEvents(deps as never, events, 3)).rejects.toMatchObject({ code: 'QueueFull' })
  expect(examined).toBe(4)
})
