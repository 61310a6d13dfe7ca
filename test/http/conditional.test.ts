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

describe('conditional requests', () => {
  it('shows the revision as ETag and answers 304 to who has it', async () => {
    const { send } = face()
    const { headers, body } = await send('GET', WEBHOOK)
    expect(headers.etag).toBe('"3"')
    expect(JSON.parse(body).revision).toBe('3')
    const again = await send('GET', WEBHOOK, { headers: { 'if-none-match': headers.etag! } })
    expect(again).toEqual({
      status: 304,
      headers: { etag: '"3"', 'x-request-id': headers['x-request-id'] },
      body: '',
    })
    expect((await send('GET', WEBHOOK, { headers: { 'if-none-match': '"2"' } })).status).toBe(200)
  })

  it.each([
    ['"3"', 200],
    ['*', 200],
    ['"1", "3"', 200],
    ['"2"', 412],
    ['"1", "2"', 412],
    ['W/"3"', 412],
    ['nonsense', 412],
  ])('changes only what If-Match: %s allows', async (tag, status) => {
    const headers = { 'if-match': tag }
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const { send, webhooks } = face()
      const before = webhooks.get(HOOK)
      const response = await send(method, WEBHOOK, { headers, body: { data: WANTED } })
      expect(response.status).toBe(status)
      expect(webhooks.get(HOOK) === before).toBe(status === 412)
      if (status === 412) expect(jsonOf(response).message).toBe('precondition_failed')
    }
  })

  it('knows no unknown webhook, whatever the condition', async () => {
    const headers = { 'if-match': '"1", "2"' }
    expect((await face().send('DELETE', `${WEBHOOKS}/unknown`, { headers })).status).toBe(404)
  })
})
