/**
 * Sets the folder for temporary files of a test run: a memory file system if it is large enough, because no test depends
 * on a disk. Also creates the folder for the PostgreSQL cluster that all servers of the run are copied from.
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** In some containers it holds 64 MB, less than one server needs. */
const MIN_BYTES = 2 ** 31

function hasSpace(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= MIN_BYTES
  } catch {
    return false
  }
}

/** Vitest calls it for every project; the first call creates the folders. */
export default function setup(): (() => void) | undefined {
  if (process.env.PG_DATA_MADE_ONCE !== undefined) return undefined
  if (process.env.TMPDIR === undefined && hasSpace()) process.env.TMPDIR = MEMORY
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-pg-once-'))
  process.env.PG_DATA_MADE_ONCE = folder
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // Also removes the folder when the run is interrupted.
  process.once('exit', remove)
  return remove
}
