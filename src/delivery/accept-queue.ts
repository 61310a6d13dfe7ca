/**
 * What waits to be accepted by the next groups. Decides what each group takes, so that no account delays the others:
 *
 * - Everything, in order of arrival, as long as it fits into one group, and what each account has into its part of one.
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

export class AcceptQueue<Item extends Waiting> {
  /** Events and deliveries of all that waits. */
  size = 0
  private items: Item[] = []
  /** Events and deliveries by account; counted from the first `sizeOf` on, until nothing waits. */
  private sizes: Map<string, number> | undefined
  /** When accounts that wait were served last, as numbers of groups. */
  private served = new Map<string, number>()
  private groups = 0

  /** Events and deliveries of one account. */
  sizeOf(accountId: string): number {
    if (!this.sizes) {
      this.sizes = new Map()
      for (const item of this.items) addTo(this.sizes, item.accountId, item.size)
    }
    return this.sizes.get(accountId) ?? 0
  }

  add(item: Item): void {
    this.items.push(item)
    this.count(item, 1)
  }

  /** Adds what was taken, and could not be accepted, in front of the rest. */
  addFirst(items: readonly Item[]): void {
    this.items = [...items, ...this.items]
    for (const item of items) this.count(item, 1)
  }

  /**
   * Takes what the next group accepts.
   *
   * @param maxSize events and deliveries from which on nothing is added to the group
   * @param isHeld whether an item has to wait; absent: none has
   * @param maxOfAccount the same of one account
   */
  take(maxSize: number, isHeld?: (item: Item) => boolean, maxOfAccount: number = maxSize): readonly Item[] {
    const { items } = this
    if (this.size > Math.min(maxSize, maxOfAccount) || isHeld)
      return this.takeInTurns(maxSize, maxOfAccount, isHeld)
    this.items = []
    this.size = 0
    this.sizes = undefined
    if (this.served.size > 0) this.served.clear()
    return items
  }

  /** Removes what is not wanted any more. */
  removeIf(isUnwanted: (item: Item) => boolean): readonly Item[] {
    const removed = this.items.filter(isUnwanted)
    if (removed.length > 0) this.remove(new Set(removed))
    return removed
  }

  private takeInTurns(
    maxSize: number,
    maxOfAccount: number,
    isHeld: ((item: Item) => boolean) | undefined,
  ): readonly Item[] {
    this.groups++
    const byAccount = new Map<string, Item[]>()
    for (const item of this.items) {
      const own = byAccount.get(item.accountId)
      if (own) own.push(item)
      else byAccount.set(item.accountId, [item])
    }
    const turns = Array.from(byAccount, ([accountId, own]) => ({ accountId, own, next: 0, given: 0 }))
    const servedAt = (accountId: string) => this.served.get(accountId) ?? this.groups - 1
    turns.sort((a, b) => servedAt(a.accountId) - servedAt(b.accountId))
    const taken = new Set<Item>()
    const quantum = Math.ceil(maxSize / turns.length)
    let size = 0
    for (let round = 1, isOpen = true; isOpen && size < maxSize; round++) {
      isOpen = false
      for (const turn of turns) {
        while (turn.given < Math.min(round * quantum, maxOfAccount) && size < maxSize) {
          const item = turn.own[turn.next]
          if (!item || isHeld?.(item)) {
            turn.next = turn.own.length
            break
          }
          if (item.size >= maxSize && size > 0) break
          taken.add(item)
          turn.next++
          turn.given += item.size
          size += item.size
        }
        const next = turn.given < maxOfAccount ? turn.own[turn.next] : undefined
        if (next && (next.size < maxSize || size === 0)) isOpen = true
      }
    }
    this.served = new Map(
      turns.map(({ accountId, given }) => [accountId, given > 0 ? this.groups : servedAt(accountId)]),
    )
    this.remove(taken)
    return [...taken]
  }

  private remove(items: ReadonlySet<Item>): void {
    this.items = this.items.filter((item) => !items.has(item))
    for (const item of items) this.count(item, -1)
  }

  private count({ accountId, size }: Item, sign: 1 | -1): void {
    this.size += sign * size
    if (this.sizes) addTo(this.sizes, accountId, sign * size)
  }
}

function addTo(sizes: Map<string, number>, accountId: string, size: number): void {
  const sum = (sizes.get(accountId) ?? 0) + size
  if (sum > 0) sizes.set(accountId, sum)
  else sizes.delete(accountId)
}
