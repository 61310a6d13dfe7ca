/**
 * Finds entries by endpoint and one of their fields of 8 bytes: the position, or the key of the lane. Open addressing with
 * linear probing; a removal moves later entries back, so there are no tombstones. Keys are read from the entries.
 *
 * The table is divided into segments by hash. Each grows and shrinks alone, so that no call moves more than a
 * 128th of a large table.
 */
import { ENDPOINT, type Entries, NONE } from './entries.js'

const SEGMENT_BITS = 7
const SEGMENTS = 2 ** SEGMENT_BITS
const MIN_CAPACITY = 32
/** A segment without entries; never written. */
const EMPTY = new Uint32Array(MIN_CAPACITY)

export class HashIndex {
  /** Entries by hash; `NONE` in a free slot. The length is a power of two. */
  private readonly segments: Uint32Array[] = []
  /** Entries in each segment. */
  private readonly used = new Uint32Array(SEGMENTS)

  /**
   * @param field the field that is the key, together with the endpoint
   * @param seed a secret integer, so that keys that collide cannot be constructed
   */
  constructor(
    private readonly entries: Entries,
    private readonly field: number,
    private readonly seed: number,
  ) {
    this.clear()
  }

  /** Bytes of all segments. */
  get bytes(): number {
    return this.segments.reduce((sum, slots) => (slots === EMPTY ? sum : sum + slots.byteLength), 0)
  }

  /** The entry with this key; `NONE`: there is none. */
  find(endpoint: number, key: number): number {
    const { entries, field } = this
    const hash = this.hash(endpoint, key)
    const slots = this.segments[hash >>> (32 - SEGMENT_BITS)]!
    const mask = slots.length - 1
    let slot = hash & mask
    for (;;) {
      const entry = slots[slot]!
      if (entry === NONE) return NONE
      if (entries.number(entry, field) === key && entries.word(entry, ENDPOINT) === endpoint) return entry
      slot = (slot + 1) & mask
    }
  }

  /** The entry with the key of this one, which need not be in the index; `NONE`: there is none. */
  findSame(entry: number): number {
    const hash = this.hashOf(entry)
    const slots = this.segments[hash >>> (32 - SEGMENT_BITS)]!
    return slots[this.slotOf(slots, hash, entry)]!
  }

  /** Adds an entry. False: there is one with the same key. */
  add(entry: number): boolean {
    const hash = this.hashOf(entry)
    const segment = hash >>> (32 - SEGMENT_BITS)
    const slots = this.segments[segment]!
    const slot = this.slotOf(slots, hash, entry)
    if (slots[slot] !== NONE) return false
    this.fill(segment, slots, slot, entry)
    return true
  }

  /** Adds an entry, or replaces the one with the same key. */
  set(entry: number): void {
    const hash = this.hashOf(entry)
    const segment = hash >>> (32 - SEGMENT_BITS)
    const slots = this.segments[segment]!
    const slot = this.slotOf(slots, hash, entry)
    if (slots[slot] === NONE) this.fill(segment, slots, slot, entry)
    else slots[slot] = entry
  }

  /** Removes the entry with the key of this one. */
  delete(entry: number): void {
    const hash = this.hashOf(entry)
    const segment = hash >>> (32 - SEGMENT_BITS)
    const slots = this.segments[segment]!
    const slot = this.slotOf(slots, hash, entry)
    if (slots[slot] === NONE) return
    this.closeGap(slots, slot)
    const used = this.used[segment]! - 1
    this.used[segment] = used
    if (used * 8 < slots.length && slots.length > MIN_CAPACITY) this.resize(segment, slots.length / 2)
  }

  /** Removes all entries. */
  clear(): void {
    for (let index = 0; index < SEGMENTS; index++) this.segments[index] = EMPTY
    this.used.fill(0)
  }

  private fill(segment: number, found: Uint32Array, slot: number, entry: number): void {
    const slots = found === EMPTY ? new Uint32Array(MIN_CAPACITY) : found
    this.segments[segment] = slots
    slots[slot] = entry
    const used = this.used[segment]! + 1
    this.used[segment] = used
    if (used * 4 > slots.length * 3) this.resize(segment, slots.length * 2)
  }

  /** The slot of the entry with the key of this one, or the free slot where it belongs. */
  private slotOf(slots: Uint32Array, hash: number, same: number): number {
    const { entries, field } = this
    // Keys are read here and not passed: a number that is not inlined becomes an object.
    const key = entries.number(same, field)
    const endpoint = entries.word(same, ENDPOINT)
    const mask = slots.length - 1
    let slot = hash & mask
    for (;;) {
      const entry = slots[slot]!
      if (entry === NONE) return slot
      if (entries.number(entry, field) === key && entries.word(entry, ENDPOINT) === endpoint) return slot
      slot = (slot + 1) & mask
    }
  }

  /** Moves the entries after a removed one back, as far as their own hash allows. */
  private closeGap(slots: Uint32Array, removed: number): void {
    const mask = slots.length - 1
    let gap = removed
    for (let slot = (gap + 1) & mask; slots[slot] !== NONE; slot = (slot + 1) & mask) {
      const home = this.hashOf(slots[slot]!) & mask
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue
      slots[gap] = slots[slot]!
      gap = slot
    }
    slots[gap] = NONE
  }

  private resize(segment: number, capacity: number): void {
    const slots = new Uint32Array(capacity)
    const mask = capacity - 1
    for (const entry of this.segments[segment]!) {
      if (entry === NONE) continue
      let slot = this.hashOf(entry) & mask
      while (slots[slot] !== NONE) slot = (slot + 1) & mask
      slots[slot] = entry
    }
    this.segments[segment] = slots
  }

  private hashOf(entry: number): number {
    return this.hash(this.entries.word(entry, ENDPOINT), this.entries.number(entry, this.field))
  }

  /** 32 bits, signed; mixed as in MurmurHash3. */
  private hash(endpoint: number, key: number): number {
    let hash = Math.imul(this.seed ^ (key | 0), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 15) ^ ((key / 0x1_0000_0000) | 0), 0xc2b2ae35)
    hash = Math.imul(hash ^ (hash >>> 13) ^ endpoint, 0x27d4eb2f)
    return hash ^ (hash >>> 16)
  }
}
