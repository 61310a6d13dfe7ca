// @ts-check
/** Fills a file system, and frees it again. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

const BLOCK = Buffer.alloc(65_536)
/** The smallest allocation of the file system. */
const PAGE = 4096

/** @param {string} path a file of that file system */
const ballastBeside = (path) => join(dirname(path), 'ballast')

/** @param {string} path */
export function fillDisk(path) {
  const file = openSync(ballastBeside(path), 'w')
  for (let size = BLOCK.length; size >= PAGE; ) {
    try {
      writeSync(file, BLOCK, 0, size)
    } catch (thrown) {
      if (/** @type {{ code?: string }} */ (thrown).code !== 'ENOSPC') throw thrown
      size /= 2
    }
  }
  closeSync(file)
}

/** @param {string} path */
export const freeDisk = (path) => rmSync(ballastBeside(path))
