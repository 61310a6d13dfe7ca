/** `vacuumDatabase`: the file becomes smaller, beside a store that uses it; other files stay as they are. */
import {
  closeSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { sqliteStore, type VacuumProgress, vacuumDatabase } from 'hookswitch/sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import { newAccount, newApiKey } from '../../../src/testkit/conformance/sample-data.js'
import { createFolder, openStore, recordingLog, rejectionOf, temporaryFolder } from './sqlite-harness.js'

/** Called when the check of a log waits for another connection, in place of the wait. */
let onWait = () => {}
vi.mock('../../../adapters/storage/sqlite/pragmas.js', async (original) => ({
  ...(await original<typeof import('../../../adapters/storage/sqlite/pragmas.js')>()),
  blockThread: () => onWait(),
}))

const MIB = 1024 * 1024
const open = (path: string) => openStore(sqliteStore({ path, inThread: true }))
type Store = Awaited<ReturnType<typeof open>>

const tokenOf = (index: number) => ({
  hash: `${String(index).padStart(8, '0')}${'x'.repeat(2_000)}`,
  accountId: index % 2 === 0 ? 'even' : 'odd',
  credentialVersion: 'v',
  issuedMs: 1,
  expiresMs: 2,
})

/** Fills a store with some MiB and removes half of it, spread over the file. */
async function fill(store: Store): Promise<void> {
  for (let index = 0; index < 3_000; index += 1) await store.tokens.issue(tokenOf(index))
  await store.tokens.revokeAll('even')
}

function check(path: string): unknown {
  const db = new DatabaseSync(path)
  try {
    return db.prepare('pragma integrity_check').get()
  } finally {
    db.close()
  }
}

const bytesOf = (path: string) => statSync(path).size

describe('vacuumDatabase', () => {
  const template = createFolder()
  beforeAll(async () => {
    const store = sqliteStore({ path: join(template, 'calls.db'), inThread: true })
    await store.open({ clock: systemClock(), log: recordingLog() })
    await fill(store)
    await store.close()
  })
  afterAll(() => rmSync(template, { recursive: true }))

  /** The path of a filled file. */
  function filled(): string {
    const folder = temporaryFolder()
    cpSync(template, folder, { recursive: true })
    return join(folder, 'calls.db')
  }

  it('makes the file of a closed store smaller, and keeps what is in it', async () => {
    const path = filled()
    const before = bytesOf(path)
    const steps: VacuumProgress[] = []
    const result = await vacuumDatabase({ path }, (progress) => steps.push(progress))
    expect(result.bytesBefore).toBe(before)
    expect(result).toMatchObject({ bytes: bytesOf(path), freeBytes: 0 })
    expect(before - bytesOf(path)).toBeGreaterThan(3 * MIB)
    // In several steps, so that a store has its turn between them.
    expect(steps.length).toBeGreaterThan(3)
    expect(check(path)).toEqual({ integrity_check: 'ok' })
    const again = await open(path)
    for (const index of [1, 1_501, 2_999])
      expect(await again.tokens.read(tokenOf(index).hash)).toEqual(tokenOf(index))
    expect(await again.tokens.read(tokenOf(0).hash)).toBeUndefined()
    expect(await vacuumDatabase({ path })).toMatchObject({ freeBytes: 0 })
  })

  it('lets a store work meanwhile', async () => {
    const path = filled()
    const store = await open(path)
    const before = bytesOf(path)
    let isDone = false
    let written = 3_001
    const vacuumed = vacuumDatabase({ path }).finally(() => {
      isDone = true
    })
    while (!isDone) {
      await store.tokens.issue(tokenOf(written))
      expect(await store.tokens.read(tokenOf(written).hash)).toEqual(tokenOf(written))
      written += 2
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect((await vacuumed).bytes).toBe(bytesOf(path) + bytesOf(`${path}-wal`))
    expect(before - bytesOf(path)).toBeGreaterThan(2 * MIB)
    expect(written).toBeGreaterThan(3_010)
    await store.close()
    expect(check(path)).toEqual({ integrity_check: 'ok' })
    const again = await open(path)
    for (let index = 3_001; index < written; index += 2)
      expect(await again.tokens.read(tokenOf(index).hash)).toEqual(tokenOf(index))
  })

  it('does not go on for ever beside a store that removes rows all the time', async () => {
    const path = filled()
    const store = await open(path)
    let next = 4_000
    let steps = 0
    await vacuumDatabase({ path }, () => {
      steps += 1
      // In the calling thread: done when the call returns.
      for (const last = next + 40; next < last; next += 2) void store.tokens.issue(tokenOf(next))
      void store.tokens.revokeAll('even')
    })
    expect(steps).toBeLessThan(500)
  })

  it('still gives space back after an erasure, which rewrites the file', async () => {
    const path = join(temporaryFolder(), 'calls.db')
    const store = await open(path)
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [])
    await store.deliveries.erase({ accountId: account.id }, 100)
    await store.deliveries.scrub()
    await fill(store)
    const before = bytesOf(path)
    await vacuumDatabase({ path })
    expect(bytesOf(path)).toBeLessThan(before)
  })

  it.each<readonly [string, (folder: string) => void | Promise<void>, RegExp]>([
    ['that does not exist', () => {}, /^path names a file that does not exist: /],
    [
      'that is a folder',
      (folder) => mkdirSync(join(folder, 'x.db')),
      /^path must name a file, this is a folder/,
    ],
    [
      'that is a text',
      (folder) => writeFileSync(join(folder, 'x.db'), 'x'.repeat(5_000)),
      /^path is not an SQLite/,
    ],
    [
      'that is empty',
      (folder) => writeFileSync(join(folder, 'x.db'), ''),
      /^path is not a file that hookswitch created/,
    ],
    [
      'of another program',
      (folder) => {
        const database = new DatabaseSync(join(folder, 'x.db'))
        database.exec('create table call (id text)')
        database.close()
      },
      /^path is a database of another program/,
    ],
    [
      'that is the database of a host',
      (folder) => {
        const database = new DatabaseSync(join(folder, 'x.db'))
        database.exec('create table call (id text); create table hookswitch_meta (name text, value integer)')
        database.close()
      },
      /^path is not a file that hookswitch created for itself/,
    ],
    [
      'with two names',
      async (folder) => {
        await (await open(join(folder, 'x.db'))).close()
        linkSync(join(folder, 'x.db'), join(folder, 'y.db'))
      },
      /^path has 2 names \(hard links\), remove all but one: /,
    ],
  ])('refuses a file %s, which stays as it is', async (_, prepare, sentence) => {
    const folder = temporaryFolder()
    await prepare(folder)
    const path = join(folder, 'x.db')
    const stat = statSync(path, { throwIfNoEntry: false })
    const content = stat?.isFile() ? readFileSync(path) : undefined
    const error = await rejectionOf(vacuumDatabase({ path }))
    expect(error).toMatchObject({ code: 'InvalidOption', field: 'path' })
    expect(error.message).toMatch(sentence)
    if (content) expect(readFileSync(path).equals(content)).toBe(true)
    else expect(statSync(path, { throwIfNoEntry: false })?.isFile() ?? false).toBe(false)
  })
})

describe('the check of a log before the file is opened', () => {
  const HEADER = 32
  const FRAME = 24 + 4_096

  /** A file with a log of several commits, as a crash leaves it. */
  async function crashed(): Promise<string> {
    const folder = temporaryFolder()
    const live = join(folder, 'live.db')
    const path = join(folder, 'crashed.db')
    const store = await open(live)
    for (let index = 0; index < 8; index += 1) {
      const account = newAccount()
      await store.accounts.insert(account, newApiKey(account.id), [])
    }
    for (const suffix of ['', '-wal', '-owner']) copyFileSync(live + suffix, path + suffix)
    return path
  }

  function write(path: string, bytes: Buffer, at: number): void {
    const file = openSync(`${path}-wal`, 'r+')
    writeSync(file, bytes, 0, bytes.length, at)
    closeSync(file)
  }

  it('takes a frame that another connection is writing for no damage', async () => {
    const path = await crashed()
    const at = HEADER + 2 * FRAME + 500
    const content = readFileSync(`${path}-wal`).subarray(at, at + 100)
    write(path, Buffer.alloc(100, 1), at)
    let waits = 0
    onWait = () => {
      waits += 1
      write(path, content, at)
    }
    const store = await open(path)
    expect(waits).toBe(1)
    expect((await store.accounts.list()).length).toBe(8)
  })

  it('takes it for damage when it stays so', async () => {
    const path = await crashed()
    write(path, Buffer.alloc(100, 1), HEADER + 2 * FRAME + 500)
    onWait = () => {}
    const store = sqliteStore({ path, inThread: true })
    const opened = store.open({ clock: { now: () => 1_000 } as never, log: recordingLog() })
    expect(await rejectionOf(opened)).toMatchObject({ code: 'StoreCorrupt' })
  })
})
