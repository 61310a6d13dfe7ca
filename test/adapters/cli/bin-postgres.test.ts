import { once } from 'node:events'
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PrivatePgServer, privatePostgres } from '../storage/pg-cluster.js'
import { hookswitch, type RunningProgram, ready } from './program.js'
import { call, receiver } from './service-client.js'

const ACCOUNT = { id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: 'k'.repeat(40) }
const WEBHOOKS = '/accounts/acme/webhooks'
const SECRET = 'the secret of all nodes'
const PASSWORD = 'hunter2'
/** Every user except `postgres` needs a password. */
const HBA = 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n'

let folder: string
let accounts: string
let server: PrivatePgServer | undefined
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'postgres-')))
  await chmod(folder, 0o755)
  accounts = join(folder, 'accounts.json')
  await writeFile(accounts, JSON.stringify([ACCOUNT]))
  const hba = join(folder, 'pg_hba.conf')
  await writeFile(hba, HBA)
  server = await privatePostgres({ hba_file: hba })
  await server?.sql(`CREATE ROLE hookswitch LOGIN PASSWORD '${PASSWORD}'`)
  await server?.sql('CREATE DATABASE calls OWNER hookswitch')
  await server?.sql(`CREATE ROLE stranger LOGIN PASSWORD '${PASSWORD}'`)
}, 60_000)
afterAll(async () => {
  await server?.end()
  await rm(folder, { recursive: true })
})

const urlOf = (changes: object = {}) =>
  server?.urlOf({ user: 'hookswitch', password: PASSWORD, database: 'calls', ...changes }) ?? ''

/** Starts a node on the database, with the URL from the environment. */
function node(argv: readonly string[] = [], env: Readonly<Record<string, string>> = {}): RunningProgram {
  const all = { HOOKSWITCH_POSTGRES: urlOf(), HOOKSWITCH_SECRET: SECRET, ...env }
  const flags = ['--port', '0', '--accounts', accounts, '--allow-local', '--ingest']
  return hookswitch(['serve', ...flags, ...argv], { cwd: folder, env: all })
}

const stop = async ({ child, ended }: RunningProgram) => {
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null })
}

describe('the program on PostgreSQL', () => {
  it('runs as one service on several nodes, and continues after some or all of them have ended', async ({
    skip,
  }) => {
    if (!server) skip()
    const { url: receiverUrl, received } = await receiver()
    const nodes = [node(), node()]
    const [first, second] = await Promise.all(nodes.map(ready))
    const { token } = await call(first!.url, 'PUT', '/api_auth', { data: { api_key: ACCOUNT.apiKey } })
    const uri = `${receiverUrl}/calls`
    for (const [index, { url }] of [first!, second!].entries()) {
      const data = { name: `Calls ${index}`, uri, hook: 'all' }
      expect((await call(url, 'PUT', WEBHOOKS, { data, token })).status).toBe(201)
    }
    const publish = (url: string, callId: string) =>
      call(url, 'PUT', '/accounts/acme/events', { data: { hook: 'channel_create', call_id: callId }, token })
    const idsOf = (callId: string) =>
      new Set(received.filter(({ body }) => JSON.parse(body).call_id === callId).map(({ id }) => id))
    for (const { url } of [first!, second!]) {
      expect((await publish(url, url)).status).toBe(202)
      await expect.poll(() => idsOf(url).size).toBe(2)
    }
    const log = nodes.map(({ output }) => output.stderr).join('')
    expect(log).toMatch(/"store":"postgres","host":"127\.0\.0\.1:\d+","database":"calls"/)
    expect(log).not.toMatch(/in memory/)

    await stop(nodes[0]!)
    await publish(second!.url, 'one is left')
    await expect.poll(() => idsOf('one is left').size).toBe(2)
    await stop(nodes[1]!)

    const third = node()
    const { url } = await ready(third)
    expect((await call(url, 'GET', WEBHOOKS, { token })).data).toHaveLength(2)
    await publish(url, 'another')
    await expect.poll(() => idsOf('another').size).toBe(2)
    await stop(third)
    for (const { output } of [...nodes, third]) {
      expect(output.stdout + output.stderr).not.toContain(PASSWORD)
      expect(output.stdout + output.stderr).not.toContain(SECRET)
    }
  })

  it('refuses a node with another secret', async ({ skip }) => {
    if (!server) skip()
    const first = node(['--schema', 'encrypted'])
    await ready(first)
    const other = node(['--schema', 'encrypted'], { HOOKSWITCH_SECRET: 'another secret altogether' })
    const { code, stderr } = await other.ended
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^hookswitch: HOOKSWITCH_SECRET: is not the one that this store is encrypted with: .*$/m,
    )
    expect(stderr).not.toContain('altogether')
    await stop(first)
  })

  it('accepts nodes that start at the same time on an empty database', async ({ skip }) => {
    if (!server) skip()
    const nodes = Array.from({ length: 3 }, () => node(['--schema', 'same_time']))
    await Promise.all(nodes.map(ready))
    await Promise.all(nodes.map(stop))
  })

  it('stores everything in the schema of --schema', async ({ skip }) => {
    if (!server) skip()
    const running = node(['--schema', 'other_schema'])
    await ready(running)
    await stop(running)
    const client = new pg.Client({ connectionString: urlOf() })
    await client.connect()
    const { rows } = await client.query("SELECT FROM pg_tables WHERE schemaname = 'other_schema'")
    await client.end()
    expect(rows.length).toBeGreaterThan(5)
    expect(running.output.stderr).toMatch(/"schema":"other_schema"/)
  })

  const invalid: readonly (readonly [string, () => object | Promise<object>, RegExp])[] = [
    ['a wrong password', () => ({ password: 'hunter2-wrong' }), /password/],
    ['a database that does not exist', () => ({ database: 'nowhere' }), /does not exist/],
    ['a user without privileges', () => ({ user: 'stranger' }), /lacks a privilege/],
    ['a port without a listener', async () => ({ port: await freePort() }), /no PostgreSQL server listens/],
    ['a server of another kind', async () => ({ port: await mailServer() }), /no PostgreSQL server/],
  ]
  it.for(invalid)(
    'rejects %s with one sentence that does not contain the password',
    async ([, changes, problem], { skip }) => {
      if (!server) skip()
      const url = urlOf(await changes())
      for (const [name, argv, env] of [
        ['--postgres', ['--postgres', url], {}],
        ['HOOKSWITCH_POSTGRES', [], { HOOKSWITCH_POSTGRES: url }],
      ] as const) {
        const all = { HOOKSWITCH_SECRET: SECRET, ...env }
        const { code, stdout, stderr } = await hookswitch(['serve', '--port', '0', ...argv], {
          cwd: folder,
          env: all,
        }).ended
        expect(code).toBeGreaterThan(0)
        expect(stdout).toBe('')
        expect(stderr).toMatch(/^hookswitch: [^\n]+\n$/)
        expect(stderr.startsWith(`hookswitch: ${name}: `)).toBe(true)
        expect(stderr).toMatch(problem)
        expect(stderr).not.toContain('hunter2')
      }
    },
  )

  it('rejects an invalid schema name and names --schema', async ({ skip }) => {
    if (!server) skip()
    const { code, stderr } = await node(['--schema', 'Not-One']).ended
    expect(code).toBe(2)
    expect(stderr).toMatch(/^hookswitch: --schema: must be [^\n]+\n$/)
  })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}

/** Greets clients like a mail server. */
async function mailServer(): Promise<number> {
  const other = createServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'))
  other.listen(0, '127.0.0.1').unref()
  await once(other, 'listening')
  return (other.address() as { port: number }).port
}
