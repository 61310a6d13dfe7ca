import { once } from 'node:events'
import { Agent, get, type IncomingMessage, Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { errorCode } from 'hookswitch'
import { serve } from 'hookswitch/cli'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { parseExposition } from '../observability/parse-exposition.js'
import { testFolder, testIo } from './files.js'

const ALPHA = { id: 'alpha', name: 'Alpha', realm: 'alpha.example', apiKey: 'a'.repeat(40) }

const folder = testFolder()
const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function started(argv: readonly string[], env?: Record<string, string>) {
  const { io, written } = testIo(env)
  const serving = await serve(['--memory', '--port', '0', ...argv], io)
  cleanups.push(() => serving.close())
  return { ...serving, written }
}

const accountsFile = (content: unknown) => folder.write('accounts.json', content)

async function errorOf(argv: readonly string[], env?: Record<string, string>) {
  const { io, written } = testIo(env)
  const error = await serve(['--memory', ...argv], io).then(
    async ({ close }) => {
      await close()
      throw new Error(`${argv.join(' ')} was accepted`)
    },
    (thrown: Error & { field?: string }) => thrown,
  )
  expect(written.stdout).toBe('')
  expect(error.message).not.toMatch(/\n/)
  return error
}

const send = async (url: string, method: string, data?: object, token?: string) => {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...(token ? { 'x-auth-token': token } : {}) },
    ...(data ? { body: JSON.stringify({ data }) } : {}),
  })
  return {
    status: response.status,
    body: (await response.json()) as Record<string, never>,
    headers: response.headers,
  }
}

