import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { sqliteStore } from 'hookswitch/sqlite'
import { errorCode } from 'hookswitch/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { newAccount, newApiKey } from '../../../src/testkit/conformance/sample-data.js'
import { propertyRuns } from '../../support/property-runs.js'
import { createFolder, recordingLog } from './sqlite-harness.js'

const clock = { now: () => 1_000 } as never
const HEADER = 32
const FRAME = 24 + 4096
const ACCOUNTS = 12
let folder: string
let original: string

const newStore = (path: string) => sqliteStore({ path, inThread: true })
const open = (store: ReturnType<typeof newStore>) => store.open({ clock, log: recordingLog() })

/** Copies of a file and its log as a crash leaves them: the log has one commit per account. */
beforeAll(async () => {
  folder = createFolder()
  const path = join(folder, 'live.db')
  original = join(folder, 'crashed.db')
  const store = newStore(path)
  await open(store)
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [])
  }
  for (const suffix of ['', '-wal', '-owner']) copyFileSync(path + suffix, original + suffix)
  await store.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Offsets of the frames that end a commit. */
function commits(log: Buffer): readonly number[] {
  const offsets: number[] = []
  for (let at = HEADER; at + FRAME <= log.length; at += FRAME)
    if (log.readUInt32BE(at + 4) !== 0) offsets.push(at)
  return offsets
}

/** Opens a copy whose log `change` has changed. Returns the number of accounts, or the error. */
async function openChanged(change: (log: string) => void): Promise<number | Error> {
  const path = join(mkdtempSync(join(folder, 'copy-')), 'x.db')
  for (const suffix of ['', '-wal', '-owner']) copyFileSync(original + suffix, path + suffix)
  change(`${path}-wal`)
  const before = existsSync(`${path}-wal`) && readFileSync(`${path}-wal`).toString('latin1')
  const store = newStore(path)
  try {
    await open(store)
  } catch (thrown) {
    expect(readFileSync(`${path}-wal`).toString('latin1') === before, 'a damaged log is not changed').toBe(
      true,
    )
    expect((thrown as Error).message).toContain(`${path}-wal`)
    expect(errorCode(thrown)).toBe('StoreCorrupt')
    return thrown as Error
  }
  const { length } = await store.accounts.list()
  await store.close()
  return length
}

/** The log of a copy after one more transaction that changes about this many pages. */
async function logWithAnotherCommit(pages: number): Promise<Buffer> {
  const path = join(mkdtempSync(join(folder, 'flush-')), 'x.db')
  for (const suffix of ['', '-wal']) copyFileSync(original + suffix, path + suffix)
  const db = new (loadDriver().DatabaseSync)(path)
  db.exec(`begin; create table unknown (page blob);
    insert into unknown select randomblob(3000) from (
      with recursive n (i) as (select 1 union all select i + 1 from n where i < ${pages}) select i from n
    ); commit`)
  const log = readFileSync(`${path}-wal`)
  db.close()
  return log
}

