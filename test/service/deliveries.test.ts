/** Requests as real receivers get them: every method and format, and signatures that other libraries verify. */
import { verify } from 'hookswitch'
import type { ReceivedRequest } from 'hookswitch/testkit'
import { gate, status } from 'hookswitch/testkit'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

const EVENT = channelCreate('leg/1 a', {
  timestampMs: 1_767_225_600_999,
  callerIdName: 'Ada & Co. = 100%~',
  callForwarded: false,
  customChannelVars: { list: ['x', 'ü'], deep: { b: { c: '&=' } }, none: {} },
})
const PAIRS =
  'hook_event=channel_create&account_id=parent&call_id=leg%2F1+a&timestamp=63934444800&happened_at=2026-01-01T00%3A00%3A00.999Z' +
  '&caller_id_name=Ada+%26+Co.+%3D+100%25~&call_forwarded=false&custom_channel_vars[list][]=x' +
  '&custom_channel_vars[list][]=%C3%BC&custom_channel_vars[deep][b][c]=%26%3D&event_id={id}&sequence=1'
const PAYLOAD = {
  hook_event: 'channel_create',
  account_id: 'parent',
  call_id: 'leg/1 a',
  timestamp: 63_934_444_800,
  happened_at: '2026-01-01T00:00:00.999Z',
  caller_id_name: 'Ada & Co. = 100%~',
  call_forwarded: false,
  custom_channel_vars: { list: ['x', 'ü'], deep: { b: { c: '&=' } }, none: {} },
  sequence: 1,
}

/** Checks a request with both verifiers, on the bytes as received. */
function checkSignature(request: ReceivedRequest, secret: string): void {
  const { body, bodyBytes, headers } = request
  expect(new Webhook(secret).verify(body, { ...headers }, { jsonParse: false })).toBeUndefined()
  expect(verify({ headers, body: bodyBytes }, secret)).toMatchObject({ ok: true, id: headers['webhook-id'] })
  const forged = bodyBytes.length === 0 ? Buffer.from('x') : Buffer.concat([bodyBytes, Buffer.from(' ')])
  expect(verify({ headers, body: forged }, secret)).toEqual({ ok: false, reason: 'no signature fits' })
  expect(() => new Webhook(secret).verify(`${body} `, { ...headers }, { jsonParse: false })).toThrow(
    'No matching signature',
  )
}

describe('a request', () => {
  const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
  it.each(
    methods.flatMap((httpVerb) =>
      (['json', 'form-data'] as const).map((format) => [httpVerb, format] as const),
    ),
  )(
    'with method %s and format %s has the documented form and a valid signature',
    async (httpVerb, format) => {
      const { hs, receiver, createWebhook, callApi } = await startService()
      const id = await createWebhook('/hook?a=1', { httpVerb, format, uri: receiver.url('/hook?a=1') })
      const delivered = nextEvents(hs, 'delivered')
      const { eventId } = await hs.publish(EVENT)
      const request = await receiver.next()
      await delivered
      const pairs = PAIRS.replace('{id}', eventId)
      expect(request.method).toBe(httpVerb.toUpperCase())
      if (httpVerb === 'get' || httpVerb === 'delete') {
        expect(request.query).toBe(`a=1&${pairs}`)
        expect(request.body).toBe('')
        expect(request.headers).not.toHaveProperty('content-type')
      } else {
        expect(request.query).toBe('a=1')
        expect(request.headers['content-length']).toBe(String(request.bodyBytes.length))
        if (format === 'json') {
          expect(request.headers['content-type']).toBe('application/json')
          expect(JSON.parse(request.body)).toEqual({ ...PAYLOAD, event_id: eventId })
        } else {
          expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded')
          expect(request.body).toBe(pairs)
        }
      }
      const { json } = await callApi('GET', `/v1/accounts/parent/webhooks/${id}/secret`)
      checkSignature(request, json.data.secret)
    },
  )
})

describe('the signature', () => {
  it('is made with both secrets after a rotation; no webhook shares its secret', async () => {
    const { hs, receiver, createWebhook, callApi } = await startService()
    const id = await createWebhook('/hook')
    const secretOf = async (which: string) =>
      (await callApi('GET', `/v1/accounts/parent/webhooks/${which}/secret`)).json.data.secret
    const old = await secretOf(id)
    const { json } = await callApi('PUT', `/v1/accounts/parent/webhooks/${id}/secret`)
    expect(json.data.secret).not.toBe(old)
    expect(await secretOf(id)).toBe(json.data.secret)
    await hs.publish(EVENT)
    const request = await receiver.next()
    expect(request.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    checkSignature(request, old)
    checkSignature(request, json.data.secret)
    const otherSecret = await secretOf(await createWebhook('/another'))
    expect(verify({ headers: request.headers, body: request.body }, otherSecret)).toMatchObject({ ok: false })
  })

  it('of the next attempt uses a rotated secret', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const held = gate(status(500))
    receiver.on('/hook', [held, status(200)])
    const id = await createWebhook('/hook')
    await hs.publish(EVENT)
    const first = await receiver.next()
    const rotated = await hs.webhooks.rotateSecret('parent', id)
    held.release()
    const second = await receiver.next()
    expect(verify({ headers: first.headers, body: first.body }, rotated)).toMatchObject({ ok: false })
    checkSignature(second, rotated)
  })
})

