import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { newToken } from '../../../src/testkit/conformance/sample-data.js'
import { builtSqlite, openStore, recordingLog, rejectionOf, temporaryFolder } from './sqlite-harness.js'

const { sqliteStore } = await builtSqlite()
const { DatabaseSync } = loadDriver()
const clock = { now: () => 1_000 } as never

function hostDatabase(path = join(temporaryFolder(), 'host.db')): SqliteHandle {
  const database = new DatabaseSync(path)
  onTestFinished(() => {
    try {
      database.close()
    } catch {
      // The test has closed it.
    }
  })
  return database
}
const readValue = (database: SqliteHandle, sql: string) =>
  Object.values(database.prepare(sql).get() as object)[0]
const entry = (id: string) => ({ id, accountId: 'account', event: '{}' })

describe("a store in the host's database", () => {
  it("does not change the host's tables, user_version and application_id", async () => {
    const database = hostDatabase()
    database.exec(
      'CREATE TABLE ticket (id TEXT NOT NULL); PRAGMA user_version = 7; PRAGMA application_id = 42',
    )
    database.exec("INSERT INTO ticket VALUES ('a')")
    const store = await openStore(sqliteStore({ database }))
    await store.tokens.issue(newToken('account'))
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").all()
    expect((names as { name: string }[]).filter(({ name }) => !name.startsWith('hookswitch_'))).toEqual([
      { name: 'ticket' },
    ])
    expect([
      readValue(database, 'PRAGMA user_version'),
      readValue(database, 'PRAGMA application_id'),
    ]).toEqual([7, 42])
    expect(readValue(database, 'PRAGMA journal_mode')).toBe('wal')
    expect(readValue(database, 'SELECT count(*) FROM ticket')).toBe(1)
    await store.close()
    expect(readValue(database, 'SELECT count(*) FROM hookswitch_token')).toBe(1)
  })

  it("sets a busy timeout on the host's handle only if it has none", async () => {
    const [without, withTimeout] = [hostDatabase(), hostDatabase()]
    withTimeout.exec('PRAGMA busy_timeout = 77')
    for (const database of [without, withTimeout]) await openStore(sqliteStore({ database }))
    const timeouts = [without, withTimeout].map((database) => readValue(database, 'PRAGMA busy_timeout'))
    expect(timeouts).toEqual([5_000, 77])
  })

  it("ignores rows of the host that violate the host's constraints", async () => {
    const database = hostDatabase()
    database.exec('CREATE TABLE ticket (id TEXT CHECK (id > 0)); PRAGMA ignore_check_constraints = ON')
    database.exec('INSERT INTO ticket VALUES (-1)')
    await (await openStore(sqliteStore({ database }))).close()
    await openStore(sqliteStore({ database }))
  })

  it('waits for a transaction of the host when it opens and when it writes, but not when it reads', async () => {
    const database = hostDatabase()
    const store = sqliteStore({ database })
    database.exec('BEGIN IMMEDIATE; CREATE TABLE ticket (id TEXT)')
    const opening = openStore(store)
    await new Promise((resolve) => setTimeout(resolve, 50))
    database.exec('COMMIT')
    await opening

    const tokens = Array.from({ length: 5 }, () => newToken('account'))
    database.exec("BEGIN IMMEDIATE; INSERT INTO ticket VALUES ('a')")
    let written = 0
    const writes = tokens.map(async (token) => {
      await store.tokens.issue(token)
      written += 1
    })
    // Like a host that reads inside its transaction.
    for (const token of tokens) expect(await store.tokens.read(token.hash)).toBeUndefined()
    expect(await store.accounts.list()).toEqual([])
    expect(written).toBe(0)
    database.exec('COMMIT')
    await Promise.all(writes)
    expect(await Promise.all(tokens.map((token) => store.tokens.read(token.hash)))).toEqual(tokens)
  })

  it('completes deferred writes before it closes', async () => {
    const database = hostDatabase()
    const store = await openStore(sqliteStore({ database }))
    const token = newToken('account')
    database.exec('BEGIN IMMEDIATE')
    const written = store.tokens.issue(token)
    await store.tokens.read(token.hash)
    const closed = store.close()
    database.exec('COMMIT')
    await Promise.all([written, closed])
    expect(readValue(database, 'SELECT hash FROM hookswitch_token')).toBe(token.hash)
  })

  it('takes entries while it is open, and only through that very handle', async () => {
    const path = join(temporaryFolder(), 'host.db')
    const database = hostDatabase(path)
    const store = sqliteStore({ database })
    const put = (tx: unknown) => () => store.inbox!.put(tx, [entry('a')])
    expect(put(database)).toThrow(expect.objectContaining({ code: 'StoreUnavailable' }))
    await openStore(store)
    expect(put(hostDatabase(path))).toThrow(expect.objectContaining({ code: 'InvalidOption', field: 'tx' }))
    database.exec('BEGIN')
    expect(put(database)()).toBeUndefined()
    database.exec('COMMIT')
    expect(readValue(database, 'SELECT count(*) FROM hookswitch_inbox')).toBe(1)
    await store.close()
    expect(put(database)).toThrow(expect.objectContaining({ code: 'StoreUnavailable' }))
  })

  it('has one owner, whether the file was opened by path or by handle', async () => {
    const path = join(temporaryFolder(), 'host.db')
    await openStore(sqliteStore({ database: hostDatabase(path) }))
    for (const options of [{ database: hostDatabase(path) }, { path }]) {
      const error = await rejectionOf(sqliteStore(options).open({ clock, log: recordingLog() }))
      expect(error.message).toContain('is in use by another process, or by another store in this process')
    }
  })

  it('keeps working when the host closes its handle first', async () => {
    const database = hostDatabase()
    const store = await openStore(sqliteStore({ database }))
    database.close()
    const token = newToken('account')
    await store.tokens.issue(token)
    expect(await store.tokens.read(token.hash)).toEqual(token)
    expect(() => store.inbox!.put(database, [entry('a')])).toThrow("the host's database is closed")
  })
})
