/** The requests of a client written for KAZOO: sign in, list hooks, create a webhook, read its attempts. */
import { createHash } from 'node:crypto'
import { status } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const UI = { ui_metadata: { version: '4.3-2', ui: 'monster-ui', origin: 'webhooks' } }

it('a KAZOO client signs in with a password hash, creates a webhook from form values and reads its attempts', async () => {
  const { hs, receiver, callApi } = await startService()
  receiver.on('/calls', [status(500, { body: 'not now' }), status(200, { body: 'thanks' })])

  const login = await callApi('PUT', '/v2/user_auth', {
    token: 'undefined',
    data: { credentials: md5('Ada:lovelace'), account_name: 'parent telecom', ...UI },
  })
  expect([login.status, login.json.data]).toMatchObject([
    201,
    { account_id: 'parent', owner_id: 'ada', apps: [] },
  ])
  const token = login.json.auth_token
  const base = `/v2/accounts/${login.json.data.account_id}`

  const hooks = await callApi('GET', '/v2/webhooks?paginate=false', { token })
  expect(hooks.json.data.map(({ id }: { id: string }) => id)).toContain('channel_create')

  const createdWebhook = await callApi('PUT', `${base}/webhooks`, {
    token,
    data: {
      name: 'CRM',
      uri: receiver.url('/calls'),
      http_verb: 'post',
      hook: 'channel_create',
      retries: '2',
      enabled: 'true',
      group: 'crm',
      ...UI,
    },
  })
  expect(createdWebhook.status).toBe(201)
  const { id } = createdWebhook.json.data
  expect(createdWebhook.headers.location).toBe(`${base}/webhooks/${id}`)
  const list = await callApi('GET', `${base}/webhooks`, { token })
  expect(list.json.data).toEqual([
    {
      id,
      hook: 'channel_create',
      name: 'CRM',
      uri: receiver.url('/calls'),
      group: 'crm',
      enabled: true,
      health: { state: 'ok', failures_in_row: 0 },
    },
  ])

  const delivered = nextEvents(hs, 'delivered')
  const { eventId } = await hs.publish(channelCreate('call-1', { direction: 'inbound' }))
  await delivered
  const [first, second] = await receiver.next(2)
  expect(JSON.parse(first!.body)).toMatchObject({
    call_id: 'call-1',
    call_direction: 'inbound',
    event_id: eventId,
  })
  expect(second!.body).toBe(first!.body)

  const attempts = await callApi('GET', `${base}/webhooks/${id}/attempts`, { token })
  expect(attempts.json.data).toMatchObject([
    {
      hook_id: id,
      attempt: 2,
      result: 'success',
      resp_status_code: '200',
      resp_body: 'thanks',
      retries_left: 1,
      retries: 2,
    },
    {
      hook_id: id,
      attempt: 1,
      result: 'failure',
      reason: 'bad response code',
      resp_status_code: '500',
      resp_body: 'not now',
      retries_left: 2,
      retries: 3,
    },
  ])
  expect(attempts.json.data[0].req_body).toBe(first!.body)
  const account = await callApi('GET', `${base}/webhooks/attempts`, { token })
  expect(account.json.data).toEqual(attempts.json.data)

  const full = await callApi('GET', `${base}/webhooks/${id}`, { token })
  const edited = await callApi('POST', `${base}/webhooks/${id}`, {
    token,
    data: { ...full.json.data, name: 'renamed', ...UI },
  })
  expect([edited.status, edited.json.data.name, edited.json.revision]).toEqual([200, 'renamed', '2'])
  const disabled = await callApi('PATCH', `${base}/webhooks/${id}`, {
    token,
    data: { enabled: false, ...UI },
  })
  expect(disabled.json.data.enabled).toBe(false)
  const removed = await callApi('DELETE', `${base}/webhooks/${id}`, { token, data: UI })
  expect(removed.json.data).toMatchObject({ id, _read_only: { deleted: true } })
  expect((await callApi('GET', `${base}/webhooks`, { token })).json.data).toEqual([])

  expect((await callApi('DELETE', '/v2/token_auth', { token, data: UI })).status).toBe(200)
  expect((await callApi('GET', `${base}/webhooks`, { token })).status).toBe(401)
})

it('a platform in another language publishes over HTTP', async () => {
  const { hs, receiver, createWebhook, callApi } = await startService({ ingest: true })
  await createWebhook('/calls', { hook: 'all' })
  const delivered = nextEvents(hs, 'delivered', 2)
  const event = { call_id: 'call-1', timestamp: 63_934_444_800 }
  const { json, status: code } = await callApi('PUT', '/v1/accounts/parent/events', {
    data: [
      { ...event, hook_event: 'channel_create' },
      { ...event, hook_event: 'channel_destroy', hangup_cause: 'NORMAL_CLEARING', duration_seconds: '7' },
    ],
  })
  expect(code).toBe(202)
  await delivered
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body))
  expect(bodies.map(({ event_id }) => event_id)).toEqual(json.data.event_ids)
  expect(bodies[1]).toMatchObject({ hook_event: 'channel_destroy', duration_seconds: 7, sequence: 2 })
})

it('requests that the HTTP parser rejects get the same JSON errors, and the next request is served', async () => {
  const { callApi } = await startService()
  const long = await callApi('GET', `/v1/webhooks?x=${'y'.repeat(20_000)}`)
  expect([long.status, long.json.error, long.json.status]).toEqual([414, '414', 'error'])
  const headers = await callApi('GET', '/v1/webhooks', { headers: { 'x-long': 'z'.repeat(20_000) } })
  expect([headers.status, headers.json.error, headers.json.status]).toEqual([431, '431', 'error'])
  const body = await callApi('PUT', '/v1/accounts/parent/webhooks', { body: 'x'.repeat(1_048_577) })
  expect([body.status, body.json.data.body.maxSize.target]).toEqual([413, 1_048_576])
  expect((await callApi('GET', '/v1/webhooks')).status).toBe(200)
})
