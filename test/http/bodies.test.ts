import { describe, expect, it } from 'vitest'
import { createHandler, type HandlerOptions } from '../../src/http/handle.js'
import { fakeWorld } from './fake-service.js'
import { HOOK, jsonOf, OWN, request, type Sent, silent } from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${HOOK}`
const WANTED = { name: 'n', uri: 'https://r.example.com/', hook: 'all' }

function face(options: Partial<HandlerOptions> = {}) {
  const world = fakeWorld()
  const handle = createHandler(world.service, { log: silent, ...options })
  return { ...world, send: (method: string, url: string, sent?: Sent) => handle(request(method, url, sent)) }
}

const _keys = (body: object) => Object.keys(body).join(' ')

describe('bodies', () => {
  it.each<[string, Sent]>([
    ['of curl -d', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['of application/x-json', { headers: { 'content-type': 'application/x-json' } }],
    ['without a type', { headers: { 'content-type': undefined } }],
    ['with a charset', { headers: { 'content-type': 'application/json; charset=utf-8' } }],
  ])('%s are JSON', async (_, sent) => {
    expect((await face().send('PUT', WEBHOOKS, { ...sent, body: { data: WANTED } })).status).toBe(201)
  })

  it('that are forms are no media type of ours', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await face().send('PUT', WEBHOOKS, { headers, body: 'name=n' })).status).toBe(415)
  })

  it('may come from a parser before us', async () => {
    const { send } = face()
    const parsed = (parsedBody: unknown, headers = {}) =>
      send('PUT', WEBHOOKS, { headers: { 'content-length': '9', ...headers }, more: { parsedBody } })
    expect((await parsed({ data: WANTED })).status).toBe(201)
    expect((await parsed(JSON.stringify({ data: WANTED }))).status).toBe(201)
    expect(jsonOf(await parsed({})).data).toHaveProperty('data.required')
    expect((await parsed({}, { 'content-length': undefined })).status).toBe(201)
  })

  it('of GET and DELETE may be of any type; that of GET is not even read as JSON', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await face().send('GET', WEBHOOK, { headers, body: 'x' })).status).toBe(200)
    expect(
      (await face().send('DELETE', WEBHOOK, { headers, body: { data: { ui_metadata: {} } } })).status,
    ).toBe(200)
    expect((await face().send('DELETE', WEBHOOK, { headers, body: 'x' })).status).toBe(400)
  })

  it('may be left out, and are an empty `data` then', async () => {
    const { send, asked } = face()
    await send('PUT', WEBHOOKS)
    expect(asked.at(-1)).toEqual(['create', OWN, { settings: {} }])
    expect(jsonOf(await send('PUT', '/v1/api_auth')).data).toHaveProperty(['api_key', 'required'])
  })
})
