/** What arrives at real receivers: every verb and format, and signatures that others can check. */
import { verify } from 'hookswitch'
import type { ReceivedRequest } from 'hookswitch/testkit'
import { gate, status } from 'hookswitch/testkit'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { created, services, told } from './running.js'

const running = services()

const EVENT = created('leg/1 a', {
  timestampMs: 1_767_225_600_999,
  callerIdName: 'Ada & Co. = 100%~',
  callForwarded: false,
  customChannelVars: { list: ['x', 'ü'], deep: { b: { c: '&=' } }, none: {} },
})
const PAIRS =
  'hook_event=channel_create&account_id=parent&call_id=leg%2F1+a&timestamp=63934444800' +
  '&caller_id_name=Ada+%26+Co.+%3D+100%25~&call_forwarded=false&custom_channel_vars[list][]=x' +
  '&custom_channel_vars[list][]=%C3%BC&custom_channel_vars[deep][b][c]=%26%3D&event_id={id}&sequence=1'
const PAYLOAD = {
  hook_event: 'channel_create',
  account_id: 'parent',
  call_id: 'leg/1 a',
  timestamp: 63_934_444_800,
  caller_id_name: 'Ada & Co. = 100%~',
  call_forwarded: false,
  custom_channel_vars: { list: ['x', 'ü'], deep: { b: { c: '&=' } }, none: {} },
  sequence: 1,
}

/** Both verifiers, on the bytes as they were received. */
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

describe('verbs and formats', () => {
  const verbs = ['get', 'post', 'put', 'patch', 'delete'] as const
  it.each(
    verbs.flatMap((httpVerb) =>
      (['json', 'form-data'] as const).map((format) => [httpVerb, format] as const),
    ),
  )('%s with %s', async (httpVerb, format) => {
    const { hs, receiver, webhook, ask } = await running()
    const id = await webhook('/hook?a=1', { httpVerb, format, uri: receiver.url('/hook?a=1') })
    const delivered = told(hs, 'delivered')
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
    const { json } = await ask('GET', `/v1/accounts/parent/webhooks/${id}/secret`)
    checkSignature(request, json.data.secret)
  })
})

describe('signatures', () => {
  it('while a secret is rotated both sign; a webhook shares its secret with no other', async () => {
    const { hs, receiver, webhook, ask } = await running()
    const id = await webhook('/hook')
    const secretOf = async (which: string) =>
      (await ask('GET', `/v1/accounts/parent/webhooks/${which}/secret`)).json.data.secret
    const old = await secretOf(id)
    const { json } = await ask('PUT', `/v1/accounts/parent/webhooks/${id}/secret`)
    expect(json.data.secret).not.toBe(old)
    expect(await secretOf(id)).toBe(json.data.secret)
    await hs.publish(EVENT)
    const request = await receiver.next()
    expect(request.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    checkSignature(request, old)
    checkSignature(request, json.data.secret)
    const stranger = await secretOf(await webhook('/another'))
    expect(verify({ headers: request.headers, body: request.body }, stranger)).toMatchObject({ ok: false })
  })

  it('a rotation reaches the very next attempt of a delivery', async () => {
    const { hs, receiver, webhook } = await running()
    const held = gate(status(500))
    receiver.on('/hook', [held, status(200)])
    const id = await webhook('/hook')
    await hs.publish(EVENT)
    const first = await receiver.next()
    const fresh = await hs.webhooks.rotateSecret('parent', id)
    held.release()
    const second = await receiver.next()
    expect(verify({ headers: first.headers, body: first.body }, fresh)).toMatchObject({ ok: false })
    checkSignature(second, fresh)
  })
})

describe('what is sent along', () => {
  it('the headers of the service, those of the webhook, and nothing of ours that concerns nobody', async () => {
    const { hs, receiver, webhook } = await running()
    const id = await webhook('/hook', {
      customRequestHeaders: { Authorization: 'Bearer theirs', 'X-Tenant': '7' },
    })
    await hs.publish(EVENT)
    const { headers, rawHeaders } = await receiver.next()
    expect(headers).toMatchObject({
      'x-hook-id': id,
      'x-account-id': 'parent',
      'x-hook-event': 'channel_create',
      'x-hook-attempt': '1',
      'accept-encoding': 'identity',
      authorization: 'Bearer theirs',
      'x-tenant': '7',
      host: new URL(receiver.url()).host,
    })
    expect(headers['user-agent']).toMatch(/^hookswitch\/[0-9]/)
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => /cookie|x-auth-token|traceparent|referer|origin/.test(name))).toEqual([])
  })

  it('sub-accounts’ events go to who asked for them, under the account of the webhook', async () => {
    const { hs, receiver, webhook } = await running()
    await webhook('/plain')
    await webhook('/all', { includeSubaccounts: true })
    await hs.publish({ ...created('call'), accountId: 'child' })
    await hs.publish({ ...created('call'), accountId: 'other' })
    await hs.publish(created('last'))
    const seen = await receiver.next(3)
    const of = (path: string) =>
      seen
        .filter((request) => request.path === path)
        .map(({ headers, body }) => [headers['x-account-id'], JSON.parse(body).account_id])
    expect(of('/all').sort()).toEqual([
      ['parent', 'child'],
      ['parent', 'parent'],
    ])
    expect(of('/plain')).toEqual([['parent', 'parent']])
  })
})
