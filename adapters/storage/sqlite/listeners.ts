import type { WakeUp } from './wake-ups.js'

type Listener = (wakeUp: WakeUp) => void

/** Who wants to be told when something became ready. */
export interface Listeners {
  /** Returns the way to stop. */
  subscribe(listener: Listener): () => void
  /** One that throws hurts nobody. */
  wake(wakeUp: WakeUp): void
}

export function newListeners(): Listeners {
  const listeners = new Set<Listener>()
  return {
    subscribe(listener) {
      // The same function may subscribe twice.
      const call: Listener = (wakeUp) => listener(wakeUp)
      listeners.add(call)
      return () => {
        listeners.delete(call)
      }
    },
    wake(wakeUp) {
      for (const listener of [...listeners]) {
        try {
          listener(wakeUp)
        } catch {
          // What is told here is already written: nobody is left to answer for a broken listener.
        }
      }
    },
  }
}
