import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Answer, fail, scriptedApi, succeed } from '../../client/scripted-api.js'
import { API_KEY, startService } from '../../client/service.js'
import { type RunOptions, runHere } from './harness.js'

/** Runs commands against a real service with one webhook. */
async function withService() {
  const { hs, url } = await startService()
  const env = { HOOKSWITCH_URL: url, HOOKSWITCH_API_KEY: API_KEY }
  const run = async (argv: readonly string[], options: RunOptions = {}) => {
    const result = await runHere(argv, { ...options, env: { ...env, ...options.env } })
    return { ...result, json: () => JSON.parse(result.stdout) }
  }
  const create = [
    'webhooks',
    'create',
    '--name',
    'Calls',
    '--uri',
    'http://127.0.0.1:9/',
    '--hook',
    'all',
    '--retries',
    '0',
    '--json',
  ]
  const created = await run(create)
  expect([created.code, created.stderr]).toEqual([0, ''])
  return { hs, url, env, run, webhook: created.json().id as string }
}

async function files(contents: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'commands-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, content] of Object.entries(contents)) await writeFile(join(folder, name), content)
  return folder
}

const lines = (text: string) => text.trimEnd().split('\n')

describe('commands with a real service', () => {
  it('create, change, test and delete a webhook', async () => {
    const { run, webhook } = await withService()
    const folder = await files({ 'hook.json': '{"name":"From a file","custom_data":{"a":"1"}}' })
    const data = ['--data', join(folder, 'hook.json')]
    const patched = await run([
      'webhooks',
      'update',
      webhook,
      ...data,
      '--retries',
      '5',
      '--set',
      'custom_data.b=x',
      '--if-match',
      '1',
      '--json',
    ])
    expect(patched.json()).toMatchObject({ name: 'From a file', retries: 5, custom_data: { a: '1', b: 'x' } })
    expect(patched.stderr).toBe('')
    for (const flags of [[], ['--json']]) {
      const misspelt = await run(['webhooks', 'update', webhook, '--set', 'retires=3', ...flags])
      expect([misspelt.code, misspelt.stderr]).toEqual([
        0,
        'hookswitch: retires: This field is unknown and was stored as it is; did you mean retries?\n',
      ])
      expect(misspelt.stdout).not.toContain('did you mean')
    }
    const stale = await run(['webhooks', 'update', webhook, '--name', 'y', '--if-match', '1'])
    expect([stale.code, stale.stdout]).toEqual([5, ''])
    expect(stale.stderr).toMatch(/412 precondition_failed: .* \(request [0-9a-f]{32}\)\n$/)

    const replaced = [
      'webhooks',
      'replace',
      webhook,
      '--name',
      'New',
      '--uri',
      'http://127.0.0.1:9/',
      '--hook',
      'all',
      '--json',
    ]
    expect((await run(replaced)).json()).toMatchObject({ name: 'New', retries: 5 })
    expect((await run(['webhooks', 'test', webhook, '--json'])).json()).toMatchObject({
      delivery_id: expect.any(String),
    })
    const secret = await run(['webhooks', 'secret', webhook])
    expect(secret.stdout).toMatch(/^whsec_\S+\n$/)
    const rotated = await run(['webhooks', 'secret', webhook, '--rotate', '--yes', '--json'])
    expect(rotated.json().secret).not.toBe(secret.stdout.trim())
    expect((await run(['webhooks', 'reenable'])).stdout).toBe('hooks updated\n')
    expect((await run(['webhooks', 'reenable', '--descendants', '--json'])).stdout).toBe('"hooks updated"\n')
    expect((await run(['webhooks', 'delete', webhook, '--yes'])).code).toBe(0)
    expect((await run(['webhooks', 'get', webhook])).code).toBe(4)
  })

  it('print tables for people, tabs for pipes and JSON for programs', async () => {
    const { run, webhook } = await withService()
    const row = [webhook, 'Calls', 'all', 'http://127.0.0.1:9/', 'true', 'ok']
    const head = ['ID', 'NAME', 'HOOK', 'URI', 'ENABLED', 'HEALTH']
    expect((await run(['webhooks', 'list'])).stdout).toBe(`${head.join('\t')}\n${row.join('\t')}\n`)
    const terminal = lines((await run(['webhooks', 'list'], { columns: 120 })).stdout)
    expect(terminal[0]).toMatch(/^ID {32}NAME {3}HOOK {2}URI/)
    expect(terminal[1]).toMatch(new RegExp(`^${webhook}  Calls  all   http://127.0.0.1:9/  true     ok$`))
    await run(['webhooks', 'create', '--name', 'Second', '--uri', 'http://127.0.0.1:9/', '--hook', 'all'])
    const json = await run(['webhooks', 'list', '--json'], { columns: 40 })
    expect(lines(json.stdout).map((line) => JSON.parse(line).name)).toEqual(['Calls', 'Second'])
    const cut = await run(['webhooks', 'list', '--limit', '1'])
    expect(lines(cut.stdout)).toHaveLength(2)
    expect(cut.stderr).toBe('')
    const details = await run(['webhooks', 'get', webhook], { columns: 80 })
    expect(details.stdout).toMatch(/^id {26}\S+\nname {24}Calls\n/)
    const none = await run(['webhooks', 'list', '--account', 'child'], { columns: 80 })
    expect([none.stdout, none.stderr]).toEqual(['', 'hookswitch: there are none\n'])
  })

  it('publish lines in smaller batches where they have too many webhooks for one request, and a list as a whole', async () => {
    const { run, hs } = await withService()
    hs.setLimits({ maxDeliveriesPerRequest: 2 })
    const all = ['c1', 'c2', 'c3', 'c4', 'c5'].map((call) => ({ hook: 'channel_create', call_id: call }))
    const stdin = all.map((event) => JSON.stringify(event)).join('\n')
    const published = await run(['events', 'publish', '-'], { stdin })
    expect([published.code, lines(published.stdout).length]).toEqual([0, 5])
    const whole = await run(['events', 'publish', '-'], { stdin: JSON.stringify(all) })
    expect([whole.code, whole.stdout]).toEqual([1, ''])
    expect(whole.stderr).toContain('maxDeliveriesPerRequest')
  })

  it('publish events, list and explain what became of them, and replay', async () => {
    const { run, webhook, url } = await withService()
    // The service itself rejects the requests: it does not know the path.
    await run(['webhooks', 'update', webhook, '--uri', `${url}/unknown`])
    const event = (call: string) => JSON.stringify({ hook: 'channel_create', call_id: call })
    const single = await run(['events', 'publish', '-'], { stdin: event('c1') })
    expect(single.stdout).toMatch(/^[0-9a-f]{32}\n$/)
    const many = await run(['events', 'publish', '-', '--json'], {
      stdin: `${event('c2')}\n\n${event('c3')}\n`,
    })
    expect(lines(many.stdout).map((line) => Object.keys(JSON.parse(line)))).toEqual([
      ['event_id'],
      ['event_id'],
    ])
    const broken = await run(['events', 'publish', '-'], { stdin: `${event('c2')}\n{` })
    expect([broken.code, broken.stderr]).toEqual([2, 'hookswitch: FILE: line 2: is not JSON\n'])

    const listed = await run(['deliveries', 'list', webhook, '--from', '1h', '--json'])
    const ids = lines(listed.stdout).map((line) => JSON.parse(line).id as string)
    expect(ids).toHaveLength(3)
    expect((await run(['deliveries', 'get', ids[0]!, '--json'])).json().explain).toMatch(/\.$/)
    expect((await run(['deliveries', 'list', webhook, '--state', 'cancelled'])).stdout).toBe('')
    await expect
      .poll(async () => (await run(['attempts', 'list', '--call', 'c1'])).stdout)
      .toMatch(/\tfailure\t/)
    expect((await run(['attempts', 'list', '--webhook', webhook, '--result', 'success'])).stdout).toBe('')
    await expect.poll(async () => (await run(['deliveries', 'get', ids[0]!])).stdout).toMatch(/exhausted/)
    const replayed = await run(['replay', webhook, '--delivery', ids[0]!, '--json'])
    expect(replayed.json().delivery_ids).toHaveLength(1)
    const selected = await run(['replay', webhook, '--from', '2020-01-01', '--to', '2021-01-01', '--json'])
    expect(selected.json()).toMatchObject({ state: 'completed', count: 0, webhook_id: webhook })
    expect((await run(['replay', webhook, '--dry-run', '--include-recovered', '--json'])).json().count).toBe(
      3,
    )
    const all = await run(['replay', webhook, '--include-recovered', '--wait', '--json'])
    expect(all.json()).toMatchObject({ state: 'completed', count: 3, replayed: 3 })
    expect(all.stderr).toMatch(/^hookswitch: replay [0-9a-f]{32}: 3 deliveries$/m)
    const { id } = all.json()
    expect((await run(['replays', 'list'])).stdout).toMatch(new RegExp(`^${id}\tcompleted\t3\t3\t`, 'm'))
    expect((await run(['replays', 'show', id, '--json'])).json().replayed).toBe(3)
    expect((await run(['replays', 'cancel', id])).code).toBe(5)
    expect((await run(['replays', 'show', id, '--all'])).code).toBe(3)
  })

  it('say that a list is cut unless its limit was chosen', async () => {
    const items = Array.from({ length: 250 }, (_, index) => ({ id: `w${index}` }))
    const api = await scriptedApi((response, { path }) => {
      const { searchParams } = new URL(path, 'http://x')
      const start = Number(searchParams.get('start_key') ?? 0)
      const end = Math.min(start + Number(searchParams.get('page_size')), 200 + start, items.length)
      succeed(response, items.slice(start, end), end < items.length ? { next_start_key: `${end}` } : {})
    })
    const env = { HOOKSWITCH_URL: api.url, HOOKSWITCH_API_KEY: 'k' }
    const cut = await runHere(['webhooks', 'list'], { env })
    // The head and the items.
    expect([lines(cut.stdout).length, cut.stderr]).toEqual([
      1 + 100,
      'hookswitch: there are more than 100: --limit all prints all\n',
    ])
    const all = await runHere(['webhooks', 'list', '--limit', 'all', '--json'], { env })
    expect([lines(all.stdout).map((line) => JSON.parse(line)), all.stderr]).toEqual([items, ''])
    const some = await runHere(['webhooks', 'list', '--limit', '220'], { env })
    expect([lines(some.stdout).length, some.stderr]).toEqual([1 + 220, ''])
  })

  it('show the kinds of events without a login', async () => {
    const { url, run } = await withService()
    const hooks = await runHere(['events', 'hooks'], { env: { HOOKSWITCH_URL: url } })
    expect(hooks.stdout).toMatch(/^channel_create\t/m)
    expect((await run(['events', 'sample', 'channel_create', '--json'])).json()[0].hook_event).toBe(
      'channel_create',
    )
  })

  it('log in by file, by token, and revoke the token', async () => {
    const { url, run } = await withService()
    const folder = await files({ key: `${API_KEY}\n` })
    const byFile = await runHere([
      'token',
      'create',
      '--url',
      `${url}/v2`,
      '--api-key-file',
      join(folder, 'key'),
    ])
    const token = byFile.stdout.trim()
    const env = { HOOKSWITCH_URL: url, HOOKSWITCH_TOKEN: token, HOOKSWITCH_ACCOUNT: 'parent' }
    expect((await runHere(['webhooks', 'list'], { env })).code).toBe(0)
    expect((await runHere(['token', 'revoke'], { env })).stdout).toBe('revoked\n')
    const after = await runHere(['webhooks', 'list'], { env })
    expect([after.code, after.stderr]).toEqual([3, expect.stringContaining('401 invalid_credentials')])
    expect((await run(['token', 'create', '--json'])).json()).toEqual({
      auth_token: expect.any(String),
      account_id: 'parent',
    })
    expect((await run(['accounts', 'api-key'])).stdout).toBe(`${API_KEY}\n`)
    expect((await run(['accounts', 'api-key', 'child', '--rotate', '--yes'])).stdout).toMatch(
      /^[0-9a-f]{64}\n$/,
    )
  })

  it('leave no valid token behind', async () => {
    const { url } = await startService()
    const tokens: string[] = []
    const api = await scriptedApi(async (response, request) => {
      tokens.push(`${request.method} ${request.token}`)
      succeed(response, [])
    })
    await runHere(['webhooks', 'list'], { env: { HOOKSWITCH_URL: api.url, HOOKSWITCH_API_KEY: 'k' } })
    expect(api.calls().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/accounts/a/webhooks?page_size=100',
      'DELETE /v1/token_auth',
    ])
    expect(new Set(tokens.map((text) => text.split(' ')[1])).size).toBe(1)
    expect(url).toBeTruthy()
  })

  it('tell how many events were published before the error, in the middle of a list too', async () => {
    const api = await scriptedApi((response, _, nth) =>
      nth === 0
        ? succeed(response, { event_ids: Array.from({ length: 100 }, (_, id) => `${id}`) })
        : fail(response, 409, 'datastore_conflict', {}, { message: 'conflict', accepted_events: 40 }),
    )
    const env = { HOOKSWITCH_URL: api.url, HOOKSWITCH_API_KEY: 'k' }
    const stdin = '{"hook":"channel_create","call_id":"c"}\n'.repeat(200)
    const { code, stderr } = await runHere(['events', 'publish', '-'], { env, stdin })
    expect([code, lines(stderr)[0]]).toEqual([5, 'hookswitch: 140 events were published before the error'])
  })

  it('say that a service is not there', async () => {
    const { code, stderr } = await runHere(['webhooks', 'list'], {
      env: { HOOKSWITCH_URL: 'http://127.0.0.1:9', HOOKSWITCH_API_KEY: 'k' },
    })
    expect(code).toBe(6)
    expect(stderr).toMatch(/^hookswitch: PUT \/api_auth: no complete response from 127\.0\.0\.1:9/)
  })
})

