import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { State } from './state.js'

/**
 * Notifies every subscriber. `ready` lists endpoints that became ready; `undefined` means: read `ready` and `stale`.
 * Exceptions of a listener are ignored.
 */
export function notifyListeners(state: State, ready: readonly ReadyEndpoint[] | undefined): void {
  if (ready?.length === 0) return
  for (const listener of [...state.listeners]) {
    try {
      listener(ready)
    } catch {
      // The write that caused this notification is complete: its caller must not see a listener's error.
    }
  }
}
