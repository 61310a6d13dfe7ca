import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { HookswitchError } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { messageOf, unavailable } from './errors.js'

/** 32 bytes in hex. */
const FORM = /^[0-9a-f]{64}$/
const KEY_BYTES = 32
/** Readable by the owner alone. */
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/**
 * The key for secrets at rest, kept in `PATH.key` beside the database, so that a copy of the database alone opens no
 * secret. Made once, while nothing is sealed yet.
 *
 * @param warn told when others may read the file
 * @throws HookswitchError `StoreCorrupt` when it is gone, or no key, and something is sealed with it
 */
export function secretOf(db: SqliteHandle, path: string, warn: (sentence: string) => void): string {
  const file = `${path}.key`
  const found = read(file)
  if (found !== undefined && FORM.test(found)) {
    if (process.platform !== 'win32' && (statSync(file).mode & OTHERS) !== 0) {
      warn(`${file} can be read by other users: chmod 600 it`)
    }
    return found
  }
  if (hasSealed(db)) {
    const wrong = found === undefined ? 'is not there' : 'is not a key (64 hex digits)'
    const sentence =
      `${file} ${wrong}, and what is secret in ${path} is sealed already: restore the file from a backup, or give the ` +
      'secret that the service was started with before'
    throw new HookswitchError('StoreCorrupt', sentence)
  }
  if (found !== undefined && found !== '') {
    const sentence = `${file} is not a key (64 hex digits): put the right one there, or remove the file`
    throw new HookswitchError('StoreCorrupt', sentence)
  }
  return create(file)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unavailable(`the key of the store cannot be read: ${messageOf(thrown)}`, thrown)
  }
}

/** API keys and the secrets of webhooks are sealed. */
function hasSealed(db: SqliteHandle): boolean {
  const sql =
    'SELECT EXISTS (SELECT 1 FROM hookswitch_api_key) OR EXISTS (SELECT 1 FROM hookswitch_webhook) AS sealed'
  return (db.prepare(sql).get() as { sealed: number }).sealed === 1
}

/** Whole and on the disk, or not there at all: the only owner of the database is the only one to write it. */
function create(file: string): string {
  const key = randomBytes(KEY_BYTES).toString('hex')
  const aside = `${file}.new`
  try {
    rmSync(aside, { force: true })
    writeFileSync(aside, `${key}\n`, { flag: 'wx', mode: OWNER_ONLY, flush: true })
    renameSync(aside, file)
    syncFolder(dirname(file))
  } catch (thrown) {
    rmSync(aside, { force: true })
    throw unavailable(`the key of the store cannot be written: ${messageOf(thrown)}`, thrown)
  }
  return key
}

/** A new name is lost with the power unless its folder is on the disk. Windows opens no folders. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
