/** A matrix of tokens, accounts, routes and kinds of ids: no caller reads, changes or detects another account's data. */
import { describe, expect, it } from 'vitest'
import type { ApiResponse } from './api-client.js'
import { ACCOUNTS, nextEvents, type RunningService, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

type AccountId = (typeof ACCOUNTS)[number]['id']

/** The data of one account; every string contains the account's canary. */
interface AccountData {
  readonly token: string
  readonly webhook: string
  readonly delivery: string
  readonly replay: string
  readonly call: string
  readonly user: string
}

const canary = (account: string) => `canary-of-${account}`
const MISSING = '0123456789abcdef0123456789abcdef'
const MALFORMED = ['a b', 'x'.repeat(65), '..', 'a/b', "'; DROP TABLE webhooks; --", '%00']

/** The accounts that each caller may access. */
const ACCESSIBLE: Readonly<Record<AccountId, readonly string[]>> = {
  parent: ['parent', 'child'],
  child: ['child'],
  other: ['other'],
}

async function createData(service: RunningService): Promise<Record<AccountId, AccountData>> {
  const { hs, receiver } = service
  const dataOf = {} as Record<AccountId, AccountData>
  for (const { id, apiKey } of ACCOUNTS) {
    const name = canary(id)
    const { id: webhook } = await hs.webhooks.create(id, {
      name,
      uri: receiver.url(`/${name}`),
      hook: 'all',
      customData: { name },
      customRequestHeaders: { 'X-Name': name },
      extra: { note: name },
    })
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish({ hook: 'channel_create', accountId: id, callId: `call-${name}`, callerIdName: name })
    const [end] = await delivered
    const { token } = await hs.auth.signIn({ apiKey })
    const { id: user } = await hs.accounts.addUser(id, {
      username: `user-${name}`,
      password: name,
      firstName: name,
      lastName: name,
    })
    const { id: replay } = await hs.replays.start({ accountId: id, callId: `call-${name}` })
    dataOf[id] = { token, webhook, delivery: end!.deliveryId, replay, call: `call-${name}`, user }
  }
  return dataOf
}

interface Row {
  readonly method: string
  /** Path below the account; the kind of id in braces. */
  readonly path: string
  readonly data?: (of: AccountData) => unknown
}

const SETTINGS = { uri: 'https://hooks.example.com/', hook: 'all' }

/** Routes without a further id. */
const PLAIN: readonly Row[] = [
  { method: 'GET', path: '/api_key' },
  { method: 'GET', path: '' },
  { method: 'GET', path: '/users' },
  { method: 'PUT', path: '/users', data: () => ({ first_name: 'New', last_name: 'User' }) },
  { method: 'PUT', path: '/erase', data: () => ({ call_id: 'nobodys' }) },
  { method: 'GET', path: '/webhooks' },
  { method: 'GET', path: '/webhooks/attempts' },
  { method: 'GET', path: '/webhooks/stats' },
  { method: 'GET', path: '/webhooks/health' },
  { method: 'PATCH', path: '/webhooks', data: () => ({ 're-enable': true }) },
  { method: 'PATCH', path: '/descendants/webhooks', data: () => ({ 're-enable': true }) },
  { method: 'PUT', path: '/webhooks/preview', data: () => ({ webhook: { name: 'new', ...SETTINGS } }) },
  { method: 'PUT', path: '/replay', data: () => ({ dry_run: true }) },
  { method: 'GET', path: '/replays' },
  { method: 'PUT', path: '/events/match', data: () => ({ hook: 'channel_create' }) },
  { method: 'PUT', path: '/webhooks', data: () => ({ name: 'new', enabled: false, ...SETTINGS }) },
]

const WITH_ID: readonly Row[] = [
  { method: 'GET', path: '/webhooks/{webhook}' },
  { method: 'PATCH', path: '/webhooks/{webhook}', data: () => ({ group: 'g' }) },
  { method: 'GET', path: '/webhooks/{webhook}/attempts' },
  { method: 'GET', path: '/webhooks/{webhook}/stats' },
  { method: 'GET', path: '/webhooks/{webhook}/deliveries' },
  { method: 'GET', path: '/webhooks/{webhook}/secret' },
  { method: 'PUT', path: '/webhooks/{webhook}/secret', data: () => ({}) },
  { method: 'PUT', path: '/webhooks/{webhook}/test', data: () => ({}) },
  { method: 'PUT', path: '/webhooks/{webhook}/replay', data: ({ delivery }) => ({ delivery_id: delivery }) },
  { method: 'PUT', path: '/webhooks/{webhook}/replay', data: () => ({ result: 'success', dry_run: true }) },
  { method: 'PUT', path: '/webhooks/{webhook}/resume' },
  { method: 'GET', path: '/deliveries/{delivery}' },
  { method: 'GET', path: '/deliveries/{delivery}/attempts' },
  { method: 'GET', path: '/replays/{replay}' },
  { method: 'GET', path: '/calls/{call}' },
  { method: 'GET', path: '/calls/{call}/attempts' },
  { method: 'POST', path: '/webhooks/{webhook}', data: () => ({ name: canary('unknown'), ...SETTINGS }) },
  { method: 'DELETE', path: '/webhooks/{webhook}' },
  { method: 'GET', path: '/users/{user}' },
  { method: 'PATCH', path: '/users/{user}', data: () => ({ timezone: 'Etc/UTC' }) },
  { method: 'POST', path: '/users/{user}', data: () => ({ first_name: 'A', last_name: 'B' }) },
  { method: 'DELETE', path: '/users/{user}' },
]

const kindOf = ({ path }: Row) => /\{(\w+)\}/.exec(path)![1] as Exclude<keyof AccountData, 'token'>

function callRoute(
  service: RunningService,
  token: string,
  account: string,
  row: Row,
  id: string,
  data: AccountData,
): Promise<ApiResponse> {
  const path = row.path.replace(/\{\w+\}/, encodeURIComponent(id))
  return service.callApi(row.method, `/v1/accounts/${encodeURIComponent(account)}${path}`, {
    token,
    ...(row.data && { data: row.data(data) }),
  })
}

/** The canaries that a response contains. */
const canariesIn = (text: string) => [...new Set(text.match(/canary-of-\w+/g) ?? [])]

const withoutIds = ({ status, json }: ApiResponse) => {
  const { request_id, timestamp, auth_token, ...rest } = json
  return {
    status,
    ...rest,
    hasIds: [request_id, timestamp, auth_token].every((value) => typeof value === 'string'),
  }
}

const ROWS = [...PLAIN, ...WITH_ID]

describe('an account that the caller may not access', () => {
  it('gets the same 403 for every route and id, whether it exists or not', async () => {
    const service = await startService()
    const dataOf = await createData(service)
    const expected = {
      status: 403,
      data: { message: 'forbidden' },
      error: '403',
      message: 'forbidden',
      node: service.hs.node,
      version: expect.any(String),
      hasIds: true,
    }
    for (const [caller, { token }] of Object.entries(dataOf))
      for (const account of [...ACCOUNTS.map(({ id }) => id), 'unknown', 'x'.repeat(65), 'a b', 'Parent'])
        for (const row of ROWS) {
          if (ACCESSIBLE[caller as AccountId].includes(account)) continue
          const data = dataOf[account as AccountId] ?? dataOf.parent
          const ids = row.path.includes('{') ? [data[kindOf(row)], MISSING] : ['']
          for (const id of ids) {
            const response = await callRoute(service, token, account, row, id, data)
            const context = `${caller} calls ${row.method} ${account}${row.path} of ${id}`
            expect(withoutIds(response), context).toEqual({ ...expected, status: 'error' })
            expect(response.status, context).toBe(403)
            expect(canariesIn(response.text), context).toEqual([])
          }
        }
  })
})

describe('an account that the caller may access', () => {
  it('gets the same 404 for ids of other accounts, unknown ids and malformed ids', async () => {
    const service = await startService()
    const dataOf = await createData(service)
    for (const [caller, { token }] of Object.entries(dataOf))
      for (const account of ACCESSIBLE[caller as AccountId]) {
        const others = ACCOUNTS.map(({ id }) => id).filter((id) => id !== account)
        for (const row of WITH_ID) {
          const kind = kindOf(row)
          const ids = [
            ...others.map((other) => dataOf[other][kind]),
            MISSING,
            ...(kind === 'call' ? [] : MALFORMED),
          ]
          for (const id of ids) {
            const response = await callRoute(service, token, account, row, id, dataOf[account as AccountId])
            const context = `${caller} calls ${row.method} ${account}${row.path} of ${id}: ${response.text}`
            // Dot segments, slashes and NUL are not ids, and some of them change the path.
            if (response.json.message === 'not_found') expect(MALFORMED, context).toContain(id)
            else expect(response.json.data, context).toEqual({ cause: id, message: 'bad identifier' })
            expect([response.status, response.json.error], context).toEqual([404, '404'])
          }
        }
        const own = dataOf[account as AccountId]
        const foreign = await service.callApi(
          'PUT',
          `/v1/accounts/${account}/webhooks/${own.webhook}/replay`,
          {
            token,
            data: { delivery_id: dataOf[others[0]!].delivery },
          },
        )
        expect(foreign.status).toBe(404)
        for (const other of others.filter((other) => !ACCESSIBLE[account as AccountId].includes(other))) {
          const match = await service.callApi('PUT', `/v1/accounts/${account}/events/match`, {
            token,
            data: { hook: 'channel_create', account_id: other },
          })
          expect([match.status, match.json.data]).toEqual([404, { cause: other, message: 'bad identifier' }])
        }
      }
    // None of these requests changed any webhook.
    for (const { id } of ACCOUNTS) {
      const [webhook, ...more] = await service.hs.webhooks.list(id)
      expect([webhook!.name, webhook!.revision, more]).toEqual([canary(id), 1, []])
    }
  })

  it('gets its own data and none of another account', async () => {
    for (const caller of ACCOUNTS.map(({ id }) => id))
      for (const account of ACCESSIBLE[caller]) {
        const service = await startService()
        const dataOf = await createData(service)
        const own = dataOf[account as AccountId]
        for (const row of ROWS) {
          const id = row.path.includes('{') ? own[kindOf(row)] : ''
          const response = await callRoute(service, dataOf[caller].token, account, row, id, own)
          const context = `${caller} calls ${row.method} ${account}${row.path}: ${response.text}`
          expect(response.status, context).toBeLessThan(300)
          expect(
            canariesIn(response.text).filter(
              (name) => name !== canary(account) && name !== canary('unknown'),
            ),
            context,
          ).toEqual([])
        }
        const requests = service.receiver.requests.filter(
          ({ headers }) => headers['x-account-id'] === account,
        )
        for (const { path, body } of requests) expect(canariesIn(path + body)).toEqual([canary(account)])
        await service.close()
      }
  })
})
