import { once } from 'node:events'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { postgresStore } from 'hookswitch/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import { createSmallFile, SMALL_COUNTS } from '../storage/migrate-harness.js'
import { localPostgres } from '../storage/pg-cluster.js'
import { hookswitch, type RunningProgram, ready } from './program.js'
import { call } from './service-client.js'

const ACCOUNT = { id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: 'k'.repeat(40) }
const PASSWORD = 'hunter2'
const log = { debug() {}, info() {}, warn() {}, error() {} }
/** The file has three deliveries per call, the first in flight. */
const CALLS = ['one', 'two']
const HOOKS = ['channel_create', 'channel_answer', 'channel_destroy']
const ROWS = { accounts: 1, webhooks: 1, tokens: 1, calls: 2, events: 6, deliveries: 6 }

let folder: string
let accounts: string
let schema: string
const server = await localPostgres()
/** Roles belong to the whole server, which other test files use too. */
const ROLE = `mover_${process.pid}`
beforeAll(async () => {
  await server?.sql(`CREATE ROLE ${ROLE} LOGIN SUPERUSER PASSWORD '${PASSWORD}'`)
}, 60_000)
afterAll(() => server?.end())
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'migrate-')))
  accounts = join(folder, 'accounts.json')
  await writeFile(accounts, JSON.stringify([ACCOUNT]))
  schema = server?.freshSchema() ?? ''
})
afterEach(() => rm(folder, { recursive: true }))

const urlOf = () => server?.urlOf({ user: ROLE, password: PASSWORD }) ?? ''
const inFolder = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  hookswitch(argv, { cwd: folder, env })
const serve = (argv: readonly string[], env = {}) =>
  inFolder(['serve', '--port', '0', '--accounts', accounts, '--allow-local', '--ingest', ...argv], env)
const migrate = (...more: readonly string[]) =>
  inFolder(['migrate', '--from', 'x.db', '--schema', schema, ...more], { HOOKSWITCH_POSTGRES: urlOf() })
const secret = async () => (await readFile(join(folder, 'x.db.key'), 'utf8')).trim()
const node = async () =>
  serve(['--schema', schema], { HOOKSWITCH_POSTGRES: urlOf(), HOOKSWITCH_SECRET: await secret() })

/** Returns the one sentence of a program that failed before doing anything. */
async function errorOf({ ended }: RunningProgram): Promise<string> {
  const { code, stdout, stderr } = await ended
  expect(code).toBeGreaterThan(0)
  expect(stdout).toBe('')
  expect(stderr).not.toContain(PASSWORD)
  // A service that starts may log before.
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"time":'))
  expect(lines).toEqual([expect.stringMatching(/^hookswitch: /)])
  return lines[0]!.slice('hookswitch: '.length)
}