describe('the headers', () => {
  it('are those of the service and of the webhook, without internal ones', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const id = await createWebhook('/hook', {
      customRequestHeaders: { Authorization: 'Bearer receiver-token', 'X-Tenant': '7' },
    })
    await hs.publish(EVENT)
    const { headers, rawHeaders } = await receiver.next()
    expect(headers).toMatchObject({
      'x-hook-id': id,
      'x-account-id': 'parent',
      'x-hook-event': 'channel_create',
      'x-hook-attempt': '1',
      'accept-encoding': 'identity',
      authorization: 'Bearer receiver-token',
      'x-tenant': '7',
      host: new URL(receiver.url()).host,
    })
    expect(headers['user-agent']).toMatch(/^hookswitch\/[0-9]/)
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => /cookie|x-auth-token|traceparent|referer|origin/.test(name))).toEqual([])
  })

  it('are recorded with their own values, and without those of the webhook', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const custom = {
      'X-Tenant': 'tenant-7',
      'User-Agent': 'agent-7',
      Accept: 'text/x-7',
      traceparent: 'trace-7',
    }
    const id = await createWebhook('/hook', { customRequestHeaders: custom })
    const delivered = nextEvents(hs, 'delivered', 1)
    await hs.publish(EVENT)
    const { headers } = await receiver.next()
    expect(headers).toMatchObject({ 'x-tenant': 'tenant-7', 'user-agent': 'agent-7', traceparent: 'trace-7' })
    await delivered
    const [attempt] = await hs.webhooks.attempts('parent', id)
    const recorded = attempt!.requestHeaders!
    const recordedValue = (name: string) => recorded[recorded.indexOf(name) + 1]
    for (const name of Object.keys(custom)) expect([name, recordedValue(name)]).toEqual([name, '[redacted]'])
    expect(recordedValue('X-Hook-ID')).toBe(id)
    expect(recordedValue('webhook-id')).toBe(attempt!.deliveryId)
    expect(recordedValue('Content-Type')).toBe('application/json')
    expect(JSON.stringify(attempt)).not.toMatch(/(tenant|agent|x|trace)-7/)
  })

  it('of a sub-account’s event name the account of the webhook that includes sub-accounts', async () => {
    const { hs, receiver, createWebhook } = await startService()
    await createWebhook('/plain')
    await createWebhook('/all', { includeSubaccounts: true })
    await hs.publish({ ...channelCreate('call'), accountId: 'child' })
    await hs.publish({ ...channelCreate('call'), accountId: 'other' })
    await hs.publish(channelCreate('last'))
    const requests = await receiver.next(3)
    const accountsOf = (path: string) =>
      requests
        .filter((request) => request.path === path)
        .map(({ headers, body }) => [headers['x-account-id'], JSON.parse(body).account_id])
    expect(accountsOf('/all').sort()).toEqual([
      ['parent', 'child'],
      ['parent', 'parent'],
    ])
    expect(accountsOf('/plain')).toEqual([['parent', 'parent']])
  })
})

describe('a field by which receivers recognize an event', () => {
  it('cannot be set by custom data', async () => {
    const { callApi, createWebhook, receiver } = await startService()
    const id = await createWebhook('/hook', { customData: { source: 'pbx' } })
    const custom_data = { event_id: 'mine', Happened_At: 'mine', from: 'mine' }
    const whole = { name: 'n', uri: receiver.url('/hook'), hook: 'all', custom_data }
    for (const [method, path, data] of [
      ['PUT', '', whole],
      ['POST', `/${id}`, whole],
      ['PATCH', `/${id}`, { custom_data }],
    ] as const) {
      const { status, json } = await callApi(method, `/v1/accounts/parent/webhooks${path}`, { data })
      expect([status, Object.keys(json.data)]).toEqual([
        400,
        ['custom_data.event_id', 'custom_data.Happened_At'],
      ])
    }
    const { json } = await callApi('GET', `/v1/accounts/parent/webhooks/${id}`)
    expect(json.data.custom_data).toEqual({ source: 'pbx' })
  })
})
