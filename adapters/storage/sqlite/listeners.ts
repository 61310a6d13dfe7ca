/** The subscribers of `DeliveryStore.subscribe`. */
import type { ReadyNotification } from './pending-notifications.js'

type Listener = (notification: ReadyNotification) => void

export interface Listeners {
  /** Returns a function that unsubscribes. */
  subscribe(listener: Listener): () => void
  /** A listener that throws does not affect the others. */
  notify(notification: ReadyNotification): void
}

export function createListeners(): Listeners {
  const listeners = new Set<Listener>()
  return {
    subscribe(listener) {
      // Wrapped, because the same function may subscribe twice.
      const entry: Listener = (notification) => listener(notification)
      listeners.add(entry)
      return () => {
        listeners.delete(entry)
      }
    },
    notify(notification) {
      for (const listener of [...listeners]) {
        try {
          listener(notification)
        } catch {
          // The transaction is committed: there is no caller left to report a broken listener to.
        }
      }
    },
  }
}
