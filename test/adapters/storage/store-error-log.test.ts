/** What the log says of errors of the database: its code and its sentence, never a value; clients get neither. */
import { createHookswitch, type Log } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { reasonOf } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { PostgresPool, PostgresQuery } from '../../../adapters/storage/postgres/session-pool.js'
import { toStoreError } from '../../../adapters/storage/sqlite/errors.js'
import { postgresForTests } from './pg-cluster.js'

const server = await postgresForTests()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(() => server?.end())

/** What the server says; of some errors the detail has values of rows. */
const ERRORS = [
  ['connect', '53300', 'sorry, too many clients already'],
  ['query', '57P01', 'terminating connection due to administrator command'],
  ['query', '40001', 'could not serialize access due to concurrent update'],
  ['query', '23505', 'duplicate key value violates unique constraint "account_realm_key"'],
  ['query', '25006', 'cannot execute UPDATE in a read-only transaction'],
  ['connect', '28P01', 'password authentication failed for user "hookswitch"'],
  ['connect', '3D000', 'database "calls" does not exist'],
  ['query', '08006', 'connection failure'],
  ['query', '53100', 'could not extend file "base/1/2": No space left on device'],
] as const

describe.skipIf(!server)('an error of PostgreSQL', () => {
  it.each(ERRORS)(
    'while it answers %s: %s is in the log, with its sentence',
    async (where, code, message) => {
      const pool = new pg.Pool({ connectionString: server!.url, max: 4 })
      closing.push(() => pool.end())
      let fails: typeof where | undefined
      const failure = () =>
        Object.assign(new Error(message), {
          code,
          detail: 'Key (realm)=(topsecret.example) already exists.',
          where: 'topsecret',
          client: { password: 'topsecret' },
        })
      const failing: PostgresPool = {
        async connect() {
          if (fails === 'connect') throw failure()
          const client = await pool.connect()
          const query = (given: PostgresQuery) =>
            fails === 'query' && !/rollback/i.test(given.text)
              ? Promise.reject(failure())
              : client.query(given)
          const { on, removeListener, release } = client
          return {
            query,
            on: (...args) => Reflect.apply(on, client, args),
            removeListener: (...args) => Reflect.apply(removeListener, client, args),
            release: (...args) => Reflect.apply(release, client, args),
          }
        },
        on: (event, listener) => pool.on(event, listener),
        removeListener: (event, listener) => pool.removeListener(event, listener),
        end: () => pool.end(),
      }
      const lines: { fields: Readonly<Record<string, unknown>>; message: string }[] = []
      const put: Log['warn'] = (fields, text) => void lines.push({ fields, message: text })
      const log = { debug() {}, info() {}, warn: put, error: put }
      const store = postgresStore({ pool: failing, schema: server!.freshSchema() })
      const hs = createHookswitch({ store, secret: 'x'.repeat(32), log })
      await hs.start()
      closing.push(() => hs.close({ drainMs: 0 }))
      const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
      const { token } = await hs.auth.signIn({ apiKey })
      fails = where
      const url = '/v1/accounts/acme/webhooks'
      const [response, thrown] = await Promise.all([
        hs.handle({ method: 'GET', url, headers: { 'x-auth-token': token } }),
        hs.accounts.get('acme').catch((error: unknown) => error) as Promise<Error>,
      ])
      fails = undefined
      expect(response.status).toBe(503)
      expect(response.body).not.toContain(code)
      expect(thrown).toMatchObject({ code: 'StoreUnavailable', cause: { code, message } })
      const line = lines.find((logged) => logged.message.startsWith('request failed: the store'))
      expect(line?.fields.reason).toBe(`${thrown.message} (${code}: ${message})`)
      expect(JSON.stringify([lines, thrown, thrown.cause])).not.toContain('topsecret')
    },
  )
})

describe('an error of SQLite', () => {
  it('has its result code and its sentence in the log', () => {
    const full = Object.assign(new Error('database or disk is full'), {
      code: 'ERR_SQLITE_ERROR',
      errcode: 13,
    })
    expect(reasonOf(toStoreError(full, 'calls.db'))).toBe(
      'calls.db cannot grow: its disk is full (SQLite 13: database or disk is full)',
    )
  })
})

describe('the reason of an error', () => {
  it('is its message, and of a store that of the database, cut', () => {
    expect(reasonOf(new Error('broken', { cause: new Error('inner') }))).toBe('broken')
    expect(reasonOf('text')).toBe('unknown')
    const long = Object.assign(new Error('m'.repeat(1_000)), { errcode: 5 })
    expect(reasonOf(toStoreError(long, 'a.db')).length).toBeLessThan(450)
  })
})
