/**
 * What went wrong: a list of events for many webhooks was prepared whole before the bound on pending deliveries was
 * looked at. 2,000 events for 1,000 webhooks took 1.3 GB and eleven seconds, to be refused.
 */
import { expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import { services } from '../service/running.js'

const running = services()

it('is refused as soon as the events so far make too many deliveries', async () => {
  const { ask, hs, webhook } = await running({ ingest: true, maxPending: 25 })
  for (let n = 0; n < 10; n++) await webhook(`/${n}`)
  const data = Array.from({ length: 1_000 }, (_, n) => ({ hook: 'channel_create', call_id: `call ${n}` }))
  const answer = await ask('PUT', '/v1/accounts/parent/events', { data })
  expect([answer.status, answer.json.message]).toEqual([429, 'too_many_requests'])
  expect(await hs.webhooks.attempts('parent')).toEqual([])
})

it('is looked at no further', async () => {
  let asked = 0
  const account = { id: 'a', enabled: true } as never
  const settings = { enabled: true, hook: 'all', ordering: 'call', format: 'json', httpVerb: 'post' }
  const webhook = { id: 'w', accountId: 'a', settings: { ...settings, includeInternalLegs: true }, epoch: 1 }
  const doors = {
    clock: { now: () => 0 },
    directory: { lineage: async () => [account] },
    webhooks: {
      async candidates() {
        asked += 1
        return [webhook]
      },
    },
    deliveries: { accept: async () => [] },
    newId: () => 'id',
    knowsHook: () => true,
    storeNow: () => 0,
  }
  const events = Array.from({ length: 100 }, (_, n) => ({ hook: 'x', accountId: 'a', callId: `${n}` }))
  await expect(acceptEvents(doors as never, events, 3)).rejects.toMatchObject({ code: 'QueueFull' })
  expect(asked).toBe(4)
})
