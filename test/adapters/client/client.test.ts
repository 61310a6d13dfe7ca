import { createClient, HookswitchClientError } from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import { API_KEY, CHILD_KEY, startService, USER } from './service.js'

const WEBHOOK = { name: 'Calls', uri: 'http://127.0.0.1:9/in', hook: 'all' } as const

async function withClient() {
  const service = await startService()
  return { ...service, client: createClient({ url: service.url, apiKey: API_KEY }) }
}

describe('the client with a real service', () => {
  it('creates, reads, changes and deletes a webhook by revision', async () => {
    const { client } = await withClient()
    const created = await client.createWebhook({ data: WEBHOOK })
    expect(created).toMatchObject({ status: 201, revision: '1', data: { ...WEBHOOK, retries: 5 } })
    expect(created.requestId).toMatch(/^[0-9a-f]{32}$/)
    expect(created.authToken).toBeUndefined()
    const { id: webhookId } = created.data

    const unchanged = await client.readWebhook({ webhookId, ifNoneMatch: created.revision! })
    expect(unchanged).toEqual({ status: 304, data: undefined, revision: '1' })
    const patched = await client.patchWebhook({ webhookId, ifMatch: '1', data: { name: 'Renamed' } })
    expect(patched).toMatchObject({ revision: '2', data: { name: 'Renamed' } })
    const late = client.patchWebhook({ webhookId, ifMatch: '1', data: { name: 'Late' } })
    await expect(late).rejects.toMatchObject({ code: 'precondition_failed', status: 412 })
    const { data } = await client.readWebhook({ webhookId, ifNoneMatch: '1' })
    expect(data?.name).toBe('Renamed')

    await client.deleteWebhook({ webhookId, ifMatch: '2' })
    await expect(client.readWebhook({ webhookId })).rejects.toMatchObject({
      name: 'HookswitchClientError',
      code: 'bad_identifier',
      message: `GET /accounts/{account_id}/webhooks/{webhook_id}: 404 bad_identifier: bad identifier '${webhookId}'`,
      status: 404,
      data: { cause: webhookId, message: 'bad identifier' },
    })
  })

  it('reports every violated rule', async () => {
    const { client } = await withClient()
    const error = await client
      .createWebhook({ data: { name: '', uri: 'ftp://x', hook: 'all', retries: 99 } })
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(HookswitchClientError)
    expect(error).toMatchObject({ code: 'validation error', status: 400 })
    expect(Object.keys(error.data).sort()).toEqual(['name', 'retries', 'uri'])
    expect(error.message).toMatch(/^PUT \/accounts\/\{account_id\}\/webhooks: 400 validation error: /)
    expect(error.message).toContain('retries: Value must be at most 30')
    expect(error.requestId).toMatch(/^[0-9a-f]{32}$/)
  })

  it('iterates over all items of a list, page by page', async () => {
    const { client } = await withClient()
    const names = Array.from({ length: 7 }, (_, index) => `Webhook ${index}`)
    for (const name of names) await client.createWebhook({ data: { ...WEBHOOK, name } })
    const listed: string[] = []
    for await (const { name } of client.listWebhooks({ pageSize: 3 })) listed.push(name)
    expect(listed).toEqual(names)

    const sizes: number[] = []
    for await (const { items } of client.listWebhooks({ pageSize: 3 }).pages()) sizes.push(items.length)
    expect(sizes).toEqual([3, 3, 1])

    const first = await client.listWebhooks({ pageSize: 5 }).page()
    const rest = await client.listWebhooks({ startKey: first.nextStartKey! }).page()
    expect([...first.items, ...rest.items].map(({ name }) => name)).toEqual(names)
    const filtered = await client.listWebhooks({ filters: { filter_name: 'Webhook 4' } }).page()
    expect(filtered.items.map(({ name }) => name)).toEqual(['Webhook 4'])
  })

  it.each([
    ['an MD5 of user and password', { user: { ...USER, realm: 'parent.example' } }],
    ['a SHA-1', { user: { ...USER, accountName: 'Parent Telecom', method: 'sha' } }],
    ['a key from a function', { apiKey: async () => API_KEY }],
  ] as const)('logs in with %s', async (_, login) => {
    const { url } = await startService()
    const client = createClient({ url: `${url}/v2/`, ...login })
    expect(await client.accountId()).toBe('parent')
    expect((await client.listWebhooks().page()).items).toEqual([])
  })

  it('uses a given token and account, and reports their absence', async () => {
    const { url, client } = await withClient()
    const token = await client.token()
    const own = createClient({ url, token, accountId: 'child' })
    expect((await own.createWebhook({ data: WEBHOOK })).status).toBe(201)
    const without = createClient({ url, token })
    await expect(without.listWebhooks().page()).rejects.toThrow(/^accountId: is required/)
    expect((await without.listWebhooks({ accountId: 'child' }).page()).items).toHaveLength(1)
    const stranger = createClient({ url, apiKey: CHILD_KEY })
    await expect(stranger.listWebhooks({ accountId: 'parent' }).page()).rejects.toMatchObject({
      code: 'forbidden',
      status: 403,
    })
  })

  it('works without a login where no token is needed, and says what is missing elsewhere', async () => {
    const { url } = await startService()
    const client = createClient({ url })
    expect((await client.listHooks().page()).items.length).toBeGreaterThan(5)
    expect((await client.readOpenapi()).data.openapi).toBe('3.1.0')
    await expect(client.signOut()).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('publishes, and reads the attempts of a call whose id has a slash', async () => {
    const { hs, client } = await withClient()
    await client.createWebhook({ data: WEBHOOK })
    const attempted = new Promise((resolve) => hs.events.once('attempt', resolve))
    const callId = 'leg/../7?#%'
    const { data } = await client.publishEvents({ data: { hook: 'channel_create', call_id: callId } })
    expect(data.event_ids).toHaveLength(1)
    await attempted
    await expect
      .poll(async () => (await client.listCallAttempts({ callId }).page()).items.map((item) => item.call_id))
      .toEqual([callId])
  })

  it('renews a token that was revoked, once for all calls', async () => {
    const { url, client } = await withClient()
    const token = await client.token()
    await createClient({ url, token }).signOut()
    const pages = await Promise.all(Array.from({ length: 8 }, () => client.listWebhooks().page()))
    expect(pages).toHaveLength(8)
    expect(await client.token()).not.toBe(token)
  })

  it('revokes its token at close, and logs in again afterwards', async () => {
    const { url, client } = await withClient()
    const token = await client.token()
    await client.close()
    const revoked = createClient({ url, token, accountId: 'parent' })
    await expect(revoked.listWebhooks().page()).rejects.toMatchObject({ code: 'invalid_credentials' })
    expect((await client.listWebhooks().page()).items).toEqual([])
    await client.signOut()
    expect(await client.token()).not.toBe(token)
  })

  it('reaches routes that it does not have', async () => {
    const { client } = await withClient()
    const { data } = await client.createWebhook({ data: WEBHOOK })
    const path = '/accounts/{account_id}/webhooks/{webhook_id}'
    const response = await client.request<{ name: string }>({ method: 'GET', path }, { webhookId: data.id })
    expect(response.data.name).toBe('Calls')
    const items: unknown[] = []
    for await (const item of client.list('/accounts/{account_id}/webhooks', { pageSize: 1 })) items.push(item)
    expect(items).toHaveLength(1)
    const missing = client.request({ method: 'GET', path: '/accounts/{account_id}/nothing' })
    await expect(missing).rejects.toMatchObject({ code: 'not_found', status: 404 })
  })
})

describe('invalid options and parameters', () => {
  const url = 'http://127.0.0.1:9'

  it.each([
    [{ url: 'nonsense' }, 'url'],
    [{ url: 'ftp://hooks.example' }, 'url'],
    [{ url: 'http://user:pass-1234@hooks.example' }, 'url'],
    [{ url: 'http://hooks.example/?a=1' }, 'url'],
    [{ url, apiKey: '' }, 'apiKey'],
    [{ url, apiKey: 'k', token: 't' }, 'token'],
    [{ url, token: 'line\r\nfeed' }, 'token'],
    [{ url, user: USER }, 'user'],
    [{ url, user: { ...USER, realm: 'a', method: 'sha256' } }, 'user.method'],
    [{ url, user: { username: 'a', password: '', realm: 'a' } }, 'user.password'],
    [{ url, timeoutMs: 0 }, 'timeoutMs'],
    [{ url, maxRetries: 1.5 }, 'maxRetries'],
    [{ url, tokenLifetimeMs: Number.NaN }, 'tokenLifetimeMs'],
    [{ url, maxResponseBytes: -1 }, 'maxResponseBytes'],
  ])('%o is refused by name', (options, name) => {
    const create = () => createClient(options as never)
    expect(create).toThrow(HookswitchClientError)
    expect(create).toThrow(new RegExp(`^${name}: (?!.*pass-1234)`))
  })

  it.each([
    [{ webhookId: '..' }, 'webhookId'],
    [{ webhookId: '' }, 'webhookId'],
    [{}, 'webhookId'],
    [{ webhookId: '\ud800' }, 'webhookId'],
    [{ webhookId: 'w', accountId: '.' }, 'accountId'],
    [{ webhookId: 'w', ifNoneMatch: 'a\nb' }, 'ifNoneMatch'],
    [{ webhookId: 'w', since: Symbol('x') }, 'since'],
  ])('parameters %o are refused by name before anything is sent', async (parameters, name) => {
    const sent: unknown[] = []
    const client = createClient({
      url,
      token: 't',
      accountId: 'a',
      maxRetries: 0,
      fetch: async (input) => {
        sent.push(input)
        throw new TypeError('no network')
      },
    })
    await expect(client.readWebhook(parameters as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(new RegExp(`^${name}: `)),
    })
    expect(sent).toEqual([])
  })
})
