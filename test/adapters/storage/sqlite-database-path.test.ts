import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteStore } from 'hookswitch/sqlite'
import { describe, expect, it } from 'vitest'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { newToken } from '../../../src/testkit/conformance/sample-data.js'
import { contentsOf, openStore, recordingLog, rejectionOf, temporaryFolder } from './sqlite-harness.js'

const { DatabaseSync } = loadDriver()
const open = (path: string) =>
  sqliteStore({ path, inThread: true }).open({ clock: {} as never, log: recordingLog() })

/** Runs SQL on a file through a separate connection. */
function runSql(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

describe('a path that cannot be used', () => {
  const PATHS: readonly [string, string, (folder: string) => string, RegExp][] = [
    [
      'in a folder that does not exist',
      'InvalidOption',
      (folder) => join(folder, 'no', 'x.db'),
      /create it first: /,
    ],
    [
      'in a file instead of a folder',
      'InvalidOption',
      (folder) => {
        writeFileSync(join(folder, 'file'), 'x')
        return join(folder, 'file', 'x.db')
      },
      /create it first: /,
    ],
    [
      'of a folder',
      'InvalidOption',
      (folder) => {
        mkdirSync(join(folder, 'x.db'))
        return join(folder, 'x.db')
      },
      /must name a file, this is a folder/,
    ],
    ['of a device', 'InvalidOption', () => '/dev/null', /this is a device/],
    [
      'of a text file',
      'InvalidOption',
      (folder) => {
        writeFileSync(join(folder, 'x.db'), 'a letter to somebody\n'.repeat(500))
        return join(folder, 'x.db')
      },
      /is not an SQLite database, but a file of another program, or its beginning is damaged/,
    ],
    [
      'of a database with tables of another program',
      'InvalidOption',
      (folder) => {
        runSql(join(folder, 'x.db'), 'CREATE TABLE invoice (id); INSERT INTO invoice VALUES (1)')
        return join(folder, 'x.db')
      },
      /is a database of another program/,
    ],
    [
      "of a database with another program's application_id",
      'InvalidOption',
      (folder) => {
        runSql(join(folder, 'x.db'), 'PRAGMA application_id = 252006675')
        return join(folder, 'x.db')
      },
      /is a database of another program/,
    ],
    [
      'of a missing database beside its write-ahead log',
      'StoreCorrupt',
      (folder) => {
        writeFileSync(join(folder, 'x.db-wal'), 'frames')
        return join(folder, 'x.db')
      },
      /it is missing, but x\.db-wal is not\): restore both from a backup, or remove x\.db-wal to start with an empty/,
    ],
    [
      'of an empty database beside its write-ahead log',
      'StoreCorrupt',
      (folder) => {
        writeFileSync(join(folder, 'x.db'), '')
        writeFileSync(join(folder, 'x.db-wal'), 'frames')
        return join(folder, 'x.db')
      },
      /it is empty, but x\.db-wal is not/,
    ],
    [
      'whose lock file is not one',
      'StoreCorrupt',
      (folder) => {
        writeFileSync(join(folder, 'x.db-owner'), 'something else\n'.repeat(100))
        return join(folder, 'x.db')
      },
      /x\.db-owner is damaged\. It contains only a lock: remove it/,
    ],
  ]
  it.each(PATHS)('%s is rejected with one sentence and not changed', async (_, code, prepare, sentence) => {
    const folder = temporaryFolder()
    const path = prepare(folder)
    const before = contentsOf(folder)
    for (let round = 0; round < 2; round += 1) {
      const error = await rejectionOf(open(path))
      expect(error).toMatchObject({ code, ...(code === 'InvalidOption' ? { field: 'path' } : {}) })
      expect(error.message).toMatch(sentence)
      expect(error.message).not.toContain('\n')
      expect(contentsOf(folder)).toEqual(before)
    }
  })

  it('of a database of a newer version is rejected, and the file not changed', async () => {
    const path = join(temporaryFolder(), 'x.db')
    await (await openStore(sqliteStore({ path, inThread: true }))).close()
    runSql(path, "UPDATE hookswitch_meta SET value = 999 WHERE name = 'schema'")
    const before = contentsOf(join(path, '..'))
    const error = await rejectionOf(open(path))
    expect(error).toMatchObject({ code: 'InvalidOption', field: 'path' })
    expect(error.message).toContain('newer hookswitch')
    expect(contentsOf(join(path, '..'))).toEqual(before)
  })
})

describe('a path that can be used', () => {
  it('may name a file that is empty, or without any table', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'empty.db'), '')
    runSql(join(folder, 'bare.db'), 'PRAGMA journal_mode = WAL')
    await openStore(sqliteStore({ path: join(folder, 'empty.db'), inThread: true }))
    await openStore(sqliteStore({ path: join(folder, 'bare.db'), inThread: true }))
  })

  it.skipIf(process.platform === 'win32')(
    'gets a database and log files that only their owner can read',
    async () => {
      const folder = temporaryFolder()
      const store = await openStore(sqliteStore({ path: join(folder, 'x.db'), inThread: true }))
      await store.tokens.issue(newToken('account'))
      for (const name of ['x.db', 'x.db-wal', 'x.db-shm']) {
        expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
      }
      await store.close()
    },
  )

  it('is locked under every name of the file, symbolic links included', async () => {
    const folder = temporaryFolder()
    const token = newToken('account')
    const first = await openStore(sqliteStore({ path: join(folder, 'x.db'), inThread: true }))
    await first.tokens.issue(token)
    symlinkSync(join(folder, 'x.db'), join(folder, 'link.db'))
    symlinkSync(folder, join(folder, 'self'))
    for (const path of ['link.db', 'self/x.db', './self/../x.db']) {
      const error = await rejectionOf(open(join(folder, path)))
      expect(error).toMatchObject({ code: 'StoreUnavailable', retryAfterSeconds: 1 })
      expect(error.message).toMatch(/is in use by another process, or by another store in this process/)
    }
    await first.close()
    const second = await openStore(sqliteStore({ path: join(folder, 'link.db'), inThread: true }))
    expect(await second.tokens.read(token.hash)).toEqual(token)
  })
})
