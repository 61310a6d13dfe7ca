import { join } from 'node:path'
import { migrateToPostgres, postgresStore } from 'hookswitch/postgres'
import { sqliteExportSource } from 'hookswitch/sqlite'
import type { ExportedRows, ExportSource, StoreExport } from 'hookswitch/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import {
  newAccount,
  newApiKey,
  newDelivery,
  newEvent,
  newRecord,
  newWebhook,
} from '../../../src/testkit/conformance/sample-data.js'
import { createSmallFile, log, SMALL_COUNTS } from './migrate-harness.js'
import { localPostgres } from './pg-cluster.js'
import { rejectionOf, temporaryFolder } from './sqlite-harness.js'
import { type TcpProxy, tcpProxy } from './tcp-proxy.js'

const server = await localPostgres()
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

const move = (source: ExportSource) =>
  migrateToPostgres(source, { connectionString: server!.urlOf({ port: proxy.port }), schema })
const rowCountOf = async (table: string) =>
  (await server!.sql(`select count(*)::int as rows from "${schema}".${table}`))[0]!.rows

/** A source with these rows, which records the calls of its methods. */
function sourceOf(
  batches: readonly ExportedRows[],
  begun?: StoreExport,
): ExportSource & { readonly calls: string[] } {
  const calls: string[] = []
  return {
    calls,
    name: 'a source',
    lastPosition: 1_000,
    pendingExport: begun,
    rows: () => batches,
    begin: () => void calls.push('begin'),
    end: () => void calls.push('end'),
    abandon: () => void calls.push('abandon'),
    close: () => void calls.push('close'),
  }
}
async function createFile(): Promise<string> {
  const path = join(temporaryFolder(), 'x.db')
  await createSmallFile(path)
  return path
}
function openSource(path: string): ExportSource {
  const source = sqliteExportSource({ path })
  onTestFinished(source.close)
  return source
}

