/** A matrix of tokens, accounts, routes and kinds of ids: nobody sees, changes or learns of what is not theirs. */
import { describe, expect, it } from 'vitest'
import type { Answer } from './client.js'
import { ACCOUNTS, type Running, services, told } from './running.js'

const running = services()

type AccountId = (typeof ACCOUNTS)[number]['id']

/** What an account has; every text of it carries the account's name. */
interface Estate {
  readonly token: string
  readonly webhook: string
  readonly delivery: string
  readonly call: string
}

const canary = (account: string) => `canary-of-${account}`
const MISSING = '0123456789abcdef0123456789abcdef'
const MALFORMED = ['a b', 'x'.repeat(65), '..', 'a/b', "'; DROP TABLE webhooks; --", '%00']

/** Whose authority reaches whom. */
const REACH: Readonly<Record<AccountId, readonly string[]>> = {
  parent: ['parent', 'child'],
  child: ['child'],
  other: ['other'],
}

async function settle(service: Running): Promise<Record<AccountId, Estate>> {
  const { hs, receiver } = service
  const estates = {} as Record<AccountId, Estate>
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
    const delivered = told(hs, 'delivered')
    await hs.publish({ hook: 'channel_create', accountId: id, callId: `call-${name}`, callerIdName: name })
    const [end] = await delivered
    const { token } = await hs.auth.signIn({ apiKey })
    estates[id] = { token, webhook, delivery: end!.deliveryId, call: `call-${name}` }
  }
  return estates
}

interface Row {
  readonly method: string
  /** Below the account; the kind of id in braces. */
  readonly path: string
  readonly data?: (of: Estate) => unknown
}

const SETTINGS = { uri: 'https://hooks.example.com/', hook: 'all' }

/** Routes without an id beyond the account's. */
const PLAIN: readonly Row[] = [
  { method: 'GET', path: '/api_key' },
  { method: 'GET', path: '/webhooks' },
  { method: 'GET', path: '/webhooks/attempts' },
  { method: 'PATCH', path: '/webhooks', data: () => ({ 're-enable': true }) },
  { method: 'PATCH', path: '/descendants/webhooks', data: () => ({ 're-enable': true }) },
  { method: 'PUT', path: '/webhooks', data: () => ({ name: 'new', enabled: false, ...SETTINGS }) },
]

const WITH_ID: readonly Row[] = [
  { method: 'GET', path: '/webhooks/{webhook}' },
  { method: 'PATCH', path: '/webhooks/{webhook}', data: () => ({ group: 'g' }) },
  { method: 'GET', path: '/webhooks/{webhook}/attempts' },
  { method: 'GET', path: '/webhooks/{webhook}/deliveries' },
  { method: 'GET', path: '/webhooks/{webhook}/secret' },
  { method: 'PUT', path: '/webhooks/{webhook}/secret', data: () => ({}) },
  { method: 'PUT', path: '/webhooks/{webhook}/test', data: () => ({}) },
  { method: 'PUT', path: '/webhooks/{webhook}/replay', data: ({ delivery }) => ({ delivery_id: delivery }) },
  { method: 'GET', path: '/deliveries/{delivery}' },
  { method: 'GET', path: '/calls/{call}/attempts' },
  { method: 'POST', path: '/webhooks/{webhook}', data: () => ({ name: canary('nobody'), ...SETTINGS }) },
  { method: 'DELETE', path: '/webhooks/{webhook}' },
]

const kindOf = ({ path }: Row) => /\{(\w+)\}/.exec(path)![1] as 'webhook' | 'delivery' | 'call'

function askFor(
  service: Running,
  token: string,
  account: string,
  row: Row,
  id: string,
  estate: Estate,
): Promise<Answer> {
  const path = row.path.replace(/\{\w+\}/, encodeURIComponent(id))
  return service.ask(row.method, `/v1/accounts/${encodeURIComponent(account)}${path}`, {
    token,
    ...(row.data && { data: row.data(estate) }),
  })
}

/** Every account's name that stands in an answer. */
const named = (text: string) => [...new Set(text.match(/canary-of-\w+/g) ?? [])]

