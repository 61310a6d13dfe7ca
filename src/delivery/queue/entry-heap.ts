/**
 * A binary min-heap of entries, by due time, then position, from which any entry can be removed: each entry stores its
 * index in the heap. An entry is in one heap at a time; neither its due time nor its position changes meanwhile.
 */
import { DUE, type Entries, HEAP_INDEX, NONE, POSITION } from './entries.js'

/** Small heaps are plain arrays, because a typed array costs 200 bytes besides its elements. */
const MAX_PLAIN_ARRAY = 32
const MIN_CAPACITY = 4
/** A heap of this capacity does not shrink: filling and draining it over and over allocates nothing. */
const KEPT_CAPACITY = 128

export class EntryHeap {
  length = 0
  /** The first `length` elements are the heap; the length of the array is its capacity. */
  private items: number[] | Uint32Array = []

  /** Bytes of the array. */
  get bytes(): number {
    return this.items instanceof Uint32Array ? this.items.byteLength : this.items.length * 8
  }

  /** The earliest entry; `NONE`: the heap is empty. */
  get first(): number {
    return this.length === 0 ? NONE : this.items[0]!
  }

  /** The entry at an index below `length`, in no particular order. */
  at(index: number): number {
    return this.items[index]!
  }

  /** Adds an entry in O(log n); in O(1) when it is the latest. */
  push(entries: Entries, entry: number): void {
    if (this.length === this.items.length)
      this.resize(Math.max(MIN_CAPACITY, this.length + (this.length >>> 1)))
    this.siftUp(entries, entry, this.length++)
  }

  /** Removes an entry of this heap in O(log n). */
  remove(entries: Entries, entry: number): void {
    const index = entries.word(entry, HEAP_INDEX)
    const last = this.items[--this.length]!
    if (last !== entry) {
      if (index > 0 && isEarlier(entries, last, this.items[(index - 1) >> 1]!))
        this.siftUp(entries, last, index)
      else this.siftDown(entries, last, index)
    }
    if (this.length < this.items.length >>> 2 && this.items.length > KEPT_CAPACITY)
      this.resize(this.items.length >>> 1)
  }

  /** Empties the heap. */
  clear(): void {
    this.length = 0
    this.items = []
  }

  private resize(capacity: number): void {
    const before = this.items
    const items = capacity > MAX_PLAIN_ARRAY ? new Uint32Array(capacity) : new Array<number>(capacity).fill(0)
    for (let index = 0; index < this.length; index++) items[index] = before[index]!
    this.items = items
  }

  private siftUp(entries: Entries, entry: number, from: number): void {
    const { items } = this
    let index = from
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = items[parentIndex]!
      if (!isEarlier(entries, entry, parent)) break
      items[index] = parent
      entries.setWord(parent, HEAP_INDEX, index)
      index = parentIndex
    }
    items[index] = entry
    entries.setWord(entry, HEAP_INDEX, index)
  }

  private siftDown(entries: Entries, entry: number, from: number): void {
    const { items, length } = this
    let index = from
    for (;;) {
      let childIndex = 2 * index + 1
      if (childIndex >= length) break
      let child = items[childIndex]!
      if (childIndex + 1 < length && isEarlier(entries, items[childIndex + 1]!, child))
        child = items[++childIndex]!
      if (!isEarlier(entries, child, entry)) break
      items[index] = child
      entries.setWord(child, HEAP_INDEX, index)
      index = childIndex
    }
    items[index] = entry
    entries.setWord(entry, HEAP_INDEX, index)
  }
}

function isEarlier(entries: Entries, a: number, b: number): boolean {
  const dueA = entries.number(a, DUE)
  const dueB = entries.number(b, DUE)
  return dueA < dueB || (dueA === dueB && entries.number(a, POSITION) < entries.number(b, POSITION))
}
