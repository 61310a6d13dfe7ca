/** Creates the folders of a run on a disk: on a file system in memory, durability would cost nothing. */
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './statistics.js'

const IN_REPOSITORY = fileURLToPath(new URL('../../node_modules/.bench', import.meta.url))

/** `f_type` of statfs(2). */
const TYPES = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x2fc12fc1, 'zfs'],
  [0x794c7630, 'overlayfs'],
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
])
const IN_MEMORY = ['tmpfs', 'ramfs']

const typeOf = (path) =>
  TYPES.get(statfsSync(path).type) ?? `file system 0x${statfsSync(path).type.toString(16)}`

/** The folder for temporary files, or one in the repository if that is in memory. */
function parentFolder() {
  if (!IN_MEMORY.includes(typeOf(tmpdir()))) return tmpdir()
  mkdirSync(IN_REPOSITORY, { recursive: true })
  return IN_REPOSITORY
}

/** Creates a folder; the caller removes it. */
export const createFolder = () => mkdtempSync(join(parentFolder(), 'hookswitch-bench-'))

/** Retries, because a process that has just ended may still hold files. */
export const removeFolder = (path) =>
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })

/** Where the folders are, and the median time of a flushed write of 4 KiB there, in ms. */
export function measureDisk() {
  const folder = createFolder()
  try {
    const file = openSync(join(folder, 'flush-test'), 'w')
    const block = Buffer.alloc(4_096, 1)
    const times = Array.from({ length: 51 }, () => {
      const started = performance.now()
      writeSync(file, block)
      fdatasyncSync(file)
      return performance.now() - started
    })
    closeSync(file)
    return { folder: parentFolder(), fileSystem: typeOf(folder), flushMs: median(times) }
  } finally {
    removeFolder(folder)
  }
}
