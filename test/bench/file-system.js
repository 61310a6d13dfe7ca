/** Folders of a run, where a flush reaches a disk: durability on a file system in memory would cost nothing. */
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
import { median } from './numbers.js'

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

/** The folder for temporary files, unless that is in memory: then one in the repository. */
function parentFolder() {
  if (!IN_MEMORY.includes(typeOf(tmpdir()))) return tmpdir()
  mkdirSync(IN_REPOSITORY, { recursive: true })
  return IN_REPOSITORY
}

/** A new folder; who made it removes it. */
export const makeFolder = () => mkdtempSync(join(parentFolder(), 'hookswitch-bench-'))

/** Also while a process that was just ended lets go of it. */
export const removeFolder = (path) =>
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })

/** Where the folders are, and how long a small write takes there until it is on the disk. */
export function diskFacts() {
  const folder = makeFolder()
  try {
    const file = openSync(join(folder, 'flushed'), 'w')
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
