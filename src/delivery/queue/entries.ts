/**
 * The compact entries of the queue: 64 bytes each (one cache line), in pages of typed arrays. An entry is named by a number
 * from 1; 0 (`NONE`) is no entry, so that memory that is all zeros contains none. Knows nothing about lanes or endpoints.
 */
import { positionMs } from '../positions.js'

/** No entry. */
export const NONE = 0

// Fields of 8 bytes, at the start of an entry.
/** Position of the delivery. */
export const POSITION = 0
/** `laneKey` of its lane; 0: it has the lane to itself. */
export const LANE = 1
/** Store time, ms, from which the head of a lane is due; 0: at once. */
export const DUE = 2

// Fields of 4 bytes, after those.
/** Index of its endpoint. */
export const ENDPOINT = 6
/** Sequence number of its event; 0: not numbered. */
export const SEQUENCE = 7
/** The webhook's epoch at accept. */
export const EPOCH = 8
/** Attempts recorded. */
export const ATTEMPTS = 9
/** Milliseconds from the time in its position to the first failure, plus one; 0: there was none. @internal */
export const FAILED = 10
/** The next entry of its lane. In a free entry: the next free one of its page. */
export const NEXT = 11
/** The previous entry of its lane; `NONE`: this is the head. */
export const PREVIOUS = 12
/** Index in the heap that it is in. Only heads of lanes are in heaps. */
export const HEAP_INDEX = 13
/** Its delivery with the content, as a slot of `Contents`; 0: its content is not in memory. */
export const CONTENT = 14
/** Interruptions in the low 8 bits, 8 flags, then the attempts charged to the budget in 8 bits. */
const FLAGS = 15

/** The highest number of interruptions or charged attempts that an entry holds. */
const MAX_COUNT = 0xff
/** First bit of the charged attempts in `FLAGS`. */
const TRIES_BIT = 16
/** The part of `FLAGS` that is no flag. */
const COUNTERS = MAX_COUNT | (MAX_COUNT << TRIES_BIT)
const MAX_WORD = 2 ** 32 - 1
/** Flag: the delivery is taken. */
export const IS_TAKEN = 0x100
/** Flag: its content was requested, and it was not taken since. */
export const IS_REQUESTED = 0x200
/** Flag: the delivery is displaced: it is never sent, and ends as `queue_full`. */
export const IS_DISPLACED = 0x400
/** Flag: it was accepted a moment ago, and was not tried. */
export const IS_LIVE = 0x800

/** Entries of a page, as a power of two. */
const PAGE_BITS = 12
const PAGE_ENTRIES = 2 ** PAGE_BITS
const INDEX_IN_PAGE = PAGE_ENTRIES - 1
const ENTRY_BYTES = 64

class Page {
  readonly numbers: Float64Array
  readonly words: Uint32Array
  /** Entries in use. */
  used = 0
  /** The first free entry that was in use before, as index in the page plus one; 0: none. */
  free = 0
  /** Entries from this index on were never in use. */
  fresh = 0
  /** Whether it is among the pages with free entries. */
  isAvailable = false

  constructor(entries: number) {
    const buffer = new ArrayBuffer(entries * ENTRY_BYTES)
    this.numbers = new Float64Array(buffer)
    this.words = new Uint32Array(buffer)
  }
}

function packCounters(tries: number, interruptions: number): number {
  return Math.min(interruptions, MAX_COUNT) | (Math.min(tries, MAX_COUNT) << TRIES_BIT)
}

/** In place of a page that was released. */
const RELEASED = new Page(0)

/** All entries of a queue. */
export class Entries {
  /** Entries in use. */
  size = 0
  private readonly pages: Page[] = []
  /** Pages with free entries; the last one is used next. */
  private readonly available: number[] = []
  /** Indexes in `pages` whose page was released. */
  private readonly released: number[] = []

  /** Bytes of all pages. */
  get bytes(): number {
    return (this.pages.length - this.released.length) * PAGE_ENTRIES * ENTRY_BYTES
  }

  /** A field of 8 bytes. */
  number(entry: number, field: number): number {
    const index = entry - 1
    return this.pages[index >>> PAGE_BITS]!.numbers[((index & INDEX_IN_PAGE) << 3) + field]!
  }

  setNumber(entry: number, field: number, value: number): void {
    const index = entry - 1
    this.pages[index >>> PAGE_BITS]!.numbers[((index & INDEX_IN_PAGE) << 3) + field] = value
  }

  /** A field of 4 bytes: an unsigned integer. */
  word(entry: number, field: number): number {
    const index = entry - 1
    return this.pages[index >>> PAGE_BITS]!.words[((index & INDEX_IN_PAGE) << 4) + field]!
  }

