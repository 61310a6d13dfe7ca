import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { errorCode } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Log } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../../../adapters/storage/postgres/migrations.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { privatePostgres } from './pg-cluster.js'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }
const PASSWORD = 'open-sesame-4711'

const server = await privatePostgres({}, ['host all keeper all scram-sha-256'])

describe.skipIf(!server)('opening a PostgreSQL store', () => {
  const direct = server!
  afterAll(() => direct.end())

  /** The error for these options, at construction or when the store is opened; `undefined`: it opened. */
  async function openError(options: unknown) {
    const logged: string[] = []
    const record = (fields: object, message: string) => logged.push(inspect([fields, message], { depth: 9 }))
    const log: Log = { debug: record, info: record, warn: record, error: record }
    let error: Error & { code: string; field?: string; retryAfterSeconds?: number }
    try {
      const store = postgresStore(options as Parameters<typeof postgresStore>[0])
      await store.open({ clock: systemClock(), log })
      await store.close()
      return undefined
    } catch (thrown) {
      error = thrown as typeof error
    }
    // No password, however the error is printed.
    const printed = inspect(error, { depth: 20, showHidden: true }) + logged.join('\n')
    expect(printed).not.toContain(PASSWORD)
    expect(error.name).toBe('HookswitchError')
    return { code: error.code, field: error.field, message: error.message }
  }
  const sentence = (text: string) => expect.stringMatching(text)
  const schemas = async () =>
    (await direct.sql('select nspname from pg_namespace')).map(({ nspname }) => nspname)
  const to = (changes: Parameters<typeof direct.urlOf>[0]) => ({ connectionString: direct.urlOf(changes) })

  it.each([
    ['no options', undefined, 'connectionString'],
    ['neither connectionString nor pool', {}, 'connectionString'],
    [
      'both connectionString and pool',
      { connectionString: 'postgres://localhost/x', pool: new pg.Pool() },
      'pool',
    ],
    ['an unknown option', { connectionString: 'postgres://localhost/x', colour: 'red' }, 'colour'],
    ['an option of the pool', { pool: new pg.Pool(), maxConnections: 3 }, 'maxConnections'],
    ['the URL of another database', { connectionString: `mysql://u:${PASSWORD}@h/d` }, 'connectionString'],
    ['a text that is no URL', { connectionString: `u:${PASSWORD}` }, 'connectionString'],
    ['a # in the password', { connectionString: `postgres://u:1#${PASSWORD}@h/d` }, 'connectionString'],
    ['an empty string', { connectionString: '' }, 'connectionString'],
    ['a number', { connectionString: 5432 }, 'connectionString'],
    ['an object that is no pool', { pool: {} }, 'pool'],
    ['a pool with one connection', { pool: new pg.Pool({ max: 1 }) }, 'pool'],
    ['a malformed schema', { connectionString: 'postgres://localhost/x', schema: 'My"Schema' }, 'schema'],
    [
      'a schema name of the server',
      { connectionString: 'postgres://localhost/x', schema: 'pg_mine' },
      'schema',
    ],
    ['one connection', { connectionString: 'postgres://localhost/x', maxConnections: 1 }, 'maxConnections'],
    [
      'a time limit of 0',
      { connectionString: 'postgres://localhost/x', answerWithinMs: 0 },
      'answerWithinMs',
    ],
    ['a malformed ssl', { connectionString: 'postgres://localhost/x', ssl: 'yes' }, 'ssl'],
    ['an object that is no clock', { connectionString: 'postgres://localhost/x', clock: {} }, 'clock'],
  ])('rejects %s and names the option', async (_, options, field) => {
    expect(await openError(options)).toMatchObject({ code: 'InvalidOption', field })
  })

  it('reports a wrong and a missing password', async () => {
    await direct.sql(`create role keeper login password 'another'`)
    const wrong = { user: 'keeper', password: PASSWORD }
    expect(await openError(to(wrong))).toMatchObject({
      code: 'InvalidOption',
      field: 'connectionString',
      message: sentence('rejected the user name or password'),
    })
    expect(await openError(to({ user: 'keeper' }))).toMatchObject({
      code: 'InvalidOption',
      message: sentence('requires a password'),
    })
    const pool = new pg.Pool(to(wrong))
    expect(await openError({ pool })).toMatchObject({ code: 'InvalidOption', field: 'pool' })
    await pool.end()
  })

  it('reports that the database does not exist', async () => {
    expect(await openError(to({ database: 'nowhere', password: PASSWORD }))).toMatchObject({
      code: 'InvalidOption',
      message: sentence('database does not exist'),
    })
  })

  it('reports that no server listens, or that the host name cannot be resolved', async () => {
    const probe = createServer()
    await once(probe.listen(0, '127.0.0.1'), 'listening')
    const { port } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    expect(await openError(to({ port, password: PASSWORD }))).toMatchObject({
      code: 'StoreUnavailable',
      message: sentence('no PostgreSQL server listens'),
    })
    expect(await openError(to({ host: 'nowhere.invalid', password: PASSWORD }))).toMatchObject({
      code: 'StoreUnavailable',
      message: sentence('host name'),
    })
  })

  it.each([
    ['answers in another protocol', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['closes the connection', (socket: Socket) => socket.destroy()],
    ['sends nothing', () => {}],
  ])('reports a server that is not PostgreSQL and %s', async (_, behave) => {
    const sockets = new Set<Socket>()
    const other = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).once('data', () => behave(socket))
    })
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    const error = await openError(to({ port, password: PASSWORD }))
    expect(error).toMatchObject({
      code: 'StoreUnavailable',
      message: sentence(
        'no PostgreSQL server answered|connection to PostgreSQL was lost|PostgreSQL does not answer',
      ),
    })
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => other.close(resolve))
  })

  it('reports that the server does not support TLS', async () => {
    expect(await openError({ ...to({ password: PASSWORD }), ssl: true })).toMatchObject({
      code: 'InvalidOption',
      message: sentence('does not support TLS'),
    })
  })

  it('reports that the server is too old', async () => {
    const old = {
      options: { max: 4 },
      on() {},
      removeListener() {},
      end: async () => {},
      connect: async () => ({
        on() {},
        removeListener() {},
        release() {},
        query: async () => ({ command: 'SELECT', rows: [{ version: 120_022, encoding: 'UTF8' }] }),
      }),
    }
    expect(await openError({ pool: old })).toMatchObject({
      code: 'InvalidOption',
      field: 'pool',
      message: 'PostgreSQL 12 is too old: 13 or later is required',
    })
  })

  it('reports a database whose encoding cannot store every text', async () => {
    await direct.sql(`create database old_world encoding 'LATIN1' template template0 locale 'C'`)
    expect(await openError(to({ database: 'old_world' }))).toMatchObject({
      code: 'InvalidOption',
      message: sentence('LATIN1'),
    })
  })

  it('reports that the user may not create the schema, and leaves nothing behind', async () => {
    await direct.sql('create role guest login')
    const schema = direct.freshSchema()
    expect(await openError({ ...to({ user: 'guest' }), schema })).toMatchObject({
      code: 'InvalidOption',
      message: sentence('grant it CREATE'),
    })
    expect(await schemas()).not.toContain(schema)
  })

  it('needs only read and write privileges where the schema exists', async () => {
    const schema = direct.freshSchema()
    expect(await openError({ ...to({}), schema })).toBeUndefined()
    await direct.sql(`create role clerk login; grant usage on schema ${schema} to clerk;
      grant select, insert, update, delete on all tables in schema ${schema} to clerk;
      grant usage, select on all sequences in schema ${schema} to clerk`)
    expect(await openError({ ...to({ user: 'clerk' }), schema })).toBeUndefined()
  })

  it('rejects a schema with tables of another program, and leaves it unchanged', async () => {
    const schema = direct.freshSchema()
    await direct.sql(`create schema ${schema}; create table ${schema}.account (mine int)`)
    expect(await openError({ ...to({}), schema })).toMatchObject({
      code: 'InvalidOption',
      field: 'schema',
      message: sentence('not of hookswitch'),
    })
    const tables = await direct.sql(
      `select relname from pg_class where relnamespace = '${schema}'::regnamespace`,
    )
    expect(tables).toEqual([{ relname: 'account' }])
  })

  it('uses an empty schema that exists', async () => {
    const schema = direct.freshSchema()
    await direct.sql(`create role owner_only login; create schema ${schema} authorization owner_only`)
    expect(await openError({ ...to({ user: 'owner_only' }), schema })).toBeUndefined()
  })

  it('creates the schema once when several nodes start at the same time, with statistics', async () => {
    const schema = direct.freshSchema()
    const nodes = Array.from({ length: 4 }, () => openError({ ...to({}), schema }))
    expect(await Promise.all(nodes)).toEqual([undefined, undefined, undefined, undefined])
    const versions = await direct.sql(`select version from ${schema}.hookswitch_migration order by version`)
    expect(versions.map(({ version }) => version)).toEqual(MIGRATIONS.map(({ version }) => version))
    const notAnalyzed = await direct.sql(`select relname from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r' and reltuples < 0`)
    expect(notAnalyzed).toEqual([])
  })

  it("uses the host's pool and leaves it unchanged", async () => {
    const pool = new pg.Pool({ ...to({}), max: 3 })
    const store = postgresStore({ pool, schema: direct.freshSchema() })
    const quiet = () => {}
    const deps = { clock: systemClock(), log: { debug: quiet, info: quiet, warn: quiet, error: quiet } }
    for (let round = 0; round < 2; round += 1) {
      await store.open(deps)
      expect(await store.deliveries.webhookOf('unknown')).toBeUndefined()
      await store.close()
      expect(await outcomeOf(store.deliveries.webhookOf('unknown'))).toBe('StoreUnavailable')
      expect([pool.totalCount - pool.idleCount, pool.listenerCount('error')]).toEqual([0, 0])
    }
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })
  const outcomeOf = (call: Promise<unknown>) => call.then(() => 'answered', errorCode)

  it.each([
    ['the last one that was free', (free: pg.PoolClient[]) => free.pop()],
    ['all in turns', (free: pg.PoolClient[]) => free.shift()],
  ])('refuses a pooler that gives a transaction a server connection: %s', async (_, take) => {
    const servers = new pg.Pool({ ...to({}), max: 3 })
    const free = await Promise.all([servers.connect(), servers.connect(), servers.connect()])
    const all = [...free]
    /** A client whose statements run on any server connection, its transactions on one. */
    const client = () => {
      let held: pg.PoolClient | undefined
      return {
        async query(query: { text: string }) {
          const on = held ?? take(free)!
          if (query.text.startsWith('BEGIN')) held = on
          const result = await on.query(query)
          if (query.text === 'COMMIT' || query.text === 'ROLLBACK') held = undefined
          if (!held) free.push(on)
          return result
        },
        on() {},
        removeListener() {},
        release() {},
      }
    }
    const pool = { connect: async () => client(), on() {}, removeListener() {}, async end() {} }
    expect(await openError({ pool, schema: direct.freshSchema() })).toMatchObject({
      code: 'InvalidOption',
      field: 'pool',
      message: sentence('pool_mode = session'),
    })
    for (const client of all) client.release()
    await servers.end()
  })

  it('is opened once by callers that open it at the same time, and closed by the last of them', async () => {
    const name = 'opened-by-two'
    const connections = async () =>
      (await direct.sql('select pid from pg_stat_activity where application_name = $1', [name])).length
    const store = postgresStore({
      connectionString: `${direct.url}?application_name=${name}`,
      schema: 'shared_by_two',
    })
    const open = () => store.open({ clock: systemClock(), log: silent })
    await Promise.all([open(), open()])
    await store.close()
    expect(await store.accounts.list()).toEqual([])
    expect(await connections()).toBeGreaterThan(0)
    await store.close()
    await expect.poll(connections).toBe(0)
    await expect(store.accounts.list()).rejects.toMatchObject({ code: 'StoreUnavailable' })
  })

  it('is opened again by who opens it while it closes', async () => {
    const store = postgresStore({ connectionString: direct.url, schema: 'opened_again' })
    const open = () => store.open({ clock: systemClock(), log: silent })
    await open()
    const [closed, opened] = [store.close(), open()]
    await Promise.all([closed, opened])
    expect(await store.accounts.list()).toEqual([])
    await store.close()
  })

  it('leaves no connection open when opening fails', async () => {
    const connected = () => direct.sql(`select 1 from pg_stat_activity where application_name = 'hookswitch'`)
    await direct.sql('create role nobody_special login')
    await openError({ ...to({ user: 'nobody_special' }), schema: direct.freshSchema() })
    await expect.poll(connected).toEqual([])
  })
})
