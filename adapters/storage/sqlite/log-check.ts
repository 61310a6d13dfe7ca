/**
 * Finds damage in the middle of a write-ahead log, before SQLite opens it. SQLite replays a log up to the first frame
 * whose checksum is wrong and silently drops the rest, because a crash may leave a half-written transaction at the end.
 * The rest contains lost commits if the checksums of a commit continue those of the commit before it: the earlier commit was
 * flushed before the later one was written (`synchronous=FULL`). Commits that do not continue each other are remains of several
 * failed flushes or power failures, each followed by shorter commits in its place.
 *
 * Format: https://www.sqlite.org/fileformat.html, section 4.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'
import { corruptError } from './errors.js'
import { blockThread } from './pragmas.js'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The lowest bit says whether checksums use big-endian words. */
const MAGIC = 0x377f0682
/** Frames that are read at once. */
const FRAMES = 64

type Sums = readonly [number, number]

/** Checksums continue over the frames. `words` is a multiple of 8 bytes. */
function addChecksum([first, second]: Sums, words: Buffer, isBigEndian: boolean): Sums {
  let s0 = first
  let s1 = second
  for (let at = 0; at < words.length; at += 8) {
    const x0 = isBigEndian ? words.readUInt32BE(at) : words.readUInt32LE(at)
    const x1 = isBigEndian ? words.readUInt32BE(at + 4) : words.readUInt32LE(at + 4)
    s0 = (s0 + x0 + s1) >>> 0
    s1 = (s1 + x1 + s0) >>> 0
  }
  return [s0, s1]
}

/** The checksum of a frame, which continues that of the frame before it. */
const sumsAfter = (sums: Sums, frame: Buffer, isBigEndian: boolean) =>
  addChecksum(
    addChecksum(sums, frame.subarray(0, 8), isBigEndian),
    frame.subarray(FRAME_HEADER_BYTES),
    isBigEndian,
  )

const equals = ([s0, s1]: Sums, bytes: Buffer, at: number) =>
  bytes.readUInt32BE(at) === s0 && bytes.readUInt32BE(at + 4) === s1

/** How long a frame may be half written by another connection, ms. */
const WRITE_MS = 100

/**
 * Checks the log of a database that no other store has open. What `vacuumDatabase` writes at this moment looks like damage,
 * but not in the same place a moment later.
 *
 * @throws HookswitchError `StoreCorrupt` if commits in it are lost
 */
export function assertLogUndamaged(path: string): void {
  const log = open(`${path}-wal`)
  if (log === undefined) return
  try {
    const damagedAt = findDamage(log)
    if (damagedAt === undefined) return
    blockThread(WRITE_MS)
    if (findDamage(log) !== damagedAt) return
  } finally {
    closeSync(log)
  }
  throw corruptError(path, `its log ${path}-wal is damaged before its end`, {
    advice: `restore both from a backup, or move the log away to continue without anything that it contains`,
  })
}

function open(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}

/** Whether anything but zeros is in the first frames. */
function hasContents(log: number): boolean {
  const bytes = Buffer.alloc(65_536)
  return bytes.subarray(0, readSync(log, bytes, 0, bytes.length, HEADER_BYTES)).some((byte) => byte !== 0)
}

/** The place of the first wrong checksum, if commits after it are lost. */
function findDamage(log: number): number | undefined {
  const header = Buffer.alloc(HEADER_BYTES)
  if (readSync(log, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined
  const magic = header.readUInt32BE(0)
  const pageBytes = header.readUInt32BE(8)
  let isBigEndian = (magic & 1) === 1
  let sums = addChecksum([0, 0], header.subarray(0, 24), isBigEndian)
  let isValid = magic >>> 1 === MAGIC >>> 1 && equals(sums, header, 24)
  // A damaged header does not say it: SQLite uses the order of its machine.
  if (!isValid) isBigEndian = endianness() === 'BE'
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0
  // Without a page size no frame can be found, but SQLite flushes the header before it writes the first frame.
  if (!isPageSize) return hasContents(log) ? 0 : undefined

  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const frames = Buffer.alloc(FRAMES * frameBytes)
  /** Frames of an earlier use of the log have other salts. With a damaged header those of the first frame count. */
  let salts = isValid ? header.subarray(16, 24) : undefined
  /** Checksums since the last lost commit, if all frames since then continue it. */
  let lostSums: Sums | undefined
  let damagedAt = 0
  for (let at = HEADER_BYTES; ; at += frames.length) {
    const read = readSync(log, frames, 0, frames.length, at)
    for (let start = 0; start + frameBytes <= read; start += frameBytes) {
      const frame = frames.subarray(start, start + frameBytes)
      salts ??= Buffer.from(frame.subarray(8, 16))
      const isCurrent = frame.subarray(8, 16).equals(salts)
      if (isValid) {
        sums = sumsAfter(sums, frame, isBigEndian)
        isValid = isCurrent && equals(sums, frame, 16)
        if (!isValid) damagedAt = at + start
      } else if (lostSums) {
        lostSums = sumsAfter(lostSums, frame, isBigEndian)
        if (!isCurrent || !equals(lostSums, frame, 16)) lostSums = undefined
      }
      // The size of the database after a commit, 0 in other frames.
      if (isValid || !isCurrent || frame.readUInt32BE(4) === 0) continue
      if (lostSums) return damagedAt
      lostSums = [frame.readUInt32BE(16), frame.readUInt32BE(20)]
    }
    if (read < frames.length) return undefined
  }
}
