import { postgresStore } from 'hookswitch/postgres'
import type { Log } from 'hookswitch/store'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { MIGRATIONS, type Migration, migrate } from '../../../adapters/storage/postgres/migrations.js'
import { createSession } from '../../../adapters/storage/postgres/session.js'
import { createPool } from '../../../adapters/storage/postgres/session-pool.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { postgresForTests } from './pg-cluster.js'
import { hookedPool, log, type QueryHooks } from './postgres-queue-harness.js'

const server = await postgresForTests()
const limits = { connectWithinMs: 5_000, answerWithinMs: 10_000, isHostPool: false }
const pool = server && (await createPool({ connectionString: server.url, maxConnections: 8, ...limits }))
afterAll(async () => {
  await pool?.end()
  await server?.end()
})

/** What a later version of the package will have. */
const NEXT: Migration = {
  version: MIGRATIONS.at(-1)!.version + 1,
  text: (s) => `alter table ${s}.gone_account add column mark integer; update ${s}.gone_account set mark = 7`,
}
const LATER = [...MIGRATIONS, NEXT]
const AFTER_NEXT = [{ ...NEXT, version: NEXT.version + 1 }]

describe.skipIf(!server)('a step to a later version of the schema', () => {
  const direct = server!
  let schema: string
  const run = (text: string) => direct.sql(`set search_path to "${schema}"; ${text}`)
  const migrateTo = (migrations: readonly Migration[], logged: Log = log, through = pool!) => {
    const session = createSession(through, limits)
    return migrate({ session, maintenanceSession: () => session, name: schema, log: logged }, migrations)
  }
  const marks = () => direct.sql(`select id, mark from "${schema}".gone_account`)

  beforeEach(async () => {
    schema = direct.freshSchema()
    await migrateTo(MIGRATIONS)
    await run(`insert into gone_account (id) values ('kept')`)
  })

  it('is taken once by nodes that start at the same time, is logged, and keeps the rows', async () => {
    const logged: unknown[] = []
    const info = (fields: object, message: string) => logged.push({ ...fields, message })
    await Promise.all([1, 2, 3].map(() => migrateTo(LATER, { ...log, info })))
    expect(logged).toEqual([
      { schema, version: NEXT.version, message: 'migrated the PostgreSQL schema to a new version' },
    ])
    expect(await marks()).toEqual([{ id: 'kept', mark: 7 }])
  })

  it('follows the tables of version 1 in an empty database', async () => {
    schema = direct.freshSchema()
    await Promise.all([1, 2, 3].map(() => migrateTo(LATER)))
    const versions = await direct.sql(`select version from "${schema}".hookswitch_migration order by version`)
    expect(versions.map(({ version }) => version)).toEqual(LATER.map(({ version }) => version))
    expect(await marks()).toEqual([])
  })

  it('is refused in one sentence, and changes nothing, while a node of the older version runs', async () => {
    const living =
      'extract(epoch from clock_timestamp()) * 1000 + 20000 + (select offset_ms from store_clock)'
    await run('update store_clock set offset_ms = 3600000')
    await run(
      `insert into node (owner, fence, number, alive_until_ms) select 'old', nextval('fence'), 1, ${living}`,
    )
    await expect(migrateTo(LATER)).rejects.toMatchObject({
      code: 'StoreUnavailable',
      message: `nodes of an older version still use the schema ${schema} (1 running), whose tables this version changes: stop all nodes first (one that was killed counts for up to 30 seconds)`,
    })
    await expect(marks()).rejects.toThrow('column "mark" does not exist')
    // It ended without giving its lease back.
    await run(`update node set alive_until_ms = ${living} - 20001 where owner = 'old'`)
    await migrateTo(LATER)
    expect(await marks()).toEqual([{ id: 'kept', mark: 7 }])
  })

  it('is not undone: a package without it refuses the schema in one sentence', async () => {
    await migrateTo(LATER)
    const store = postgresStore({ connectionString: direct.url, schema })
    await expect(store.open({ clock: systemClock(), log })).rejects.toMatchObject({
      code: 'InvalidOption',
      field: 'schema',
      message: `the schema ${schema} has version ${NEXT.version}, this package supports ${NEXT.version - 1}: update hookswitch`,
    })
  })

  it('from a version that is no longer supported is refused in one sentence', async () => {
    await expect(migrateTo(AFTER_NEXT)).rejects.toMatchObject({
      code: 'InvalidOption',
      field: 'schema',
      message: `the schema ${schema} has version ${NEXT.version - 1}, this package supports ${NEXT.version + 1} and later: start an earlier hookswitch on it first`,
    })
    await expect(marks()).rejects.toThrow('column "mark" does not exist')
  })

  it.each(['before', 'after'] as const)('is repeated after a crash %s its commit', async (when) => {
    const hooks: QueryHooks = {
      [when](text: string) {
        if (text === 'COMMIT') throw new Error('Connection terminated unexpectedly')
      },
    }
    const crashing = hookedPool(direct.url, hooks)
    await expect(migrateTo(LATER, log, crashing)).rejects.toMatchObject({ code: 'StoreUnavailable' })
    await crashing.end()
    await migrateTo(LATER)
    expect(await marks()).toEqual([{ id: 'kept', mark: 7 }])
  })
})
