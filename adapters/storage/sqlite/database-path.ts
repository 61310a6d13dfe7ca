/**
 * Resolves the path of the database and checks that a database can be there. Opens nothing: closing a file descriptor
 * would drop the locks that SQLite holds on the file in this process.
 */
import { accessSync, constants, existsSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { corruptError, invalidOptionError, messageOf } from './errors.js'
import { checkOptions } from './options.js'

/** The database file, and the option that named it. */
export interface DatabasePath {
  /** Absolute and without symbolic links, so that the files beside it have the same names however it was spelled. */
  readonly path: string
  /** `database`: the file is the host's, and only some of its tables are ours. */
  readonly field: 'path' | 'database'
}

/**
 * @throws HookswitchError `InvalidOption` naming the option, `StoreCorrupt` for a write-ahead log without its database
 */
export function resolveDatabasePath(given: string, field: DatabasePath['field']): DatabasePath {
  const invalid = (sentence: string, cause?: unknown) => invalidOptionError(field, sentence, cause)
  const absolute = resolve(given)
  const folder = dirname(absolute)
  if (!statOf(folder, invalid)?.isDirectory()) {
    throw invalid(`is in a folder that does not exist, create it first: ${folder}`)
  }
  const stat = statOf(absolute, invalid)
  if (stat?.isDirectory()) throw invalid(`must name a file, this is a folder: ${absolute}`)
  if (stat && !stat.isFile()) throw invalid(`must name a file, this is a device: ${absolute}`)
  const path = stat ? realpathSync(absolute) : join(realpathSync(folder), basename(absolute))
  // SQLite deletes the log of an empty file, and that log may hold all of the data.
  if (sizeOf(`${path}-wal`) > 0) {
    // Check the database again after the log: another process may be creating both right now.
    const now = statOf(path, invalid)
    if ((now?.size ?? 0) === 0) {
      const log = `${basename(path)}-wal`
      throw corruptError(path, `it is ${now ? 'empty' : 'missing'}, but ${log} is not`, {
        advice: `restore both from a backup, or remove ${log} to start with an empty database`,
      })
    }
  }
  assertWritable(
    dirname(path),
    invalid,
    'is in a folder that cannot be written, and SQLite keeps files beside it',
  )
  if (stat) assertWritable(path, invalid, 'names a file that cannot be written')
  return { path, field }
}

/**
 * Locates a file that must exist, for a function that takes `{ path }`.
 *
 * @param call the name of the function
 * @throws HookswitchError as `resolveDatabasePath`; `InvalidOption` for other options, and for a file that does not exist
 */
export function locateFile(call: string, options: unknown): DatabasePath {
  const checked = checkOptions(options, call)
  if (checked.kind === 'database') throw invalidOptionError('path', 'is required: a file name')
  const location = resolveDatabasePath(checked.path, 'path')
  if (existsSync(location.path)) return location
  throw invalidOptionError('path', `names a file that does not exist: ${location.path}`)
}

/** Bytes of a file; 0: there is none. */
export const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

type InvalidError = (sentence: string, cause?: unknown) => Error

function statOf(path: string, invalid: InvalidError): Stats | undefined {
  try {
    return statSync(path)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw invalid(`is not accessible: ${messageOf(thrown)}`, thrown)
  }
}

function assertWritable(path: string, invalid: InvalidError, sentence: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (thrown) {
    throw invalid(`${sentence}: ${path}`, thrown)
  }
}
