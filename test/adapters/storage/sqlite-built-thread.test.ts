import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newAccount, newApiKey, newToken } from '../../../src/store/conformance/fixtures.js'
import { builtSqlite, contentsOf, DIST, errorOf, freshFolder, notedLog, opened } from './sqlite-bench.js'

const { sqliteStore } = await builtSqlite()
const file = () => join(freshFolder(), 'x.db')
const clock = { now: () => 1_000 } as never

const exitOf = (thread: Worker) => new Promise((resolve) => thread.once('exit', resolve))

/** Opens a store and takes hold of its thread. */
async function withThread(path = file()) {
  const log = notedLog()
  const started = once(process, 'worker') as Promise<[Worker]>
  const store = await opened(sqliteStore({ path }), log)
  const [thread] = await started
  return { store, thread, log, path }
}

describe('the thread of a store', () => {
  it('answers every call of a burst, each with its own answer', async () => {
    const { store } = await withThread()
    const tokens = Array.from({ length: 1_001 }, () => newToken('account'))
    const written = tokens.map((token) => store.tokens.issue(token))
    const read = tokens.map((token) => store.tokens.read(token.hash))
    expect(await Promise.all(written)).toEqual(tokens.map(() => undefined))
    expect(await Promise.all(read)).toEqual(tokens)
    expect(await store.tokens.read('unknown')).toBeUndefined()
  })

  it('keeps what JSON would lose: undefined, Infinity, maps', async () => {
    const { store } = await withThread()
    expect((await store.deliveries.own('node', 1)).aliveUntilMs).toBe(Number.POSITIVE_INFINITY)
    const endpoints = [{ webhookId: 'unknown', room: 1 }]
    const { webhooks } = await store.deliveries.claim({ owner: 'node', endpoints, limit: 1, now: 1 })
    expect(webhooks).toEqual(new Map())
    const [one, other] = [newToken('account', { userId: 'u' }), newToken('account')]
    await Promise.all([store.tokens.issue(one), store.tokens.issue(other)])
    expect(await store.tokens.revokeAll('account', null)).toBe(1)
    expect(await store.tokens.revokeAll('account', undefined)).toBe(1)
  })

  it('hands errors over as they are, and one refused call hurts no other of its turn', async () => {
    const { store } = await withThread()
    const account = newAccount()
    const insert = (one: typeof account) => store.accounts.insert(one, newApiKey(one.id), [])
    const [first, again, other] = await Promise.allSettled([
      insert(account),
      insert(account),
      insert(newAccount()),
    ])
    expect([first.status, other.status]).toEqual(['fulfilled', 'fulfilled'])
    expect(again).toMatchObject({ reason: { name: 'HookswitchError', code: 'Conflict', field: 'id' } })
    expect(await errorOf(store.accounts.remove('nobody'))).toMatchObject({ code: 'NotFound', id: 'nobody' })
  })

  it('refuses what is no data, and nothing else of its turn', async () => {
    const { store } = await withThread()
    const token = newToken('account')
    const wrong = { ...newToken('account'), hash: () => 'a function' } as never
    const [fine, refused] = await Promise.allSettled([store.tokens.issue(token), store.tokens.issue(wrong)])
    expect([fine.status, refused.status]).toEqual(['fulfilled', 'rejected'])
    expect(await store.tokens.read(token.hash)).toEqual(token)
  })

  it('that ends takes every call with it, says so once, and leaves what was written to the next', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => {
      process.off('unhandledRejection', note)
    })
    const { store, thread, log } = await withThread()
    const token = newToken('account')
    await store.tokens.issue(token)
    const exited = exitOf(thread)
    const asked = Array.from({ length: 10 }, () => errorOf(store.deliveries.pending()))
    void thread.terminate()
    const codes = (await Promise.allSettled(asked)).map((one) =>
      one.status === 'fulfilled' ? one.value.code : 'answered',
    )
    await exited
    expect(codes.filter((code) => code !== 'StoreUnavailable' && code !== 'answered')).toEqual([])
    const error = await errorOf(store.tokens.read(token.hash))
    expect(error).toMatchObject({ code: 'StoreUnavailable', retryAfterSeconds: 1 })
    expect(error.message).toContain('the thread of the store is gone')
    expect(log.said.filter((line) => line.startsWith('error'))).toHaveLength(1)
    expect(unhandled).toEqual([])

    await store.open({ clock, log })
    expect(await store.tokens.read(token.hash)).toEqual(token)
  })

  it('that fails within is gone as well, with its reason in the log', async () => {
    const { store, thread, log, path } = await withThread()
    const asked = errorOf(store.deliveries.pending())
    // Stands for a fault of ours.
    thread.postMessage({ kind: 'calls', calls: 7 })
    await exitOf(thread)
    expect(['StoreUnavailable', undefined]).toContain((await asked.catch(() => undefined))?.code)
    expect(log.said.join()).toMatch(/error the thread of the SQLite store is gone.*"reason":".+"/)
    await store.close()
    await opened(sqliteStore({ path }))
  })
})

