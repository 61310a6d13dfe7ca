import { Socket } from 'node:net'
import { isNotWritten } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { isOutcomeUnknown } from '../../../adapters/storage/postgres/errors.js'
import { createSession, type Session } from '../../../adapters/storage/postgres/session.js'
import {
  createPool,
  type PostgresPool,
  type PostgresQuery,
} from '../../../adapters/storage/postgres/session-pool.js'
import { deferred } from '../../support/deferred.js'
import { privatePostgres } from './pg-cluster.js'
import { gate } from './postgres-queue-harness.js'
import { type TcpProxy, tcpProxy } from './tcp-proxy.js'

const server = await privatePostgres({ max_connections: '40' })

/** The sessions connect through a proxy, the checks directly. */
describe.skipIf(!server)('a session', () => {
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
    changes: {
      url?: string
      max?: number
      answerWithinMs?: number
      connectWithinMs?: number
      isHotPath?: boolean
    } = {},
  ): Promise<Session> {
    const { max = 4, answerWithinMs = 10_000, connectWithinMs = 5_000, isHotPath = false } = changes
    const connectionString = changes.url ?? direct.urlOf({ port: proxy.port })
    const pool = await createPool({ connectionString, maxConnections: max, connectWithinMs })
    pool.on('error', () => {})
    pools.push(pool)
    const opened = createSession(pool, { connectWithinMs, answerWithinMs, isHostPool: false, isHotPath })
    opened.markOpen()
    return opened
  }
  const insert = { name: 'put_thing', text: 'insert into thing (id, note) values ($1, $2) returning id' }
  const notes = async () => (await direct.sql('select note from thing order by id')).map(({ note }) => note)
  const rejectionOf = async (promise: Promise<unknown>) => {
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
  const terminateSessions = () =>
    direct.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hookswitch'")

  it('reads numbers as numbers, and text unchanged', async () => {
    const text = `select $1::bigint as "big", 7::smallint as "small", 0.5::float8 as "half", true as "yes",
      null::text as "none", '{"a":1}'::text as "doc"`
    expect(await (await session()).query({ name: 'kinds', text }, [9_007_199_254_740_991])).toEqual([
      { big: 9_007_199_254_740_991, small: 7, half: 0.5, yes: true, none: null, doc: '{"a":1}' },
    ])
  })

  it('commits a transaction, and rolls back one whose work throws', async () => {
    const { transaction } = await session()
    expect(await transaction(async (tx) => tx.query(insert, [1, 'kept']))).toEqual([{ id: 1 }])
    const refusal = new Error('changed my mind')
    const refused = transaction(async (tx) => {
      await tx.query(insert, [2, 'gone'])
      throw refusal
    })
    await expect(refused).rejects.toBe(refusal)
    expect(await notes()).toEqual(['kept'])
  })

  it('rolls back when a statement was rejected, even if the work catches the error', async () => {
    const { transaction } = await session()
    await transaction((tx) => tx.query(insert, [1, 'first']))
    const swallowed = transaction(async (tx) => {
      await tx.query(insert, [2, 'second'])
      await tx.query(insert, [1, 'again']).catch(() => {})
      return 'done'
    })
    expect((await rejectionOf(swallowed)).code).toBe('StoreUnavailable')
    expect(await notes()).toEqual(['first'])
  })

  it('lets the work replace the error of a rejected row', async () => {
    const { transaction } = await session()
    await transaction((tx) => tx.query(insert, [1, 'first']))
    const translated = transaction((tx) =>
      tx.query(insert, [1, 'again']).catch(() => {
        throw new Error('taken')
      }),
    )
    await expect(translated).rejects.toThrow('taken')
  })

  it('runs the work again, with fresh reads, after a deadlock', async () => {
    const { transaction } = await session()
    await direct.sql("insert into thing values (1, ''), (2, '')")
    const mark = { name: 'mark', text: 'update thing set note = note || $2 where id = $1' }
    let arrived = 0
    const { promise: both, resolve: bothHold } = deferred()
    let runs = 0
    const ended: Promise<unknown>[] = []
    const crossing = (first: number, second: number, name: string) =>
      transaction(async (tx) => {
        runs += 1
        // The repetition waits for the other transaction, so that they do not deadlock again.
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

  it('gives up after six attempts when each fails with a serialization error', async () => {
    const { transaction } = await session({ max: 2 })
    let runs = 0
    const never = transaction(async (tx) => {
      runs += 1
      await tx.query(raiser('40001'), [])
      await tx.query(raise('40001'), [])
    })
    expect((await rejectionOf(never)).message).toContain('again and again')
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
    await transaction((tx) => tx.query(insert, [1, 'kept']))
    await cut
    expect(await notes()).toEqual(['kept'])
  })

  it('reports that nothing was written when the connection is cut inside a transaction', async () => {
    const { transaction } = await session()
    const cut = proxy.cutAt('put_thing', 'answering')
    const error = await rejectionOf(transaction((tx) => tx.query(insert, [1, 'gone'])))
    await cut
    expect([error.code, error.retryAfterSeconds, isOutcomeUnknown(error), isNotWritten(error)]).toEqual([
      'StoreUnavailable',
      1,
      false,
      true,
    ])
    await expect.poll(notes).toEqual([])
  })

  it.each([
    ['before', []],
    ['answering', ['written']],
  ] as const)(
    'reports an unknown outcome when the connection is cut during COMMIT (%s)',
    async (when, written) => {
      const { transaction, query } = await session()
      const cut = proxy.cutAt('COMMIT\0', when)
      const error = await rejectionOf(transaction((tx) => tx.query(insert, [1, 'written'])))
      await cut
      expect([error.code, isOutcomeUnknown(error), isNotWritten(error)]).toEqual([
        'StoreUnavailable',
        true,
        false,
      ])
      expect(await query({ name: 'notes', text: 'select note from thing' }, [])).toEqual(
        written.map((note) => ({ note })),
      )
    },
  )

  it('reports an unknown outcome when the connection is cut while a single statement is answered', async () => {
    const { query } = await session()
    const cut = proxy.cutAt('put_thing', 'answering')
    expect(isOutcomeUnknown(await rejectionOf(query(insert, [1, 'written'])))).toBe(true)
    await cut
    expect(await notes()).toEqual(['written'])
  })

  it('continues after the server has ended its idle connections', async () => {
    const { query } = await session()
    await Promise.all([1, 2, 3].map((id) => query(insert, [id, 'before'])))
    await terminateSessions()
    await Promise.all(
      [4, 5, 6].map((id) => query(insert, [id, 'after']).catch(() => query(insert, [id, 'after']))),
    )
    expect(await notes()).toHaveLength(6)
  })

  it('reports that the server ended the connection during a transaction', async () => {
    const { transaction } = await session()
    const terminateSelf = { name: 'terminate_self', text: 'select pg_terminate_backend(pg_backend_pid())' }
    const error = await rejectionOf(
      transaction(async (tx) => {
        await tx.query(insert, [1, 'gone'])
        await tx.query(terminateSelf, [])
      }),
    )
    expect(error.message).toContain('when it restarts')
    expect(isOutcomeUnknown(error)).toBe(false)
    expect(await notes()).toEqual([])
  })

  it('works with fewer connections than its pool may open', async () => {
    await direct.sql('create role narrow login connection limit 2; grant all on thing to narrow')
    const { query } = await session({ url: direct.urlOf({ user: 'narrow' }), max: 8 })
    const ids = Array.from({ length: 40 }, (_, id) => id)
    await Promise.all(ids.map((id) => query(insert, [id, 'kept'])))
    expect(await notes()).toHaveLength(40)
  })

  it('reports within its time limit that the server has no connection left', async () => {
    await direct.sql('create role full_up login connection limit 1')
    const url = direct.urlOf({ user: 'full_up' })
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    const error = await rejectionOf((await session({ url, connectWithinMs: 300 })).query(insert, [1, 'x']))
    await other.end()
    expect([error.code, error.message]).toEqual([
      'StoreUnavailable',
      expect.stringContaining('no connection left'),
    ])
  })

  it('reports a read-only server, and opens new connections when it is writable again', async () => {
    await direct.sql('create role writer login; grant all on thing to writer')
    await direct.sql('alter role writer set default_transaction_read_only = on')
    const { query, transaction } = await session({ url: direct.urlOf({ user: 'writer' }) })
    for (const write of [
      () => query(insert, [1, 'x']),
      () => transaction((tx) => tx.query(insert, [1, 'x'])),
    ]) {
      const error = await rejectionOf(write())
      expect([error.code, error.message]).toEqual(['StoreUnavailable', expect.stringContaining('read-only')])
    }
    await direct.sql('alter role writer set default_transaction_read_only = off')
    await query(insert, [1, 'written'])
    expect(await notes()).toEqual(['written'])
  })

  it('rejects within its time limit when the server has vanished, and recovers at once when it is back', async () => {
    const { query, transaction } = await session({ max: 4, answerWithinMs: 400, connectWithinMs: 400 })
    const hold = (tx: { query: Session['query'] }) =>
      tx.query({ name: 'nap', text: 'select pg_sleep(0.05)' }, [])
    await Promise.all([1, 2, 3, 4].map(() => transaction(hold)))
    expect(proxy.connections).toBe(4)
    proxy.stall()
    const startMs = performance.now()
    const error = await rejectionOf(query(insert, [1, 'lost']))
    expect(error.code).toBe('StoreUnavailable')
    expect(performance.now() - startMs).toBeGreaterThan(400)
    proxy.heal()
    // The other three connections are dead too and must not be used.
    await query(insert, [2, 'back'])
    expect(await notes()).toEqual(['back'])
  })

  it('leaves no socket open when its pool ends while the server has vanished', async () => {
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

  it('does not time out when the process was busy and the answer is there', async () => {
    const { query } = await session({ answerWithinMs: 600 })
    await query(insert, [0, 'x'])
    const answered = query(insert, [1, 'in time'])
    const untilMs = performance.now() + 1_000
    while (performance.now() < untilMs) {}
    await answered
  })

  it('rejects while the server is down, and works after its restart', async () => {
    const { query } = await session()
    await query(insert, [1, 'before'])
    // A statement on a connection whose loss is not known yet may have been carried out.
    const noticed = new Promise((resolve) => pools[0]!.on('error', resolve))
    await direct.stop('immediate')
    try {
      await noticed
      const error = await rejectionOf(query(insert, [2, 'down']))
      expect([error.code, isNotWritten(error)]).toEqual(['StoreUnavailable', true])
    } finally {
      await direct.start()
    }
    await query(insert, [3, 'after'])
    expect(await notes()).toEqual(['before', 'after'])
  })

  it('gives up a wait for a lock on the path of an event, and knows that nothing was written', async () => {
    const { query } = await session({ answerWithinMs: 1_000, isHotPath: true })
    await query(insert, [1, 'x'])
    const holder = new pg.Client({ connectionString: direct.url })
    await holder.connect()
    await holder.query('begin; update thing set id = 1')
    const update = { name: 'change_thing', text: 'update thing set note = $1' }
    const error = await rejectionOf(query(update, ['changed']))
    await holder.end()
    expect(error.message).toMatch(/^a lock in PostgreSQL was not free/)
    expect([error.code, isNotWritten(error), isOutcomeUnknown(error)]).toEqual([
      'StoreUnavailable',
      true,
      false,
    ])
    expect(await notes()).toEqual(['x'])
  })

  it('ends a transaction on the path of an event that is idle for too long', async () => {
    const { transaction, query } = await session({ answerWithinMs: 1_000, isHotPath: true })
    await query(insert, [1, 'x'])
    const idle = transaction(async (tx) => {
      await tx.query({ name: 'lock_thing', text: 'select id from thing for update' }, [])
      // Waits for the lock, until the server has ended this transaction.
      await direct.sql('update thing set note = $1', ['by another'])
      await tx.query(insert, [2, 'late'])
    })
    expect((await rejectionOf(idle)).code).toBe('StoreUnavailable')
    expect(await notes()).toEqual(['by another'])
  })

  it("leaves the settings of the host's connections unchanged", async () => {
    const pool = new pg.Pool({ connectionString: direct.url, max: 1 })
    pools.push(pool)
    const { transaction, query } = createSession(pool, {
      connectWithinMs: 5_000,
      answerWithinMs: 10_000,
      isHostPool: true,
    })
    const settings = `select current_setting('statement_timeout') as "limit", current_setting('jit') as "jit"`
    const before = (await pool.query(settings)).rows
    const within = await transaction((tx) => tx.query({ name: 'settings', text: settings }, []))
    await query(insert, [1, 'x'])
    expect((await pool.query(settings)).rows).toEqual(before)
    expect(within).toEqual([{ limit: '9s', jit: 'off' }])
  })

  it('prepares its statements again after the host discarded them', async () => {
    const pool = new pg.Pool({ connectionString: direct.url, max: 1 })
    pools.push(pool)
    const { transaction, query } = createSession(pool, {
      connectWithinMs: 5_000,
      answerWithinMs: 10_000,
      isHostPool: true,
    })
    await query(insert, [1, 'x'])
    await pool.query('discard all')
    await query(insert, [2, 'x'])
    await pool.query('discard all')
    await transaction((tx) => tx.query(insert, [3, 'x']))
    expect(await notes()).toHaveLength(3)
  })

  it('has none of the settings of another session that used its connection before', async () => {
    const pool = await createPool({ connectionString: direct.url, maxConnections: 1, connectWithinMs: 5_000 })
    pools.push(pool)
    const options = { connectWithinMs: 5_000, answerWithinMs: 10_000, isHostPool: false }
    const show = {
      name: 'settings',
      text: `select pg_backend_pid() as pid, current_setting('lock_timeout') as lock, current_setting('enable_hashjoin') as hash`,
    }
    const hot = createSession(pool, { ...options, isHotPath: true })
    const [first] = await hot.query<{ pid: number }>(show, [])
    expect(first).toMatchObject({ lock: '7s', hash: 'off' })
    const maintenance = createSession(pool, { ...options, isSingleUse: true })
    expect(await maintenance.query(show, [])).toEqual([{ pid: first!.pid, lock: '0', hash: 'on' }])
  })

  describe('the server behind its connections', () => {
    /** A session whose connections say that the server has this timeline. `answered` runs before an answer is given. */
    async function sessionWith(
      timeline: () => string | Promise<string>,
      answered: (text: string) => Promise<void> | void = () => {},
    ) {
      const pool = await createPool({
        connectionString: direct.url,
        maxConnections: 4,
        connectWithinMs: 5_000,
      })
      pool.on('error', () => {})
      pools.push(pool)
      const connect = pool.connect.bind(pool)
      const hooked = new WeakSet<object>()
      const answering = Object.assign(Object.create(pool) as PostgresPool, {
        async connect() {
          const client = await connect()
          if (hooked.has(client)) return client
          hooked.add(client)
          const query = client.query.bind(client)
          const answer = async (given: PostgresQuery) => {
            if (given.text.includes('pg_walfile_name')) {
              asked += 1
              return { rows: [{ timeline: await timeline() }] }
            }
            const result = await query(given)
            await answered(given.text)
            return result
          }
          return Object.assign(client, { query: answer })
        },
      })
      let asked = 0
      let replacements = 0
      const opened = createSession(answering, {
        connectWithinMs: 5_000,
        answerWithinMs: 10_000,
        isHostPool: false,
        onServerReplaced: () => (replacements += 1),
      })
      return { opened, replacements: () => replacements, asked: () => asked }
    }
    /** A session with a connection to the old server that waits to give the answer to `text`. */
    async function awaitingAnswerOf(text: string) {
      const [reached, given] = [gate(), gate()]
      let timeline = '00000001'
      const { opened, replacements } = await sessionWith(
        () => timeline,
        (sent) => {
          if (sent !== text) return
          reached.open()
          return given.passed
        },
      )
      await opened.query(pid, [])
      return {
        opened,
        reached: reached.passed,
        answer: given.open,
        /** Another connection meets the new server. */
        async failOver() {
          timeline = '00000002'
          expect(isNotWritten(await rejectionOf(opened.query(pid, [])))).toBe(true)
          expect(replacements()).toBe(1)
        },
      }
    }
    const pid = { name: 'pid', text: 'select pg_backend_pid() as pid' }

    it('is another one after a failover: the first statement is not sent, and it is reported once', async () => {
      let timeline = '00000001'
      const { opened, replacements } = await sessionWith(() => timeline)
      const [before] = await opened.query<{ pid: number }>(pid, [])
      expect([opened.timeline, replacements()]).toEqual(['00000001', 0])
      timeline = '00000002'
      await direct.sql('select pg_terminate_backend($1)', [before!.pid])
      await expect.poll(() => opened.query(pid, []).then(() => 'sent', isNotWritten)).toBe(true)
      expect([opened.timeline, replacements()]).toEqual(['00000002', 1])
      expect(await opened.query(pid, [])).toHaveLength(1)
      expect(replacements()).toBe(1)
    })

    it('is another one for every call that waits for a connection then, not only for the first', async () => {
      const timelines: ((timeline: string) => void)[] = []
      const { opened, replacements } = await sessionWith(
        () => new Promise((resolve) => void timelines.push(resolve)),
      )
      const first = opened.reserve()
      await expect.poll(() => timelines).toHaveLength(1)
      timelines[0]!('00000001')
      const held = await first
      const calls = [
        opened.query(insert, [1, 'one']),
        opened.transaction((tx) => tx.query(insert, [2, 'two'])),
      ]
      const rejections = calls.map(rejectionOf)
      await expect.poll(() => timelines).toHaveLength(3)
      for (const resolve of timelines.slice(1)) resolve('00000002')
      expect((await Promise.all(rejections)).map(isNotWritten)).toEqual([true, true])
      expect([await notes(), replacements()]).toEqual([[], 1])
      held.release()
      const later = opened.query(insert, [3, 'three'])
      await expect.poll(() => timelines).toHaveLength(4)
      timelines[3]!('00000002')
      await later
      expect([await notes(), replacements()]).toEqual([['three'], 1])
    })

    const single = (opened: Session) => opened.query(insert, [1, 'one'])
    const inTransaction = (opened: Session) => opened.transaction((tx) => tx.query(insert, [1, 'one']))
    it.each([
      ['answers late: whether the statement was carried out is unknown', insert.text, single, false],
      ['answers COMMIT late: whether the transaction is stored is unknown', 'COMMIT', inTransaction, false],
      ['is in the middle of a transaction, which is not committed there', insert.text, inTransaction, true],
    ])('has replaced one that %s', async (_, text, work, isNothingWritten) => {
      const { opened, reached, answer, failOver } = await awaitingAnswerOf(text)
      const late = rejectionOf(work(opened))
      await reached
      await failOver()
      answer()
      const error = await late
      expect([isNotWritten(error), isOutcomeUnknown(error)]).toEqual([isNothingWritten, !isNothingWritten])
      if (isNothingWritten) expect(await notes()).toEqual([])
    })

    it('has replaced one whose idle connections are not used again', async () => {
      let timeline = '00000001'
      const { opened } = await sessionWith(() => timeline)
      const [old, other] = [await opened.reserve(), await opened.reserve()]
      const pids = [old, other].map(
        ({ client }) => (client as unknown as pg.Client & { processID: number }).processID,
      )
      old.release()
      other.release()
      const held = [await opened.reserve(), await opened.reserve()]
      timeline = '00000002'
      await rejectionOf(opened.query(pid, []))
      for (const connection of held) connection.release()
      const [row] = await opened.query<{ pid: number }>(pid, [])
      expect(pids).not.toContain(row!.pid)
    })

    it('is not used while it is a standby, and is another one once it is promoted', async () => {
      let timeline = '00000001'
      const { opened, replacements, asked } = await sessionWith(() => timeline)
      const held = await opened.reserve()
      timeline = ''
      const waiting = rejectionOf(opened.query(pid, []))
      await expect.poll(asked).toBeGreaterThan(2)
      expect(replacements()).toBe(0)
      timeline = '00000002'
      expect(isNotWritten(await waiting)).toBe(true)
      expect([opened.timeline, replacements()]).toEqual(['00000002', 1])
      held.release()
    })
  })

  describe('a channel subscription', () => {
    it('receives messages until it is stopped', async () => {
      const opened = await session()
      const received: string[] = []
      const subscription = await opened.listen('news', {
        onMessage: (payload) => received.push(payload),
        onLost: () => received.push('lost'),
      })
      const notify = { name: 'notify', text: "select pg_notify('news', $1)" }
      await opened.query(notify, ['one'])
      await expect.poll(() => received).toEqual(['one'])
      expect(await subscription.query({ name: '', text: 'select 1' }, [])).toHaveLength(1)
      await subscription.stop()
      await opened.query(notify, ['two'])
      await opened.query({ name: 'nap', text: 'select pg_sleep(0.02)' }, [])
      await subscription.stop()
      expect(received).toEqual(['one'])
    })

    it('is lost once, with its connection', async () => {
      const opened = await session()
      let losses = 0
      await opened.listen('news', { onMessage: () => {}, onLost: () => (losses += 1) })
      proxy.cutAll()
      await expect.poll(() => losses).toBe(1)
    })

    it('is lost when the server does not answer a query', async () => {
      const opened = await session({ answerWithinMs: 200 })
      let losses = 0
      const subscription = await opened.listen('news', { onMessage: () => {}, onLost: () => (losses += 1) })
      proxy.stall()
      await rejectionOf(subscription.query({ name: '', text: 'select 1' }, []))
      expect(losses).toBe(1)
      await subscription.stop()
    })
  })
})
