import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { createSession } from '../../../adapters/storage/postgres/session.js'
import { watchSnapshots } from '../../../adapters/storage/postgres/snapshots.js'
import { postgresForTests } from './pg-cluster.js'

const server = await postgresForTests()

describe.skipIf(!server)('a session that holds an old snapshot', () => {
  const direct = server!
  const pool = new pg.Pool({ connectionString: direct?.url, max: 2 })
  afterAll(async () => {
    await pool.end()
    await direct.end()
  })

  it('is said once, with who it is', async () => {
    const forgotten = new pg.Client({ connectionString: direct.url, application_name: 'a long report' })
    await forgotten.connect()
    await forgotten.query('begin isolation level repeatable read')
    await forgotten.query('select 1')
    const said: unknown[] = []
    let looks = 0
    const session = createSession(pool, { connectWithinMs: 5_000, answerWithinMs: 10_000, foreign: true })
    const counted: typeof session = {
      ...session,
      async query<Row>(...given: Parameters<typeof session.query>) {
        looks += 1
        return session.query<Row>(...given)
      },
    }
    const note = (fields: object) => said.push(fields)
    const stop = watchSnapshots(
      { session: counted, log: { debug: note, info: note, warn: note, error: note } },
      20,
    )
    await expect.poll(() => said).toHaveLength(1)
    expect(said[0]).toMatchObject({ application: 'a long report' })
    const before = looks
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([said.length, looks]).toEqual([1, before])
    stop()
    await forgotten.query('rollback')
    await forgotten.end()
  })
})
