import { describe, expect, it, vi } from 'vitest'
import { FOREIGN_ACCOUNT, jsonOf, OWN_ACCOUNT, type RequestOptions } from './records.js'
import { startService } from './service.js'

const WEBHOOKS = `/v1/accounts/${OWN_ACCOUNT}/webhooks`
const FOREIGN_HOOKS = `/v1/accounts/${FOREIGN_ACCOUNT}/webhooks`
const BAD_JSON = '{"data":'
const TEXT = { 'content-type': 'text/plain' }

async function respond(method: string, url: string, sent: RequestOptions = {}) {
  const { send } = await startService()
  const response = await send(method, url, sent)
  const { message, data } = jsonOf(response)
  return { status: response.status, message, data, response }
}

describe('a token in the query', () => {
  it('is read unless that is turned off', async () => {
    const statusWith = async (options: object, headers = {}) => {
      const { send, token } = await startService(options)
      return (await send('GET', `${WEBHOOKS}?auth_token=${token}`, { token: null, headers })).status
    }
    expect(await statusWith({})).toBe(200)
    expect(await statusWith({ tokenInQuery: true })).toBe(200)
    expect(await statusWith({ tokenInQuery: false })).toBe(401)
    // As a page of the same origin, an address that the user typed, a page of another origin, and no browser send it.
    for (const [site, status] of [
      ['same-origin', 401],
      ['none', 401],
      ['same-site', 200],
      ['cross-site', 200],
      [undefined, 200],
    ] as const) {
      expect(await statusWith({ tokenInQuery: 'cross-origin' }, { 'sec-fetch-site': site })).toBe(status)
      expect(await statusWith({ tokenInQuery: true }, { 'sec-fetch-site': site })).toBe(200)
    }
  })
})

describe('a large body', () => {
  const large = JSON.stringify({ data: { list: Array.from({ length: 100_000 }, (_, index) => `${index}`) } })

  it.each<[string, RequestOptions]>([
    ['without a token', { token: null }],
    ['with a wrong token', { token: 'x' }],
    ['with a wrong token in it', { token: null, body: large.replace('{', '{"auth_token":"x",') }],
  ])('is not parsed %s', async (_, sent) => {
    const parse = vi.spyOn(JSON, 'parse')
    try {
      expect((await respond('PUT', WEBHOOKS, { body: large, ...sent })).status).toBe(401)
      const longest = Math.max(0, ...parse.mock.calls.map(([text]) => text.length))
      expect(longest).toBeLessThan(1_000)
    } finally {
      parse.mockRestore()
    }
  })

  it('is parsed with a token in it', async () => {
    const { send, token } = await startService()
    const body = large.replace('{', `{"auth_token":"${token}",`)
    expect((await send('PUT', WEBHOOKS, { token: null, body })).status).toBe(400)
  })
})

describe('the request guard', () => {
  it.each<[string, string, string, RequestOptions, number]>([
    ['a too large body before the path', 'PUT', '/v1/nowhere', { more: { bodyProblem: 'too_large' } }, 413],
    ['a slow body before the path', 'PUT', '/v1/nowhere', { more: { bodyProblem: 'too_slow' } }, 408],
    ['the path before the token', 'GET', '/v1/nowhere', { token: null }, 404],
    ['the method before the token', 'DELETE', WEBHOOKS, { token: null }, 405],
    ['the method before the body', 'POST', WEBHOOKS, { body: BAD_JSON }, 405],
    ['the token before access to the account', 'GET', FOREIGN_HOOKS, { token: 'x' }, 401],
    ['the token before the syntax of an id', 'GET', '/v1/accounts/a%20b/webhooks', { token: 'x' }, 401],
    ['the token before the body', 'PUT', WEBHOOKS, { token: 'x', body: BAD_JSON }, 401],
    ['the token before the content type', 'PUT', WEBHOOKS, { token: 'x', body: 'x', headers: TEXT }, 401],
    ['access before the content type', 'PUT', FOREIGN_HOOKS, { body: 'x', headers: TEXT }, 403],
    ['access before the body', 'PUT', FOREIGN_HOOKS, { body: BAD_JSON }, 403],
    ['access before Accept', 'GET', FOREIGN_HOOKS, { headers: { accept: 'text/html' } }, 403],
    ['access before existence', 'GET', `${FOREIGN_HOOKS}/unknown`, {}, 403],
    ['Accept before the body', 'PUT', WEBHOOKS, { body: BAD_JSON, headers: { accept: 'text/html' } }, 406],
    ['the content type before the body', 'PUT', WEBHOOKS, { body: BAD_JSON, headers: TEXT }, 415],
    ['the body before existence', 'POST', `${WEBHOOKS}/unknown`, { body: BAD_JSON }, 400],
    ['`data` before existence', 'PATCH', `${WEBHOOKS}/unknown`, { body: '{}' }, 400],
    ['the query before existence', 'GET', `${WEBHOOKS}/unknown/attempts?page_size=0`, {}, 400],
    ['a command before existence', 'PUT', `${WEBHOOKS}/unknown/replay`, { body: { data: { x: 1 } } }, 400],
    [
      'existence last',
      'POST',
      `${WEBHOOKS}/unknown`,
      { body: { data: { name: 'n', uri: 'https://r.example.com/', hook: 'all' } } },
      404,
    ],
  ])('checks %s', async (_, method, url, sent, status) => {
    expect((await respond(method, url, sent)).status).toBe(status)
  })
})

describe('ids in paths', () => {
  it('treats a malformed account id like that of an inaccessible account', async () => {
    for (const id of [FOREIGN_ACCOUNT, 'a%20b', 'x'.repeat(65), 'a%2Fb', "a'--", '%C3%A4', 'a%00']) {
      const { status, message, data } = await respond('GET', `/v1/accounts/${id}/webhooks`)
      expect({ status, message, data }).toEqual({
        status: 403,
        message: 'forbidden',
        data: { message: 'forbidden' },
      })
    }
  })

  it.each(['unknown', 'a b', 'x'.repeat(65), 'a/b', "a'--", 'ä', 'a\0'])(
    'responds with 404 to the unknown webhook, delivery or sample %j',
    async (id) => {
      const urls = [
        `${WEBHOOKS}/${encodeURIComponent(id)}`,
        `/v1/accounts/${OWN_ACCOUNT}/deliveries/${encodeURIComponent(id)}`,
      ]
      for (const url of [...urls, `/v1/webhooks/samples/${encodeURIComponent(id)}`]) {
        const { status, message, data, response } = await respond('GET', url)
        expect({ status, message, data }).toEqual({
          status: 404,
          message: 'bad_identifier',
          data: { cause: id, message: 'bad identifier' },
        })
        expect(Object.keys(jsonOf(response)).join(' ')).toBe(
          'data error message status request_id timestamp node auth_token version',
        )
      }
    },
  )

  it('hides the events route unless ingest is enabled', async () => {
    for (const method of ['PUT', 'GET']) {
      const { status, message } = await respond(method, `/v1/accounts/${OWN_ACCOUNT}/events`)
      expect({ status, message }).toEqual({ status: 404, message: 'not_found' })
    }
  })
})
