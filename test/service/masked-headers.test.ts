/** Values of custom headers: who may not change webhooks never sees one, and a mask that is written back changes nothing. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ROUTES } from '../../src/wire/routes.js'
import { nextEvents, type RunningService, type ServiceOptions, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

const MASK = '[redacted]'
const HEADERS = { Authorization: 'Bearer canary-of-authorization', 'X-Region': 'canary-of-region' }
const MASKED = { Authorization: MASK, 'X-Region': MASK }

async function start(options: ServiceOptions = {}) {
  const service = await startService({ ...options, operators: ['other'] })
  const { hs } = service
  await hs.accounts.addUser('parent', { id: 'uma', username: 'uma', password: 'user', privLevel: 'user' })
  const sign = async (name: string, password: string) =>
    (await hs.auth.signIn({ credentials: md5(`${name}:${password}`), realm: 'parent.example.com' })).token
  const user = await sign('uma', 'user')
  const id = await service.createWebhook('/hook', { customRequestHeaders: HEADERS })
  const admins = {
    key: service.token,
    admin: await sign('ada', 'lovelace'),
    operator: (await hs.auth.signIn({ apiKey: 'o'.repeat(64) })).token,
  }
  return { ...service, user, admins, id, path: `/v2/accounts/parent/webhooks/${id}` }
}

const headersOf = (response: Awaited<ReturnType<RunningService['callApi']>>) =>
  response.json.data.custom_request_headers

describe('the values of custom headers', () => {
  it('are masked for a restricted user alone', async () => {
    const { callApi, user, admins, path } = await start()
    for (const token of [user, admins.key, user, admins.admin, admins.operator, user]) {
      const response = await callApi('GET', path, { token })
      expect(headersOf(response)).toEqual(token === user ? MASKED : HEADERS)
      // The next user of the same browser may see more, or less.
      expect(response.headers['cache-control']).toBe('no-store')
    }
  })

  it('are masked for nobody where users are not restricted', async () => {
    const { callApi, user, path } = await start({ restrictUsers: false })
    expect(headersOf(await callApi('GET', path, { token: user }))).toEqual(HEADERS)
    const kazoo = await start({ preset: 'kazoo' })
    expect(headersOf(await kazoo.callApi('GET', kazoo.path, { token: kazoo.user }))).toEqual(HEADERS)
  })

  it('are in no answer that a restricted user gets', async () => {
    const { hs, callApi, user, id } = await start({ ingest: true })
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish({ hook: 'channel_create', accountId: 'parent', callId: 'call' })
    const [{ deliveryId, eventId } = { deliveryId: '', eventId: '' }] = await delivered
    const ids: Readonly<Record<string, string>> = {
      account_id: 'parent',
      webhook_id: id,
      delivery_id: deliveryId,
      event_id: eventId,
      call_id: 'call',
      user_id: 'uma',
    }
    const answered: string[] = []
    for (const route of ROUTES) {
      if (!route.requiresToken || route.isStream === true || route.operation === 'signOut') continue
      const url = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'unknown')
      const body = route.bodyKind === 'none' ? {} : { data: { webhook: { name: 'n' }, name: 'n' } }
      const { status, text } = await callApi(route.method, `/v2${url}`, { token: user, ...body })
      expect(text, `${route.method} ${url}`).not.toContain('canary-of')
      if (status === 200 && text.includes(id)) answered.push(route.operation)
    }
    expect(answered).toContain('readWebhook')
    expect(answered).toContain('listWebhooks')
  })

  it('cannot be guessed with filters', async () => {
    const { callApi, user, admins } = await start()
    const count = async (token: string, filter: string) =>
      (await callApi('GET', `/v2/accounts/parent/webhooks?${filter}`, { token })).json.data.length
    const value = 'filter_custom_request_headers.X-Region=canary-of-region'
    expect(await count(admins.key, value)).toBe(1)
    expect(await count(user, value)).toBe(0)
    expect(await count(user, value.replace('filter_', 'filter_not_'))).toBe(1)
    expect(await count(user, 'has_key=custom_request_headers.X-Region')).toBe(1)
  })
})

describe('a masked value that is written back', () => {
  it.each(['POST', 'PATCH'])('by %s means unchanged, and is sent unchanged', async (method) => {
    const { hs, receiver, callApi, user, admins, path } = await start()
    const { data } = (await callApi('GET', path, { token: user })).json
    const body = { ...data, name: 'renamed' }
    const changed = await callApi(method, path, { token: admins.admin, data: body })
    expect([changed.status, headersOf(changed), changed.json.data.name]).toEqual([200, HEADERS, 'renamed'])
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish({ hook: 'channel_create', accountId: 'parent', callId: 'call' })
    await delivered
    expect(receiver.requests.at(-1)!.headers).toMatchObject({
      authorization: HEADERS.Authorization,
      'x-region': HEADERS['X-Region'],
    })
  })

  it.each(['POST', 'PATCH'])('by %s may stand beside new values and fewer headers', async (method) => {
    const { callApi, admins, path } = await start()
    const rest = method === 'POST' ? { name: 'n', uri: 'https://hooks.example.com/', hook: 'all' } : {}
    const custom = { Authorization: MASK, 'X-New': 'new', ...(method === 'PATCH' && { 'X-Region': null }) }
    const changed = await callApi(method, path, {
      token: admins.key,
      data: { ...rest, custom_request_headers: custom },
    })
    expect(headersOf(changed)).toEqual({ Authorization: HEADERS.Authorization, 'X-New': 'new' })
  })

  it.each(['POST', 'PATCH', 'PUT'])('by %s is refused for a header that is not stored', async (method) => {
    const { callApi, admins, path } = await start()
    const data = {
      name: 'n',
      uri: 'https://hooks.example.com/',
      hook: 'all',
      custom_request_headers: { 'X-Other': MASK },
    }
    const url = method === 'PUT' ? '/v2/accounts/parent/webhooks' : path
    const { status, json } = await callApi(method, url, { token: admins.key, data })
    expect([status, json.data]).toEqual([
      400,
      {
        'custom_request_headers.X-Other': {
          error: {
            message: '[redacted] stands for the stored value of a header, and none of this name is stored',
            target: '[redacted] stands for the stored value of a header, and none of this name is stored',
          },
        },
      },
    ])
    expect(headersOf(await callApi('GET', path, { token: admins.key }))).toEqual(HEADERS)
  })

  it('through the library means unchanged too', async () => {
    const { hs, id } = await start()
    const changed = await hs.webhooks.patch('parent', id, { customRequestHeaders: MASKED })
    expect(changed.customRequestHeaders).toEqual(HEADERS)
    await expect(
      hs.webhooks.create('parent', {
        name: 'n',
        uri: 'https://hooks.example.com/',
        hook: 'all',
        customRequestHeaders: MASKED,
      }),
    ).rejects.toMatchObject({ code: 'InvalidInput' })
  })
})