describe('a store', () => {
  it('may be opened again while it is open, and closed twice', async () => {
    const { store } = await withThread()
    await store.open({ clock, log: notedLog() })
    expect(await store.deliveries.pending()).toBe(0)
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  it('says that it is not open, whatever is asked of it', async () => {
    const store = sqliteStore({ path: file() })
    for (const asked of [
      store.deliveries.own('node', 1),
      store.deliveries.scrub(),
      store.accounts.list(),
      store.secret!(),
    ]) {
      expect(await errorOf(asked)).toMatchObject({ code: 'StoreUnavailable', retryAfterSeconds: 1 })
    }
    await store.close()
  })

  it('that is closed while it opens is closed, and may be opened while it closes', async () => {
    const path = file()
    const store = sqliteStore({ path })
    const opening = store.open({ clock, log: notedLog() })
    const closing = store.close()
    await Promise.all([opening, closing])
    expect(await errorOf(store.deliveries.pending())).toMatchObject({ code: 'StoreUnavailable' })
    const again = store.open({ clock, log: notedLog() })
    await again
    void store.close()
    await opened(store)
    expect(await store.deliveries.pending()).toBe(0)
  })

  it('writes what it was asked for before it closes', async () => {
    const path = file()
    const store = sqliteStore({ path })
    await store.open({ clock, log: notedLog() })
    const tokens = Array.from({ length: 300 }, () => newToken('account'))
    const written = Promise.all(tokens.map((token) => store.tokens.issue(token)))
    await store.close()
    await written
    expect(Object.keys(contentsOf(join(path, '..'))).toSorted()).toEqual(['x.db', 'x.db-owner'])
    const again = await opened(sqliteStore({ path }))
    expect(await Promise.all(tokens.map((token) => again.tokens.read(token.hash)))).toEqual(tokens)
  })

  it.skipIf(process.platform === 'win32')('says in the log what its thread has to say', async () => {
    const { store, log, path } = await withThread()
    await store.secret!()
    chmodSync(`${path}.key`, 0o644)
    await store.secret!()
    expect(log.said).toEqual([`warn ${path}.key can be read by other users: chmod 600 it {}`])
  })

  it('refuses a wrong place in the same words, and may be tried again', async () => {
    const folder = freshFolder()
    const store = sqliteStore({ path: join(folder, 'later', 'x.db') })
    const error = await errorOf(store.open({ clock, log: notedLog() }))
    expect(error).toMatchObject({ code: 'InvalidOption', field: 'path' })
    expect(error.message).toContain('create it first')
    expect(await errorOf(store.deliveries.pending())).toMatchObject({ code: 'StoreUnavailable' })
    await store.close()
  })

  it('keeps others of the same process out, in whatever thread', async () => {
    const { path } = await withThread()
    for (const inThread of [false, true]) {
      const error = await errorOf(sqliteStore({ path, inThread }).open({ clock, log: notedLog() }))
      expect(error).toMatchObject({ code: 'StoreUnavailable' })
    }
  })

  it('is the same in CommonJS', async () => {
    const twin = createRequire(import.meta.url)(
      join(DIST, 'sqlite.cjs'),
    ) as typeof import('hookswitch/sqlite')
    const { path } = await withThread()
    const store = await opened(twin.sqliteStore({ path: file() }))
    const token = newToken('account')
    await store.tokens.issue(token)
    expect(await store.tokens.read(token.hash)).toEqual(token)
    const error = await errorOf(twin.sqliteStore({ path }).open({ clock, log: notedLog() }))
    expect(error).toMatchObject({ name: 'HookswitchError', code: 'StoreUnavailable' })
  })
})