/** Starts a receiver that does not respond while `state.holds`. */
async function holdingReceiver() {
  const held: ServerResponse[] = []
  const received: { readonly id: string; readonly callId: string; readonly hook: string }[] = []
  const state = { holds: true }
  const web = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    received.push({
      id: String(request.headers['webhook-id']),
      callId: body.call_id,
      hook: String(request.headers['x-hook-event']),
    })
    if (state.holds) held.push(response)
    else response.end()
  }).listen(0, '127.0.0.1')
  await once(web, 'listening')
  onTestFinished(() => void web.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(web.address() as { port: number }).port}`, received, state }
}

/** Creates a file whose service was killed during deliveries. */
async function killedService() {
  const receiver = await holdingReceiver()
  const running = serve(['--data', 'x.db'])
  const { url } = await ready(running)
  const { token } = await call(url, 'PUT', '/api_auth', { data: { api_key: ACCOUNT.apiKey } })
  const webhook = { name: 'Calls', uri: receiver.url, hook: 'all' }
  await call(url, 'PUT', '/accounts/acme/webhooks', { data: webhook, token })
  for (const hook of HOOKS) {
    for (const callId of CALLS) {
      const data = { hook, call_id: callId }
      const { status } = await call(url, 'PUT', '/accounts/acme/events', { data, token })
      expect(status).toBe(202)
    }
  }
  await expect.poll(() => receiver.received.length).toBe(CALLS.length)
  running.child.kill('SIGKILL')
  await running.ended
  return { ...receiver, token }
}

const rowsOf = async (table: string) =>
  (await server!.sql(`select count(*)::int as rows from "${schema}".${table}`))[0]!.rows

/** Creates a schema without rows. */
async function emptySchema(name: string): Promise<void> {
  const store = postgresStore({ connectionString: server!.url, schema: name })
  await store.open({ clock: systemClock(), log })
  await store.close()
}

/** Stops a migration at a point until it is released. */
async function barrier(at: 'rows' | 'commit') {
  await emptySchema(schema)
  const s = `"${schema}"`
  await server!.sql(`create function ${s}.hold() returns trigger language plpgsql
    as 'begin perform pg_advisory_xact_lock(4711); return null; end'`)
  if (at === 'rows') {
    await server!.sql(`create trigger hold after insert on ${s}.waiting execute function ${s}.hold()`)
  } else {
    await server!.sql(`create table ${s}.hookswitch_move (id text primary key, counts text);
      create constraint trigger hold after update on ${s}.hookswitch_move deferrable initially deferred
        for each row execute function ${s}.hold()`)
  }
  const holder = new pg.Client({ connectionString: server!.url })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('select pg_advisory_lock(4711)')
  const waiting = () =>
    server!.sql(`select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`)
  return {
    reached: () => expect.poll(waiting).toHaveLength(1),
    async release() {
      await holder.query('select pg_advisory_unlock(4711)')
      await expect.poll(waiting).toHaveLength(0)
    },
    /** Simulates the loss of the program's machine: the server rolls the transaction back. */
    async rollBack() {
      const [blocked] = await waiting()
      await server!.sql('select pg_terminate_backend($1)', [blocked!.pid])
      await expect.poll(waiting).toHaveLength(0)
      await holder.query('select pg_advisory_unlock(4711)')
    },
  }
}

describe.skipIf(!server)('hookswitch migrate', () => {
  it('moves the data of a killed service; nodes continue its deliveries and the file no longer opens', async () => {
    const { received, state, token } = await killedService()
    const { code, stdout, stderr } = await migrate().ended
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(hookswitch: [^\n]+\n)+$/)])
    const { hostname, port, pathname } = new URL(server!.url)
    const to = { host: `${hostname}:${port}`, database: pathname.slice(1), schema }
    expect(JSON.parse(stdout)).toMatchObject({ moved: true, from: join(folder, 'x.db'), to, rows: ROWS })
    expect(stderr).toContain(
      `set HOOKSWITCH_SECRET of every node to the contents of ${join(folder, 'x.db.key')}: `,
    )
    for (const hidden of [PASSWORD, await secret()]) expect(stdout + stderr).not.toContain(hidden)

    const moved = `was moved to the PostgreSQL database ${to.database} on ${to.host} (schema ${schema})`
    expect(await errorOf(serve(['--data', 'x.db']))).toMatch(`--data: ${moved}`)
    expect(await errorOf(migrate('--schema', `${schema}_b`))).toMatch(/--schema: was given twice/)
    expect(await errorOf(migrate())).toMatch(`--from: ${moved}`)

    const before = received.length
    state.holds = false
    const running = await node()
    const { url } = await ready(running)
    expect((await call(url, 'GET', '/accounts/acme/webhooks', { token })).status).toBe(200)
    await expect.poll(() => received.length).toBe(before + ROWS.deliveries)
    for (const callId of CALLS) {
      const hooks = received
        .slice(before)
        .flatMap((request) => (request.callId === callId ? request.hook : []))
      expect(hooks).toEqual(HOOKS)
    }
    expect(new Set(received.map(({ id }) => id)).size).toBe(ROWS.deliveries)
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0 })
  })

  it('can be repeated after it was killed while writing rows; the file stays usable', async () => {
    await createSmallFile(join(folder, 'x.db'))
    const { reached, release } = await barrier('rows')
    const first = migrate()
    await reached()
    first.child.kill('SIGKILL')
    await first.ended
    await release()
    // Uncommitted rows are gone and the file is in use as before.
    const service = serve(['--data', 'x.db'])
    await ready(service)
    service.child.kill('SIGKILL')
    await service.ended
    expect(JSON.parse((await migrate().ended).stdout).rows).toMatchObject(SMALL_COUNTS)
    expect(await rowsOf('waiting')).toBe(SMALL_COUNTS.deliveries)
  })

  it('after it was killed during a commit that fails, the file opens only once the migration is repeated', async () => {
    await createSmallFile(join(folder, 'x.db'))
    const { reached, rollBack } = await barrier('commit')
    const first = migrate()
    await reached()
    first.child.kill('SIGKILL')
    await first.ended
    await rollBack()
    expect(await rowsOf('waiting')).toBe(0)
    expect(await errorOf(serve(['--data', 'x.db']))).toMatch(
      /^--data: is being moved to .*, and its contents may be there/,
    )
    await emptySchema(`${schema}_b`)
    const elsewhere = ['migrate', '--from', 'x.db', '--to', urlOf(), '--schema', `${schema}_b`]
    expect(await errorOf(inFolder(elsewhere))).toMatch(
      /^--to: a migration to .* was begun and may be complete/,
    )
    expect(JSON.parse((await migrate().ended).stdout)).toMatchObject({ moved: true, rows: SMALL_COUNTS })
    expect(await rowsOf('waiting')).toBe(SMALL_COUNTS.deliveries)
  })

  it('after it was killed during a commit that succeeds, a repetition detects that and moves nothing twice', async () => {
    await createSmallFile(join(folder, 'x.db'))
    const { reached, release } = await barrier('commit')
    const first = migrate()
    await reached()
    first.child.kill('SIGKILL')
    await first.ended
    expect(await errorOf(migrate())).toMatch(/^--schema: the schema \S+ is in use/)
    await release()
    await expect.poll(() => rowsOf('waiting')).toBe(SMALL_COUNTS.deliveries)
    expect(await errorOf(serve(['--data', 'x.db']))).toMatch(
      /^--data: is being moved to .*, and its contents may be there/,
    )
    expect(JSON.parse((await migrate().ended).stdout)).toMatchObject({ moved: true, rows: SMALL_COUNTS })
    expect(await rowsOf('waiting')).toBe(SMALL_COUNTS.deliveries)
    expect(await errorOf(serve(['--data', 'x.db']))).toMatch(/^--data: was moved to /)
  })
})
