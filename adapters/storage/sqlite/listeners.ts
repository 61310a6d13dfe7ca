/** The subscribers of `QueueStore.subscribe`. */
interface Listeners {
  /** Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void
  /** A listener that throws does not affect the others. */
  notify(): void
}

export function createListeners(): Listeners {
  const listeners = new Set<() => void>()
  return {
    subscribe(listener) {
      // Wrapped, because the same function may subscribe twice.
      const entry = () => listener()
      listeners.add(entry)
      return () => {
        listeners.delete(entry)
      }
    },
    notify() {
      for (const listener of [...listeners]) {
        try {
          listener()
        } catch {
          // The transaction is committed: there is no caller left to report a broken listener to.
        }
      }
    },
  }
}
