import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { State } from './state.js'

/** Tells every listener; one that throws hurts nobody. */
export function wake(state: State, ready: readonly ReadyEndpoint[] | undefined): void {
  if (ready?.length === 0) return
  for (const listener of [...state.listeners]) {
    try {
      listener(ready)
    } catch {
      // What is told here is already written: nobody is left to answer for a broken listener.
    }
  }
}
