import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { HookswitchError, type TokenRow } from 'hookswitch/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Call, Outcome } from '../../../adapters/storage/sqlite/call.js'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import type { Engine } from '../../../adapters/storage/sqlite/engine.js'
import { groupRunner } from '../../../adapters/storage/sqlite/group.js'
import { settleConnection, useLog } from '../../../adapters/storage/sqlite/pragmas.js'
import { gatheredWakeUps } from '../../../adapters/storage/sqlite/wake-ups.js'
import { newFolder } from './sqlite-bench.js'

const { DatabaseSync } = loadDriver()
let folder: string
let db: SqliteHandle
let stranger: SqliteHandle

beforeEach(() => {
  folder = newFolder()
  db = new DatabaseSync(join(folder, 'db'))
  settleConnection(db)
  useLog(db, 'db')
  db.exec('CREATE TABLE note (name TEXT UNIQUE)')
  stranger = new DatabaseSync(join(folder, 'db'))
})
afterEach(() => {
  db.close()
  stranger.close()
  rmSync(folder, { recursive: true, force: true })
})

const row = (hash: string): TokenRow => ({ hash }) as TokenRow
const write = (name: string): Call => ({ door: 'tokens', method: 'issue', args: [row(name)] })
const read: Call = { door: 'tokens', method: 'read', args: ['first'] }
const scrub: Call = { door: 'deliveries', method: 'scrub', args: [] }

/** An engine of one table, that tells what it is told. */
function bench() {
  const wakeUps = gatheredWakeUps()
  const told: string[] = []
  const engine = {
    tokens: {
      issue({ hash }: TokenRow) {
        if (hash === 'refused') throw new HookswitchError('Conflict', 'refused')
        db.prepare('INSERT INTO note VALUES (?)').run(hash)
        wakeUps.gather(hash === 'silent' ? [] : undefined)
        if (hash === 'broken') throw new TypeError('a fault of the engine')
        return undefined
      },
      read: (hash: string) => db.prepare('SELECT name FROM note WHERE name = ?').get(hash),
    },
    deliveries: { scrub: () => told.push(db.isTransaction ? 'scrub inside' : 'scrub outside') },
    committed: () => told.push('committed'),
    rolledBack: () => told.push(db.isTransaction ? 'rolled back too early' : 'rolled back'),
  }
  const run = groupRunner({ db, engine: engine as unknown as Engine, wakeUps, path: '/data/db', waitMs: 1 })
  return { run, told, wakeUps }
}

const names = () =>
  (stranger.prepare('SELECT name FROM note ORDER BY rowid').all() as { name: string }[]).map(
    (one) => one.name,
  )
const codes = (outcomes: readonly (Outcome | undefined)[]) =>
  outcomes.map((one) => (one === undefined ? 'later' : 'failure' in one ? one.failure.code : 'done'))

describe('a group of calls', () => {
  it('is one transaction, of which nobody sees a part', () => {
    const { run, told } = bench()
    const seen: string[][] = []
    const watched = groupRunner({
      db,
      engine: {
        tokens: {
          issue: ({ hash }: TokenRow) => {
            db.prepare('INSERT INTO note VALUES (?)').run(hash)
            seen.push(names())
          },
        },
        committed() {},
      } as unknown as Engine,
      wakeUps: gatheredWakeUps(),
      path: 'db',
      waitMs: 1,
    })
    expect(codes(watched([write('a'), write('b')], false))).toEqual(['done', 'done'])
    expect([seen, names()]).toEqual([
      [[], []],
      ['a', 'b'],
    ])
    run([write('c')], false)
    expect(told).toEqual(['committed'])
  })

  it('keeps what one refused call did not write, and everything of the others', () => {
    const { run, told, wakeUps } = bench()
    expect(codes(run([write('a'), write('refused'), write('b')], false))).toEqual([
      'done',
      'Conflict',
      'done',
    ])
    expect(names()).toEqual(['a', 'b'])
    expect([told, wakeUps.take()]).toEqual([['committed'], [undefined, undefined]])
    expect(wakeUps.take()).toEqual([])
  })

  it('is undone whole by any other error, and each call is tried alone', () => {
    const { run, told, wakeUps } = bench()
    const outcomes = run([write('a'), write('broken'), write('a'), write('refused'), read], false)
    expect(codes(outcomes)).toEqual(['done', 'StoreUnavailable', 'StoreUnavailable', 'Conflict', 'done'])
    expect(names()).toEqual(['a'])
    expect(told).toEqual(['rolled back', 'committed', 'rolled back', 'rolled back', 'committed', 'committed'])
    expect(wakeUps.take()).toEqual([undefined])
    const [, broken] = outcomes as { failure: HookswitchError }[]
    expect(broken!.failure).toMatchObject({ retryAfterSeconds: 1, cause: expect.any(TypeError) })
    expect(broken!.failure.message).toContain('/data/db')
  })

  it('tells of nothing that became ready, where nothing did', () => {
    const { run, wakeUps } = bench()
    run([write('silent')], false)
    expect(wakeUps.take()).toEqual([])
  })

  it('waits for nobody where it only reads', () => {
    const { run } = bench()
    stranger.exec('BEGIN IMMEDIATE')
    expect(codes(run([read, read], false))).toEqual(['done', 'done'])
    stranger.exec('COMMIT')
  })

  it('while another connection writes: the calls that read are answered, the others put off, or refused in words', () => {
    const { run } = bench()
    stranger.exec("BEGIN IMMEDIATE; INSERT INTO note VALUES ('theirs')")
    expect(codes(run([write('a'), read, write('b')], true))).toEqual(['later', 'done', 'later'])
    const refused = run([write('a'), read], false)
    expect(codes(refused)).toEqual(['StoreUnavailable', 'done'])
    expect((refused[0] as { failure: HookswitchError }).failure.message).toBe(
      '/data/db is locked by another connection; end its transaction',
    )
    stranger.exec('COMMIT')
    expect(codes(run([write('a')], true))).toEqual(['done'])
    expect(names()).toEqual(['theirs', 'a'])
  })

  it('leaves what stands alone outside of any transaction, in its place', () => {
    const { run, told } = bench()
    expect(codes(run([write('a'), read, scrub, scrub, write('b')], false))).toEqual(Array(5).fill('done'))
    expect(told).toEqual(['committed', 'scrub outside', 'scrub outside', 'committed'])
  })

  it('says that the database is damaged where SQLite says so, or a table of ours is gone', () => {
    const { run } = bench()
    db.exec('DROP TABLE note')
    expect(codes(run([read], false))).toEqual(['StoreCorrupt'])
  })
})
