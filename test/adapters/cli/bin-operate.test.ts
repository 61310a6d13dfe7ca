/** The life of a customer by commands alone. The service is the program; the commands run here, which is faster. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runHere } from './commands/harness.js'
import { hookswitch, ready } from './program.js'
import { receiver } from './service-client.js'

const OPERATOR_KEY = `operator-${'0'.repeat(32)}`

/** A service with one account, the operator's, and a function that runs a command with its key. */
async function startService(store: 'memory' | 'sqlite') {
  const folder = await mkdtemp(join(tmpdir(), 'operate-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const accounts = join(folder, 'accounts.json')
  const platform = { id: 'platform', name: 'Platform', realm: 'platform.example', apiKey: OPERATOR_KEY }
  await writeFile(accounts, JSON.stringify([platform]))
  const data = store === 'memory' ? ['--memory'] : ['--data', join(folder, 'hookswitch.db')]
  const service = hookswitch(
    ['serve', '--port', '0', ...data, '--accounts', accounts, '--operator', 'platform'].concat([
      '--allow-local',
      '--ingest',
      '--log',
      'json',
    ]),
  )
  const { url } = await ready(service)
  const log = () =>
    service.output.stderr
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const login = { HOOKSWITCH_URL: url, HOOKSWITCH_API_KEY: OPERATOR_KEY }
    return runHere(argv, { env: { ...login, ...env } })
  }
  /** Runs a command that must succeed; returns its lines of JSON. */
  async function documents(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { code, stdout, stderr } = await run([...argv, '--json'], env)
    expect([argv.join(' '), code, stderr]).toEqual([argv.join(' '), 0, ''])
    const lines = stdout.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line))
  }
  return { service, log, run, documents }
}

describe.each(['memory', 'sqlite'] as const)('an operator with commands, store %s', (store) => {
  it('adds a customer, finds out why a receiver gets nothing, replays, erases and removes', async () => {
    const { service, log, run, documents } = await startService(store)
    const target = await receiver()

    // The customer with a user, a key and a webhook.
    const [acme] = await documents(['accounts', 'create', '--name', 'Acme', '--realm', 'acme.example'])
    const { id } = acme
    const below = ['--account', id]
    expect(await documents(['accounts', 'list'])).toMatchObject([{ id }, { id: 'platform' }])
    expect(await documents(['accounts', 'children'])).toMatchObject([{ id, descendants_count: 0 }])
    expect(await documents(['accounts', 'ancestors', id])).toMatchObject([{ id: 'platform' }])
    expect(await documents(['accounts', 'update', id, '--set', 'crm.id:=7'])).toMatchObject([
      { crm: { id: 7 } },
    ])
    const taken = await run(['accounts', 'create', '--name', 'acme'])
    expect([taken.code, taken.stderr]).toEqual([
      2,
      expect.stringContaining('name: Account name already in use'),
    ])
    const names = ['--first-name', 'Ada', '--last-name', 'Birch', '--priv-level', 'admin']
    const [ada] = await documents(['users', 'create', '--username', 'ada', ...names, ...below], {
      HOOKSWITCH_USER_PASSWORD: 'correct horse',
    })
    expect(await documents(['users', 'list', ...below])).toMatchObject([{ id: ada.id, username: 'ada' }])
    expect(
      await documents(['users', 'update', ada.id, '--email', 'ada@acme.example', ...below]),
    ).toMatchObject([{ email: 'ada@acme.example' }])
    const [{ api_key: key }] = await documents(['accounts', 'api-key', id])
    const customer = { HOOKSWITCH_API_KEY: key }
    const [webhook] = await documents(
      ['webhooks', 'create', '--name', 'CRM', '--uri', target.url, '--hook', 'all', '--retries', '0'],
      customer,
    )

    // A receiver that fails: the log says so, and one command why.
    target.state.status = 500
    const folder = await mkdtemp(join(tmpdir(), 'events-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const events = join(folder, 'events.ndjson')
    const event = { hook: 'channel_create', from: '+15551234@x.example' }
    await writeFile(
      events,
      Array.from({ length: 10 }, (_, nth) => `${JSON.stringify({ ...event, call_id: `leg-${nth}` })}\n`).join(
        '',
      ),
    )
    await documents(['events', 'publish', events], customer)
    await expect
      .poll(() => log().filter(({ message }) => message.includes('a webhook was paused')))
      .toMatchObject([{ level: 'warn', webhookId: webhook.id, accountId: id, reason: 'status 500' }])
    expect(await documents(['webhooks', 'failing'])).toMatchObject([
      { account_id: id, id: webhook.id, state: 'paused', failures_in_row: 10, pending: 0 },
    ])
    expect(await documents(['webhooks', 'failing', '--health', 'disabled'])).toEqual([])
    expect(await documents(['webhooks', 'list', ...below])).toMatchObject([{ health: { state: 'paused' } }])
    const found = await documents(['deliveries', 'search', '--call', 'leg-3', '--state', 'exhausted'])
    expect(found).toMatchObject([{ account_id: id, explain: 'Gave up after 1 attempt: status 500.' }])
    expect(await documents(['deliveries', 'search', '--account', 'platform'])).toEqual([])
    const refused = await run(['deliveries', 'search'], customer)
    expect([refused.code, (await run(['webhooks', 'failing'], customer)).code]).toEqual([3, 3])

    // Mended: what was given up is sent again.
    target.state.status = 200
    const [resumed] = await documents(['webhooks', 'resume', webhook.id, ...below])
    expect(resumed).toMatchObject({ id: webhook.id, health: { state: 'failing', failures_in_row: 10 } })
    expect(log().filter(({ message }) => message.includes('was ended on request'))).toMatchObject([
      { level: 'info', webhookId: webhook.id, accountId: id },
    ])
    const selection = ['replay', webhook.id, '--from', '1h', '--state', 'exhausted']
    expect(await documents([...selection, '--dry-run', ...below])).toEqual([
      { count: 10, webhooks: 1, accounts: 1 },
    ])
    const waited = await run([...selection, '--wait', '--json', ...below])
    const replayed = JSON.parse(waited.stdout)
    expect(replayed).toMatchObject({ account_id: id, state: 'completed', count: 10, replayed: 10 })
    expect(waited.stderr).toMatch(/^hookswitch: 10 of 10 repeated$/m)
    expect(await documents(['replays', 'list', '--all'])).toMatchObject([{ id: replayed.id }])
    await expect
      .poll(async () => (await documents(['attempts', 'list', '--result', 'success', ...below])).length)
      .toBe(10)

    // A number, a user, the account.
    const [erased] = await documents(['erase', '--number', '15551234', '--yes', ...below])
    expect(erased.call_ids).toHaveLength(10)
    expect(await documents(['attempts', 'list', ...below])).toEqual([])
    expect(await documents(['users', 'delete', ada.id, '--yes', ...below])).toMatchObject([{ id: ada.id }])
    expect((await run(['accounts', 'delete', id, '--yes'], customer)).code).toBe(3)
    expect(await documents(['accounts', 'delete', id, '--yes'])).toMatchObject([
      { id, _read_only: { deleted: true } },
    ])
    expect((await run(['accounts', 'get', id])).code).toBe(4)
    expect((await run(['webhooks', 'list'], customer)).code).toBe(3)
    await documents(['erase', '--call', 'leg-1', '--yes', ...below])
    expect(log().filter(({ message }) => message === 'an account was removed')).toMatchObject([
      { level: 'info', accountId: id },
    ])

    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
    expect(log().filter(({ level }) => level === 'error')).toEqual([])
  }, 60_000)
})
