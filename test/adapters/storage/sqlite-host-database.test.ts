import { join } from 'node:path'
import type { InboxEntry } from 'hookswitch/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { createHostInbox } from '../../../adapters/storage/sqlite/host-database.js'
import { migrateSchema } from '../../../adapters/storage/sqlite/migrations.js'
import { enableWal } from '../../../adapters/storage/sqlite/pragmas.js'
import { temporaryFolder } from './sqlite-harness.js'

const { DatabaseSync } = loadDriver()
/** Whether the handles of this Node report open transactions. */
const reportsTransactions = new DatabaseSync(':memory:').isTransaction !== undefined
let host: SqliteHandle
let isOpen = true
let notify: ReturnType<typeof vi.fn<() => void>>

beforeEach(() => {
  const path = join(temporaryFolder(), 'host.db')
  host = new DatabaseSync(path)
  isOpen = true
  enableWal(host, path)
  migrateSchema(host, { path, field: 'database' })
  notify = vi.fn<() => void>()
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  if (isOpen) host.close()
})

let count = 0
const entry = (): InboxEntry => {
  count += 1
  return { id: `event-${count}`, accountId: 'account', event: '{}' }
}
const rows = () => host.prepare('SELECT count(*) AS count FROM hookswitch_inbox').get() as { count: number }

/** A handle like that of Node before 22.16, which does not report transactions. */
const handleWithoutTransactionState = (): SqliteHandle => ({
  exec: (sql) => host.exec(sql),
  prepare: (sql) => host.prepare(sql),
  close: () => host.close(),
})

describe('an inbox entry in a transaction of the host', () => {
  it.runIf(reportsTransactions)(
    'is written when `put` returns, and notifies when the transaction has ended',
    () => {
      const inbox = createHostInbox(host, notify)
      host.exec('BEGIN')
      inbox.put(host, [entry()])
      expect(rows().count).toBe(1)
      vi.advanceTimersByTime(100)
      expect(notify).not.toHaveBeenCalled()
      host.exec('COMMIT')
      vi.advanceTimersByTime(250)
      expect([notify.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
    },
  )

  it.runIf(reportsTransactions)(
    'notifies once for many entries, and at once if each is its own transaction',
    () => {
      const inbox = createHostInbox(host, notify)
      for (let index = 0; index < 100; index += 1) {
        host.exec('BEGIN')
        inbox.put(host, [entry()])
        host.exec('COMMIT')
      }
      vi.advanceTimersByTime(1)
      expect([notify.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
    },
  )

  it.runIf(reportsTransactions)('is refused without a transaction, which would commit it by itself', () => {
    const inbox = createHostInbox(host, notify)
    expect(() => inbox.put(host, [entry()])).toThrow(/^tx has no open transaction: execute BEGIN first$/)
    expect([rows().count, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('notifies under a steady flow of entries', () => {
    const inbox = createHostInbox(host, notify)
    for (let index = 0; index < 20; index += 1) {
      host.exec('BEGIN')
      inbox.put(host, [entry()])
      host.exec('COMMIT')
      vi.advanceTimersByTime(0.5)
    }
    expect(notify.mock.calls.length).toBeGreaterThan(3)
  })

  it.runIf(reportsTransactions)(
    'notifies four times a second while the host always has a transaction open',
    () => {
      const inbox = createHostInbox(host, notify)
      host.exec('BEGIN')
      inbox.put(host, [entry()])
      host.exec('COMMIT; BEGIN')
      vi.advanceTimersByTime(2_500)
      expect(notify.mock.calls.length).toBeGreaterThanOrEqual(7)
      expect(notify.mock.calls.length).toBeLessThanOrEqual(10)
      host.exec('COMMIT')
      vi.advanceTimersByTime(250)
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  it('stops the polling when it is rolled back, when the host closes its handle, and when the store is closed', () => {
    const inbox = createHostInbox(host, notify)
    host.exec('BEGIN')
    inbox.put(host, [entry()])
    host.exec('ROLLBACK')
    vi.advanceTimersByTime(250)
    expect([rows().count, vi.getTimerCount()]).toEqual([0, 0])

    host.exec('BEGIN')
    inbox.put(host, [entry()])
    inbox.stop()
    expect(vi.getTimerCount()).toBe(0)
    inbox.put(host, [entry()])
    host.close()
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)
    isOpen = false
  })

  it('is polled itself if the handle does not report transactions', () => {
    const handle = handleWithoutTransactionState()
    const inbox = createHostInbox(handle, notify)
    host.exec('BEGIN')
    inbox.put(handle, [entry()])
    vi.advanceTimersByTime(1_000)
    const before = notify.mock.calls.length
    expect(before).toBeGreaterThan(3)
    host.exec('COMMIT')
    vi.advanceTimersByTime(250)
    expect(notify.mock.calls.length).toBeGreaterThan(before)
    // The entry is relayed.
    host.exec('DELETE FROM hookswitch_inbox')
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)

    host.exec('BEGIN')
    inbox.put(handle, [entry()])
    host.exec('ROLLBACK')
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is rejected with a sentence when it cannot be written', () => {
    const inbox = createHostInbox(host, notify)
    expect(() => inbox.put({}, [entry()])).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field: 'tx' }),
    )
    const commit = (given: InboxEntry) => {
      host.exec('BEGIN')
      try {
        inbox.put(host, [given])
      } finally {
        host.exec('COMMIT')
      }
    }
    commit(entry())
    const other = new DatabaseSync((host.prepare('PRAGMA database_list').get() as { file: string }).file)
    other.exec('BEGIN EXCLUSIVE')
    expect(() => commit(entry())).toThrow(
      expect.objectContaining({
        code: 'StoreUnavailable',
        message: "the host's database is locked by another connection; end its transaction",
      }),
    )
    other.exec('ROLLBACK')
    host.exec('BEGIN')
    rows()
    other.exec('DELETE FROM hookswitch_inbox')
    expect(() => inbox.put(host, [entry()])).toThrow(/begin it with BEGIN IMMEDIATE/)
    host.exec('ROLLBACK')
    other.close()
    commit(entry())
    host.close()
    ;(host as unknown as { open(): void }).open()
    commit(entry())
    host.close()
    expect(() => inbox.put(host, [entry()])).toThrow(
      expect.objectContaining({ code: 'StoreUnavailable', message: "the host's database is closed" }),
    )
    isOpen = false
  })
})
