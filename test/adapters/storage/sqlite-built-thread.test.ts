import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newAccount, newApiKey, newToken } from '../../../src/testkit/conformance/sample-data.js'
import {
  builtSqlite,
  contentsOf,
  DIST,
  openStore,
  recordingLog,
  rejectionOf,
  temporaryFolder,
} from './sqlite-harness.js'

const { sqliteStore } = await builtSqlite()
const temporaryFile = () => join(temporaryFolder(), 'x.db')
const clock = { now: () => 1_000 } as never

const exitOf = (thread: Worker) => new Promise((resolve) => thread.once('exit', resolve))

/** Opens a store and returns its worker thread too. */
async function openWithWorker(path = temporaryFile()) {
  const log = recordingLog()
  const started = once(process, 'worker') as Promise<[Worker]>
  const store = await openStore(sqliteStore({ path }), log)
  const [thread] = await started
  return { store, thread, log, path }
}

describe('the worker thread of a store', () => {
  it('answers every request of a burst with its own result', async () => {
    const { store } = await openWithWorker()
    const tokens = Array.from({ length: 1_001 }, () => newToken('account'))
    const written = tokens.map((token) => store.tokens.issue(token))
    const read = tokens.map((token) => store.tokens.read(token.hash))
    expect(await Promise.all(written)).toEqual(tokens.map(() => undefined))
    expect(await Promise.all(read)).toEqual(tokens)
    expect(await store.tokens.read('unknown')).toBeUndefined()
  })

  it('preserves values that JSON would lose: undefined, Infinity, maps', async () => {
    const { store } = await openWithWorker()
    expect((await store.deliveries.own('node', 1)).aliveUntilMs).toBe(Number.POSITIVE_INFINITY)
    expect(await store.deliveries.lastSuccesses(['unknown'])).toEqual(new Map())
    expect(await store.deliveries.bodies([{ webhookId: 'unknown', position: 1 }])).toEqual([undefined])
    const [first, second] = [newToken('account', { userId: 'u' }), newToken('account')]
    await Promise.all([store.tokens.issue(first), store.tokens.issue(second)])
    expect(await store.tokens.revokeAll('account', null)).toBe(1)
    expect(await store.tokens.revokeAll('account', undefined)).toBe(1)
  })

  it('transfers errors with their fields, and a refused request does not affect others of the same turn', async () => {
    const { store } = await openWithWorker()
    const account = newAccount()
    const insert = (row: typeof account) => store.accounts.insert(row, newApiKey(row.id), [])
    const [first, again, other] = await Promise.allSettled([
      insert(account),
      insert(account),
      insert(newAccount()),
    ])
    expect([first.status, other.status]).toEqual(['fulfilled', 'fulfilled'])
    expect(again).toMatchObject({ reason: { name: 'HookswitchError', code: 'Conflict', field: 'id' } })
    expect(await rejectionOf(store.accounts.remove('nobody', { nowMs: 0 }))).toMatchObject({
      code: 'NotFound',
      id: 'nobody',
    })
  })

  it('rejects arguments that cannot be cloned, and no other request of the same turn', async () => {
    const { store } = await openWithWorker()
    const token = newToken('account')
    const wrong = { ...newToken('account'), hash: () => 'a function' } as never
    const [fine, refused] = await Promise.allSettled([store.tokens.issue(token), store.tokens.issue(wrong)])
    expect([fine.status, refused.status]).toEqual(['fulfilled', 'rejected'])
    expect(await store.tokens.read(token.hash)).toEqual(token)
  })

  it('that exits rejects every request, logs one error, and leaves committed data to the next open', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => {
      process.off('unhandledRejection', note)
    })
    const { store, thread, log } = await openWithWorker()
    const token = newToken('account')
    await store.tokens.issue(token)
    const exited = exitOf(thread)
    const requests = Array.from({ length: 10 }, () => rejectionOf(store.accounts.list()))
    void thread.terminate()
    const codes = (await Promise.allSettled(requests)).map((result) =>
      result.status === 'fulfilled' ? result.value.code : 'answered',
    )
    await exited
    expect(codes.filter((code) => code !== 'StoreUnavailable' && code !== 'answered')).toEqual([])
    const error = await rejectionOf(store.tokens.read(token.hash))
    expect(error).toMatchObject({ code: 'StoreUnavailable', retryAfterSeconds: 1 })
    expect(error.message).toContain('the worker thread of the store has exited')
    expect(log.lines.filter((line) => line.startsWith('error'))).toHaveLength(1)
    expect(unhandled).toEqual([])

    await store.open({ clock, log })
    expect(await store.tokens.read(token.hash)).toEqual(token)
  })

  it('that throws exits as well, and the reason is logged', async () => {
    const { store, thread, log, path } = await openWithWorker()
    const rejection = rejectionOf(store.accounts.list())
    // Stands for a bug in the worker.
    thread.postMessage({ kind: 'requests', requests: 7 })
    await exitOf(thread)
    expect(['StoreUnavailable', undefined]).toContain((await rejection.catch(() => undefined))?.code)
    expect(log.lines.join()).toMatch(/error the worker thread of the SQLite store has exited.*"reason":".+"/)
    await store.close()
    await openStore(sqliteStore({ path }))
  })
})