describe('commands for accounts and users', () => {
  /** Runs a command against a service with scripted responses. Returns the requests that it received. */
  async function requestsOf(argv: readonly string[], answer?: Answer, options: RunOptions = {}) {
    const api = await scriptedApi(answer ?? ((response) => succeed(response, { id: 'x' })))
    const env = { HOOKSWITCH_URL: api.url, HOOKSWITCH_API_KEY: 'k', ...options.env }
    const result = await runHere(argv, { ...options, env })
    const requests = api.calls().slice(0, -1)
    return {
      ...result,
      requests: requests.map(({ method, path, body }) => [
        `${method} ${path.replace('/v1', '')}`,
        ...(body === '' ? [] : [JSON.parse(body).data]),
      ]),
    }
  }

  it.each<[readonly string[], readonly unknown[]]>([
    [['accounts', 'list'], ['GET /accounts?page_size=100']],
    [['accounts', 'children'], ['GET /accounts/a/children?page_size=100']],
    [['accounts', 'descendants', 'b', '--limit', '5'], ['GET /accounts/b/descendants?page_size=5']],
    [['accounts', 'ancestors'], ['GET /accounts/a/tree?page_size=100']],
    [['users', 'list', '--account', 'b'], ['GET /accounts/b/users?page_size=100']],
  ])('%j requests %j', async (argv, request) => {
    const { code, requests } = await requestsOf(argv, (response) => succeed(response, [{ id: 'x' }]))
    expect([code, requests]).toEqual([0, [request]])
  })

  it.each<[readonly string[], readonly unknown[]]>([
    [['accounts', 'get'], ['GET /accounts/a']],
    [['accounts', 'get', 'b'], ['GET /accounts/b']],
    [
      [
        'accounts',
        'create',
        '--name',
        'Birch Dental',
        '--account',
        'p',
        '--set',
        'flags:=["x"]',
        '--set',
        'ui.size=7',
        '--set',
        'ui.note=a:=b',
      ],
      ['PUT /accounts/p', { name: 'Birch Dental', flags: ['x'], ui: { size: '7', note: 'a:=b' } }],
    ],
    [
      ['accounts', 'update', 'b', '--enabled', 'false', '--if-match', '3'],
      ['PATCH /accounts/b', { enabled: 'false' }],
    ],
    [['accounts', 'delete', 'b', '--yes'], ['DELETE /accounts/b']],
    [
      ['accounts', 'move', 'b', '--to', 'c'],
      ['POST /accounts/b/move', { to: 'c' }],
    ],
    [
      ['webhooks', 'hold', '--account', 'b'],
      ['POST /system/holds', { held: true, account_id: 'b' }],
    ],
    [
      ['webhooks', 'release', '--all'],
      ['POST /system/holds', { held: false }],
    ],
    [['webhooks', 'held'], ['GET /system/holds']],
    [
      ['why', 'leg-1', '--json'],
      ['PUT /system/why', { q: 'leg-1' }],
    ],
    [
      ['why', '+4930', '--json', '--account', 'b'],
      ['PUT /accounts/b/why', { q: '+4930' }],
    ],
    [['users', 'get', 'u'], ['GET /accounts/a/users/u']],
    [
      [
        'users',
        'create',
        '--username',
        'ada',
        '--first-name',
        'Ada',
        '--last-name',
        'Birch',
        '--priv-level',
        'admin',
      ],
      [
        'PUT /accounts/a/users',
        {
          username: 'ada',
          first_name: 'Ada',
          last_name: 'Birch',
          priv_level: 'admin',
          password: 'correct horse',
        },
      ],
    ],
    [
      ['users', 'update', 'u', '--email', 'a@b.example'],
      ['PATCH /accounts/a/users/u', { email: 'a@b.example', password: 'correct horse' }],
    ],
    [['users', 'delete', 'u', '--yes'], ['DELETE /accounts/a/users/u']],
    [
      ['erase', '--call', 'c/1', '--yes'],
      ['PUT /accounts/a/erase', { call_id: 'c/1' }],
    ],
    [
      ['erase', '--number', '+1202', '--yes'],
      ['PUT /accounts/a/erase', { number: '+1202' }],
    ],
  ])('%j requests %j', async (argv, request) => {
    const env = { HOOKSWITCH_USER_PASSWORD: 'correct horse' }
    const { code, stderr, requests } = await requestsOf(argv, undefined, argv[0] === 'users' ? { env } : {})
    expect([code, stderr, requests]).toEqual([0, '', [request]])
  })

  it('take the password of a file, with its spaces', async () => {
    const folder = await files({ password: 'battery staple\n' })
    const { requests } = await requestsOf([
      'users',
      'update',
      'u',
      '--password-file',
      join(folder, 'password'),
    ])
    expect(requests).toEqual([['PATCH /accounts/a/users/u', { password: 'battery staple' }]])
  })

  it('show what the service refuses', async () => {
    const data = { name: { unique: { message: 'Account name already in use', cause: 'Birch' } } }
    const answer: Answer = (response) => fail(response, 400, 'validation error', {}, data)
    const { code, stderr } = await requestsOf(['accounts', 'create', '--name', 'Birch'], answer)
    expect([code, stderr]).toEqual([
      2,
      'hookswitch: PUT /accounts/{account_id}: 400 validation error: name: Account name already in use (request r)\n',
    ])
    const { code: missing } = await requestsOf(['accounts', 'list'], (response) =>
      fail(response, 404, 'not_found'),
    )
    expect(missing).toBe(4)
  })
})

