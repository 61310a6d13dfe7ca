import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteStore } from 'hookswitch/sqlite'
import { describe, expect, it } from 'vitest'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { newToken } from '../../../src/store/conformance/fixtures.js'
import { contentsOf, errorOf, freshFolder, notedLog, opened } from './sqlite-bench.js'

const { DatabaseSync } = loadDriver()
const open = (path: string) =>
  sqliteStore({ path, inThread: true }).open({ clock: {} as never, log: notedLog() })

/** Runs SQL on a file of somebody else. */
function strange(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

describe('a place where there can be no database', () => {
  const PLACES: readonly [string, string, (folder: string) => string, RegExp][] = [
    [
      'a folder that is not there',
      'InvalidOption',
      (folder) => join(folder, 'no', 'x.db'),
      /create it first: /,
    ],
    [
      'a folder that is a file',
      'InvalidOption',
      (folder) => {
        writeFileSync(join(folder, 'file'), 'x')
        return join(folder, 'file', 'x.db')
      },
      /create it first: /,
    ],
    [
      'a folder instead of a file',
      'InvalidOption',
      (folder) => {
        mkdirSync(join(folder, 'x.db'))
        return join(folder, 'x.db')
      },
      /must name a file, this is a folder/,
    ],
    ['a device', 'InvalidOption', () => '/dev/null', /this is a device/],
    [
      'a text file',
      'InvalidOption',
      (folder) => {
        writeFileSync(join(folder, 'x.db'), 'a letter to somebody\n'.repeat(500))
        return join(folder, 'x.db')
      },
      /is no SQLite database, but a file of another program, or its beginning is damaged/,
    ],
    [
      'a database of another program, by its tables',
      'InvalidOption',
      (folder) => {
        strange(join(folder, 'x.db'), 'CREATE TABLE invoice (id); INSERT INTO invoice VALUES (1)')
        return join(folder, 'x.db')
      },
      /is a database of another program/,
    ],
    [
      'a database of another program, by its application_id',
      'InvalidOption',
      (folder) => {
        strange(join(folder, 'x.db'), 'PRAGMA application_id = 252006675')
        return join(folder, 'x.db')
      },
      /is a database of another program/,
    ],
    [
      'a log without its database',
      'StoreCorrupt',
      (folder) => {
        writeFileSync(join(folder, 'x.db-wal'), 'frames')
        return join(folder, 'x.db')
      },
      /it is gone, but not its x\.db-wal; or remove that one too to start anew/,
    ],
    [
      'a log beside an empty database',
      'StoreCorrupt',
      (folder) => {
        writeFileSync(join(folder, 'x.db'), '')
        writeFileSync(join(folder, 'x.db-wal'), 'frames')
        return join(folder, 'x.db')
      },
      /it is empty, but not its x\.db-wal/,
    ],
    [
      'a lock that is none',
      'StoreCorrupt',
      (folder) => {
        writeFileSync(join(folder, 'x.db-owner'), 'something else\n'.repeat(100))
        return join(folder, 'x.db')
      },
      /x\.db-owner is damaged\. It holds nothing but a lock: remove it/,
    ],
  ]
  it.each(PLACES)('%s is refused in one sentence, and left as it is', async (_, code, prepare, sentence) => {
    const folder = freshFolder()
    const path = prepare(folder)
    const before = contentsOf(folder)
    for (let round = 0; round < 2; round += 1) {
      const error = await errorOf(open(path))
      expect(error).toMatchObject({ code, ...(code === 'InvalidOption' ? { field: 'path' } : {}) })
      expect(error.message).toMatch(sentence)
      expect(error.message).not.toContain('\n')
      expect(contentsOf(folder)).toEqual(before)
    }
  })

  it('a database of a newer version is refused, and left as it is', async () => {
    const path = join(freshFolder(), 'x.db')
    await (await opened(sqliteStore({ path, inThread: true }))).close()
    strange(path, "UPDATE hookswitch_meta SET value = 999 WHERE name = 'schema'")
    const before = contentsOf(join(path, '..'))
    const error = await errorOf(open(path))
    expect(error).toMatchObject({ code: 'InvalidOption', field: 'path' })
    expect(error.message).toContain('newer hookswitch')
    expect(contentsOf(join(path, '..'))).toEqual(before)
  })
})

describe('a place where a database can be', () => {
  it('is a file that is empty, or whose tables were never made', async () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'empty.db'), '')
    strange(join(folder, 'bare.db'), 'PRAGMA journal_mode = WAL')
    await opened(sqliteStore({ path: join(folder, 'empty.db'), inThread: true }))
    await opened(sqliteStore({ path: join(folder, 'bare.db'), inThread: true }))
  })

  it.skipIf(process.platform === 'win32')(
    'is made for its owner alone, with all that lies beside it',
    async () => {
      const folder = freshFolder()
      const store = await opened(sqliteStore({ path: join(folder, 'x.db'), inThread: true }))
      await store.tokens.issue(newToken('account'))
      for (const name of ['x.db', 'x.db-wal', 'x.db-shm']) {
        expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
      }
      await store.close()
    },
  )

  it('is the same behind a link: there is one owner', async () => {
    const folder = freshFolder()
    const token = newToken('account')
    const first = await opened(sqliteStore({ path: join(folder, 'x.db'), inThread: true }))
    await first.tokens.issue(token)
    symlinkSync(join(folder, 'x.db'), join(folder, 'link.db'))
    symlinkSync(folder, join(folder, 'self'))
    for (const path of ['link.db', 'self/x.db', './self/../x.db']) {
      const error = await errorOf(open(join(folder, path)))
      expect(error).toMatchObject({ code: 'StoreUnavailable', retryAfterSeconds: 1 })
      expect(error.message).toMatch(/is in use by another process, or by another store of this one/)
    }
    await first.close()
    const second = await opened(sqliteStore({ path: join(folder, 'link.db'), inThread: true }))
    expect(await second.tokens.read(token.hash)).toEqual(token)
  })
})