describe('a store', () => {
  it('can be opened while it is open, and closed twice', async () => {
    const { store } = await openWithWorker()
    await store.open({ clock, log: recordingLog() })
    expect(await store.accounts.list()).toEqual([])
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  it('that is not open rejects every request', async () => {
    const store = sqliteStore({ path: temporaryFile() })
    for (const request of [
      store.deliveries.own('node', 1),
      store.deliveries.scrub(),
      store.accounts.list(),
      store.secret!(),
    ]) {
      expect(await rejectionOf(request)).toMatchObject({ code: 'StoreUnavailable', retryAfterSeconds: 1 })
    }
    await store.close()
  })

  it('can be closed while it opens, and opened while it closes', async () => {
    const path = temporaryFile()
    const store = sqliteStore({ path })
    const opening = store.open({ clock, log: recordingLog() })
    const closing = store.close()
    await Promise.all([opening, closing])
    expect(await rejectionOf(store.accounts.list())).toMatchObject({ code: 'StoreUnavailable' })
    const again = store.open({ clock, log: recordingLog() })
    await again
    void store.close()
    await openStore(store)
    expect(await store.accounts.list()).toEqual([])
  })

  it('completes pending writes before it closes', async () => {
    const path = temporaryFile()
    const store = sqliteStore({ path })
    await store.open({ clock, log: recordingLog() })
    const tokens = Array.from({ length: 300 }, () => newToken('account'))
    const written = Promise.all(tokens.map((token) => store.tokens.issue(token)))
    await store.close()
    await written
    expect(Object.keys(contentsOf(join(path, '..'))).toSorted()).toEqual(['x.db', 'x.db-owner'])
    const again = await openStore(sqliteStore({ path }))
    expect(await Promise.all(tokens.map((token) => again.tokens.read(token.hash)))).toEqual(tokens)
  })

  it.skipIf(process.platform === 'win32')('logs the warnings of its worker', async () => {
    const { store, log, path } = await openWithWorker()
    await store.secret!()
    chmodSync(`${path}.key`, 0o644)
    await store.secret!()
    expect(log.lines).toEqual([`warn ${path}.key can be read by other users: chmod 600 it {}`])
  })

  it('rejects an invalid path with the same error as in the calling thread', async () => {
    const folder = temporaryFolder()
    const store = sqliteStore({ path: join(folder, 'later', 'x.db') })
    const error = await rejectionOf(store.open({ clock, log: recordingLog() }))
    expect(error).toMatchObject({ code: 'InvalidOption', field: 'path' })
    expect(error.message).toContain('create it first')
    expect(await rejectionOf(store.accounts.list())).toMatchObject({ code: 'StoreUnavailable' })
    await store.close()
  })

  it('excludes other stores of the same process, in any thread', async () => {
    const { path } = await openWithWorker()
    for (const inThread of [false, true]) {
      const error = await rejectionOf(sqliteStore({ path, inThread }).open({ clock, log: recordingLog() }))
      expect(error).toMatchObject({ code: 'StoreUnavailable' })
    }
  })

  it('works the same in CommonJS', async () => {
    const commonjs = createRequire(import.meta.url)(
      join(DIST, 'sqlite.cjs'),
    ) as typeof import('hookswitch/sqlite')
    const { path } = await openWithWorker()
    const store = await openStore(commonjs.sqliteStore({ path: temporaryFile() }))
    const token = newToken('account')
    await store.tokens.issue(token)
    expect(await store.tokens.read(token.hash)).toEqual(token)
    const error = await rejectionOf(commonjs.sqliteStore({ path }).open({ clock, log: recordingLog() }))
    expect(error).toMatchObject({ name: 'HookswitchError', code: 'StoreUnavailable' })
  })
})
