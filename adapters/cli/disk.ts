import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The disk of a database file. */
export interface DiskHealth {
  /** Bytes that are free for this program. */
  readonly freeBytes: number
  /** Why the node cannot work; absent: there is room. */
  readonly reason?: string
}

/** Below this a disk counts as full: a write-ahead log of a few large groups needs about as much. */
const MIN_FREE_BYTES = 16 * 1024 * 1024

/**
 * Reads how much room the disk of a file has. Never rejects.
 *
 * @returns `undefined` if the system does not tell
 */
export async function readDisk(file: string): Promise<DiskHealth | undefined> {
  try {
    const { bavail, bsize } = await statfs(dirname(file))
    const freeBytes = bavail * bsize
    return diskHealth(freeBytes)
  } catch {
    return undefined
  }
}

/** @internal */
export function diskHealth(freeBytes: number): DiskHealth {
  if (freeBytes >= MIN_FREE_BYTES) return { freeBytes }
  const mebibytes = Math.floor(freeBytes / (1024 * 1024))
  return { freeBytes, reason: `the disk of the database file has only ${mebibytes} MiB left` }
}
