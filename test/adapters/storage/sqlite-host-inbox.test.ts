import { join } from 'node:path'
import type { InboxEntry } from 'hookswitch/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { hostInbox } from '../../../adapters/storage/sqlite/host-inbox.js'
import { migrate } from '../../../adapters/storage/sqlite/migrations.js'
import { useLog } from '../../../adapters/storage/sqlite/pragmas.js'
import { freshFolder } from './sqlite-bench.js'

const { DatabaseSync } = loadDriver()
/** Whether this Node's handles tell of transactions. */
const tells = new DatabaseSync(':memory:').isTransaction !== undefined
let host: SqliteHandle
let isOpen = true
let wake: ReturnType<typeof vi.fn<() => void>>

beforeEach(() => {
  const path = join(freshFolder(), 'host.db')
  host = new DatabaseSync(path)
  isOpen = true
  useLog(host, path)
  migrate(host, { path, field: 'database' })
  wake = vi.fn<() => void>()
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  if (isOpen) host.close()
})

let made = 0
const entry = (): InboxEntry => {
  made += 1
  return { id: `event-${made}`, accountId: 'account', event: '{}' }
}
const rows = () => host.prepare('SELECT count(*) AS count FROM hookswitch_inbox').get() as { count: number }

/** The handle of Node before 22.16, which says nothing of transactions. */
const silent = (): SqliteHandle => ({
  exec: (sql) => host.exec(sql),
  prepare: (sql) => host.prepare(sql),
  close: () => host.close(),
})

describe('an entry in a transaction of the host', () => {
  it.runIf(tells)('is written when `put` returns, and wakes as soon as the transaction is over', () => {
    const inbox = hostInbox(host, wake)
    host.exec('BEGIN')
    inbox.put(host, entry())
    expect(rows().count).toBe(1)
    vi.advanceTimersByTime(100)
    expect(wake).not.toHaveBeenCalled()
    host.exec('COMMIT')
    vi.advanceTimersByTime(250)
    expect([wake.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
  })

  it.runIf(tells)('wakes once for many, and at once where each is a transaction of its own', () => {
    const inbox = hostInbox(host, wake)
    for (let index = 0; index < 100; index += 1) inbox.put(host, entry())
    vi.advanceTimersByTime(1)
    expect([wake.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
  })

  it('wakes while entries never end', () => {
    const inbox = hostInbox(host, wake)
    for (let index = 0; index < 20; index += 1) {
      inbox.put(host, entry())
      vi.advanceTimersByTime(0.5)
    }
    expect(wake.mock.calls.length).toBeGreaterThan(3)
  })

  it.runIf(tells)(
    'wakes four times a second while the host is in one transaction or the next whenever it is looked at',
    () => {
      const inbox = hostInbox(host, wake)
      host.exec('BEGIN')
      inbox.put(host, entry())
      host.exec('COMMIT; BEGIN')
      vi.advanceTimersByTime(2_500)
      expect(wake.mock.calls.length).toBeGreaterThanOrEqual(7)
      expect(wake.mock.calls.length).toBeLessThanOrEqual(10)
      host.exec('COMMIT')
      vi.advanceTimersByTime(250)
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  it('stops being looked for when it was rolled back, when the host closed its handle, and when the store is closed', () => {
    const inbox = hostInbox(host, wake)
    host.exec('BEGIN')
    inbox.put(host, entry())
    host.exec('ROLLBACK')
    vi.advanceTimersByTime(250)
    expect([rows().count, vi.getTimerCount()]).toEqual([0, 0])

    host.exec('BEGIN')
    inbox.put(host, entry())
    inbox.stop()
    expect(vi.getTimerCount()).toBe(0)
    inbox.put(host, entry())
    host.close()
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)
    isOpen = false
  })

  it('is looked for itself, where the handle says nothing of transactions', () => {
    const handle = silent()
    const inbox = hostInbox(handle, wake)
    host.exec('BEGIN')
    inbox.put(handle, entry())
    vi.advanceTimersByTime(1_000)
    const before = wake.mock.calls.length
    expect(before).toBeGreaterThan(3)
    host.exec('COMMIT')
    vi.advanceTimersByTime(250)
    expect(wake.mock.calls.length).toBeGreaterThan(before)
    // Admitted.
    host.exec('DELETE FROM hookswitch_inbox')
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)

    host.exec('BEGIN')
    inbox.put(handle, entry())
    host.exec('ROLLBACK')
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is refused in words when it cannot be written', () => {
    const inbox = hostInbox(host, wake)
    expect(() => inbox.put({}, entry())).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field: 'tx' }),
    )
    inbox.put(host, entry())
    const other = new DatabaseSync((host.prepare('PRAGMA database_list').get() as { file: string }).file)
    other.exec('BEGIN EXCLUSIVE')
    expect(() => inbox.put(host, entry())).toThrow(
      expect.objectContaining({
        code: 'StoreUnavailable',
        message: "the host's database is locked by another connection; end its transaction",
      }),
    )
    other.exec('ROLLBACK')
    host.exec('BEGIN')
    rows()
    other.exec('DELETE FROM hookswitch_inbox')
    expect(() => inbox.put(host, entry())).toThrow(/begin it with BEGIN IMMEDIATE/)
    host.exec('ROLLBACK')
    other.close()
    inbox.put(host, entry())
    host.close()
    ;(host as unknown as { open(): void }).open()
    inbox.put(host, entry())
    host.close()
    expect(() => inbox.put(host, entry())).toThrow(
      expect.objectContaining({ code: 'StoreUnavailable', message: "the host's database is closed" }),
    )
    isOpen = false
  })
})