describe.skipIf(!server)('a migration into PostgreSQL', () => {
  it('marks its source before and after the commit', async () => {
    const source = sourceOf([{ kind: 'accounts', rows: [newAccount()] }])
    expect(await move(source)).toEqual({ accounts: 1 })
    expect(source.calls).toEqual(['begin', 'end'])
  })

  it('leaves statistics for the planner, and continues after the positions of the source', async () => {
    await move(openSource(await createFile()))
    const [row] = await server!.sql(`select reltuples::int as rows from pg_class
      where oid = '"${schema}".waiting'::regclass`)
    expect(row).toEqual({ rows: SMALL_COUNTS.deliveries })
    const [next] = await server!.sql(`select nextval('"${schema}".position')::float8 as position,
      (select max(position)::float8 from "${schema}".waiting) as last`)
    expect(next!.position).toBeGreaterThan(next!.last as number)
  })

  const webhook = newWebhook({ accountId: 'acme' })
  const record = newRecord({ id: 'd', accountId: 'acme', webhookId: 'nowhere', eventId: 'e' } as never)
  it.each<readonly [string, ExportedRows[], RegExp]>([
    [
      'an attempt without a webhook',
      [{ kind: 'attempts', rows: [{ position: 1, record }] }],
      /rows of attempt have no webhook/,
    ],
    [
      'a webhook that occurs twice',
      [1, 2].map(() => ({ kind: 'webhooks', rows: [webhook] })),
      /a row of webhook occurs twice/,
    ],
  ])('with %s writes nothing and releases its source', async (_, batches, sentence) => {
    const source = sourceOf([{ kind: 'accounts', rows: [newAccount()] }, ...batches])
    const thrown = await rejectionOf(move(source))
    expect(thrown).toMatchObject({ code: 'StoreCorrupt', message: expect.stringMatching(sentence) })
    expect(thrown.message).toMatch(/^a source is damaged: /)
    expect(source.calls).toEqual(['abandon'])
    expect(await rowCountOf('account')).toBe(0)
  })

  it('keeps an attempt whose delivery and event are gone', async () => {
    const gone = newDelivery(webhook, newEvent({ accountId: 'acme', callId: 'call' }))
    const kept = newRecord({ ...gone, attempts: 0 } as never)
    await move(
      sourceOf([
        { kind: 'webhooks', rows: [webhook] },
        { kind: 'attempts', rows: [{ position: 5, record: kept }] },
      ]),
    )
    const store = postgresStore({ connectionString: server!.url, schema })
    await store.open({ clock: systemClock(), log })
    onTestFinished(() => store.close())
    const query = { accountId: 'acme', callIds: ['call'], limit: 9 }
    expect(await store.deliveries.attempts(query)).toMatchObject([{ ...kept, position: 5 }])
  })

  it('writes nothing when its source fails in the middle', async () => {
    const source = sourceOf([])
    const failing: ExportSource = {
      ...source,
      *rows() {
        yield { kind: 'accounts', rows: [newAccount()] }
        throw new Error('the disk is gone')
      },
    }
    expect(await rejectionOf(move(failing))).toMatchObject({ message: 'the disk is gone' })
    expect([source.calls, await rowCountOf('account')]).toEqual([['abandon'], 0])
  })

  it('releases the file when the connection is cut during a write, and succeeds the next time', async () => {
    const path = await createFile()
    const first = openSource(path)
    const cut = proxy.cutAt('insert into', 'before')
    expect(await rejectionOf(move(first))).toMatchObject({ code: 'StoreUnavailable' })
    await cut
    first.close()
    const second = openSource(path)
    expect(second.pendingExport).toBeUndefined()
    expect(await move(second)).toEqual(SMALL_COUNTS)
  })

  it.each(['before', 'answering'] as const)(
    'reports an unknown outcome when the connection is cut at its commit (%s), and resolves it the next time',
    async (when) => {
      const path = await createFile()
      const first = openSource(path)
      let cut: Promise<void> | undefined
      const seen: ExportSource = {
        ...first,
        begin(move) {
          first.begin(move)
          // After the commits of the schema and of the announcement.
          cut = proxy.cutAt('COMMIT\0', when)
        },
      }
      const thrown = await rejectionOf(move(seen))
      await cut
      expect(thrown.message).toMatch(
        /during the commit of the migration: repeat it to find out whether it is complete$/,
      )
      first.close()
      const second = openSource(path)
      expect(second.pendingExport).toMatchObject({ to: expect.stringContaining(`(schema ${schema})`) })
      expect(await move(second)).toEqual(SMALL_COUNTS)
      expect(await rowCountOf('waiting')).toBe(SMALL_COUNTS.deliveries)
      second.close()
      expect(() => sqliteExportSource({ path })).toThrow(/was moved to/)
    },
  )

  it('rejects a schema that is not empty, and a target where it was not begun', async () => {
    const store = postgresStore({ connectionString: server!.url, schema })
    await store.open({ clock: systemClock(), log })
    const account = newAccount({ id: 'here' })
    await store.accounts.insert(account, newApiKey('here'), [])
    await store.close()
    const source = sourceOf([])
    expect(await rejectionOf(move(source))).toMatchObject({ code: 'InvalidOption', field: 'schema' })
    schema = server!.freshSchema()
    const begun = sourceOf([], { id: 'elsewhere', to: 'another place' })
    const thrown = await rejectionOf(move(begun))
    expect(thrown).toMatchObject({ code: 'InvalidOption', field: 'connectionString' })
    expect(thrown.message).toMatch(/^a migration to another place was begun and may be complete: /)
    expect([source.calls, begun.calls]).toEqual([[], []])
  })

  it('rejects a pool and unknown options', async () => {
    const options = [{ pool: {} }, { connectionString: server!.url, colour: 'red' }]
    for (const wrong of options) {
      const thrown = await rejectionOf(migrateToPostgres(sourceOf([]), wrong as never))
      expect(thrown).toMatchObject({ code: 'InvalidOption' })
    }
  })
})
