/**
 * Where a run keeps its files: in memory where there is room for them, since nothing that is tested here waits for a
 * disk; and where the folder of a PostgreSQL server is kept that is made once for all of them.
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Of some containers it holds 64 MB: less than one server needs. */
const ENOUGH_BYTES = 2 ** 31

function isRoomy(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/** Every project asks for it: the first one makes the places. */
export default function setup(): (() => void) | undefined {
  if (process.env.PG_DATA_MADE_ONCE !== undefined) return undefined
  if (process.env.TMPDIR === undefined && isRoomy()) process.env.TMPDIR = MEMORY
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-pg-once-'))
  process.env.PG_DATA_MADE_ONCE = folder
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // Of a run that is broken off nothing is left either.
  process.once('exit', remove)
  return remove
}
