import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The disk of a database file. */
export interface DiskHealth {
  /** Bytes that are free for this program. */
  readonly freeBytes: number
  /** Its size in bytes. */
  readonly bytes: number
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
    const { bavail, blocks, bsize } = await statfs(dirname(file))
    return diskHealth(bavail * bsize, blocks * bsize)
  } catch {
    return undefined
  }
}

/** @internal */
export function diskHealth(freeBytes: number, bytes: number): DiskHealth {
  if (freeBytes >= MIN_FREE_BYTES) return { freeBytes, bytes }
  const mebibytes = Math.floor(freeBytes / (1024 * 1024))
  return { freeBytes, bytes, reason: `the disk of the database file has only ${mebibytes} MiB left` }
}
