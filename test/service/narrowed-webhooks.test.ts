/** Webhooks that take some kinds of events, or only events whose payload passes a filter. */
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

describe('a webhook that is narrowed', () => {
  it('gets the kinds in only, in the order of the call, with the numbers of the call', async () => {
    const { hs, receiver, createWebhook } = await startService()
    await createWebhook('/hook', { hook: 'all', only: ['channel_create', 'channel_destroy'] })
    const delivered = nextEvents(hs, 'delivered', 4)
    for (const call of ['a', 'b']) {
      for (const hook of ['channel_create', 'channel_answer', 'channel_hold', 'channel_destroy'] as const)
        await hs.publish({ ...channelCreate(call), hook })
    }
    await delivered
    for (const call of ['a', 'b']) {
      const payloads = receiver.requests
        .map(({ body }) => JSON.parse(body))
        .filter((payload) => payload.call_id === call)
      expect(payloads.map(({ hook_event, sequence }) => [hook_event, sequence])).toEqual([
        ['channel_create', 1],
        ['channel_destroy', 4],
      ])
    }
  })

  it('gets the events whose payload passes its filter, whatever its custom data says', async () => {
    const { hs, receiver, createWebhook } = await startService()
    await createWebhook('/hook', {
      hook: 'all',
      filter: {
        any: [{ exact: { call_direction: 'inbound' } }, { prefix: { 'custom_channel_vars.queue': 'vip' } }],
      },
      customData: { call_direction: 'overridden' },
    })
    const delivered = nextEvents(hs, 'delivered', 2)
    await hs.publish(channelCreate('outbound', { direction: 'outbound' }))
    await hs.publish(channelCreate('vip', { direction: 'outbound', customChannelVars: { queue: 'vip-1' } }))
    await hs.publish(channelCreate('inbound', { direction: 'inbound' }))
    await delivered
    expect(receiver.requests.map(({ body }) => JSON.parse(body).call_id).sort()).toEqual(['inbound', 'vip'])
  })

  it('is made, read, changed and refused over HTTP by its wire names', async () => {
    const { callApi } = await startService()
    const uri = 'https://receiver.example.com/calls'
    const put = (data: object) =>
      callApi('PUT', '/v1/accounts/parent/webhooks', {
        data: { name: 'n', uri, hook: 'all', ...data },
      })
    const filter = { not: { exact: { is_internal_leg: true } } }
    const made = await put({ only: ['channel_create'], filter })
    expect([made.status, made.json.data]).toMatchObject([201, { only: ['channel_create'], filter }])
    const path = `/v1/accounts/parent/webhooks/${made.json.data.id}`
    const patched = await callApi('PATCH', path, {
      data: { only: null, filter: { exact: { call_id: 'x' } } },
    })
    expect(patched.status).toBe(200)
    expect(patched.json.data.filter).toEqual({ exact: { call_id: 'x' } })
    expect(patched.json.data).not.toHaveProperty('only')
    const refused = await put({ only: ['fax'], filter: { exact: { call_id: null } } })
    expect([refused.status, refused.json.data]).toMatchObject([
      400,
      { 'only.0': { enum: { value: 'fax' } }, 'filter.exact.call_id': { type: {} } },
    ])
  })

  it('is tested with the first of its kinds', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const id = await createWebhook('/hook', {
      hook: 'all',
      only: ['channel_destroy'],
      filter: { exact: { to: 'x' } },
    })
    const delivered = nextEvents(hs, 'delivered')
    await hs.webhooks.test('parent', id)
    await delivered
    expect(JSON.parse(receiver.requests[0]!.body).hook_event).toBe('channel_destroy')
  })
})
