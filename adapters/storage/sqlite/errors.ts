/** Translates errors of SQLite and its drivers into HookswitchErrors. */
import { errorCode, HookswitchError } from 'hookswitch/store'

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
export const ANY_ERROR = 1
const BUSY = 5
const LOCKED = 6
const NOMEM = 7
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const TOOBIG = 18
const CONSTRAINT = 19
const MISMATCH = 20
const NOTADB = 26
/** Extended code: another connection has written since this transaction began to read, so it may not write. */
const BUSY_SNAPSHOT = 517

/** The error message of each code, for an operator; it follows the file name. */
const SENTENCES: Readonly<Record<number, string>> = {
  [BUSY]: 'is locked by another connection; end its transaction',
  [LOCKED]: 'is locked by another connection; end its transaction',
  [NOMEM]: 'could not be used: out of memory',
  [READONLY]: 'cannot be written: the file, its folder or its disk is read-only',
  [IOERR]: 'could not be read or written: the disk reports an error, or is full',
  [FULL]: 'cannot grow: its disk is full',
  [CANTOPEN]: 'or a file beside it cannot be opened: check the folder and its permissions',
  [BUSY_SNAPSHOT]: 'was written since this transaction began to read: begin it with BEGIN IMMEDIATE',
}

/** The error message of each code that blames the data: a repetition fails again. */
const REFUSED_DATA: Readonly<Record<number, string>> = {
  [TOOBIG]: 'cannot store this value: it is too long',
  [CONSTRAINT]: 'cannot store this value: a constraint or trigger forbids it',
  [MISMATCH]: 'cannot store this value: it has the wrong type',
}

/** A trigger of the host may name a table of the host. */
const DAMAGE = /no such (table: (main\.)?hookswitch_|column)|malformed|unsupported file format/

/**
 * The extended result code of an error that a driver threw: the general one where it passes none on, as
 * `@photostructure/sqlite` does from `all`.
 */
function extendedCode(thrown: unknown): number | undefined {
  const { errcode, code } = (thrown ?? {}) as { errcode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return errcode
  return code === 'ERR_SQLITE_ERROR' ? ANY_ERROR : undefined
}

/** The primary result code; `undefined` for any other error. */
export function resultCode(thrown: unknown): number | undefined {
  const code = extendedCode(thrown)
  return code === undefined ? undefined : code & 0xff
}

export function isBusy(thrown: unknown): boolean {
  const code = resultCode(thrown)
  return code === BUSY || code === LOCKED
}

export function isFull(thrown: unknown): boolean {
  return resultCode(thrown) === FULL
}

export function isCorruption(thrown: unknown): boolean {
  const code = resultCode(thrown)
  if (code === CORRUPT || code === NOTADB) return true
  // A column that should hold JSON does not.
  if (thrown instanceof SyntaxError) return true
  // A statement names what the damaged schema lacks, or evaluates damaged JSON.
  return code === ANY_ERROR && DAMAGE.test(messageOf(thrown))
}

/**
 * The error that a store method rejects with. HookswitchErrors pass unchanged; any other error becomes the cause of one.
 *
 * @param path the database file
 */
export function toStoreError(thrown: unknown, path: string): HookswitchError {
  if (errorCode(thrown)) return thrown as HookswitchError
  // The message of `JSON.parse` quotes the row.
  if (thrown instanceof SyntaxError) return corruptError(path, 'a text that should be JSON')
  if (isCorruption(thrown)) return corruptError(path, messageOf(thrown), { cause: thrown })
  const refusal = REFUSED_DATA[resultCode(thrown) ?? 0]
  if (refusal) return new HookswitchError('InvalidInput', `${path} ${refusal}`, { cause: thrown })
  const sentence = SENTENCES[extendedCode(thrown) ?? 0] ?? SENTENCES[resultCode(thrown) ?? 0]
  return unavailableError(`${path} ${sentence ?? `could not be used: ${messageOf(thrown)}`}`, thrown)
}

/** `StoreUnavailable`: a retry may succeed. */
export function unavailableError(sentence: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 1, cause })
}

/** `StoreCorrupt`: an operator has to act. */
export function corruptError(
  path: string,
  found: string,
  { advice = 'restore it from a backup', cause }: { readonly advice?: string; readonly cause?: unknown } = {},
): HookswitchError {
  return new HookswitchError('StoreCorrupt', `${path} is damaged (${found}): ${advice}`, { cause })
}

/** `InvalidOption` for one of our options; the message begins with its name. */
export function invalidOptionError(field: string, message: string, cause?: unknown): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${message}`, { field, cause })
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