  setWord(entry: number, field: number, value: number): void {
    const index = entry - 1
    this.pages[index >>> PAGE_BITS]!.words[((index & INDEX_IN_PAGE) << 4) + field] = value
  }

  hasFlag(entry: number, flag: number): boolean {
    return (this.word(entry, FLAGS) & flag) !== 0
  }

  setFlag(entry: number, flag: number, isSet: boolean): void {
    const flags = this.word(entry, FLAGS)
    this.setWord(entry, FLAGS, isSet ? flags | flag : flags & ~flag)
  }

  /** Attempts charged to the budget. */
  tries(entry: number): number {
    return (this.word(entry, FLAGS) >>> TRIES_BIT) & MAX_COUNT
  }

  /** Interrupted attempts in a row. */
  interruptions(entry: number): number {
    return this.word(entry, FLAGS) & MAX_COUNT
  }

  /** `tries` and `interruptions` above 255 are stored as 255. */
  setCounters(entry: number, attempts: number, tries: number, interruptions: number): void {
    this.setWord(entry, ATTEMPTS, attempts)
    this.setWord(entry, FLAGS, (this.word(entry, FLAGS) & ~COUNTERS) | packCounters(tries, interruptions))
  }

  /** Store time of the first failure, ms; `undefined`: there was none. */
  failedMs(entry: number): number | undefined {
    const failed = this.word(entry, FAILED)
    return failed === 0 ? undefined : positionMs(this.number(entry, POSITION)) + failed - 1
  }

  /**
   * Sets the time of the first failure, in whole milliseconds. The entry has its position. A time before that of the position
   * is stored as that one, a time more than 49 days after it as 49 days.
   *
   * @param failedMs store time, ms; `undefined` or 0: there was none
   */
  setFailedMs(entry: number, failedMs: number | undefined): void {
    if (!failedMs) {
      this.setWord(entry, FAILED, 0)
      return
    }
    const sinceMs = Math.floor(failedMs) - positionMs(this.number(entry, POSITION))
    this.setWord(entry, FAILED, Math.min(Math.max(sinceMs, 0) + 1, MAX_WORD))
  }

  /**
   * A new entry without a failure, whose fields of 8 bytes are set by the caller. `tries` and `interruptions` above 255 are
   * stored as 255.
   */
  allocate(
    endpoint: number,
    sequence: number,
    epoch: number,
    attempts: number,
    tries: number,
    interruptions: number,
  ): number {
    const { available } = this
    const pageIndex = available.length > 0 ? available[available.length - 1]! : this.addPage()
    const page = this.pages[pageIndex]!
    const { words } = page
    const index = page.free > 0 ? page.free - 1 : page.fresh++
    const start = index << 4
    if (page.free > 0) page.free = words[start + NEXT]!
    words[start + ENDPOINT] = endpoint
    words[start + SEQUENCE] = sequence
    words[start + EPOCH] = epoch
    words[start + ATTEMPTS] = attempts
    words[start + FAILED] = 0
    words[start + NEXT] = NONE
    words[start + PREVIOUS] = NONE
    words[start + CONTENT] = NONE
    words[start + FLAGS] = packCounters(tries, interruptions)
    this.size++
    if (++page.used === PAGE_ENTRIES) {
      page.isAvailable = false
      available.pop()
    }
    return (pageIndex << PAGE_BITS) + index + 1
  }

  free(entry: number): void {
    const pageIndex = (entry - 1) >>> PAGE_BITS
    const page = this.pages[pageIndex]!
    const index = (entry - 1) & INDEX_IN_PAGE
    page.words[(index << 4) + NEXT] = page.free
    page.free = index + 1
    page.used--
    this.size--
    if (!page.isAvailable) {
      page.isAvailable = true
      this.available.push(pageIndex)
    }
    // One page with free entries stays, so that a size around a multiple of a page allocates nothing.
    if (page.used === 0 && this.available.length > 1) this.releasePage(pageIndex)
  }

  /** Frees all entries. */
  clear(): void {
    this.size = 0
    this.pages.length = 0
    this.available.length = 0
    this.released.length = 0
  }

  private addPage(): number {
    const page = new Page(PAGE_ENTRIES)
    page.isAvailable = true
    const index = this.released.pop() ?? this.pages.length
    this.pages[index] = page
    this.available.push(index)
    return index
  }

  private releasePage(index: number): void {
    this.available.splice(this.available.indexOf(index), 1)
    this.released.push(index)
    this.pages[index] = RELEASED
  }
}
