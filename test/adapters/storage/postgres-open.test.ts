import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { errorCode } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Log } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.js'
import { privatePostgres } from './pg-cluster.js'

const PASSWORD = 'open-sesame-4711'

const server = await privatePostgres({}, ['host all keeper all scram-sha-256'])

describe.skipIf(!server)('opening a PostgreSQL store', () => {
  const direct = server!
  afterAll(() => direct.end())

  /** What is said of these options, when they are given or when the store is opened with them. */
  async function refusal(options: unknown) {
    const said: string[] = []
    const note = (fields: object, message: string) => said.push(inspect([fields, message], { depth: 9 }))
    const log: Log = { debug: note, info: note, warn: note, error: note }
    let error: Error & { code: string; field?: string; retryAfterSeconds?: number }
    try {
      const store = postgresStore(options as Parameters<typeof postgresStore>[0])
      await store.open({ clock: systemClock(), log })
      await store.close()
      return undefined
    } catch (thrown) {
      error = thrown as typeof error
    }
    // Whatever is printed of it: no password.
    const printed = inspect(error, { depth: 20, showHidden: true }) + said.join('\n')
    expect(printed).not.toContain(PASSWORD)
    expect(error.name).toBe('HookswitchError')
    return { code: error.code, field: error.field, message: error.message }
  }
  const sentence = (text: string) => expect.stringMatching(text)
  const schemas = async () =>
    (await direct.sql('select nspname from pg_namespace')).map(({ nspname }) => nspname)
  const to = (changes: Parameters<typeof direct.urlOf>[0]) => ({ connectionString: direct.urlOf(changes) })

  it.each([
    ['nothing', undefined, 'connectionString'],
    ['neither server nor pool', {}, 'connectionString'],
    ['both', { connectionString: 'postgres://localhost/x', pool: new pg.Pool() }, 'pool'],
    ['an unknown option', { connectionString: 'postgres://localhost/x', colour: 'red' }, 'colour'],
    ['what is the pool’s own', { pool: new pg.Pool(), maxConnections: 3 }, 'maxConnections'],
    ['a URL of something else', { connectionString: `mysql://u:${PASSWORD}@h/d` }, 'connectionString'],
    ['no URL at all', { connectionString: `u:${PASSWORD}` }, 'connectionString'],
    ['a # in the password', { connectionString: `postgres://u:1#${PASSWORD}@h/d` }, 'connectionString'],
    ['an empty text', { connectionString: '' }, 'connectionString'],
    ['a number', { connectionString: 5432 }, 'connectionString'],
    ['what is no pool', { pool: {} }, 'pool'],
    ['a pool with one place', { pool: new pg.Pool({ max: 1 }) }, 'pool'],
    ['an odd schema', { connectionString: 'postgres://localhost/x', schema: 'My"Schema' }, 'schema'],
    ['a schema of the server', { connectionString: 'postgres://localhost/x', schema: 'pg_mine' }, 'schema'],
    ['one connection', { connectionString: 'postgres://localhost/x', maxConnections: 1 }, 'maxConnections'],
    [
      'no time to answer',
      { connectionString: 'postgres://localhost/x', answerWithinMs: 0 },
      'answerWithinMs',
    ],
    ['an odd ssl', { connectionString: 'postgres://localhost/x', ssl: 'yes' }, 'ssl'],
    ['what is no clock', { connectionString: 'postgres://localhost/x', clock: {} }, 'clock'],
  ])('refuses %s by name', async (_, options, field) => {
    expect(await refusal(options)).toMatchObject({ code: 'InvalidOption', field })
  })

  it('says that user name or password are wrong, or that one is missing', async () => {
    await direct.sql(`create role keeper login password 'another'`)
    const wrong = { user: 'keeper', password: PASSWORD }
    expect(await refusal(to(wrong))).toMatchObject({
      code: 'InvalidOption',
      field: 'connectionString',
      message: sentence('refused user name or password'),
    })
    expect(await refusal(to({ user: 'keeper' }))).toMatchObject({
      code: 'InvalidOption',
      message: sentence('asks for a password'),
    })
    const pool = new pg.Pool(to(wrong))
    expect(await refusal({ pool })).toMatchObject({ code: 'InvalidOption', field: 'pool' })
    await pool.end()
  })

  it('says that the database does not exist', async () => {
    expect(await refusal(to({ database: 'nowhere', password: PASSWORD }))).toMatchObject({
      code: 'InvalidOption',
      message: sentence('database does not exist'),
    })
  })

  it('says that nobody listens there, or that the host is not known', async () => {
    const probe = createServer()
    await once(probe.listen(0, '127.0.0.1'), 'listening')
    const { port } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    expect(await refusal(to({ port, password: PASSWORD }))).toMatchObject({
      code: 'StoreUnavailable',
      message: sentence('no PostgreSQL server listens there'),
    })
    expect(await refusal(to({ host: 'nowhere.invalid', password: PASSWORD }))).toMatchObject({
      code: 'StoreUnavailable',
      message: sentence('host name'),
    })
  })

  it.each([
    ['answers in another language', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['hangs up', (socket: Socket) => socket.destroy()],
    ['says nothing', () => {}],
  ])('says so of a server that is no PostgreSQL and %s', async (_, behave) => {
    const sockets = new Set<Socket>()
    const other = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).once('data', () => behave(socket))
    })
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    const refused = await refusal(to({ port, password: PASSWORD }))
    expect(refused).toMatchObject({
      code: 'StoreUnavailable',
      message: sentence('no PostgreSQL server answered|connection to PostgreSQL was lost'),
    })
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => other.close(resolve))
  })

  it('says that the server speaks no TLS', async () => {
    expect(await refusal({ ...to({ password: PASSWORD }), ssl: true })).toMatchObject({
      code: 'InvalidOption',
      message: sentence('no TLS'),
    })
  })

  it('says that the server is too old', async () => {
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
    expect(await refusal({ pool: old })).toMatchObject({
      code: 'InvalidOption',
      field: 'pool',
      message: 'PostgreSQL 12 is too old: 13 or later is needed',
    })
  })

  it('says that a database cannot hold every text', async () => {
    await direct.sql(`create database old_world encoding 'LATIN1' template template0 locale 'C'`)
    expect(await refusal(to({ database: 'old_world' }))).toMatchObject({
      code: 'InvalidOption',
      message: sentence('LATIN1'),
    })
  })

  it('says that the user lacks the right to make the schema, and leaves nothing behind', async () => {
    await direct.sql('create role guest login')
    const schema = direct.freshSchema()
    expect(await refusal({ ...to({ user: 'guest' }), schema })).toMatchObject({
      code: 'InvalidOption',
      message: sentence('grant it CREATE'),
    })
    expect(await schemas()).not.toContain(schema)
  })

  it('is content with the right to read and write where the schema is there already', async () => {
    const schema = direct.freshSchema()
    expect(await refusal({ ...to({}), schema })).toBeUndefined()
    await direct.sql(`create role clerk login; grant usage on schema ${schema} to clerk;
      grant select, insert, update, delete on all tables in schema ${schema} to clerk;
      grant usage, select on all sequences in schema ${schema} to clerk`)
    expect(await refusal({ ...to({ user: 'clerk' }), schema })).toBeUndefined()
  })

  it('refuses the tables of somebody else, and leaves them as they are', async () => {
    const schema = direct.freshSchema()
    await direct.sql(`create schema ${schema}; create table ${schema}.account (mine int)`)
    expect(await refusal({ ...to({}), schema })).toMatchObject({
      code: 'InvalidOption',
      field: 'schema',
      message: sentence('somebody else'),
    })
    const tables = await direct.sql(
      `select relname from pg_class where relnamespace = '${schema}'::regnamespace`,
    )
    expect(tables).toEqual([{ relname: 'account' }])
  })

  it('takes an empty schema that somebody made for it', async () => {
    const schema = direct.freshSchema()
    await direct.sql(`create role owner_only login; create schema ${schema} authorization owner_only`)
    expect(await refusal({ ...to({ user: 'owner_only' }), schema })).toBeUndefined()
  })

  it('refuses a schema of a newer version, and leaves it as it is', async () => {
    const schema = direct.freshSchema()
    expect(await refusal({ ...to({}), schema })).toBeUndefined()
    await direct.sql(`insert into ${schema}.hookswitch_migration (version) values (99)`)
    expect(await refusal({ ...to({}), schema })).toMatchObject({
      code: 'InvalidOption',
      field: 'schema',
      message: sentence('version 99.*update hookswitch'),
    })
  })

  it('makes the schema once, however many nodes start at once, and knows its sizes then', async () => {
    const schema = direct.freshSchema()
    const nodes = Array.from({ length: 4 }, () => refusal({ ...to({}), schema }))
    expect(await Promise.all(nodes)).toEqual([undefined, undefined, undefined, undefined])
    const versions = await direct.sql(`select version from ${schema}.hookswitch_migration order by version`)
    expect(versions).toEqual([{ version: 1 }, { version: 2 }])
    const unknown = await direct.sql(`select relname from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r' and reltuples < 0`)
    expect(unknown).toEqual([])
  })

  it("uses the host's pool, and leaves it as it was", async () => {
    const pool = new pg.Pool({ ...to({}), max: 3 })
    const store = postgresStore({ pool, schema: direct.freshSchema() })
    const quiet = () => {}
    const doors = { clock: systemClock(), log: { debug: quiet, info: quiet, warn: quiet, error: quiet } }
    for (let round = 0; round < 2; round += 1) {
      await store.open(doors)
      expect(await store.deliveries.pending()).toBe(0)
      await store.close()
      expect(await outcomeOf(store.deliveries.pending())).toBe('StoreUnavailable')
      expect([pool.totalCount - pool.idleCount, pool.listenerCount('error')]).toEqual([0, 0])
    }
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })
  const outcomeOf = (call: Promise<unknown>) => call.then(() => 'answered', errorCode)

  it('leaves nothing open when it cannot be opened', async () => {
    const connected = () => direct.sql(`select 1 from pg_stat_activity where application_name = 'hookswitch'`)
    await direct.sql('create role nobody_special login')
    await refusal({ ...to({ user: 'nobody_special' }), schema: direct.freshSchema() })
    await expect.poll(connected).toEqual([])
  })
})
