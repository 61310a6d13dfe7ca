import { Socket } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { isUnsure } from '../../../adapters/storage/postgres/errors.js'
import { createSession, type Session } from '../../../adapters/storage/postgres/session.js'
import { ownPool, type PostgresPool } from '../../../adapters/storage/postgres/session-pool.js'
import { privatePostgres } from './pg-cluster.js'
import { type TcpProxy, tcpProxy } from './tcp-proxy.js'

const server = await privatePostgres({ max_connections: '40' })

/** What every test has: a session that goes through the proxy, and the server itself. */
describe.skipIf(!server)('the way to the server', () => {
  const direct = server!
  let proxy: TcpProxy
  const pools: PostgresPool[] = []

  beforeAll(async () => {
    proxy = await tcpProxy({ port: direct.port })
    await direct.sql('create table thing (id int primary key, note text)')
  })
  afterEach(async () => {
    proxy.heal()
    proxy.delay(0)
    for (const pool of pools.splice(0)) await pool.end()
    await direct.sql('truncate thing')
  })
  afterAll(async () => {
    await proxy.close()
    await direct.end()
  })

  async function session(
    changes: { url?: string; max?: number; answerWithinMs?: number; connectWithinMs?: number } = {},
  ): Promise<Session> {
    const { max = 4, answerWithinMs = 10_000, connectWithinMs = 5_000 } = changes
    const connectionString = changes.url ?? direct.urlOf({ port: proxy.port })
    const pool = await ownPool({ connectionString, maxConnections: max, connectWithinMs })
    pool.on('error', () => {})
    pools.push(pool)
    const made = createSession(pool, { connectWithinMs, answerWithinMs, foreign: false })
    made.opened()
    return made
  }
  const put = { name: 'put_thing', text: 'insert into thing (id, note) values ($1, $2) returning id' }
  const notes = async () => (await direct.sql('select note from thing order by id')).map(({ note }) => note)
  const failed = async (promise: Promise<unknown>) => {
    const error = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ name: 'HookswitchError' })
    return error as Error & { code: string; retryAfterSeconds?: number }
  }
  const raise = (state: string) => ({
    name: `raise_${state}`,
    text: `select pg_temp.raise_${state}()`,
  })
  const killOurs = () =>
    direct.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hookswitch'")

  it('reads numbers as numbers, and text as it is', async () => {
    const text = `select $1::bigint as "big", 7::smallint as "small", 0.5::float8 as "half", true as "yes",
      null::text as "none", '{"a":1}'::text as "doc"`
    expect(await (await session()).query({ name: 'kinds', text }, [9_007_199_254_740_991])).toEqual([
      { big: 9_007_199_254_740_991, small: 7, half: 0.5, yes: true, none: null, doc: '{"a":1}' },
    ])
  })

  it('writes all of a transaction, or nothing of one whose work throws', async () => {
    const { transaction } = await session()
    expect(await transaction(async (tx) => tx.query(put, [1, 'kept']))).toEqual([{ id: 1 }])
    const refusal = new Error('changed my mind')
    const refused = transaction(async (tx) => {
      await tx.query(put, [2, 'gone'])
      throw refusal
    })
    await expect(refused).rejects.toBe(refusal)
    expect(await notes()).toEqual(['kept'])
  })

  it('rolls back when a statement was refused, even if the work swallows that', async () => {
    const { transaction } = await session()
    await transaction((tx) => tx.query(put, [1, 'first']))
    const swallowed = transaction(async (tx) => {
      await tx.query(put, [2, 'second'])
      await tx.query(put, [1, 'again']).catch(() => {})
      return 'done'
    })
    expect((await failed(swallowed)).code).toBe('StoreUnavailable')
    expect(await notes()).toEqual(['first'])
  })

  it('lets the work say in its own words why a row was refused', async () => {
    const { transaction } = await session()
    await transaction((tx) => tx.query(put, [1, 'first']))
    const inWords = transaction((tx) =>
      tx.query(put, [1, 'again']).catch(() => {
        throw new Error('taken')
      }),
    )
    await expect(inWords).rejects.toThrow('taken')
  })

  it('runs the work again, with fresh reads, when two transactions lock each other out', async () => {
    const { transaction } = await session()
    await direct.sql("insert into thing values (1, ''), (2, '')")
    const mark = { name: 'mark', text: 'update thing set note = note || $2 where id = $1' }
    let arrived = 0
    let bothHold = () => {}
    const both = new Promise<void>((resolve) => {
      bothHold = resolve
    })
    let runs = 0
    const ended: Promise<unknown>[] = []
    const crossing = (first: number, second: number, name: string) =>
      transaction(async (tx) => {
        runs += 1
        // It may not meet the other one again, which is done in a moment.
        if (runs > 2) await Promise.any(ended)
        await tx.query(mark, [first, name])
        arrived += 1
        if (arrived === 2) bothHold()
        await both
        await tx.query(mark, [second, name])
      })
    ended.push(crossing(1, 2, 'a'), crossing(2, 1, 'b'))
    await Promise.all(ended)
    expect(runs).toBe(3)
    expect((await notes()).map((note) => [...String(note)].sort().join(''))).toEqual(['ab', 'ab'])
  })

  it('gives up after some tries when others are in the way each time', async () => {
    const made = await session({ max: 2 })
    let runs = 0
    const never = made.transaction(async (tx) => {
      runs += 1
      await tx.query(raiser('40001'), [])
      await tx.query(raise('40001'), [])
    })
    expect((await failed(never)).message).toContain('again and again')
    expect(runs).toBe(6)
  })

  const raiser = (state: string) => ({
    name: '',
    text: `create or replace function pg_temp.raise_${state}() returns int language plpgsql as
      $$ begin raise exception 'raised' using errcode = '${state}'; end $$`,
  })

  it('takes another connection when one is cut before the transaction begins', async () => {
    const { transaction } = await session()
    const cut = proxy.cutAt('BEGIN', 'before')
    await transaction((tx) => tx.query(put, [1, 'kept']))
    await cut
    expect(await notes()).toEqual(['kept'])
  })

  it('says that nothing was written when the connection is cut inside a transaction', async () => {
    const { transaction } = await session()
    const cut = proxy.cutAt('put_thing', 'answering')
    const error = await failed(transaction((tx) => tx.query(put, [1, 'gone'])))
    await cut
    expect([error.code, error.retryAfterSeconds, isUnsure(error)]).toEqual(['StoreUnavailable', 1, false])
    await expect.poll(notes).toEqual([])
  })

  it.each([
    ['before', []],
    ['answering', ['written']],
  ] as const)('is unsure when the connection is cut during COMMIT (%s)', async (when, written) => {
    const { transaction, query } = await session()
    const cut = proxy.cutAt('COMMIT\0', when)
    const error = await failed(transaction((tx) => tx.query(put, [1, 'written'])))
    await cut
    expect([error.code, isUnsure(error)]).toEqual(['StoreUnavailable', true])
    expect(await query({ name: 'notes', text: 'select note from thing' }, [])).toEqual(
      written.map((note) => ({ note })),
    )
  })

  it('is unsure when the connection is cut while a single statement is answered', async () => {
    const { query } = await session()
    const cut = proxy.cutAt('put_thing', 'answering')
    expect(isUnsure(await failed(query(put, [1, 'written'])))).toBe(true)
    await cut
    expect(await notes()).toEqual(['written'])
  })

  it('goes on when the server ended its idle connections', async () => {
    const { query } = await session()
    await Promise.all([1, 2, 3].map((id) => query(put, [id, 'before'])))
    await killOurs()
    await Promise.all([4, 5, 6].map((id) => query(put, [id, 'after']).catch(() => query(put, [id, 'after']))))
    expect(await notes()).toHaveLength(6)
  })

  it('says so when the server ends a connection in the middle of its work', async () => {
    const { transaction } = await session()
    const suicide = { name: 'suicide', text: 'select pg_terminate_backend(pg_backend_pid())' }
    const error = await failed(
      transaction(async (tx) => {
        await tx.query(put, [1, 'gone'])
        await tx.query(suicide, [])
      }),
    )
    expect(error.message).toContain('restarted')
    expect(isUnsure(error)).toBe(false)
    expect(await notes()).toEqual([])
  })

  it('makes do with the connections that the server gives', async () => {
    await direct.sql('create role narrow login connection limit 2; grant all on thing to narrow')
    const { query } = await session({ url: direct.urlOf({ user: 'narrow' }), max: 8 })
    const ids = Array.from({ length: 40 }, (_, id) => id)
    await Promise.all(ids.map((id) => query(put, [id, 'kept'])))
    expect(await notes()).toHaveLength(40)
  })

  it('says within its bound that the server has no connection left', async () => {
    await direct.sql('create role full_up login connection limit 1')
    const url = direct.urlOf({ user: 'full_up' })
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    const error = await failed((await session({ url, connectWithinMs: 300 })).query(put, [1, 'x']))
    await other.end()
    expect([error.code, error.message]).toEqual([
      'StoreUnavailable',
      expect.stringContaining('no connection left'),
    ])
  })

  it('says that the server is read-only, and uses new connections when it is so no more', async () => {
    await direct.sql('create role writer login; grant all on thing to writer')
    await direct.sql('alter role writer set default_transaction_read_only = on')
    const { query, transaction } = await session({ url: direct.urlOf({ user: 'writer' }) })
    for (const write of [() => query(put, [1, 'x']), () => transaction((tx) => tx.query(put, [1, 'x']))]) {
      const error = await failed(write())
      expect([error.code, error.message]).toEqual(['StoreUnavailable', expect.stringContaining('read-only')])
    }
    await direct.sql('alter role writer set default_transaction_read_only = off')
    await query(put, [1, 'written'])
    expect(await notes()).toEqual(['written'])
  })

  it('answers within its bound when the server has vanished, and recovers at once when it is back', async () => {
    const made = await session({ max: 4, answerWithinMs: 400, connectWithinMs: 400 })
    const hold = (tx: { query: Session['query'] }) =>
      tx.query({ name: 'nap', text: 'select pg_sleep(0.05)' }, [])
    await Promise.all([1, 2, 3, 4].map(() => made.transaction(hold)))
    expect(proxy.connections).toBe(4)
    proxy.stall()
    const startMs = performance.now()
    const error = await failed(made.query(put, [1, 'lost']))
    expect(error.code).toBe('StoreUnavailable')
    expect(performance.now() - startMs).toBeGreaterThan(400)
    proxy.heal()
    // The other three connections hang too: whoever took one of them would wait for nothing.
    await made.query(put, [2, 'back'])
    expect(await notes()).toEqual(['back'])
  })

  it('leaves no socket open when it ends while the server has vanished', async () => {
    const connecting = vi.spyOn(Socket.prototype, 'connect')
    const { transaction } = await session()
    const hold = (tx: { query: Session['query'] }) =>
      tx.query({ name: 'nap', text: 'select pg_sleep(0.05)' }, [])
    await Promise.all([1, 2, 3].map(() => transaction(hold)))
    const ours = (connecting.mock.contexts as Socket[]).filter(({ remotePort }) => remotePort === proxy.port)
    expect(ours.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
    connecting.mockRestore()
    proxy.stall()
    await pools.pop()!.end()
    expect(ours.map(({ destroyed }) => destroyed)).toEqual([true, true, true])
  })

  it('takes no busy process for a silent server', async () => {
    const { query } = await session({ answerWithinMs: 600 })
    await query(put, [0, 'x'])
    const answered = query(put, [1, 'in time'])
    const untilMs = performance.now() + 1_000
    while (performance.now() < untilMs) {}
    await answered
  })

  it('fails while the server is down, and works when it has been started again', async () => {
    const { query } = await session()
    await query(put, [1, 'before'])
    await direct.stop('immediate')
    expect((await failed(query(put, [2, 'down']))).code).toBe('StoreUnavailable')
    await direct.start()
    await query(put, [3, 'after'])
    expect(await notes()).toEqual(['before', 'after'])
  })

  it("leaves the settings of the host's connections as they were", async () => {
    const pool = new pg.Pool({ connectionString: direct.url, max: 1 })
    pools.push(pool)
    const { transaction, query } = createSession(pool, {
      connectWithinMs: 5_000,
      answerWithinMs: 10_000,
      foreign: true,
    })
    const settings = `select current_setting('statement_timeout') as "limit", current_setting('jit') as "jit"`
    const before = (await pool.query(settings)).rows
    const within = await transaction((tx) => tx.query({ name: 'settings', text: settings }, []))
    await query(put, [1, 'x'])
    expect((await pool.query(settings)).rows).toEqual(before)
    expect(within).toEqual([{ limit: '9s', jit: 'off' }])
  })

  it('goes on when the host had the server forget what was prepared', async () => {
    const pool = new pg.Pool({ connectionString: direct.url, max: 1 })
    pools.push(pool)
    const { transaction, query } = createSession(pool, {
      connectWithinMs: 5_000,
      answerWithinMs: 10_000,
      foreign: true,
    })
    await query(put, [1, 'x'])
    await pool.query('discard all')
    await query(put, [2, 'x'])
    await pool.query('discard all')
    await transaction((tx) => tx.query(put, [3, 'x']))
    expect(await notes()).toHaveLength(3)
  })

  describe('a channel', () => {
    it('is heard until it is stopped', async () => {
      const made = await session()
      const heard: string[] = []
      const listening = await made.listen('news', {
        heard: (payload) => heard.push(payload),
        lost: () => heard.push('lost'),
      })
      const tell = { name: 'tell', text: "select pg_notify('news', $1)" }
      await made.query(tell, ['one'])
      await expect.poll(() => heard).toEqual(['one'])
      await listening.check()
      await listening.stop()
      await made.query(tell, ['two'])
      await made.query({ name: 'nap', text: 'select pg_sleep(0.02)' }, [])
      await listening.stop()
      expect(heard).toEqual(['one'])
    })

    it('is lost once with its connection', async () => {
      const made = await session()
      let losses = 0
      await made.listen('news', { heard: () => {}, lost: () => (losses += 1) })
      proxy.cutAll()
      await expect.poll(() => losses).toBe(1)
    })

    it('is lost when the server does not answer a check', async () => {
      const made = await session({ answerWithinMs: 200 })
      let losses = 0
      const listening = await made.listen('news', { heard: () => {}, lost: () => (losses += 1) })
      proxy.stall()
      await listening.check()
      expect(losses).toBe(1)
      await listening.stop()
    })
  })
})
