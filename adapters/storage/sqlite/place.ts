import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { damaged, invalidOption, messageOf } from './errors.js'

/** Which file, and which option named it. */
export interface Place {
  /** Absolute, without symbolic links: what lies beside the file has one name, however it was called. */
  readonly path: string
  /** `database`: the file is the host's, ours are some of its tables. */
  readonly field: 'path' | 'database'
}

/**
 * Looks whether a database can be here, and opens nothing: closing a descriptor would drop the locks that SQLite holds
 * on the file in this process.
 *
 * @throws HookswitchError `InvalidOption` naming the option, `StoreCorrupt` for remains without their database
 */
export function checkedPlace(given: string, field: Place['field']): Place {
  const wrong = (sentence: string, cause?: unknown) => invalidOption(field, sentence, cause)
  const absolute = resolve(given)
  const folder = dirname(absolute)
  if (!statOf(folder, wrong)?.isDirectory()) {
    throw wrong(`is in a folder that is not there, create it first: ${folder}`)
  }
  const stat = statOf(absolute, wrong)
  if (stat?.isDirectory()) throw wrong(`must name a file, this is a folder: ${absolute}`)
  if (stat && !stat.isFile()) throw wrong(`must name a file, this is a device: ${absolute}`)
  const path = stat ? realpathSync(absolute) : join(realpathSync(folder), basename(absolute))
  // SQLite deletes the log of an empty file, which may be all there is of the data.
  if (sizeOf(`${path}-wal`) > 0) {
    // Looked at once more, after the log: another process may be making both just now.
    const now = statOf(path, wrong)
    if ((now?.size ?? 0) === 0) {
      const found = now ? 'it is empty' : 'it is gone'
      throw damaged(path, `${found}, but not its ${basename(path)}-wal; or remove that one too to start anew`)
    }
  }
  mayWrite(dirname(path), wrong, 'is in a folder that cannot be written, and SQLite keeps files beside it')
  if (stat) mayWrite(path, wrong, 'names a file that cannot be written')
  return { path, field }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

type Wrong = (sentence: string, cause?: unknown) => Error

function statOf(path: string, wrong: Wrong): Stats | undefined {
  try {
    return statSync(path)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw wrong(`cannot be looked at: ${messageOf(thrown)}`, thrown)
  }
}

function mayWrite(path: string, wrong: Wrong, sentence: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (thrown) {
    throw wrong(`${sentence}: ${path}`, thrown)
  }
}
