import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { HookswitchError, isNotWritten, type TokenRow } from 'hookswitch/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import type { Engine } from '../../../adapters/storage/sqlite/engine.js'
import { createGroupCommit } from '../../../adapters/storage/sqlite/group-commit.js'
import { openDatabase } from '../../../adapters/storage/sqlite/open.js'
import { configureConnection, enableWal } from '../../../adapters/storage/sqlite/pragmas.js'
import type { RpcRequest, RpcResult } from '../../../adapters/storage/sqlite/rpc-methods.js'
import { deserializeError, serializeError } from '../../../adapters/storage/sqlite/serialized-error.js'
import { createFolder } from './sqlite-harness.js'

const { DatabaseSync } = loadDriver()
let folder: string
let db: SqliteHandle
let otherConnection: SqliteHandle

beforeEach(() => {
  folder = createFolder()
  db = new DatabaseSync(join(folder, 'db'))
  configureConnection(db)
  enableWal(db, 'db')
  db.exec('CREATE TABLE hookswitch_note (name TEXT UNIQUE)')
  otherConnection = new DatabaseSync(join(folder, 'db'))
})
afterEach(() => {
  db.close()
  otherConnection.close()
  rmSync(folder, { recursive: true, force: true })
})

const row = (hash: string): TokenRow => ({ hash }) as TokenRow
const write = (name: string): RpcRequest => ({ port: 'tokens', method: 'issue', args: [row(name)] })
const read: RpcRequest = { port: 'tokens', method: 'read', args: ['first'] }
const scrub: RpcRequest = { port: 'deliveries', method: 'scrub', args: [] }

/** An engine with one table that records its calls. */
function setUp() {
  const events: string[] = []
  const owner = { isLost: false }
  const engine = {
    tokens: {
      issue({ hash }: TokenRow) {
        if (hash === 'refused') throw new HookswitchError('Conflict', 'refused')
        db.prepare('INSERT INTO hookswitch_note VALUES (?)').run(hash)
        if (hash === 'broken') throw new TypeError('a bug in the engine')
        return undefined
      },
      read: (hash: string) => db.prepare('SELECT name FROM hookswitch_note WHERE name = ?').get(hash),
    },
    deliveries: { scrub: () => events.push(db.isTransaction ? 'scrub inside' : 'scrub outside') },
    committed: () => events.push('committed'),
    rolledBack: () => events.push(db.isTransaction ? 'rolled back too early' : 'rolled back'),
  }
  const run = createGroupCommit({
    db,
    engine: engine as unknown as Engine,
    path: '/data/db',
    busyTimeoutMs: 1,
    assertOwner: () => {
      if (owner.isLost) throw new HookswitchError('StoreCorrupt', 'x-owner was removed')
    },
  })
  return { run, events, owner }
}

const names = () =>
  (
    otherConnection.prepare('SELECT name FROM hookswitch_note ORDER BY rowid').all() as { name: string }[]
  ).map((note) => note.name)
const codes = (results: readonly (RpcResult | undefined)[]) =>
  results.map((result) =>
    result === undefined ? 'deferred' : 'error' in result ? result.error.code : 'done',
  )

describe('a database that is open', () => {
  it('waits for its time limit while another connection writes', () => {
    const path = join(folder, 'x.db')
    const database = openDatabase({ path, field: 'path' }, () => {}, 100)
    const other = new DatabaseSync(path)
    try {
      other.exec('BEGIN IMMEDIATE')
      const startMs = performance.now()
      const results = database.run([{ port: 'accounts', method: 'remove', args: ['a'] }], false)
      expect(codes(results)).toEqual(['StoreUnavailable'])
      expect(performance.now() - startMs).toBeGreaterThan(90)
    } finally {
      other.close()
      database.close()
    }
  })
})

