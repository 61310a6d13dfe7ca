import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { sqliteStore } from 'hookswitch/sqlite'
import { type ErrorCode, errorCode } from 'hookswitch/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  newAccount,
  newApiKey,
  newDelivery,
  newEvent,
  newWebhook,
} from '../../../src/store/conformance/fixtures.js'
import { newFolder, notedLog } from './sqlite-bench.js'

const PAGE = 4096
const ACCOUNTS = 20
const clock = { now: () => 1_000 } as never
let folder: string
let sound: string
let size: number

/** A database with something in every table, closed. */
beforeAll(async () => {
  folder = newFolder()
  sound = join(folder, 'sound.db')
  const store = sqliteStore({ path: sound, inThread: true })
  await store.open({ clock, log: notedLog() })
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [])
    const webhook = newWebhook({ accountId: account.id })
    await store.webhooks.insert(webhook)
    const event = newEvent({ accountId: account.id, callId: account.id })
    const deliveries = [newDelivery(webhook, event)]
    await store.deliveries.accept({ events: [event], deliveries, maxPending: 99 }, 1_000)
  }
  await store.close()
  size = readFileSync(sound).length
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** How a copy of the database does that was damaged: what opening it says, else what it says of its accounts. */
async function afterDamage(damage: (path: string) => void): Promise<ErrorCode | number> {
  const path = join(mkdtempSync(join(folder, 'copy-')), 'x.db')
  copyFileSync(sound, path)
  copyFileSync(`${sound}-owner`, `${path}-owner`)
  damage(path)
  const bytes = () => (existsSync(path) ? readFileSync(path).toString('latin1') : '')
  const before = bytes()
  const store = sqliteStore({ path, inThread: true })
  try {
    await store.open({ clock, log: notedLog() })
  } catch (thrown) {
    expect((thrown as Error).message).toContain(path)
    expect(bytes() === before, 'what is damaged stays as it is').toBe(true)
    return codeOf(thrown)
  }
  try {
    return (await store.accounts.list()).length
  } catch (thrown) {
    return codeOf(thrown)
  } finally {
    await store.close()
  }
}

function codeOf(thrown: unknown): ErrorCode {
  const code = errorCode(thrown)
  if (code) return code
  throw thrown
}

/** Turns bits of one byte over. */
const flip = (offset: number, bits: number) => (path: string) => {
  const bytes = readFileSync(path)
  bytes[offset]! ^= bits
  writeFileSync(path, bytes)
}

describe('a damaged database', () => {
  it('is sound as long as nobody touches it', async () => {
    expect(await afterDamage(() => {})).toBe(ACCOUNTS)
  })

  it.each<[string, (path: string) => void]>([
    ['was cut to nothing', (path) => truncateSync(path, 0)],
    ['was cut to a part of its header', (path) => truncateSync(path, 60)],
    ['was cut to its first page', (path) => truncateSync(path, PAGE)],
    ['was cut in half', (path) => truncateSync(path, PAGE * Math.floor(size / PAGE / 2))],
    ['lost its last page', (path) => truncateSync(path, size - PAGE)],
    ['lost its last bytes', (path) => truncateSync(path, size - 10)],
    ['is all zeros', (path) => writeFileSync(path, Buffer.alloc(size))],
    ['has a first page of zeros', (path) => writeFileSync(path, readFileSync(path).fill(0, 0, PAGE))],
    ['has a list of tables of zeros', (path) => writeFileSync(path, readFileSync(path).fill(0, 100, PAGE))],
    ['has a second page of zeros', (path) => writeFileSync(path, readFileSync(path).fill(0, PAGE, 2 * PAGE))],
    ['became a text', (path) => writeFileSync(path, 'hello '.repeat(1_000))],
    ['lost its list of tables', (path) => writeFileSync(path, emptied(path))],
  ])('that %s is refused, and never begun anew', async (_, damage) => {
    expect(await afterDamage(damage)).toBe('StoreCorrupt')
  })

  it('is refused or read, but never taken for empty, whichever byte of the first page changed', async () => {
    const header = fc.integer({ min: 0, max: 107 })
    const offset = fc.oneof(header, fc.integer({ min: 0, max: 2 * PAGE - 1 }))
    await fc.assert(
      fc.asyncProperty(offset, fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        expect(await afterDamage(flip(at, bits))).not.toBe(0)
      }),
      { numRuns: 150 },
    )
  })

  it('is refused or read, but never taken for empty, whichever byte changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(size - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        expect(await afterDamage(flip(at, bits))).not.toBe(0)
      }),
      { numRuns: 100 },
    )
  })

  it('may be removed, to begin anew', async () => {
    expect(await afterDamage((path) => rmSync(path))).toBe(0)
  })
})

/** A whole, sound, empty SQLite database in its place. */
function emptied(path: string): Buffer {
  const bytes = readFileSync(path).subarray(0, PAGE)
  // One page; a leaf of the list of tables without a cell.
  bytes.writeUInt32BE(1, 28)
  bytes.fill(0, 32, 40)
  bytes.set([0x0d, 0, 0, 0, 0, 0x10, 0, 0], 100)
  return bytes
}
