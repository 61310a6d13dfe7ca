import type { State } from './state.js'

/** Notifies every subscriber. Exceptions of a listener are ignored. */
export function notifyListeners(state: State): void {
  for (const listener of [...state.listeners]) {
    try {
      listener()
    } catch {
      // The write that caused this notification is complete: its caller must not see a listener's error.
    }
  }
}
