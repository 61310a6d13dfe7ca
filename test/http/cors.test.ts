import { describe, expect, it } from 'vitest'
import { createHandler, type HandlerOptions } from '../../src/http/handle.js'
import { fakeWorld } from './fake-service.js'
import { HOOK, OWN, request, type Sent, silent } from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${HOOK}`
const _WANTED = { name: 'n', uri: 'https://r.example.com/', hook: 'all' }

function face(options: Partial<HandlerOptions> = {}) {
  const world = fakeWorld()
  const handle = createHandler(world.service, { log: silent, ...options })
  return { ...world, send: (method: string, url: string, sent?: Sent) => handle(request(method, url, sent)) }
}

const _keys = (body: object) => Object.keys(body).join(' ')

describe('CORS', () => {
  const cors = ['https://ui.example.com']
  const origin = { origin: 'https://ui.example.com' }

  it('is not there unless configured', async () => {
    const response = await face().send('OPTIONS', WEBHOOK, { headers: origin })
    expect(response.status).toBe(405)
    expect(
      Object.keys((await face().send('GET', WEBHOOK, { headers: origin })).headers).join(),
    ).not.toContain('access')
  })

  it('answers a preflight without a token', async () => {
    const { send } = face({ cors })
    const response = await send('OPTIONS', WEBHOOK, { headers: origin, token: null })
    expect(response).toMatchObject({ status: 204, body: '' })
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'https://ui.example.com',
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers': expect.stringContaining('x-auth-token'),
      vary: 'origin',
    })
    expect(response.headers).not.toHaveProperty('content-length')
    expect((await send('OPTIONS', '/v1/nowhere', { headers: origin })).status).toBe(404)
  })

  it('lets the named origin read every answer, errors too, and no other', async () => {
    const { send } = face({ cors })
    for (const url of [WEBHOOK, '/v1/nowhere']) {
      const { headers } = await send('GET', url, { headers: origin })
      expect(headers['access-control-allow-origin']).toBe('https://ui.example.com')
      const other = await send('GET', url, { headers: { origin: 'https://evil.example.com' } })
      expect(other.headers).not.toHaveProperty('access-control-allow-origin')
      expect(other.headers.vary).toBe('origin')
    }
  })

  it('lets everyone in with *', async () => {
    const { headers } = await face({ cors: ['*'] }).send('GET', WEBHOOK, { headers: origin })
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })
})
