import { errorCode, HookswitchError } from 'hookswitch/store'

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const BUSY = 5
const LOCKED = 6
const NOMEM = 7
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26
/** An extended one: what a transaction has read is no longer the newest, so it may not write. */
const BUSY_SNAPSHOT = 517

/** What a code means for who runs the service, after the file's name. */
const SENTENCES: Readonly<Record<number, string>> = {
  [BUSY]: 'is locked by another connection; end its transaction',
  [LOCKED]: 'is locked by another connection; end its transaction',
  [NOMEM]: 'could not be used: there is no memory left',
  [READONLY]: 'cannot be written: the file, its folder or its disk is read-only',
  [IOERR]: 'could not be read or written: the disk reports an error, or is full',
  [FULL]: 'cannot grow: its disk is full',
  [CANTOPEN]: 'cannot be opened, or a file beside it: look at folder and permissions',
  [BUSY_SNAPSHOT]: 'was written since this transaction began to read: begin it with BEGIN IMMEDIATE',
}

/** The extended result code of what a driver threw. */
function extendedCode(thrown: unknown): number | undefined {
  const code = (thrown as { errcode?: unknown } | null | undefined)?.errcode
  return typeof code === 'number' ? code : undefined
}

/** The primary one; `undefined` for anything else. */
export function resultCode(thrown: unknown): number | undefined {
  const code = extendedCode(thrown)
  return code === undefined ? undefined : code & 0xff
}

export function isBusy(thrown: unknown): boolean {
  const code = resultCode(thrown)
  return code === BUSY || code === LOCKED
}

export function isDamage(thrown: unknown): boolean {
  const code = resultCode(thrown)
  if (code === CORRUPT || code === NOTADB) return true
  // A row that was JSON.
  if (thrown instanceof SyntaxError) return true
  // A statement that does not fit: a table is gone.
  return code === 1 && /no such (table|column)|malformed/.test(messageOf(thrown))
}

/**
 * What a store's door rejects with: errors of ours as they are, anything else in words, with its cause.
 *
 * @param path the database file
 */
export function storeError(thrown: unknown, path: string): HookswitchError {
  if (errorCode(thrown)) return thrown as HookswitchError
  if (isDamage(thrown)) return damaged(path, messageOf(thrown), thrown)
  const known = SENTENCES[extendedCode(thrown) ?? 0] ?? SENTENCES[resultCode(thrown) ?? 0]
  return unavailable(`${path} ${known ?? `could not be used: ${messageOf(thrown)}`}`, thrown)
}

/** `StoreUnavailable`: it may go on in a moment. */
export function unavailable(sentence: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 1, cause })
}

/** `StoreCorrupt`: somebody has to look. */
export function damaged(path: string, found: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreCorrupt', `${path} is damaged (${found}): restore it from a backup`, {
    cause,
  })
}

/** `InvalidOption` for one of ours; the message begins with its name. */
export function invalidOption(field: string, message: string, cause?: unknown): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${message}`, { field, cause })
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
