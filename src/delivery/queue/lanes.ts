/** The order of the entries of a lane: linked lists through the entries, found by their last entry. */
import { type Entries, IS_TAKEN, LANE, NEXT, NONE, POSITION, PREVIOUS, SEQUENCE } from './entries.js'
import type { HashIndex } from './hash-index.js'

export class Lanes {
  /** @param tails the last entry of each lane */
  constructor(
    private readonly entries: Entries,
    private readonly tails: HashIndex,
  ) {}

  /**
   * Inserts a new entry into its lane, never before a taken one. From the end, because most entries arrive in order.
   * Returns the entry that is no longer the head, or `NONE`.
   */
  insert(entry: number): number {
    const { entries, tails } = this
    if (entries.number(entry, LANE) === 0) return NONE
    let after: number = NONE
    let before = tails.findSame(entry)
    while (before !== NONE && !entries.hasFlag(before, IS_TAKEN) && this.isEarlier(entry, before)) {
      after = before
      before = entries.word(before, PREVIOUS)
    }
    entries.setWord(entry, PREVIOUS, before)
    entries.setWord(entry, NEXT, after)
    if (before !== NONE) entries.setWord(before, NEXT, entry)
    if (after !== NONE) entries.setWord(after, PREVIOUS, entry)
    else tails.set(entry)
    return before === NONE ? after : NONE
  }

  /** Removes an entry from its lane. Returns the entry that is the head now and was not before, or `NONE`. */
  remove(entry: number): number {
    const { entries, tails } = this
    if (entries.number(entry, LANE) === 0) return NONE
    const before = entries.word(entry, PREVIOUS)
    const after = entries.word(entry, NEXT)
    if (before !== NONE) entries.setWord(before, NEXT, after)
    if (after !== NONE) entries.setWord(after, PREVIOUS, before)
    else if (before !== NONE) tails.set(before)
    else tails.delete(entry)
    return before === NONE ? after : NONE
  }

  /** Whether a later entry of the lane of a new entry is taken. */
  isOvertaken(entry: number): boolean {
    const { entries, tails } = this
    if (entries.number(entry, LANE) === 0) return false
    let head = tails.findSame(entry)
    for (let other = head; other !== NONE; other = entries.word(other, PREVIOUS)) head = other
    return head !== NONE && entries.hasFlag(head, IS_TAKEN) && this.isEarlier(entry, head)
  }

  /** The number of entries before this one, at most `limit`. */
  countBefore(entry: number, limit: number): number {
    let count = 0
    let before = this.entries.word(entry, PREVIOUS)
    while (before !== NONE && count < limit) {
      count++
      before = this.entries.word(before, PREVIOUS)
    }
    return count
  }

  private isEarlier(a: number, b: number): boolean {
    const { entries } = this
    const sequenceA = entries.word(a, SEQUENCE)
    const sequenceB = entries.word(b, SEQUENCE)
    if (sequenceA !== sequenceB && sequenceA > 0 && sequenceB > 0) return sequenceA < sequenceB
    return entries.number(a, POSITION) < entries.number(b, POSITION)
  }
}
