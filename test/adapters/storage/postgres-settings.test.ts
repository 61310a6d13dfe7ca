import { createHookswitch } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Log } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failureOf } from '../../../adapters/storage/postgres/errors.js'
import { createSession } from '../../../adapters/storage/postgres/session.js'
import { createPool } from '../../../adapters/storage/postgres/session-pool.js'
import { localPostgres } from './pg-cluster.js'
import { HOSTILE_SETTINGS, useHostileSettings } from './postgres-hostile-settings.js'

const server = await localPostgres()
const pools: { end(): Promise<void> }[] = []

beforeAll(async () => {
  if (server) await useHostileSettings(server, HOSTILE_SETTINGS)
})
afterAll(async () => {
  for (const pool of pools) await pool.end()
  await server?.end()
})

const LIMITS = { connectWithinMs: 5_000, answerWithinMs: 10_000 }

async function ownSession() {
  const pool = await createPool({ connectionString: server!.url, maxConnections: 1, connectWithinMs: 5_000 })
  pools.push(pool)
  return { session: createSession(pool, { ...LIMITS, isHostPool: false }), pool: undefined }
}
async function hostSession() {
  const pool = new pg.Pool({ connectionString: server!.url, max: 1 })
  pools.push(pool)
  return { session: createSession(pool, { ...LIMITS, isHostPool: true }), pool }
}

describe.skipIf(!server)('a database whose defaults change what statements mean', () => {
  const statement = {
    name: 'meaning',
    text: `select 'a\\\\b' as "text", $1::int[] as "list", decode('00ff', 'hex') as "bytes", 1764300000123.25::float8 as "time",
      current_setting('transaction_isolation') as "level"`,
  }
  const expected = [
    {
      text: 'a\\\\b',
      list: '{1,NULL}',
      bytes: '\\x00ff',
      time: 1_764_300_000_123.25,
      level: 'read committed',
    },
  ]

  it.each([
    ["the store's own connections", ownSession],
    ["the host's pool", hostSession],
  ])('does not on %s, in a statement and in a transaction', async (_name, open) => {
    const { session } = await open()
    expect(await session.query(statement, [[1, null]])).toEqual(expected)
    expect(await session.transaction((tx) => tx.query(statement, [[1, null]]))).toEqual(expected)
  })

  it("still does for the host's own statements", async () => {
    const { session, pool } = await hostSession()
    const shown = `select current_setting('standard_conforming_strings') as "strings", current_setting('array_nulls') as "nulls"`
    await session.query(statement, [[1, null]])
    expect((await pool!.query(shown)).rows).toEqual([{ strings: 'off', nulls: 'off' }])
  })

  it("runs statements that no transaction may contain on the host's pool too", async () => {
    const { session } = await hostSession()
    await session.query({ name: '', text: 'vacuum pg_catalog.pg_am', isOutsideTransactions: true }, [])
    await expect(session.query({ name: '', text: 'vacuum pg_catalog.pg_am' }, [])).rejects.toThrow()
  })
})

describe.skipIf(!server)('what the server says about a statement that it rejects', () => {
  async function opened(schema: string) {
    const lines: (readonly [Record<string, unknown>, string])[] = []
    const put = (fields: object, message: string) => void lines.push([{ ...fields }, message])
    const log: Log = { debug() {}, info() {}, warn: put, error: put }
    const store = postgresStore({ connectionString: server!.url, schema })
    const hs = createHookswitch({ store, secret: 'x'.repeat(32), log })
    await hs.start()
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    const rejections = () => lines.filter(([, message]) => message === 'PostgreSQL rejected a statement')
    return { hs, rejections }
  }
  const problemOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (thrown: { code: string; message: string }) => ({ code: thrown.code, message: thrown.message }),
    )

  it.each([
    ['table', '42P01', 'rename to elsewhere'],
    ['column', '42703', 'rename column doc to elsewhere'],
  ])('is in the log with its SQLSTATE: a missing %s', async (missing, sqlState, change) => {
    const schema = server!.freshSchema()
    const { hs, rejections } = await opened(schema)
    await server!.sql(`alter table ${schema}.account ${change}`)
    const problem = await problemOf(
      hs.accounts.create({ id: 'other', name: 'Other', realm: 'other.example' }),
    )
    expect(problem).toEqual({
      code: 'StoreCorrupt',
      message: `a ${missing} of this store is missing: it was dropped, or the schema is not of this version`,
    })
    expect(rejections()[0]).toEqual([
      { sqlState, message: expect.stringMatching(/does not exist/) },
      'PostgreSQL rejected a statement',
    ])
    await hs.close({ drainMs: 0 })
  })

  it('is part of the error while the store opens', async () => {
    await server!.sql('create role nobody_here login')
    const url = server!.urlOf({ user: 'nobody_here' })
    const hs = createHookswitch({ store: postgresStore({ connectionString: url }), secret: 'x'.repeat(32) })
    expect(await problemOf(hs.start())).toEqual({
      code: 'InvalidOption',
      message: expect.stringMatching(/lacks a privilege: .* \(42501: permission denied for database \w+\)$/),
    })
    await server!.sql('drop role nobody_here')
  })
})

describe('the log of rejections', () => {
  const thrown = (code: string, message = 'secret') =>
    Object.assign(new Error(message), { code, detail: 'Key (secret)', table: 'event', where: 'secret' })

  it('never has values of rows', () => {
    for (const code of ['22P02', '22021', 'P0001', '23505', '42P01']) {
      const failure = failureOf(thrown(code), { isConnecting: false })
      const text = JSON.stringify([failure.rejection, failure.error.message, String(failure.error.cause)])
      expect(text.includes('secret'), code).toBe(code === '23505' || code === '42P01')
      expect(text).not.toContain('Key')
      expect(failure.rejection).toMatchObject({ sqlState: code, table: 'event' })
    }
  })

  it('a code of the operating system is none of the server', () => {
    const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write', errno: -32 })
    expect(failureOf(broken, { isConnecting: false })).toMatchObject({
      sqlState: undefined,
      rejection: undefined,
      isConnectionLost: true,
      error: { code: 'StoreUnavailable' },
    })
  })
})
