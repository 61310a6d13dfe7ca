import { describe, expect, it } from 'vitest'
import { createHandler } from '../../src/http/handle.js'
import { fakeWorld } from './fake-service.js'
import { FOREIGN, HOOK, jsonOf, OWN, request, type Sent, silent, TOKEN } from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN}/webhooks`
const FOREIGN_HOOKS = `/v1/accounts/${FOREIGN}/webhooks`
const BAD_JSON = '{"data":'
const TEXT = { 'content-type': 'text/plain' }

async function answer(method: string, url: string, sent: Sent = {}) {
  const { service, asked } = fakeWorld()
  const response = await createHandler(service, { log: silent })(request(method, url, sent))
  const { message, data } = jsonOf(response)
  return { status: response.status, message, data, response, asked }
}

describe('the order of checks', () => {
  it.each<[string, string, string, Sent, number]>([
    [
      'a body that is too large before the path',
      'PUT',
      '/v1/nowhere',
      { more: { bodyProblem: 'too_large' } },
      413,
    ],
    ['a slow body before the path', 'PUT', '/v1/nowhere', { more: { bodyProblem: 'too_slow' } }, 408],
    ['the path before the token', 'GET', '/v1/nowhere', { token: null }, 404],
    ['the method before the token', 'DELETE', WEBHOOKS, { token: null }, 405],
    ['the method before the body', 'POST', WEBHOOKS, { body: BAD_JSON }, 405],
    ['the token before authority', 'GET', FOREIGN_HOOKS, { token: 'x' }, 401],
    ['the token before the form of an id', 'GET', '/v1/accounts/a%20b/webhooks', { token: 'x' }, 401],
    ['the token before the body', 'PUT', WEBHOOKS, { token: 'x', body: BAD_JSON }, 401],
    ['the token before the media type', 'PUT', WEBHOOKS, { token: 'x', body: 'x', headers: TEXT }, 401],
    ['authority before the media type', 'PUT', FOREIGN_HOOKS, { body: 'x', headers: TEXT }, 403],
    ['authority before the body', 'PUT', FOREIGN_HOOKS, { body: BAD_JSON }, 403],
    ['authority before what is acceptable', 'GET', FOREIGN_HOOKS, { headers: { accept: 'text/html' } }, 403],
    ['authority before existence', 'GET', `${FOREIGN_HOOKS}/unknown`, {}, 403],
    [
      'what is acceptable before the body',
      'PUT',
      WEBHOOKS,
      { body: BAD_JSON, headers: { accept: 'text/html' } },
      406,
    ],
    ['the media type before the body', 'PUT', WEBHOOKS, { body: BAD_JSON, headers: TEXT }, 415],
    ['the body before existence', 'POST', `${WEBHOOKS}/unknown`, { body: BAD_JSON }, 400],
    ['`data` before existence', 'PATCH', `${WEBHOOKS}/unknown`, { body: '{}' }, 400],
    ['the query before existence', 'GET', `${WEBHOOKS}/unknown/attempts?page_size=0`, {}, 400],
    ['a command before existence', 'PUT', `${WEBHOOKS}/unknown/replay`, { body: { data: {} } }, 400],
    ['existence last', 'POST', `${WEBHOOKS}/unknown`, { body: { data: {} } }, 404],
  ])('looks at %s', async (_, method, url, sent, status) => {
    expect((await answer(method, url, sent)).status).toBe(status)
  })

  it('asks nothing of the service before the token is known to be good', async () => {
    expect((await answer('GET', WEBHOOKS, { token: null })).asked).toEqual([])
    expect((await answer('GET', FOREIGN_HOOKS)).asked).toEqual([
      ['authenticate', TOKEN],
      ['authorize', OWN, FOREIGN],
    ])
  })
})

describe('ids in paths', () => {
  it('treats a malformed account like any account outside the authority', async () => {
    for (const id of [FOREIGN, 'a%20b', 'x'.repeat(65), 'a%2Fb', "a'--", '%C3%A4', 'a%00']) {
      const { status, message, data } = await answer('GET', `/v1/accounts/${id}/webhooks`)
      expect({ status, message, data }).toEqual({
        status: 403,
        message: 'forbidden',
        data: { message: 'forbidden' },
      })
    }
  })

  it.each(['unknown', 'a b', 'x'.repeat(65), 'a/b', "a'--", 'ä', 'a\0'])(
    'knows no webhook, delivery or sample %j',
    async (id) => {
      const urls = [
        `${WEBHOOKS}/${encodeURIComponent(id)}`,
        `/v1/accounts/${OWN}/deliveries/${encodeURIComponent(id)}`,
      ]
      for (const url of [...urls, `/v1/webhooks/samples/${encodeURIComponent(id)}`]) {
        const { status, message, data, response } = await answer('GET', url)
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

  it.each(['unknown', 'a\0b', 'a\nb', 'x'.repeat(256)])('knows no call %j', async (callId) => {
    const { status, data, asked } = await answer(
      'GET',
      `/v1/accounts/${OWN}/calls/${encodeURIComponent(callId)}/attempts`,
    )
    expect({ status, data }).toEqual({ status: 404, data: { cause: callId, message: 'bad identifier' } })
    expect(asked.some(([verb]) => verb === 'legs')).toBe(callId === 'unknown')
  })

  it('hides the events route where events do not come over HTTP', async () => {
    const { status, message } = await answer('PUT', `/v1/accounts/${OWN}/events`, { body: { data: {} } })
    expect({ status, message }).toEqual({ status: 404, message: 'not_found' })
    expect((await answer('GET', `/v1/accounts/${OWN}/events`)).status).toBe(404)
  })

  it('does not show a webhook of another account', async () => {
    const { service, webhooks } = fakeWorld()
    webhooks.set(HOOK, { ...webhooks.get(HOOK)!, accountId: FOREIGN })
    const response = await createHandler(service, { log: silent })(request('GET', `${WEBHOOKS}/${HOOK}`))
    expect(response.status).toBe(404)
  })
})
