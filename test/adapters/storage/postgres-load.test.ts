import { join } from 'node:path'
import { moveToPostgres, postgresStore } from 'hookswitch/postgres'
import { sqliteSource } from 'hookswitch/sqlite'
import type { Move, MovedRows, MoveSource } from 'hookswitch/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/clock.js'
import { newAccount, newApiKey, newRecord, newWebhook } from '../../../src/store/conformance/fixtures.js'
import { log, SMALL, smallFile } from './move-world.js'
import { privatePostgres } from './pg-cluster.js'
import { errorOf, freshFolder } from './sqlite-bench.js'
import { type TcpProxy, tcpProxy } from './tcp-proxy.js'

const server = await privatePostgres()
let proxy: TcpProxy
let schema: string
beforeAll(async () => {
  if (server) proxy = await tcpProxy({ port: server.port })
})
afterAll(async () => {
  await proxy?.close()
  await server?.end()
})
beforeEach(() => {
  schema = server?.freshSchema() ?? ''
})

const move = (source: MoveSource) =>
  moveToPostgres(source, { connectionString: server!.urlOf({ port: proxy.port }), schema })
const rowsOf = async (table: string) =>
  (await server!.sql(`select count(*)::int as rows from "${schema}".${table}`))[0]!.rows

/** A source of these rows, which notes what it is told. */
function sourceOf(batches: readonly MovedRows[], begun?: Move): MoveSource & { readonly said: string[] } {
  const said: string[] = []
  return {
    said,
    name: 'a source',
    lastPosition: 1_000,
    begun,
    rows: () => batches,
    begin: () => void said.push('begin'),
    end: () => void said.push('end'),
    abandon: () => void said.push('abandon'),
    close: () => void said.push('close'),
  }
}
async function file(): Promise<string> {
  const path = join(freshFolder(), 'x.db')
  await smallFile(path)
  return path
}
function held(path: string): MoveSource {
  const source = sqliteSource({ path })
  onTestFinished(source.close)
  return source
}

describe.skipIf(!server)('a move into PostgreSQL', () => {
  it('tells its source before and after the commit', async () => {
    const source = sourceOf([{ kind: 'accounts', rows: [newAccount()] }])
    expect(await move(source)).toEqual({ accounts: 1 })
    expect(source.said).toEqual(['begin', 'end'])
  })

  it('leaves figures for the planner, and positions that go on behind those of the source', async () => {
    await move(held(await file()))
    const [row] = await server!.sql(`select reltuples::int as rows from pg_class
      where oid = '"${schema}".delivery'::regclass`)
    expect(row).toEqual({ rows: SMALL.deliveries })
    const [next] = await server!.sql(`select nextval('"${schema}".position')::int as position,
      (select max(position)::int from "${schema}".delivery) as last`)
    expect(next!.position).toBeGreaterThan(next!.last as number)
  })

  const webhook = newWebhook({ accountId: 'acme' })
  const record = newRecord({ id: 'd', accountId: 'acme', webhookId: 'nowhere', eventId: 'e' } as never)
  it.each<readonly [string, MovedRows[], RegExp]>([
    [
      'a record of no webhook',
      [{ kind: 'attempts', rows: [{ position: 1, record }] }],
      /some are of no webhook/,
    ],
    [
      'a webhook twice',
      [1, 2].map(() => ({ kind: 'webhooks', rows: [webhook] })),
      /of webhook it has one twice/,
    ],
  ])('that comes upon %s writes nothing, and gives its source back', async (_, batches, sentence) => {
    const source = sourceOf([{ kind: 'accounts', rows: [newAccount()] }, ...batches])
    const thrown = await errorOf(move(source))
    expect(thrown).toMatchObject({ code: 'StoreCorrupt', message: expect.stringMatching(sentence) })
    expect(thrown.message).toMatch(/^a source is damaged: /)
    expect(source.said).toEqual(['abandon'])
    expect(await rowsOf('account')).toBe(0)
  })

  it('whose source fails in the middle writes nothing', async () => {
    const source = sourceOf([])
    const failing: MoveSource = {
      ...source,
      *rows() {
        yield { kind: 'accounts', rows: [newAccount()] }
        throw new Error('the disk is gone')
      },
    }
    expect(await errorOf(move(failing))).toMatchObject({ message: 'the disk is gone' })
    expect([source.said, await rowsOf('account')]).toEqual([['abandon'], 0])
  })

  it('cut off while it writes gives the file back; then it is moved', async () => {
    const path = await file()
    const first = held(path)
    const cut = proxy.cutAt('insert into', 'before')
    expect(await errorOf(move(first))).toMatchObject({ code: 'StoreUnavailable' })
    await cut
    first.close()
    const second = held(path)
    expect(second.begun).toBeUndefined()
    expect(await move(second)).toEqual(SMALL)
  })

  it.each(['before', 'answering'] as const)(
    'cut off at its commit (%s) says so, and finds out the next time',
    async (when) => {
      const path = await file()
      const first = held(path)
      let cut: Promise<void> | undefined
      const seen: MoveSource = {
        ...first,
        begin(move) {
          first.begin(move)
          // Those of the schema and of the announcement came before.
          cut = proxy.cutAt('COMMIT\0', when)
        },
      }
      const thrown = await errorOf(move(seen))
      await cut
      expect(thrown.message).toMatch(
        /while the move was written: move again, which finds out whether it was$/,
      )
      first.close()
      const second = held(path)
      expect(second.begun).toMatchObject({ to: expect.stringContaining(`(schema ${schema})`) })
      expect(await move(second)).toEqual(SMALL)
      expect(await rowsOf('delivery')).toBe(SMALL.deliveries)
      second.close()
      expect(() => sqliteSource({ path })).toThrow(/was moved to/)
    },
  )

  it('is refused where something is, and by a place that it was not begun at', async () => {
    const store = postgresStore({ connectionString: server!.url, schema })
    await store.open({ clock: systemClock(), log })
    const account = newAccount({ id: 'here' })
    await store.accounts.insert(account, newApiKey('here'), [])
    await store.close()
    const source = sourceOf([])
    expect(await errorOf(move(source))).toMatchObject({ code: 'InvalidOption', field: 'schema' })
    schema = server!.freshSchema()
    const begun = sourceOf([], { id: 'elsewhere', to: 'another place' })
    const thrown = await errorOf(move(begun))
    expect(thrown).toMatchObject({ code: 'InvalidOption', field: 'connectionString' })
    expect(thrown.message).toMatch(/^a move to another place was begun, and may be complete: /)
    expect([source.said, begun.said]).toEqual([[], []])
  })

  it('takes no pool, and no option that it does not know', async () => {
    const options = [{ pool: {} }, { connectionString: server!.url, told: 1 }]
    for (const wrong of options) {
      const thrown = await errorOf(moveToPostgres(sourceOf([]), wrong as never))
      expect(thrown).toMatchObject({ code: 'InvalidOption' })
    }
  })
})
