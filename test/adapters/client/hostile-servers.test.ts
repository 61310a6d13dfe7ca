import { once } from 'node:events'
import { createServer } from 'node:http'
import { createClient, HookswitchClientError } from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { type Answer, fail, scriptedApi, succeed, TOKEN } from './scripted-api.js'

const API_KEY = 'key-of-this-test'

async function against(answer: Answer, options: object = {}, logIn?: Answer) {
  const api = await scriptedApi(answer, logIn)
  return { api, client: createClient({ url: api.url, apiKey: API_KEY, maxRetries: 0, ...options }) }
}

/** The error of one read. */
async function errorOf(answer: Answer, options: object = {}, logIn?: Answer): Promise<HookswitchClientError> {
  const { client } = await against(answer, options, logIn)
  const error = await client
    .listWebhooks()
    .page()
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
  expect(error).toBeInstanceOf(HookswitchClientError)
  return error as HookswitchClientError
}

const json = { 'content-type': 'application/json' }
const HTML = `<html>${'x'.repeat(1_048_576)}</html>`

describe('the client against hostile servers', () => {
  it.each<[string, Answer, object, number | undefined]>([
    [
      'half an answer',
      (response) => {
        response.writeHead(200, { ...json, 'content-length': '1000' }).write('{"data":[')
        setImmediate(() => response.destroy())
      },
      { code: 'network' },
      undefined,
    ],
    ['a cut connection', (response) => void response.destroy(), { code: 'network' }, undefined],
    [
      'invalid JSON',
      (response) => response.writeHead(200, json).end('{"data":[}'),
      { code: 'invalid_response' },
      200,
    ],
    [
      'JSON that is no object',
      (response) => response.writeHead(200, json).end('null'),
      { code: 'invalid_response' },
      200,
    ],
    [
      'an envelope of another API',
      (response) => response.writeHead(200, json).end('{"data":[],"status":"fine"}'),
      { code: 'invalid_response' },
      200,
    ],
    ['data that is no list', (response) => succeed(response, {}), { code: 'invalid_response' }, undefined],
    [
      '1 MiB of HTML',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(HTML),
      { code: 'invalid_response' },
      200,
    ],
    [
      '1 MiB of HTML with an error',
      (response) => response.writeHead(500, { 'content-type': 'text/html' }).end(HTML),
      { code: 'invalid_response' },
      500,
    ],
    [
      'an error without an envelope',
      (response) => response.writeHead(418, json).end('{"error":"teapot"}'),
      { code: 'invalid_response' },
      418,
    ],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
      { code: 'redirected' },
      302,
    ],
    [
      'a loop of redirects',
      (response, { path }) => response.writeHead(307, { location: path }).end(),
      { code: 'redirected' },
      307,
    ],
  ])('%s is an error', async (_, answer, expected, status) => {
    const error = await errorOf(answer)
    expect(error).toMatchObject(expected)
    expect(error.status).toBe(status)
    expect(error.message).toMatch(/^GET \/accounts\/\{account_id\}\/webhooks: /)
    expect(error.message.length).toBeLessThan(300)
  })

  it('a redirect is requested once and never followed', async () => {
    const { api, client } = await against((response, { path }) =>
      response.writeHead(308, { location: `${path}&again` }).end(),
    )
    await expect(client.listWebhooks().page()).rejects.toMatchObject({ code: 'redirected' })
    expect(api.calls()).toHaveLength(1)
  })

  it('a refused connection is an error that names its cause', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    await once(server, 'close')
    const client = createClient({ url: `http://127.0.0.1:${port}`, apiKey: API_KEY, maxRetries: 0 })
    await expect(client.accountId()).rejects.toMatchObject({
      code: 'network',
      status: undefined,
      message: `PUT /api_auth: no complete response from 127.0.0.1:${port} (ECONNREFUSED)`,
    })
  })

  it('a body that never ends is cut at the limit', async () => {
    let isClosed = false
    const error = await errorOf(
      (response) => {
        response.writeHead(200, json)
        response.on('close', () => {
          isClosed = true
        })
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536))) {}
        }
        response.on('drain', more)
        more()
      },
      { maxResponseBytes: 1_000_000 },
    )
    expect(error).toMatchObject({ code: 'invalid_response' })
    expect(error.message).toContain('exceeds 1000000 bytes')
    await expect.poll(() => isClosed).toBe(true)
  })

  it('a slow body ends at the timeout', async () => {
    const error = await errorOf((response) => void response.writeHead(200, json).write('{"data":['), {
      timeoutMs: 100,
    })
    expect(error).toMatchObject({ code: 'timeout', status: undefined })
  })

  it('a server that never answers ends at the timeout, also during the login', async () => {
    expect(await errorOf(() => {}, { timeoutMs: 100 })).toMatchObject({ code: 'timeout' })
    const login = await errorOf(
      () => {},
      { timeoutMs: 100 },
      () => {},
    )
    expect(login).toMatchObject({ code: 'timeout' })
  })

  it('an abort ends a call with its reason, while it runs and before', async () => {
    const { promise: arrival, resolve: arrived } = deferred()
    const { client } = await against(() => arrived())
    const controller = new AbortController()
    const call = client.listWebhooks({}, { signal: controller.signal }).page()
    await arrival
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(call).rejects.toMatchObject({ code: 'aborted', cause: reason })
    const later = client.listWebhooks({}, { signal: controller.signal }).page()
    await expect(later).rejects.toMatchObject({ code: 'aborted', cause: reason })
  })

  it('an abort of the client ends every call, but not close', async () => {
    const controller = new AbortController()
    const { promise: arrival, resolve: arrived } = deferred()
    const { api, client } = await against(
      (response, { method }) => (method === 'DELETE' ? succeed(response, {}) : arrived()),
      { signal: controller.signal },
    )
    const call = client.listWebhooks().page()
    await arrival
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'aborted' })
    await expect(client.listHooks().page()).rejects.toMatchObject({ code: 'aborted' })
    await client.close()
    expect(api.calls().map(({ method }) => method)).toEqual(['GET', 'DELETE'])
  })

  it('close ignores a server that does not answer', async () => {
    const { client } = await against(() => {})
    await client.token()
    await expect(client.close({ timeoutMs: 50 })).resolves.toBeUndefined()
  })

  it('a server that refuses every token gets each call twice, with a new token', async () => {
    const { api, client } = await against((response) => fail(response, 401, 'invalid_credentials'))
    await expect(client.listWebhooks().page()).rejects.toMatchObject({ code: 'invalid_credentials' })
    expect(api.calls().map(({ token }) => token)).toEqual([`${TOKEN}-1`, `${TOKEN}-2`])
    expect(api.logins()).toBe(2)
  })

  it('a list whose next page is the same page ends', async () => {
    const { api, client } = await against((response) => succeed(response, [1], { next_start_key: 'again' }))
    const read = async () => {
      for await (const _ of client.listWebhooks()) {
      }
    }
    await expect(read()).rejects.toMatchObject({ code: 'invalid_response' })
    expect(api.calls()).toHaveLength(2)
  })

  it.each<[string, object]>([
    ['no token', {}],
    ['a token that would end the header', { auth_token: 'a\r\nx-evil: 1' }],
    ['a token that is no text', { auth_token: { toString: 'x' } }],
  ])('a login with %s is refused', async (_, fields) => {
    const error = await errorOf(
      (response) => succeed(response, []),
      {},
      (response) => succeed(response, { account_id: 'a' }, fields, 201),
    )
    expect(error).toMatchObject({ code: 'invalid_response' })
    expect(error.message).not.toContain('evil')
  })

  it('an error never contains the key, the password, its hash or the token', async () => {
    const echo: Answer = (response, { token, body }) =>
      fail(
        response,
        422,
        `refused ${token}`,
        {},
        { echo: { body, token, list: [token] }, message: `no ${body}` },
      )
    const shown = async (options: object, secrets: readonly string[], logIn?: Answer) => {
      const error = await errorOf(echo, options, logIn)
      const texts = [
        error.message,
        error.stack,
        JSON.stringify(error),
        JSON.stringify(error.data),
        error.code,
      ]
      for (const secret of secrets) expect(texts.join('\n')).not.toContain(secret)
      expect(error.message).toContain('[redacted]')
    }
    await shown({}, [API_KEY, `${TOKEN}-1`])
    // KAZOO's 404 echoes an unknown API key.
    await shown({}, [API_KEY], echo)
    const user = { username: 'ada', password: 'correct horse', realm: 'r' }
    const hash = '833114a2be47f2d2054c431d1ebb2a0e'
    await shown({ apiKey: undefined, user }, ['correct horse', hash], echo)
    await shown({ apiKey: undefined, token: 'given-token', accountId: 'a' }, ['given-token'])

    const { client } = await against(echo, {}, echo)
    const data = { api_key: 'another-api-key' }
    const error = await client.signInByApiKey({ data }).catch((thrown) => thrown)
    expect(JSON.stringify([error.message, error.data])).not.toContain('another-api-key')
  })
})
