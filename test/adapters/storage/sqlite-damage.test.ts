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
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { openDatabase } from '../../../adapters/storage/sqlite/open.js'
import {
  newAccount,
  newApiKey,
  newDelivery,
  newEvent,
  newWebhook,
} from '../../../src/testkit/conformance/sample-data.js'
import { propertyRuns } from '../../support/property-runs.js'
import { createFolder, recordingLog } from './sqlite-harness.js'

const PAGE = 4096
const ACCOUNTS = 20
/** A byte of the header (https://www.sqlite.org/fileformat.html#file_format_version_numbers). */
const WRITE_VERSION = 18
const clock = { now: () => 1_000 } as never
let folder: string
let intact: string
let size: number

/** Creates a closed database with rows in its tables. */
beforeAll(async () => {
  folder = createFolder()
  intact = join(folder, 'sound.db')
  const store = sqliteStore({ path: intact, inThread: true })
  await store.open({ clock, log: recordingLog() })
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [])
    const webhook = newWebhook({ accountId: account.id })
    await store.webhooks.insert(webhook)
    const event = newEvent({ accountId: account.id, callId: account.id })
    const deliveries = [newDelivery(webhook, event)]
    event.position = deliveries[0]!.position = index + 1
    const accepted = [{ events: [event], deliveries }]
    await store.deliveries.commit({
      lease: undefined,
      version: 0,
      now: 1_000,
      accepted,
      ended: [],
      finished: [],
      pending: 0,
      isRepeat: false,
    })
  }
  await store.close()
  size = readFileSync(intact).length
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Damages a copy of the database and opens it: returns the error code, or the number of accounts that can be read. */
async function openDamaged(damage: (path: string) => void): Promise<ErrorCode | number> {
  const path = join(mkdtempSync(join(folder, 'copy-')), 'x.db')
  copyFileSync(intact, path)
  copyFileSync(`${intact}-owner`, `${path}-owner`)
  damage(path)
  const bytes = () => (existsSync(path) ? readFileSync(path).toString('latin1') : '')
  const before = bytes()
  const store = sqliteStore({ path, inThread: true })
  try {
    await store.open({ clock, log: recordingLog() })
  } catch (thrown) {
    expect((thrown as Error).message).toContain(path)
    expect(bytes() === before, 'a damaged file is not changed').toBe(true)
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

/** Flips bits of one byte. */
const flip = (offset: number, bits: number) => (path: string) => {
  const bytes = readFileSync(path)
  bytes[offset]! ^= bits
  writeFileSync(path, bytes)
}

/** Replaces a text of the same length wherever it is. */
const replaceText = (text: string, other: string) => (path: string) => {
  const found = readFileSync(path).toString('latin1')
  expect(found).toContain(text)
  writeFileSync(path, found.replaceAll(text, other), 'latin1')
}

const change = (sql: string) => (path: string) => {
  const { DatabaseSync } = loadDriver()
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

describe('a damaged database', () => {
  it('opens if nothing was damaged', async () => {
    expect(await openDamaged(() => {})).toBe(ACCOUNTS)
  })

  it.each<[string, (path: string) => void]>([
    ['was truncated to nothing', (path) => truncateSync(path, 0)],
    ['was truncated to a part of its header', (path) => truncateSync(path, 60)],
    ['was truncated to its first page', (path) => truncateSync(path, PAGE)],
    ['was truncated to half', (path) => truncateSync(path, PAGE * Math.floor(size / PAGE / 2))],
    ['lost its last page', (path) => truncateSync(path, size - PAGE)],
    ['lost its last bytes', (path) => truncateSync(path, size - 10)],
    ['is all zeros', (path) => writeFileSync(path, Buffer.alloc(size))],
    ['has a first page of zeros', (path) => writeFileSync(path, readFileSync(path).fill(0, 0, PAGE))],
    ['has a list of tables of zeros', (path) => writeFileSync(path, readFileSync(path).fill(0, 100, PAGE))],
    ['has a second page of zeros', (path) => writeFileSync(path, readFileSync(path).fill(0, PAGE, 2 * PAGE))],
    ['was overwritten with text', (path) => writeFileSync(path, 'hello '.repeat(1_000))],
    ['lost the number of its owner', change("delete from hookswitch_meta where name = 'term'")],
    ['has text for a position', change("update hookswitch_meta set value = 'x' where name = 'position'")],
    ['has text for its time', change("insert or replace into hookswitch_meta values ('store_time', 'x')")],
    [
      'has a position above all',
      change(`update hookswitch_meta set value = ${2n ** 63n - 1n} where name = 'position'`),
    ],
    ['lost its version', change("delete from hookswitch_meta where name = 'schema'")],
    ['has another name of a column in its schema', replaceText('body_hash', 'bodyxhash')],
    ['has another name of a function in its schema', replaceText('substr(', 'rubstr(')],
    ['lost its list of tables', (path) => writeFileSync(path, emptyDatabase(path))],
  ])('that %s is rejected and never reinitialized', async (_, damage) => {
    expect(await openDamaged(damage)).toBe('StoreCorrupt')
  })

  it('is rejected as damaged or read, but never treated as empty, whichever byte changed', async () => {
    const header = fc.integer({ min: 0, max: 107 })
    const offset = fc.oneof(header, fc.integer({ min: 0, max: 2 * PAGE - 1 }), fc.nat(size - 1))
    await fc.assert(
      fc.asyncProperty(offset, fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const result = await openDamaged(flip(at, bits))
        // A higher write version means: by this SQLite the file can only be read.
        expect(
          at === WRITE_VERSION ? ['StoreCorrupt', 'StoreUnavailable'] : ['StoreCorrupt', ACCOUNTS],
        ).toContain(result)
      }),
      { numRuns: propertyRuns(250) },
    )
  })

  it('can be removed to start with an empty one', async () => {
    expect(await openDamaged((path) => rmSync(path))).toBe(0)
  })
})

it.each([
  ['a function that this connection lacks', 'select function_of_host()'],
  ['a table that is gone', 'insert into gone values (1)'],
])("a host's file with a trigger of the host that uses %s is unavailable, not damaged", (_, statement) => {
  const path = join(mkdtempSync(join(folder, 'copy-')), 'x.db')
  copyFileSync(intact, path)
  change(`create trigger host after insert on hookswitch_waiting begin ${statement}; end`)(path)
  const open = () => openDatabase({ path, field: 'database' }, () => {})
  expect(open).toThrow(expect.objectContaining({ code: 'StoreUnavailable' }))
})

/** A valid, empty SQLite database with the same header. */
function emptyDatabase(path: string): Buffer {
  const bytes = readFileSync(path).subarray(0, PAGE)
  // One page: a leaf of the schema table without cells.
  bytes.writeUInt32BE(1, 28)
  bytes.fill(0, 32, 40)
  bytes.set([0x0d, 0, 0, 0, 0, 0x10, 0, 0], 100)
  return bytes
}
