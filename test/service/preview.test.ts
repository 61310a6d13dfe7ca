/** The preview of a request is the request: compared with what a test sends, and sent by curl itself. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ReceivedRequest } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const run = promisify(execFile)

/** Without what is different in each request. */
const steady = (text: string) =>
  text
    .replaceAll(/("event_id":"|event_id=)[0-9a-f]{32}/g, '$1<id>')
    .replaceAll(/("timestamp":|timestamp=)\d+/g, '$1<time>')
    .replaceAll(/("happened_at":"|happened_at=)[0-9TZ.:%A-]+/g, '$1<time>')

const VALUES: Readonly<Record<string, string>> = {
  AUTHORIZATION: "Bearer it's $HOME",
  X_HOSTILE: '`id` "$(id)" \\',
  X_HOOK_ID: 'the-webhook',
  WEBHOOK_ID: 'the-delivery',
  WEBHOOK_SIGNATURE: 'v1,x',
}

/** Sends a command of a preview, with values for its placeholders. */
const send = (curl: string) =>
  run('/bin/sh', ['-c', `${curl} --silent`], { env: { ...process.env, ...VALUES } })

const targetOf = ({ path, query }: ReceivedRequest) => (query === '' ? path : `${path}?${query}`)

describe('the preview of a webhook', () => {
  const verbs = ['get', 'post', 'put', 'patch', 'delete'] as const
  it.each(
    verbs.flatMap((httpVerb) =>
      (['json', 'form-data'] as const).map((format) => [httpVerb, format] as const),
    ),
  )('is what %s with %s sends, and what its curl command sends', async (httpVerb, format) => {
    const { hs, receiver } = await startService()
    const settings = {
      name: 'n',
      uri: receiver.url("/it's?a=[1]&b={x}"),
      hook: 'channel_create',
      httpVerb,
      format,
      customRequestHeaders: { Authorization: VALUES.AUTHORIZATION!, 'X-Hostile': VALUES.X_HOSTILE! },
      customData: { quote: "it's $(id) `id`\n@x", ü: '電話' },
    }
    const preview = await hs.webhooks.preview('parent', settings)
    expect(JSON.stringify(preview)).not.toContain('Bearer')

    const { id } = await hs.webhooks.create('parent', settings)
    const delivered = nextEvents(hs, 'delivered')
    await hs.webhooks.test('parent', id)
    await delivered
    await send(preview.curl)
    const [tested, curled] = receiver.requests.slice(-2) as [ReceivedRequest, ReceivedRequest]

    expect(preview.method).toBe(tested.method)
    expect(steady(preview.uri)).toBe(steady(receiver.url('') + targetOf(tested)))
    expect(steady(preview.body ?? '')).toBe(steady(tested.body))
    const names = preview.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    const transport = ['host', 'connection', 'content-length', 'transfer-encoding']
    const sent = Object.keys(tested.headers).filter((name) => !transport.includes(name))
    expect(names.toSorted()).toEqual(sent.toSorted())

    const expected: Record<string, unknown> = {
      ...tested.headers,
      'x-hook-id': 'the-webhook',
      'webhook-id': 'the-delivery',
    }
    const { headers } = curled
    for (const name of names.filter((name) => !['webhook-timestamp', 'webhook-signature'].includes(name)))
      expect([name, headers[name]]).toEqual([name, expected[name]])
    expect(headers['webhook-signature']).toBe('v1,x')
    expect([curled.method, steady(targetOf(curled)), steady(curled.body)]).toEqual([
      tested.method,
      steady(targetOf(tested)),
      steady(tested.body),
    ])
  })

  it('neither sends nor stores anything', async () => {
    const { hs, receiver } = await startService()
    await hs.webhooks.preview(
      'parent',
      { name: 'n', uri: receiver.url('/hook'), hook: 'all' },
      'channel_destroy',
    )
    expect(await hs.webhooks.list('parent')).toEqual([])
    expect(receiver.requests).toEqual([])
  })

  it('has the sample of the chosen hook, of `only`, or of the webhook', async () => {
    const { hs, receiver } = await startService()
    const settings = { name: 'n', uri: receiver.url('/hook'), hook: 'all' }
    const hookOf = async (...[input, hook]: [object, string?]) =>
      JSON.parse((await hs.webhooks.preview('parent', { ...settings, ...input }, hook)).body!).hook_event
    expect(await hookOf({})).toBe('channel_create')
    expect(await hookOf({ only: ['channel_hold', 'parking'] })).toBe('channel_hold')
    expect(await hookOf({ hook: 'parking' })).toBe('parking')
    expect(await hookOf({ hook: 'parking' }, 'webhook_paused')).toBe('webhook_paused')
  })

  it('rejects what a webhook may not have, and a kind of event that does not exist', async () => {
    const { hs } = await startService({ allowLocal: false })
    const valid = { name: 'n', uri: 'https://hooks.example.com/', hook: 'all' }
    const rejected = (input: object, hook?: string) =>
      hs.webhooks.preview('parent', { ...valid, ...input }, hook).then(
        () => undefined,
        ({ code, failures }) => [code, failures.map(({ path }: { path: string }) => path)],
      )
    expect(await rejected({ uri: 'http://127.0.0.1/', name: '' })).toEqual(['InvalidInput', ['name', 'uri']])
    expect(await rejected({ colour: 'red' })).toEqual(['InvalidInput', ['colour']])
    expect(await rejected({}, 'all')).toEqual(['InvalidInput', ['hook']])
    expect(await rejected({ customRequestHeaders: { Host: 'x' } })).toEqual([
      'InvalidInput',
      ['customRequestHeaders.Host'],
    ])
  })
})