describe('a group of requests', () => {
  it('is one atomic transaction', () => {
    const { run, events } = setUp()
    const seen: string[][] = []
    const runObserved = createGroupCommit({
      db,
      engine: {
        tokens: {
          issue: ({ hash }: TokenRow) => {
            db.prepare('INSERT INTO hookswitch_note VALUES (?)').run(hash)
            seen.push(names())
          },
        },
        committed() {},
      } as unknown as Engine,
      path: 'db',
      busyTimeoutMs: 1,
      assertOwner() {},
    })
    expect(codes(runObserved([write('a'), write('b')], false))).toEqual(['done', 'done'])
    expect([seen, names()]).toEqual([
      [[], []],
      ['a', 'b'],
    ])
    run([write('c')], false)
    expect(events).toEqual(['committed'])
  })

  it('is not written once another process may own the file; reads still run', () => {
    const { run, owner } = setUp()
    expect(codes(run([write('first')], false))).toEqual(['done'])
    owner.isLost = true
    expect(codes(run([write('a'), read, write('b')], true))).toEqual(['StoreCorrupt', 'done', 'StoreCorrupt'])
    expect(names()).toEqual(['first'])
  })

  it('commits the other requests when one is refused', () => {
    const { run, events } = setUp()
    expect(codes(run([write('a'), write('refused'), write('b')], false))).toEqual([
      'done',
      'Conflict',
      'done',
    ])
    expect(names()).toEqual(['a', 'b'])
    expect(events).toEqual(['committed'])
  })

  it('is rolled back after any other error, and each request is retried on its own', () => {
    const { run, events } = setUp()
    const results = run([write('a'), write('broken'), write('a'), write('refused'), read], false)
    expect(codes(results)).toEqual(['done', 'StoreUnavailable', 'InvalidInput', 'Conflict', 'done'])
    expect(names()).toEqual(['a'])
    expect(events).toEqual([
      'rolled back',
      'committed',
      'rolled back',
      'rolled back',
      'committed',
      'committed',
    ])
    const [, broken] = results as readonly { error: HookswitchError }[]
    expect(broken!.error).toMatchObject({ retryAfterSeconds: 1, cause: expect.any(TypeError) })
    expect(broken!.error.message).toContain('/data/db')
  })

  it('whose disk is full says that nothing was written, to another thread too', () => {
    const { run } = setUp()
    const { page_count: pages } = db.prepare('PRAGMA page_count').get() as { page_count: number }
    db.exec(`PRAGMA max_page_count = ${pages}`)
    const [result] = run([write('x'.repeat(100_000))], false) as readonly [{ error: HookswitchError }]
    expect(result.error.message).toBe('/data/db cannot grow: its disk is full')
    expect(isNotWritten(result.error)).toBe(true)
    expect(isNotWritten(deserializeError(structuredClone(serializeError(result.error))))).toBe(true)
    const other = new HookswitchError('StoreUnavailable', 'the thread has ended')
    expect(isNotWritten(deserializeError(structuredClone(serializeError(other))))).toBe(false)
    expect(names()).toEqual([])
  })

  it('that only reads does not wait for a writing connection', () => {
    const { run } = setUp()
    otherConnection.exec('BEGIN IMMEDIATE')
    expect(codes(run([read, read], false))).toEqual(['done', 'done'])
    otherConnection.exec('COMMIT')
  })

  it('answers reads and defers or rejects writes while another connection writes', () => {
    const { run } = setUp()
    otherConnection.exec("BEGIN IMMEDIATE; INSERT INTO hookswitch_note VALUES ('theirs')")
    expect(codes(run([write('a'), read, write('b')], true))).toEqual(['deferred', 'done', 'deferred'])
    const refused = run([write('a'), read], false)
    expect(codes(refused)).toEqual(['StoreUnavailable', 'done'])
    expect((refused[0] as { error: HookswitchError }).error.message).toBe(
      '/data/db is locked by another connection; end its transaction',
    )
    otherConnection.exec('COMMIT')
    expect(codes(run([write('a')], true))).toEqual(['done'])
    expect(names()).toEqual(['theirs', 'a'])
  })

  it('runs a request that needs no transaction outside any, in order', () => {
    const { run, events } = setUp()
    expect(codes(run([write('a'), read, scrub, scrub, write('b')], false))).toEqual(Array(5).fill('done'))
    expect(events).toEqual(['committed', 'scrub outside', 'scrub outside', 'committed'])
  })

  it('reports a missing table as damage', () => {
    const { run } = setUp()
    db.exec('DROP TABLE hookswitch_note')
    expect(codes(run([read], false))).toEqual(['StoreCorrupt'])
  })
})
