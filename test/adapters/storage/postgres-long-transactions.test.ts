import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { watchLongTransactions } from '../../../adapters/storage/postgres/long-transaction-monitor.js'
import { createSession } from '../../../adapters/storage/postgres/session.js'
import { postgresForTests } from './pg-cluster.js'

const server = await postgresForTests()

describe.skipIf(!server)('the long-transaction monitor', () => {
  const direct = server!
  const pool = new pg.Pool({ connectionString: direct?.url, max: 2 })
  afterAll(async () => {
    await pool.end()
    await direct.end()
  })

  it('warns once, with pid and application of the session', async () => {
    const forgotten = new pg.Client({ connectionString: direct.url, application_name: 'a long report' })
    await forgotten.connect()
    await forgotten.query('begin isolation level repeatable read')
    await forgotten.query('select 1')
    const logged: unknown[] = []
    let statements = 0
    const session = createSession(pool, { connectWithinMs: 5_000, answerWithinMs: 10_000, isHostPool: true })
    const countingSession: typeof session = {
      ...session,
      async query<Row>(...args: Parameters<typeof session.query>) {
        statements += 1
        return session.query<Row>(...args)
      },
    }
    const log = (fields: object) => logged.push(fields)
    const stop = watchLongTransactions(
      { session: countingSession, log: { debug: log, info: log, warn: log, error: log } },
      20,
    )
    await expect.poll(() => logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({ application: 'a long report' })
    const before = statements
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([logged.length, statements]).toEqual([1, before])
    stop()
    await forgotten.query('rollback')
    await forgotten.end()
  })
})