const anonymous = ({ status, json }: Answer) => {
  const { request_id, timestamp, auth_token, ...rest } = json
  return {
    status,
    ...rest,
    known: [request_id, timestamp, auth_token].every((value) => typeof value === 'string'),
  }
}

const ROWS = [...PLAIN, ...WITH_ID]

describe('an account out of reach', () => {
  it('is the same 403 for every route and id, whether it exists or not', async () => {
    const service = await running()
    const estates = await settle(service)
    const expected = {
      status: 403,
      data: { message: 'forbidden' },
      error: '403',
      message: 'forbidden',
      node: service.hs.node,
      version: expect.any(String),
      known: true,
    }
    for (const [caller, { token }] of Object.entries(estates))
      for (const account of [...ACCOUNTS.map(({ id }) => id), 'nobody', 'x'.repeat(65), 'a b', 'Parent'])
        for (const row of ROWS) {
          if (REACH[caller as AccountId].includes(account)) continue
          const estate = estates[account as AccountId] ?? estates.parent
          const ids = row.path.includes('{') ? [estate[kindOf(row)], MISSING] : ['']
          for (const id of ids) {
            const answer = await askFor(service, token, account, row, id, estate)
            const what = `${caller} asks ${row.method} ${account}${row.path} of ${id}`
            expect(anonymous(answer), what).toEqual({ ...expected, status: 'error' })
            expect(answer.status, what).toBe(403)
            expect(named(answer.text), what).toEqual([])
          }
        }
  })
})

describe('an account within reach', () => {
  it('knows only its own ids: others’, missing and malformed ones are the same 404', async () => {
    const service = await running()
    const estates = await settle(service)
    for (const [caller, { token }] of Object.entries(estates))
      for (const account of REACH[caller as AccountId]) {
        const strangers = ACCOUNTS.map(({ id }) => id).filter((id) => id !== account)
        for (const row of WITH_ID) {
          const kind = kindOf(row)
          const ids = [
            ...strangers.map((stranger) => estates[stranger][kind]),
            MISSING,
            ...(kind === 'call' ? [] : MALFORMED),
          ]
          for (const id of ids) {
            const answer = await askFor(service, token, account, row, id, estates[account as AccountId])
            const what = `${caller} asks ${row.method} ${account}${row.path} of ${id}: ${answer.text}`
            // A dot segment, a slash or a NUL that survives decoding is no id, and some of them are no path.
            if (answer.json.message === 'not_found') expect(MALFORMED, what).toContain(id)
            else expect(answer.json.data, what).toEqual({ cause: id, message: 'bad identifier' })
            expect([answer.status, answer.json.error], what).toEqual([404, '404'])
          }
        }
        const own = estates[account as AccountId]
        const foreign = await service.ask('PUT', `/v1/accounts/${account}/webhooks/${own.webhook}/replay`, {
          token,
          data: { delivery_id: estates[strangers[0]!].delivery },
        })
        expect(foreign.status).toBe(404)
      }
    // Nothing of all this has changed anything of anybody's.
    for (const { id } of ACCOUNTS) {
      const [webhook, ...more] = await service.hs.webhooks.list(id)
      expect([webhook!.name, webhook!.revision, more]).toEqual([canary(id), 1, []])
    }
  })

  it('answers with its own, and with nothing of another account’s', async () => {
    for (const caller of ACCOUNTS.map(({ id }) => id))
      for (const account of REACH[caller]) {
        const service = await running()
        const estates = await settle(service)
        const own = estates[account as AccountId]
        for (const row of ROWS) {
          const id = row.path.includes('{') ? own[kindOf(row)] : ''
          const answer = await askFor(service, estates[caller].token, account, row, id, own)
          const what = `${caller} asks ${row.method} ${account}${row.path}: ${answer.text}`
          expect(answer.status, what).toBeLessThan(300)
          expect(
            named(answer.text).filter((name) => name !== canary(account) && name !== canary('nobody')),
            what,
          ).toEqual([])
        }
        const requests = service.receiver.requests.filter(
          ({ headers }) => headers['x-account-id'] === account,
        )
        for (const { path, body } of requests) expect(named(path + body)).toEqual([canary(account)])
        await service.close()
      }
  })
})
