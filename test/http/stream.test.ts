import { describe, expect, it } from 'vitest'
import { HookswitchError } from '../../src/errors.js'
import { jsonOf, OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

const PATH = `/v2/accounts/${OWN_ACCOUNT}/stream`

describe('GET stream', () => {
  it('selects what its query and Last-Event-ID say', async () => {
    const { send, hs } = await startService()
    const query = 'types=event&call_id=a%2Fb&descendants=true&_=cache'
    const { stream, headers } = await send('GET', `${PATH}?${query}`, { headers: { 'last-event-id': '' } })
    expect(headers).not.toHaveProperty('content-length')
    expect(headers).not.toHaveProperty('etag')
    expect(await stream!.next()).toContain('retry: 2000')
    const event = { hook: 'channel_create', accountId: OWN_ACCOUNT, timestampMs: 1 } as const
    for (const callId of ['other', 'a/b']) await hs.publish({ ...event, callId })
    let text = (await stream!.next())!
    hs.endStreams()
    for (let part = await stream!.next(); part !== undefined; part = await stream!.next()) text += part
    expect(text.match(/^event: .*$/gm)).toEqual(['event: event', 'event: end'])
    expect(text).toContain('"call_id":"a/b"')
  })

  it('answers HEAD with its headers, opening nothing', async () => {
    const { send } = await startService()
    const response = await send('HEAD', PATH)
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe('text/event-stream')
    expect(response).not.toHaveProperty('stream')
    expect((await send('HEAD', `${PATH}?types=unknown`)).status).toBe(400)
  })

  it('needs an Accept that allows event streams', async () => {
    const { send } = await startService()
    for (const [accept, status] of [
      ['text/event-stream', 200],
      ['TEXT/*;q=0.5', 200],
      ['*/*', 200],
      ['', 200],
      ['application/json', 406],
      ['text/html, application/json', 406],
      ['text/event-stream;q=0, */*', 406],
    ] as const) {
      const response = await send('GET', PATH, { headers: { accept } })
      response.stream?.close()
      expect(response.status, accept).toBe(status)
      if (status === 406)
        expect(jsonOf(response)).toMatchObject({
          message: 'not_acceptable',
          data: { message: expect.stringContaining('text/event-stream') },
        })
    }
  })

  it('takes its token from a header only', async () => {
    const { send, token } = await startService()
    const inQuery = await send('GET', `${PATH}?auth_token=${token}`, { token: null })
    const inBody = await send('POST', PATH, { token: null, body: { auth_token: token, verb: 'get' } })
    const headers = { authorization: `Bearer ${token}` }
    const bearer = await send('GET', PATH, { token: null, headers })
    bearer.stream!.close()
    expect([inQuery.status, inBody.status, bearer.status]).toEqual([401, 401, 200])
  })

  it('answers errors before its first byte in the envelope, in the names of the query', async () => {
    const { send, store } = await startService()
    const refused = await send('GET', `${PATH}?filter_result=x&types=y`)
    expect(refused).not.toHaveProperty('stream')
    expect(Object.keys(jsonOf(refused).data as object)).toEqual(['types', 'filter_result'])
    store.deliveries.attemptLog = async () => {
      throw new HookswitchError('StoreUnavailable', 'no store', { retryAfterSeconds: 5 })
    }
    const failed = await send('GET', PATH, { headers: { 'last-event-id': 'x' } })
    expect(failed).not.toHaveProperty('stream')
    expect(jsonOf(failed)).toMatchObject({ error: String(failed.status), status: 'error' })
  })

  it('is logged when it begins and when it ends, once', async () => {
    const lines: [fields: object, message: string][] = []
    const info = (fields: object, message: string) => {
      if (message === 'request' || message === 'stream ended') lines.push([fields, message])
    }
    const log = { debug() {}, warn() {}, error() {}, info }
    const { send, hs } = await startService({ accessLog: true, log })
    const { stream } = await send('GET', PATH)
    expect(lines).toHaveLength(1)
    hs.endStreams()
    while ((await stream!.next()) !== undefined);
    stream!.close()
    const fields = { requestId: expect.any(String), accountId: OWN_ACCOUNT, durationMs: 0 }
    const route = '/accounts/{account_id}/stream'
    expect(lines).toEqual([
      [{ ...fields, status: 200, method: 'GET', path: PATH, route }, 'request'],
      [fields, 'stream ended'],
    ])
  })

  it('allows browsers to send Last-Event-ID', async () => {
    const { send } = await startService({ cors: ['*'] })
    const headers = { origin: 'https://ui.example', 'access-control-request-method': 'GET' }
    const preflight = await send('OPTIONS', PATH, { token: null, headers })
    expect(preflight.headers['access-control-allow-headers']).toContain('last-event-id')
  })
})