function overwrite(log: string, at: number, bytes: Uint8Array): void {
  const file = openSync(log, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}
const flip = (at: number) => (log: string) => overwrite(log, at, Buffer.from([readFileSync(log)[at]! ^ 1]))

describe('a write-ahead log', () => {
  it('of a crash is replayed', async () => {
    expect(await openChanged(() => {})).toBe(ACCOUNTS)
    expect(commits(readFileSync(`${original}-wal`))).toHaveLength(ACCOUNTS)
  })

  it('without its end, as a power failure leaves it, is replayed up to there', async () => {
    const [last, previous] = commits(readFileSync(`${original}-wal`)).toReversed()
    expect(await openChanged((log) => truncateSync(log, last! + 100))).toBe(ACCOUNTS - 1)
    expect(await openChanged((log) => truncateSync(log, previous! + FRAME))).toBe(ACCOUNTS - 1)
    // Pages of the last transaction may reach the disk in any order.
    expect(await openChanged(flip(previous! + FRAME + 500))).toBe(ACCOUNTS - 1)
    expect(await openChanged((log) => truncateSync(log, 0))).toBeLessThan(ACCOUNTS)
  })

  it('is refused with one sentence when a byte before the last two commits is wrong', async () => {
    const log = readFileSync(`${original}-wal`)
    const [, previous] = commits(log).toReversed()
    await fc.assert(
      fc.asyncProperty(fc.nat(previous! - 1), async (at) => {
        // Bytes 12 to 15 of the header count checkpoints; they are in its checksum.
        const result = await openChanged(flip(at))
        expect(result, `byte ${at}`).toBeInstanceOf(Error)
        expect((result as Error).message).toMatch(
          /^\S+ is damaged \(its log \S+ is damaged before its end\): [^.]*$/,
        )
      }),
      { numRuns: propertyRuns(60) },
    )
  })

  it('is refused when its header or a block in its middle is overwritten with zeros', async () => {
    for (const [at, size] of [
      [0, HEADER],
      [HEADER + 3 * FRAME, FRAME],
      [HEADER, 4096],
    ] as const) {
      const zeros = Buffer.alloc(size)
      expect(await openChanged((log) => overwrite(log, at, zeros)), `at ${at}`).toBeInstanceOf(Error)
    }
  })

  it('with remains of several flushes that failed behind its end is replayed', async () => {
    const logs = await Promise.all([40, 20, 1].map(logWithAnotherCommit))
    // Each transaction is written in place of the one before it, whose flush failed.
    let written = Buffer.alloc(0)
    for (const log of logs) written = Buffer.concat([log, written.subarray(log.length)])
    const valid = logs.at(-1)!.length
    expect(commits(written).filter((at) => at >= valid)).toHaveLength(2)
    expect(await openChanged((log) => writeFileSync(log, written))).toBe(ACCOUNTS)
  })

  it('with frames of an earlier use behind its end is replayed', async () => {
    const path = join(mkdtempSync(join(folder, 'reused-')), 'x.db')
    const store = newStore(path)
    await open(store)
    const log = () => readFileSync(`${path}-wal`)
    for (let index = 0; index < 9; index += 1) {
      const account = newAccount()
      await store.accounts.insert(account, newApiKey(account.id), [])
    }
    const before = log()
    const other = new (loadDriver().DatabaseSync)(path)
    other.exec('pragma wal_checkpoint(restart)')
    other.close()
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [])
    expect(log().length).toBe(before.length)
    expect(log().subarray(16, 24).equals(before.subarray(16, 24))).toBe(false)
    const copy = join(mkdtempSync(join(folder, 'copy-')), 'x.db')
    for (const suffix of ['', '-wal', '-owner']) copyFileSync(path + suffix, copy + suffix)
    await store.close()
    const reopened = newStore(copy)
    await open(reopened)
    expect((await reopened.accounts.list()).length).toBe(10)
    await reopened.close()
  })
})

describe('the lock file', () => {
  const removals: readonly (readonly [string, (file: string) => void])[] = [
    ['removed', (file) => rmSync(file)],
    ['moved away', (file) => renameSync(file, `${file}.old`)],
    [
      'replaced',
      (file) => {
        renameSync(file, `${file}.old`)
        writeFileSync(file, '')
      },
    ],
  ]
  it.each(removals)('%s while the store is open stops all writes with one sentence', async (_, remove) => {
    const path = join(mkdtempSync(join(folder, 'lock-')), 'x.db')
    const store = newStore(path)
    await open(store)
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [])
    remove(`${path}-owner`)
    const second = newAccount()
    const error = await store.accounts.insert(second, newApiKey(second.id), []).catch((thrown) => thrown)
    expect(errorCode(error)).toBe('StoreCorrupt')
    expect(error.message).toMatch(/^\S+-owner was removed while the database is in use, so [^.]*$/)
    expect((await store.accounts.list()).map(({ id }) => id)).toEqual([account.id])
    await store.close()
    const next = newStore(path)
    await open(next)
    await next.accounts.insert(second, newApiKey(second.id), [])
    await next.close()
  })
})