describe('verify', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = '{"hook_event":"channel_create"}'
  const sentAt = new Date('2026-01-02T03:04:05Z')
  const timestamp = String(sentAt.getTime() / 1_000)
  const signature = new Webhook(secret).sign('msg-1', sentAt, body)
  const headerLines = `POST /in HTTP/1.1\r\nHost: x\r\nWebhook-Id: msg-1\r\nWebhook-Timestamp: ${timestamp}\r\nWebhook-Signature: ${signature}\r\n`
  const headerJson = JSON.stringify({
    'webhook-id': 'msg-1',
    'webhook-timestamp': timestamp,
    'Webhook-Signature': signature,
  })

  async function verify(contents: Readonly<Record<string, string>>, argv: readonly string[] = [], env = {}) {
    const folder = await files({ headers: headerLines, body, secret: `${secret}\n`, ...contents })
    const file = (name: string) => [`--${name}`, join(folder, name)]
    return runHere(['verify', ...file('headers'), ...file('body'), ...argv], {
      env: { HOOKSWITCH_WEBHOOK_SECRET: secret, ...env },
    })
  }

  it('accepts a stored request of any age, with header lines or JSON', async () => {
    expect(await verify({})).toEqual({ code: 0, stdout: 'valid: msg-1\n', stderr: '' })
    expect(await verify({ headers: headerJson }, ['--json'])).toMatchObject({
      code: 0,
      stdout: '{"valid":true,"id":"msg-1"}\n',
    })
  })

  it('reads the secret from a file, and the body from the standard input', async () => {
    const folder = await files({ headers: headerLines, secret })
    const paths = ['--headers', join(folder, 'headers'), '--secret-file', join(folder, 'secret')]
    expect((await runHere(['verify', ...paths, '--body', '-'], { stdin: body })).stdout).toBe(
      'valid: msg-1\n',
    )
  })

  it('exits with 1 when body, secret or age do not fit', async () => {
    const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
    expect(await verify({ body: `${body}\n` })).toMatchObject({
      code: 1,
      stdout: 'invalid: no signature fits\n',
    })
    expect((await verify({}, [], { HOOKSWITCH_WEBHOOK_SECRET: other })).code).toBe(1)
    expect((await verify({}, ['--tolerance', '300'])).stdout).toBe('invalid: timestamp too old\n')
    expect((await verify({ headers: 'nothing' }, ['--json'])).stdout).toBe(
      '{"valid":false,"reason":"missing header"}\n',
    )
  })

  it('needs a secret', async () => {
    const { code, stderr } = await verify({}, [], { HOOKSWITCH_WEBHOOK_SECRET: '' })
    expect([code, stderr]).toEqual([
      2,
      'hookswitch: HOOKSWITCH_WEBHOOK_SECRET: is required, or --secret-file\n',
    ])
  })
})
