/** Notifications of calls whose transaction is open: delivered after its commit, discarded by its rollback. */
import type { ReadyEndpoint } from 'hookswitch/store'

/** The argument of a `subscribe` listener: endpoints that became ready, or `undefined` to scan for work. */
export type ReadyNotification = readonly ReadyEndpoint[] | undefined

export interface PendingNotifications {
  /** Adds a notification of the open transaction. An empty list is ignored. */
  add(notification: ReadyNotification): void
  /** The transaction was committed. */
  commit(): void
  /** The transaction was rolled back. */
  rollBack(): void
  /** Returns the notifications of committed transactions, each once. */
  take(): readonly ReadyNotification[]
}

export function createPendingNotifications(): PendingNotifications {
  let open: ReadyNotification[] = []
  let committed: ReadyNotification[] = []
  return {
    add(notification) {
      if (notification?.length !== 0) open.push(notification)
    },
    commit() {
      if (open.length === 0) return
      committed = committed.length === 0 ? open : [...committed, ...open]
      open = []
    },
    rollBack() {
      open = []
    },
    take() {
      const taken = committed
      if (taken.length > 0) committed = []
      return taken
    },
  }
}
