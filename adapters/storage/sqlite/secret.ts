/** The key that encrypts secrets at rest: read from `PATH.key`, or generated on first use. */
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
import { invalidOptionError, messageOf, unavailableError } from './errors.js'

/** 32 bytes in hex. */
const KEY_FORMAT = /^[0-9a-f]{64}$/
const KEY_BYTES = 32
/** File mode: readable and writable by the owner only. */
const OWNER_ONLY = 0o600
/** Mode bits that grant access to other users. */
const OTHER_USERS = 0o077

/**
 * Loads the key from `PATH.key`. It is stored beside the database and not in it, so that a copy of the database alone
 * reveals no secret. It is generated once, while nothing has been encrypted yet.
 *
 * @param warn logs that other users can read the file
 * @throws HookswitchError `StoreCorrupt` (field `secret`) when the key is missing or malformed and secrets are encrypted with it
 */
export function loadEncryptionKey(db: SqliteHandle, path: string, warn: (sentence: string) => void): string {
  const file = `${path}.key`
  const content = read(file)
  if (content !== undefined && KEY_FORMAT.test(content)) {
    if (process.platform !== 'win32' && (statSync(file).mode & OTHER_USERS) !== 0) {
      warn(`${file} can be read by other users: chmod 600 it`)
    }
    return content
  }
  if (hasEncryptedSecrets(db)) {
    const problem = content === undefined ? 'is missing' : 'is not a key (64 hex digits)'
    const sentence =
      `${file} ${problem}, but ${path} contains secrets encrypted with it: restore the file from a backup, or pass the ` +
      'secret that the service was started with before'
    throw new HookswitchError('StoreCorrupt', sentence, { field: 'secret' })
  }
  if (content !== undefined && content !== '') {
    const sentence = `${file} is not a key (64 hex digits): put the right one there, or remove the file`
    throw new HookswitchError('StoreCorrupt', sentence, { field: 'secret' })
  }
  return create(file)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unavailableError(`the key of the store cannot be read: ${messageOf(thrown)}`, thrown)
  }
}

/** API keys and the secrets of webhooks are encrypted. */
function hasEncryptedSecrets(db: SqliteHandle): boolean {
  const sql =
    'SELECT EXISTS (SELECT 1 FROM hookswitch_api_key) OR EXISTS (SELECT 1 FROM hookswitch_webhook) AS encrypted'
  return (db.prepare(sql).get() as { encrypted: number }).encrypted === 1
}

/**
 * Replaces the key in `PATH.key`, atomically. Does nothing without that file: the host then passes its own secret.
 *
 * @throws HookswitchError `InvalidOption` (field `to`) for anything but 64 hex digits, `StoreUnavailable`
 */
export function replaceEncryptionKey(path: string, key: string): void {
  const file = `${path}.key`
  if (read(file) === undefined) return
  if (!KEY_FORMAT.test(key)) throw invalidOptionError('to', `must be 64 hex digits, like the key in ${file}`)
  write(file, key)
}

function create(file: string): string {
  const key = randomBytes(KEY_BYTES).toString('hex')
  write(file, key)
  return key
}

/** Writes the file atomically and flushes it. Only the owner of the database does it. */
function write(file: string, key: string): void {
  const temporary = `${file}.new`
  try {
    rmSync(temporary, { force: true })
    writeFileSync(temporary, `${key}\n`, { flag: 'wx', mode: OWNER_ONLY, flush: true })
    renameSync(temporary, file)
    syncFolder(dirname(file))
  } catch (thrown) {
    rmSync(temporary, { force: true })
    throw unavailableError(`the key of the store cannot be written: ${messageOf(thrown)}`, thrown)
  }
}

/** A new directory entry survives a power failure only after its folder is flushed. Windows cannot open folders. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
