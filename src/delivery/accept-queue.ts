/**
 * What waits to be accepted by the next groups. Decides what each group takes, so that no account delays the others:
 *
 * - Everything, in order of arrival, as long as it fits into one group, and into the part of the account that has waited longest.
 * - Otherwise accounts take turns, the one that was served longest ago first, and each gives the same number of events and
 *   deliveries. What is as large as a group goes alone.
 * - What is held waits, with everything of its account that came later: events of one call stay in order.
 */

/** Something to accept. */
export interface Waiting {
  /** Account of its events. */
  readonly accountId: string
  /** Number of its events and deliveries. */
  readonly size: number
}

/** What waits of one account. */
interface Line<Item> {
  items: Item[]
  /** The place of the first that waits. */
  from: number
  /** Events and deliveries. */
  size: number
  /** The group that took something of it last. */
  servedIn: number
}

export class AcceptQueue<Item extends Waiting> {
  /** Events and deliveries of all that waits. */
  size = 0
  /** What waits, in order of arrival, unless there are lines. */
  private items: Item[] = []
  /** By account; from the first use on, until nothing waits. */
  private lines: Map<string, Line<Item>> | undefined
  private groups = 0

  /** Events and deliveries of one account. */
  sizeOf(accountId: string): number {
    return this.inLines().get(accountId)?.size ?? 0
  }

  add(item: Item): void {
    this.size += item.size
    if (this.lines) this.addToLine(this.lines, item)
    else this.items.push(item)
  }

  /** Adds what was taken, and could not be accepted, in front of the rest. */
  addFirst(items: readonly Item[]): void {
    const waiting = this.lines ? this.removeIf(() => true) : this.items
    this.lines = undefined
    this.items = []
    this.size = 0
    for (const item of [...items, ...waiting]) this.add(item)
  }

  /**
   * Takes what the next group accepts.
   *
   * @param maxSize events and deliveries from which on nothing is added to the group
   * @param isHeld whether an item has to wait; absent: none has
   * @param partOf the same of one account, by the item of it that has waited longest; absent: an account may fill a group
   */
  take(
    maxSize: number,
    isHeld?: (item: Item) => boolean,
    partOf: (first: Item) => number = () => maxSize,
  ): readonly Item[] {
    const { items } = this
    if (this.lines || isHeld || (items.length > 0 && this.size > Math.min(maxSize, partOf(items[0]!))))
      return this.takeInTurns(maxSize, partOf, isHeld)
    this.items = []
    this.size = 0
    return items
  }

  /** Removes what is not wanted any more. */
  removeIf(isUnwanted: (item: Item) => boolean): readonly Item[] {
    const removed: Item[] = []
    for (const line of this.inLines().values()) {
      const waiting = line.items.slice(line.from)
      line.items = []
      line.from = 0
      for (const item of waiting) {
        if (isUnwanted(item)) {
          removed.push(item)
          line.size -= item.size
          this.size -= item.size
        } else line.items.push(item)
      }
    }
    this.dropEmpty()
    return removed
  }

  private takeInTurns(
    maxSize: number,
    partOf: (first: Item) => number,
    isHeld: ((item: Item) => boolean) | undefined,
  ): readonly Item[] {
    const turns = Array.from(this.inLines().values(), (line) => ({
      line,
      part: partOf(line.items[line.from]!),
      given: 0,
      isHeld: false,
    }))
    this.groups++
    turns.sort((a, b) => a.line.servedIn - b.line.servedIn)
    const taken: Item[] = []
    const quantum = Math.ceil(maxSize / turns.length)
    let size = 0
    for (let round = 1, isOpen = true; isOpen && size < maxSize; round++) {
      isOpen = false
      for (const turn of turns) {
        const { line } = turn
        while (!turn.isHeld && turn.given < Math.min(round * quantum, turn.part) && size < maxSize) {
          const item = line.items[line.from]
          if (!item) break
          turn.isHeld = isHeld?.(item) ?? false
          if (turn.isHeld || (item.size >= maxSize && size > 0)) break
          taken.push(item)
          line.from++
          line.size -= item.size
          line.servedIn = this.groups
          turn.given += item.size
          size += item.size
        }
        const next = turn.isHeld || turn.given >= turn.part ? undefined : line.items[line.from]
        if (next && (next.size < maxSize || size === 0)) isOpen = true
      }
    }
    this.size -= size
    this.dropEmpty()
    return taken
  }

  private inLines(): Map<string, Line<Item>> {
    if (this.lines) return this.lines
    const lines = new Map<string, Line<Item>>()
    for (const item of this.items) this.addToLine(lines, item)
    this.items = []
    this.lines = lines
    return lines
  }

  private addToLine(lines: Map<string, Line<Item>>, item: Item): void {
    const line = lines.get(item.accountId)
    if (!line) {
      lines.set(item.accountId, { items: [item], from: 0, size: item.size, servedIn: this.groups })
      return
    }
    if (line.from > line.items.length / 2) {
      line.items = line.items.slice(line.from)
      line.from = 0
    }
    line.items.push(item)
    line.size += item.size
  }

  private dropEmpty(): void {
    for (const [accountId, { items, from }] of this.lines ?? [])
      if (from === items.length) this.lines?.delete(accountId)
    if (this.lines?.size === 0) this.lines = undefined
  }
}
