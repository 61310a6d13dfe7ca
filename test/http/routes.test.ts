/** Rules of all routes. What each of them answers is in `test/golden` and `test/service/openapi-live.test.ts`. */
import { describe, expect, it } from 'vitest'
import { ROUTES, type Route } from '../../src/wire/routes.js'
import { jsonOf, OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

const OPTIONS = { ingest: true, operators: [OWN_ACCOUNT] }
const SAME = { 'x-request-id': 'same' }
const routeNames = (routes: readonly Route[]) => routes.map((route) => [route.operation, route] as const)

const urlOf = ({ path }: Route, webhookId: string) =>
  `/v1${path
    .replace('{account_id}', OWN_ACCOUNT)
    .replace('{webhook_id}', webhookId)
    .replace('{sample_id}', 'channel_create')
    .replace(/\{\w+\}/, 'unknown')}`

describe('every route', () => {
  it.each(routeNames(ROUTES.filter(({ requiresToken }) => requiresToken)))(
    '%s requires a token, and says nothing else without one',
    async (_, route) => {
      const { send, webhookId } = await startService(OPTIONS)
      const responses = await Promise.all(
        [null, '', 'wrong'].map((token) =>
          send(route.method, urlOf(route, webhookId), { token, body: '{broken', headers: SAME }),
        ),
      )
      for (const response of responses) expect(response).toEqual(responses[0])
      expect(responses[0]!.status).toBe(401)
      expect(jsonOf(responses[0]!)).not.toHaveProperty('auth_token')
    },
  )

  it.each(routeNames(ROUTES.filter(({ method, isStream }) => method === 'GET' && !isStream)))(
    '%s responds to HEAD with the headers of GET and no body',
    async (_, route) => {
      const { send, webhookId } = await startService(OPTIONS)
      const url = urlOf(route, webhookId)
      const { status, headers } = await send('GET', url, { headers: SAME })
      expect(await send('HEAD', url, { headers: SAME })).toEqual({ status, headers, body: '' })
    },
  )

  it.each(routeNames(ROUTES.filter(({ isStream }) => !isStream)))(
    '%s can be called with POST and verb',
    async (_, route) => {
      const verb = route.method.toLowerCase()
      const [direct, tunnelled] = await Promise.all(
        [{ method: route.method }, { method: 'POST', verb }].map(async ({ method, ...body }) => {
          const { send, webhookId } = await startService(OPTIONS)
          return send(method, urlOf(route, webhookId), { body: { data: {}, ...body } })
        }),
      )
      expect(tunnelled!.status).toBe(direct!.status)
    },
  )

  it('lists every method of its path in Allow', async () => {
    const { send } = await startService(OPTIONS)
    for (const { path } of ROUTES) {
      const methods = ROUTES.filter((route) => route.path === path).flatMap(({ method }) =>
        method === 'GET' ? ['GET', 'HEAD'] : [method],
      )
      const url = `/v1${path.replaceAll(/\{\w+\}/g, 'x')}`
      for (const method of ['TRACE', 'OPTIONS', 'BREW', 'get']) {
        const { status, headers } = await send(method, url)
        expect(status).toBe(405)
        expect(headers.allow!.split(', ').sort()).toEqual(methods.sort())
      }
    }
  })

  it('is in the OpenAPI document, which all responses share', async () => {
    const { send } = await startService(OPTIONS)
    const responses = await Promise.all(Array.from({ length: 10 }, () => send('GET', '/v1/openapi.json')))
    const { paths } = jsonOf(responses[0]!) as { paths: Record<string, object> }
    for (const { path, method } of ROUTES) expect(Object.keys(paths[path]!)).toContain(method.toLowerCase())
    for (const { bytes, body } of responses) expect([bytes === responses[0]!.bytes, body]).toEqual([true, ''])
  })
})

it('the path of a new document has the mount point of the request', async () => {
  const { send, webhooks } = await startService()
  const data = { name: 'n', uri: 'https://receiver.example.com/', hook: 'all' }
  const response = await send('PUT', webhooks, { body: { data }, more: { mountPrefix: '/telephony' } })
  expect(response.headers.location).toBe(
    `/telephony${webhooks}/${(jsonOf(response).data as { id: string }).id}`,
  )
})

it('responses with a secret, and only those, must not be cached', async () => {
  const { send, webhook } = await startService()
  for (const url of [`/v1/accounts/${OWN_ACCOUNT}/api_key`, `${webhook}/secret`])
    expect((await send('GET', url)).headers['cache-control']).toBe('no-store')
  expect((await send('GET', webhook)).headers).not.toHaveProperty('cache-control')
})