describe('serve', () => {
  it('prints one line of JSON when it listens, logs to stderr, and responds', async () => {
    const { url, written } = await started(['--accounts', await accountsFile([ALPHA])])
    expect(written.stdout).toBe(`{"ready":true,"url":"${url}"}\n`)
    for (const line of written.stderr.trimEnd().split('\n'))
      expect(JSON.parse(line)).toHaveProperty('message')
    const login = await send(`${url}/v1/api_auth`, 'PUT', { api_key: ALPHA.apiKey })
    expect(login).toMatchObject({ status: 201, body: { data: { account_id: 'alpha' } } })
    expect(written.stderr).not.toContain(ALPHA.apiKey)
  })

  it('logs who changed what: its files, clients, and logins that it refused, counted by address', async () => {
    const path = await accountsFile([ALPHA])
    const { url, written, reload, close } = await started(['--accounts', path])
    const login = await send(`${url}/v1/api_auth`, 'PUT', { api_key: ALPHA.apiKey })
    const token = String(login.body.auth_token)
    await send(`${url}/v1/accounts/alpha`, 'PATCH', { timezone: 'Etc/GMT' }, token)
    for (let nth = 0; nth < 15; nth += 1) await send(`${url}/v1/api_auth`, 'PUT', { api_key: 'wrong' })
    await accountsFile([{ ...ALPHA, name: 'Beta' }])
    await reload()
    await close()
    const lines = written.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ audit }) => audit === true)
    const refused = lines.filter((line) => line.refused !== undefined)
    expect(lines.filter((line) => !refused.includes(line))).toMatchObject([
      { action: 'ensureAccounts', by: 'accounts file', details: { created: ['alpha'], changed: [] } },
      { action: 'signInByApiKey', by: 'api_key', accountId: 'alpha', address: '127.0.0.1', level: 'info' },
      { action: 'patchAccount', by: 'api_key', byAccountId: 'alpha', after: { timezone: 'Etc/GMT' } },
      { action: 'ensureAccounts', by: 'accounts file', details: { created: [], changed: ['alpha'] } },
    ])
    expect(refused).toHaveLength(11)
    expect(refused.at(-1)).toMatchObject({ action: 'signInByApiKey', address: '127.0.0.1', repeated: 5 })
    expect(written.stderr).not.toContain(ALPHA.apiKey)
    expect(written.stderr).not.toContain(token)
  })

  it('ends live streams before it drains, and does not wait for their connections', async () => {
    const { url, close } = await started(['--accounts', await accountsFile([ALPHA])])
    const login = await send(`${url}/v1/api_auth`, 'PUT', { api_key: ALPHA.apiKey })
    const headers = { 'x-auth-token': String(login.body.auth_token) }
    const agent = new Agent({ keepAlive: true })
    cleanups.push(async () => agent.destroy())
    const request = get(`${url}/v1/accounts/alpha/stream`, { agent, headers })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    const cut = vi.spyOn(Server.prototype, 'closeAllConnections')
    cleanups.push(async () => cut.mockRestore())
    const [body] = await Promise.all([text(response), close()])
    expect(body).toMatch(/event: end\ndata: \{"reason":"closing"\}\n\n$/)
    expect(cut).not.toHaveBeenCalled()
  })

  it('closes once, however often close() is called, and frees its port', async () => {
    const { url, close, written } = await started([])
    await Promise.all([close(), close()])
    await expect(fetch(`${url}/v1/webhooks`)).rejects.toThrow()
    expect(written.stdout.split('\n')).toHaveLength(2)
  })

  it.each(['json', 'pretty'])('logs the start and the end of the drain as %s', async (format) => {
    const { close, written } = await started(['--log', format])
    expect(written.stderr).not.toMatch(/drain/)
    await close()
    expect(written.stderr.trimEnd().split('\n').slice(-2)).toEqual([
      expect.stringMatching(/\bdraining: no new requests/),
      expect.stringMatching(/\bdrained and closed/),
    ])
  })

  it('creates parents before their children, whatever their order in the file', async () => {
    const child = { id: 'child', name: 'Child', realm: 'child.example', parentId: 'alpha' }
    const { hs } = await started(['--accounts', await accountsFile([child, ALPHA])])
    expect(await hs.accounts.descendants('alpha')).toEqual(['child'])
  })

  it('issues tokens with the lifetime of --token-ttl', async () => {
    const { hs } = await started(['--token-ttl', '60', '--accounts', await accountsFile([ALPHA])])
    const before = Date.now()
    const { expiresMs } = await hs.auth.signIn({ apiKey: ALPHA.apiKey })
    expect(expiresMs).toBeGreaterThanOrEqual(before + 60_000)
    expect(expiresMs).toBeLessThanOrEqual(Date.now() + 60_000)
  })

  it('accepts events over HTTP only with --ingest', async () => {
    const file = await accountsFile([ALPHA])
    const event = { hook: 'channel_create', call_id: 'a-call' }
    const ingest = async (flags: readonly string[]) => {
      const { url, hs } = await started([...flags, '--accounts', file])
      const { token } = await hs.auth.signIn({ apiKey: ALPHA.apiKey })
      return (await send(`${url}/v1/accounts/alpha/events`, 'PUT', event, token)).status
    }
    expect(await ingest([])).toBe(404)
    expect(await ingest(['--ingest'])).toBe(202)
  })

  it('accepts webhooks to loopback addresses only with --allow-local', async () => {
    const webhook = { name: 'mine', uri: 'http://127.0.0.1:9/', hook: 'all' }
    const closed = await started(['--accounts', await accountsFile([ALPHA])])
    await expect(closed.hs.webhooks.create('alpha', webhook)).rejects.toThrow(/uri/)
    const open = await started(['--allow-local', '--accounts', await accountsFile([ALPHA])])
    expect(await open.hs.webhooks.create('alpha', webhook)).toMatchObject({ uri: webhook.uri })
    expect(open.written.stderr).toMatch(/loopback/)
  })

  it('accepts webhooks to the private networks of --allow', async () => {
    const { hs } = await started([
      '--allow',
      '10.1.0.0/16',
      '--allow=10.2.0.3',
      '--accounts',
      await accountsFile([ALPHA]),
    ])
    const create = (host: string) =>
      hs.webhooks.create('alpha', { name: 'x', uri: `http://${host}/`, hook: 'all' })
    await create('10.1.2.3')
    await create('10.2.0.3')
    await expect(create('10.2.0.4')).rejects.toThrow(/uri/)
  })

  it('behaves like KAZOO with --preset kazoo', async () => {
    const { hs } = await started(['--preset', 'kazoo', '--accounts', await accountsFile([ALPHA])])
    const webhook = await hs.webhooks.create('alpha', { name: 'x', uri: 'http://203.0.114.7/', hook: 'all' })
    expect(webhook.format).toBe('form-data')
  })

  it('permits pages of the --cors origins to call the API', async () => {
    const { url } = await started(['--cors', 'https://ui.example.com'])
    const response = await fetch(`${url}/v1/webhooks`, { headers: { origin: 'https://ui.example.com' } })
    await response.arrayBuffer()
    expect(response.headers.get('access-control-allow-origin')).toBe('https://ui.example.com')
  })

  it('leads from / to the page; without a page it says there where the API is', async () => {
    const at = async (url: string, init?: RequestInit) => {
      const response = await fetch(`${url}/`, { redirect: 'manual', ...init })
      const { status, headers } = response
      return [status, headers.get('location'), headers.get('content-type'), await response.text()]
    }
    const json = { headers: { accept: 'application/json' } }
    const api = { api: '/v1', openapi: '/v1/openapi.json' }
    const withPage = await started([])
    const page = { page: '/portal/', ...api }
    const text = 'This is hookswitch.\npage: /portal/\napi: /v1\nopenapi: /v1/openapi.json\n'
    expect(await at(withPage.url)).toEqual([302, 'portal/', 'text/plain; charset=utf-8', text])
    const [, , , body] = await at(withPage.url, json)
    expect(JSON.parse(String(body))).toEqual({ data: page, status: 'success' })
    expect(await at(withPage.url, { method: 'HEAD' })).toEqual([
      302,
      'portal/',
      'text/plain; charset=utf-8',
      '',
    ])

    const without = await started(['--no-portal'])
    const [status, location, type, sent] = await at(without.url, json)
    expect([status, location, type]).toEqual([200, null, 'application/json'])
    expect(JSON.parse(String(sent))).toEqual({ data: api, status: 'success' })
    expect(await at(without.url)).toEqual([
      200,
      null,
      'text/plain; charset=utf-8',
      text.replace(/page.*\n/, ''),
    ])
    const put = await fetch(without.url, { method: 'PUT', body: '{}' })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await put.json()).toMatchObject({ error: '405', message: 'invalid_method', status: 'error' })
  })

  it('serves the page at /portal beside the API, unless --no-portal leaves it out', async () => {
    const withPage = await started([])
    const redirect = await fetch(`${withPage.url}/portal`, { redirect: 'manual' })
    expect([redirect.status, redirect.headers.get('location')]).toEqual([308, 'portal/'])
    expect(redirect.headers.get('content-security-policy')).toContain("trusted-types 'none'")
    const api = await fetch(`${withPage.url}/v1/webhooks`)
    expect([api.status, api.headers.get('content-security-policy')]).toEqual([200, null])
    const without = await started(['--no-portal'])
    expect((await fetch(`${without.url}/portal`, { redirect: 'manual' })).status).toBe(404)
  })

  it('names a setting of the page that cannot be', async () => {
    const wrong: readonly (readonly [string, string, string])[] = [
      ['--portal-title', 'a'.repeat(61), 'must be a text of 1 to 60 characters'],
      ['--portal-logo', '/nowhere/logo.svg', 'cannot be read (there is no such file)'],
      ['--portal-accent', 'red', 'must be a colour like #4a3fc7'],
      ['--portal-language', 'fr', 'must be auto, en or de'],
      ['--portal-help-url', 'ftp://help.example', 'must be an http or https URL'],
      ['--portal-color-scheme', 'blue', 'must be auto, light or dark'],
    ]
    for (const [flag, value, problem] of wrong) {
      await expect(started([flag, value]), flag).rejects.toThrow(`${flag}: ${problem}`)
    }
  })

  it('takes a token in the query, but by default not from pages of its own origin while it serves the page', async () => {
    const file = await accountsFile([ALPHA])
    const statuses = async (flags: readonly string[]) => {
      const { url, hs } = await started([...flags, '--accounts', file])
      const { token } = await hs.auth.signIn({ apiKey: ALPHA.apiKey })
      const get = async (headers: Record<string, string>) =>
        (await fetch(`${url}/v2/accounts/alpha?auth_token=${token}`, { headers })).status
      return [
        await get({}),
        await get({ 'sec-fetch-site': 'cross-site' }),
        await get({ 'sec-fetch-site': 'same-origin' }),
      ]
    }
    expect(await statuses([])).toEqual([200, 200, 401])
    expect(await statuses(['--no-portal'])).toEqual([200, 200, 200])
    expect(await statuses(['--token-in-query'])).toEqual([200, 200, 200])
    expect(await statuses(['--no-token-in-query'])).toEqual([401, 401, 401])
  })

  it('serves health and readiness on the admin port only', async () => {
    const { url, adminUrl = '', close, written } = await started(['--admin-port', '0'])
    expect(JSON.parse(written.stdout)).toEqual({ ready: true, url, adminUrl })
    expect((await send(`${adminUrl}/healthz`, 'GET')).status).toBe(200)
    expect((await send(`${adminUrl}/readyz?x=1`, 'GET')).status).toBe(200)
    expect((await send(`${adminUrl}/other`, 'GET')).status).toBe(404)
    expect((await send(`${url}/healthz`, 'GET')).status).toBe(404)
    await close()
    await expect(fetch(`${adminUrl}/healthz`)).rejects.toThrow()
  })

  it('stays ready in an outage of the network, and says so where operators look', async () => {
    const {
      hs,
      adminUrl = '',
      written,
    } = await started(['--admin-port', '0', '--allow-local', '--log', 'json'])
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    let isDown = true
    for (let n = 0; n < 5; n++) {
      const receiver = createServer((socket) => {
        socket.on('error', () => {})
        if (isDown) socket.destroy()
        else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      })
      receiver.listen(0, '127.0.0.1')
      await once(receiver, 'listening')
      cleanups.push(async () => void receiver.close())
      const { port } = receiver.address() as AddressInfo
      await hs.webhooks.create('acme', { name: 'w', uri: `http://127.0.0.1:${port}/`, hook: 'all' })
    }
    const readiness = async () => {
      const response = await fetch(`${adminUrl}/readyz`)
      return { code: response.status, ...((await response.json()) as object) }
    }
    const gauge = async () => {
      const { value } = parseExposition(await (await fetch(`${adminUrl}/metrics`)).text())
      return ['public', 'private', 'loopback'].map(
        (network) => value('hookswitch_outage_start_timestamp_seconds', { network })! > 0,
      )
    }
    expect([await readiness(), await gauge()]).toEqual([
      { code: 200, status: 'ready' },
      [false, false, false],
    ])
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'one' })
    await vi.waitFor(() => expect(hs.nodeHealth().outages).toHaveLength(1))
    const since = expect.stringMatching(/^20\d\d-.*Z$/)
    expect(await readiness()).toEqual({
      code: 200,
      status: 'ready',
      outages: [{ network: 'loopback', since }],
    })
    expect(await gauge()).toEqual([false, false, true])
    expect(written.stderr).toContain('no receiver of this network answers')
    isDown = false
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'two' })
    await vi.waitFor(() => expect(hs.nodeHealth().outages).toEqual([]))
    expect(await readiness()).toEqual({ code: 200, status: 'ready' })
    expect(written.stderr).toContain('a receiver of this network answers again')
  })

  it('listens for operators on loopback, whatever --host is, unless --admin-host names an address', async () => {
    const open = await started(['--host', '0.0.0.0', '--admin-port', '0'])
    expect([new URL(open.url).hostname, new URL(open.adminUrl ?? '').hostname]).toEqual([
      '0.0.0.0',
      '127.0.0.1',
    ])
    const other = await started(['--admin-port', '0', '--admin-host', '0.0.0.0'])
    expect(new URL(other.adminUrl ?? '').hostname).toBe('0.0.0.0')
    expect((await errorOf(['--port', '9000', '--admin-port', '9000'])).message).toBe(
      '--admin-port: must differ from --port',
    )
    expect(
      (await errorOf(['--port', '0', '--admin-port', '0', '--admin-host', '203.0.113.7'])).message,
    ).toMatch(/^--admin-host: '203\.0\.113\.7' is not an address of this machine/)
  })

  it('serves WebSockets on the port of --blackhole-port', async () => {
    const accounts = await accountsFile([ALPHA])
    const {
      hs,
      url,
      blackholeUrl = '',
      close,
      written,
    } = await started([
      ...['--accounts', accounts, '--blackhole-port', '0'],
      ...['--blackhole-max-sockets', '1', '--blackhole-max-bindings', '1'],
    ])
    expect(JSON.parse(written.stdout)).toEqual({ ready: true, url, blackholeUrl })
    expect(written.stderr).toContain(`"blackholeUrl":"${blackholeUrl}"`)
    expect(blackholeUrl).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/)
    const { token } = await hs.auth.signIn({ apiKey: ALPHA.apiKey })
    const socket = new WebSocket(blackholeUrl)
    await once(socket, 'open')
    const request = async (binding: string) => {
      const data = { account_id: 'alpha', binding }
      socket.send(JSON.stringify({ action: 'subscribe', auth_token: token, data }))
      return JSON.parse(String((await once(socket, 'message'))[0]))
    }
    expect(await request('call.*.*')).toMatchObject({ status: 'success' })
    expect(await request('call.*.a')).toMatchObject({ status: 'error' })
    const event = once(socket, 'message')
    await hs.publish({ hook: 'channel_create', accountId: 'alpha', callId: 'call-1' })
    expect(JSON.parse(String((await event)[0]))).toMatchObject({ name: 'CHANNEL_CREATE' })
    const second = new WebSocket(blackholeUrl)
    expect((await once(second, 'error'))[0]).toMatchObject({ message: expect.stringContaining('503') })
    const closed = once(socket, 'close')
    await close()
    expect((await closed)[0]).toBe(1001)
    await expect(fetch(blackholeUrl.replace('ws:', 'http:'))).rejects.toThrow()
  })

  it('serves no WebSockets by default', async () => {
    const { blackholeUrl, written } = await started([], { HOOKSWITCH_BLACKHOLE_MAX_SOCKETS: '5' })
    expect(blackholeUrl).toBeUndefined()
    expect(written.stdout).not.toContain('blackholeUrl')
    const withPort = await started([], { HOOKSWITCH_BLACKHOLE_PORT: '0' })
    expect(withPort.blackholeUrl).toMatch(/^ws:/)
  })

  it('refuses one port for two purposes', async () => {
    const problem = async (...argv: string[]) => (await errorOf(argv)).message
    expect(await problem('--port', '9000', '--blackhole-port', '9000')).toBe(
      '--blackhole-port: must differ from --port',
    )
    expect(await problem('--port', '0', '--admin-port', '9000', '--blackhole-port', '9000')).toBe(
      '--blackhole-port: must differ from --admin-port',
    )
  })

  it('has the name of --node-name in its log, in responses and in the list of nodes', async () => {
    const { hs, url, written } = await started(['--node-name', 'node-7.example'])
    const { body } = await send(`${url}/v1/accounts`, 'GET')
    expect(body.node).toBe('node-7.example')
    const { nodes } = await hs.operator.overview()
    expect(nodes.map(({ node }) => node)).toEqual([expect.stringMatching(/^node-7\.example\../)])
    const lines = written.stderr.trimEnd().split('\n')
    expect(new Set(lines.map((line) => JSON.parse(line).node))).toEqual(new Set(['node-7.example']))
  })

  it('says that there is no account, and which operator does not exist', async () => {
    const warningsOf = async (argv: readonly string[]) => {
      const { written } = await started(argv)
      const lines = written.stderr.trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line)).filter(({ message }) => /no account/.test(message))
    }
    expect(await warningsOf(['--operator', 'platform'])).toMatchObject([
      {
        level: 'warn',
        message: 'there is no account, so that nobody can log in: --accounts names a file with the first one',
      },
    ])
    const accounts = await accountsFile([ALPHA])
    expect(
      await warningsOf(['--accounts', accounts, '--operator', 'alhpa', '--operator', 'alpha']),
    ).toMatchObject([
      {
        level: 'warn',
        operator: 'alhpa',
        message: "--operator: there is no account 'alhpa' (did you mean 'alpha'?)",
      },
    ])
  })

  it('passes the settings of the HTTP server, and writes entries of --log-level and above', async () => {
    const { url, written } = await started(['--http-max-header-bytes', '2000', '--log-level', 'error'])
    const response = await fetch(`${url}/v1/webhooks`, { headers: { 'x-long': 'x'.repeat(3_000) } })
    await response.arrayBuffer()
    expect([response.status, written.stderr]).toEqual([431, ''])
  })

  it('serves metrics for Prometheus on the admin port only', async () => {
    const accounts = await accountsFile([ALPHA])
    const { url, adminUrl = '' } = await started(['--admin-port', '0', '--accounts', accounts])
    await send(`${url}/v1/api_auth`, 'PUT', { api_key: ALPHA.apiKey })
    await send(`${url}/v1/api_auth`, 'PUT', { api_key: 'wrong' })
    const scrape = await fetch(`${adminUrl}/metrics?x=1`)
    expect(scrape.status).toBe(200)
    expect(scrape.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const { value } = parseExposition(await scrape.text())
    expect(value('hookswitch_logins_total', { result: 'succeeded' })).toBe(1)
    expect(value('hookswitch_logins_total', { result: 'failed' })).toBe(1)
    expect(value('hookswitch_attempts_total', { outcome: 'delivered' })).toBe(0)
    const posted = await fetch(`${adminUrl}/metrics`, { method: 'POST', body: 'x' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const head = await fetch(`${adminUrl}/metrics`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await send(`${url}/metrics`, 'GET')).status).toBe(404)
  })
})

