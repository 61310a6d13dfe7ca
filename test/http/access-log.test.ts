/** The line that `accessLog` writes for each request. */
import type { Log } from 'hookswitch'
import { expect, it } from 'vitest'
import { jsonOf, OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

async function start(options: Parameters<typeof startService>[0] = {}) {
  const lines: Record<string, unknown>[] = []
  const info: Log['info'] = (fields, message) => void (message === 'request' && lines.push({ ...fields }))
  const log = { debug() {}, info, warn() {}, error() {} }
  return { ...(await startService({ accessLog: true, log, trustProxy: ['10.0.0.1'], ...options })), lines }
}

it('names the client behind trusted proxies, the route, the bytes and the caller, without the query', async () => {
  const { send, lines, webhooks, webhook } = await start()
  const headers = { 'x-forwarded-for': '192.0.2.7', 'x-request-id': 'mine' }
  const response = await send('GET', `${webhooks}?auth_token=topsecret`, {
    headers,
    more: { remoteAddress: '10.0.0.1' },
  })
  expect(jsonOf(response).request_id).toBe('mine')
  await send('GET', webhook, { token: null, more: { remoteAddress: '192.0.2.9' } })
  await send('GET', '/v1/nothing/here', { token: null })
  const route = '/accounts/{account_id}/webhooks'
  expect(lines).toEqual([
    {
      method: 'GET',
      path: webhooks,
      route,
      status: 200,
      bytes: Buffer.byteLength(response.body),
      durationMs: 0,
      address: '192.0.2.7',
      requestId: 'mine',
      accountId: OWN_ACCOUNT,
    },
    {
      method: 'GET',
      path: webhook,
      route: `${route}/{webhook_id}`,
      status: 401,
      bytes: expect.any(Number),
      durationMs: 0,
      address: '192.0.2.9',
      requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
    },
    expect.objectContaining({ path: '/v1/nothing/here', status: 404 }),
  ])
  expect(JSON.stringify(lines)).not.toContain('topsecret')
})

it('has a line for every request, however many there are', async () => {
  const { send, lines, webhook } = await start()
  for (let nth = 0; nth < 50; nth += 1) await send('GET', webhook)
  expect(lines).toHaveLength(50)
})
