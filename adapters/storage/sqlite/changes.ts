/** The versions of the store, and what they cover: see `QueueStore`. In memory: no node is older than the open file. */
import type { DeliveryKey } from 'hookswitch/store'

interface Change {
  /** Key of a webhook that was edited. */
  readonly webhook?: number
  readonly removed?: readonly DeliveryKey[]
}

export interface ChangeLog {
  /** The present version. */
  version(): number
  /** Raises the version. */
  add(change: Change): void
  /** The changes after a version, oldest first; `undefined`: some of them are no longer listed. */
  since(version: number): readonly Change[] | undefined
  committed(): void
  rolledBack(): void
}

/** Edited webhooks and removed deliveries that are listed, at most. */
const MAX_LISTED = 50_000

export function createChangeLog(): ChangeLog {
  let changes: Change[] = []
  /** The version after the last change before those listed. */
  let base = 1
  let listed = 0
  let committed = 0

  const sizeOf = ({ removed }: Change) => removed?.length ?? 1
  const log: ChangeLog = {
    version: () => base + changes.length,
    add(change) {
      changes.push(change)
    },
    since: (version) => (version < base ? undefined : changes.slice(version - base)),
    committed() {
      for (; committed < changes.length; committed += 1) listed += sizeOf(changes[committed]!)
      if (listed <= MAX_LISTED) return
      let forgotten = 0
      while (listed > MAX_LISTED / 2 && forgotten < changes.length) {
        listed -= sizeOf(changes[forgotten]!)
        forgotten += 1
      }
      changes = changes.slice(forgotten)
      base += forgotten
      committed = changes.length
    },
    rolledBack() {
      changes.length = committed
    },
  }
  return log
}
