import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { newToken } from '../../../src/store/conformance/fixtures.js'
import { builtSqlite, DIST, errorOf, freshFolder, notedLog, opened } from './sqlite-bench.js'

const { sqliteStore } = await builtSqlite()
const { createHookswitch } = (await import(join(DIST, 'index.js'))) as typeof import('hookswitch')
const { DatabaseSync } = loadDriver()
const clock = { now: () => 1_000 } as never

function hostDatabase(path = join(freshFolder(), 'host.db')): SqliteHandle {
  const database = new DatabaseSync(path)
  onTestFinished(() => {
    try {
      database.close()
    } catch {
      // A test closed it.
    }
  })
  return database
}
const one = (database: SqliteHandle, sql: string) => Object.values(database.prepare(sql).get() as object)[0]
const entry = (id: string) => ({ id, accountId: 'account', event: '{}' })

/** A receiver of webhooks; `next` waits for a request. */
async function receiver() {
  const received: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      received.push(body)
      response.end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return { received, uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

describe("a store in the host's database", () => {
  it('leaves the tables, the version and the id of the host alone', async () => {
    const database = hostDatabase()
    database.exec(
      'CREATE TABLE ticket (id TEXT NOT NULL); PRAGMA user_version = 7; PRAGMA application_id = 42',
    )
    database.exec("INSERT INTO ticket VALUES ('a')")
    const store = await opened(sqliteStore({ database }))
    await store.tokens.issue(newToken('account'))
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").all()
    expect((names as { name: string }[]).filter(({ name }) => !name.startsWith('hookswitch_'))).toEqual([
      { name: 'ticket' },
    ])
    expect([one(database, 'PRAGMA user_version'), one(database, 'PRAGMA application_id')]).toEqual([7, 42])
    expect(one(database, 'PRAGMA journal_mode')).toBe('wal')
    expect(one(database, 'SELECT count(*) FROM ticket')).toBe(1)
    await store.close()
    expect(one(database, 'SELECT count(*) FROM hookswitch_token')).toBe(1)
  })

  it("waits for the store's writes with the host's handle, as long as the host said", async () => {
    const [silent, patient] = [hostDatabase(), hostDatabase()]
    patient.exec('PRAGMA busy_timeout = 77')
    for (const database of [silent, patient]) await opened(sqliteStore({ database }))
    const timeouts = [silent, patient].map((database) => one(database, 'PRAGMA busy_timeout'))
    expect(timeouts).toEqual([5_000, 77])
  })

  it('minds no row of the host that breaks a rule of the host', async () => {
    const database = hostDatabase()
    database.exec('CREATE TABLE ticket (id TEXT CHECK (id > 0)); PRAGMA ignore_check_constraints = ON')
    database.exec('INSERT INTO ticket VALUES (-1)')
    await (await opened(sqliteStore({ database }))).close()
    await opened(sqliteStore({ database }))
  })

  it('waits for a transaction of the host: while it is opened, and when it writes; reads do not', async () => {
    const database = hostDatabase()
    const store = sqliteStore({ database })
    database.exec('BEGIN IMMEDIATE; CREATE TABLE ticket (id TEXT)')
    const opening = opened(store)
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
    // As a host would that asks something inside its transaction.
    for (const token of tokens) expect(await store.tokens.read(token.hash)).toBeUndefined()
    expect(await store.deliveries.pending()).toBe(0)
    expect(written).toBe(0)
    database.exec('COMMIT')
    await Promise.all(writes)
    expect(await Promise.all(tokens.map((token) => store.tokens.read(token.hash)))).toEqual(tokens)
  })

  it('writes what waits before it closes', async () => {
    const database = hostDatabase()
    const store = await opened(sqliteStore({ database }))
    const token = newToken('account')
    database.exec('BEGIN IMMEDIATE')
    const written = store.tokens.issue(token)
    await store.tokens.read(token.hash)
    const closed = store.close()
    database.exec('COMMIT')
    await Promise.all([written, closed])
    expect(one(database, 'SELECT hash FROM hookswitch_token')).toBe(token.hash)
  })

  it('takes entries while it is open, and only through that very handle', async () => {
    const path = join(freshFolder(), 'host.db')
    const database = hostDatabase(path)
    const store = sqliteStore({ database })
    const put = (tx: unknown) => () => store.inbox!.put(tx, entry('a'))
    expect(put(database)).toThrow(expect.objectContaining({ code: 'StoreUnavailable' }))
    await opened(store)
    expect(put(hostDatabase(path))).toThrow(expect.objectContaining({ code: 'InvalidOption', field: 'tx' }))
    expect(put(database)()).toBeUndefined()
    expect(one(database, 'SELECT count(*) FROM hookswitch_inbox')).toBe(1)
    await store.close()
    expect(put(database)).toThrow(expect.objectContaining({ code: 'StoreUnavailable' }))
  })

  it('has one owner, whoever opened the database', async () => {
    const path = join(freshFolder(), 'host.db')
    await opened(sqliteStore({ database: hostDatabase(path) }))
    for (const options of [{ database: hostDatabase(path) }, { path }]) {
      const error = await errorOf(sqliteStore(options).open({ clock, log: notedLog() }))
      expect(error.message).toContain('is in use by another process, or by another store of this one')
    }
  })

  it('survives that the host closes its handle first', async () => {
    const database = hostDatabase()
    const store = await opened(sqliteStore({ database }))
    database.close()
    const token = newToken('account')
    await store.tokens.issue(token)
    expect(await store.tokens.read(token.hash)).toEqual(token)
    expect(() => store.inbox!.put(database, entry('a'))).toThrow("the host's database is closed")
  })

  it('delivers what a host transaction published when that commits, and nothing of one that is rolled back', async () => {
    const { received, uri } = await receiver()
    const database = hostDatabase()
    database.exec('CREATE TABLE ticket (id TEXT)')
    const hs = createHookswitch({ store: sqliteStore({ database }), allowLocal: true })
    onTestFinished(() => hs.close())
    await hs.start()
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example.com' })
    await hs.webhooks.create('acme', { name: 'all', uri, hook: 'channel_create' })
    const event = (callId: string) => ({ accountId: 'acme', hook: 'channel_create', callId })

    database.exec('BEGIN')
    const staged = hs.publish(event('gone'), { tx: database })
    expect(one(database, 'SELECT count(*) FROM hookswitch_inbox')).toBe(1)
    database.exec('ROLLBACK')
    expect((await staged).eventId).toMatch(/^\S+$/)
    database.exec("BEGIN; INSERT INTO ticket VALUES ('a')")
    await hs.publish(event('kept'), { tx: database })
    database.exec('COMMIT')
    await vi.waitUntil(() => received.length > 0, { timeout: 20_000 })
    await vi.waitUntil(() => one(database, 'SELECT count(*) FROM hookswitch_inbox') === 0, {
      timeout: 20_000,
    })
    expect(received).toHaveLength(1)
    expect(received[0]).toContain('kept')
  })
})

describe('a store in a file', () => {
  it('shows after a restart what was delivered before', async () => {
    const { received, uri } = await receiver()
    const path = join(freshFolder(), 'x.db')
    const start = async () => {
      const hs = createHookswitch({ store: sqliteStore({ path }), allowLocal: true })
      onTestFinished(() => hs.close())
      await hs.start()
      return hs
    }
    const first = await start()
    const { apiKey } = await first.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example.com' })
    const webhook = await first.webhooks.create('acme', { name: 'all', uri, hook: 'channel_create' })
    const delivered = new Promise((resolve) => first.events.on('delivered', resolve))
    await first.publish({ accountId: 'acme', hook: 'channel_create', callId: 'call-1' })
    await delivered
    await first.close()
    expect(received).toHaveLength(1)

    const second = await start()
    const attempts = await second.webhooks.attempts('acme', webhook.id)
    expect(JSON.stringify(attempts)).toContain('call-1')
    expect(await second.accounts.readApiKey('acme')).toBe(apiKey)
    const { token } = await second.auth.signIn({ apiKey } as never)
    expect(token).toBeTruthy()
  })
})