describe('serve rejects with one sentence that begins with the flag', () => {
  it.each([
    [['--allow', '10.0.0.0/99'], /^--allow: /],
    [['--trust-proxy', 'everyone'], /^--trust-proxy: /],
    [['--token-ttl', '2147483647'], /^--token-ttl: must be/],
  ])('%s, which only the service can check', async (argv, sentence) => {
    const error = await errorOf(['--port', '0', ...argv])
    expect(error.message).toMatch(sentence)
    expect(errorCode(error)).toBe('InvalidOption')
  })

  it.each([
    ['truncated JSON, without quoting it', '[{"password":"hunter2"', /is not JSON \(line 1, column 23\)$/],
    ['a word that is not JSON', '[\n  {"password":hunter2}\n]', /is not JSON \(line 2, column 15\)$/],
    ['a trailing comma', '[{"password": "hunter2",\n}]', /is not JSON \(line 2, column 1\)$/],
    ['a line break in a string', '[{"password": "hunter2\n"}]', /is not JSON \(line 1, column 15\)$/],
    ['text after the end', '[]\n\nhunter2', /is not JSON \(line 3, column 1\)$/],
    ['no content', '', /is not JSON \(line 1, column 1\)$/],
    ['no array', {}, /must hold an array/],
    [
      'an account without a required field',
      [ALPHA, { id: 'beta', name: 'Beta' }],
      /: account 'beta': realm: Field is required but missing$/,
    ],
    [
      'an entry that is not an object',
      [ALPHA, 'hunter2'],
      /: account 2 of the list: Value did not match type/,
    ],
    [
      'unknown and invalid fields',
      [{ ...ALPHA, pasword: 'hunter2', enabled: 1 }],
      /: account 'alpha' \(realm alpha\.example\): pasword: Unknown field; enabled: Value did not match/,
    ],
    [
      'an invalid id',
      [ALPHA, { id: 'hunter2\n', name: 'x', realm: 'x' }],
      /: account 2 of the list \(realm x\): id: Id must be/,
    ],
    [
      'a cycle of parents',
      [
        { ...ALPHA, parentId: 'beta' },
        { id: 'beta', name: 'b', realm: 'b', parentId: 'alpha' },
      ],
      /parentId/,
    ],
    [
      'two accounts with one realm',
      [ALPHA, { id: 'beta', name: 'Beta', realm: 'ALPHA.example' }],
      /: account 'beta' \(realm ALPHA\.example\): this realm is taken$/,
    ],
  ])('an accounts file with %s', async (_, content, problem) => {
    const path = await accountsFile(content)
    const error = await errorOf(['--port', '0', '--accounts', path])
    expect(error.message.startsWith(`--accounts: ${path}: `)).toBe(true)
    expect(error.message).toMatch(problem)
    expect(error.message).not.toContain('hunter2')
    expect(errorCode(error)).toBe('InvalidInput')
  })

  it('an accounts file that does not exist', async () => {
    const error = await errorOf(['--port', '0', '--accounts', join(folder.path, 'none.json')])
    expect(error.message).toMatch(/^--accounts: .*none\.json: cannot be read \(there is no such file\)$/)
  })

  it('a host that is not an address of this machine', async () => {
    expect((await errorOf(['--port', '0', '--host', '203.0.113.7'])).message).toMatch(/^--host: /)
  })

  it.each(['--port', '--admin-port', '--blackhole-port'])('a port in use: %s', async (flag) => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    cleanups.push(() => new Promise((resolve) => blocker.close(resolve)))
    const { port } = blocker.address() as { port: number }
    const argv = flag === '--port' ? ['--port', `${port}`] : ['--port', '0', flag, `${port}`]
    const error = await errorOf(argv)
    expect(error.message).toMatch(new RegExp(`^${flag}: port ${port} of 127.0.0.1 is in use`))
    expect(errorCode(error)).toBe('Conflict')
  })
})
