/** Listeners of this process to the events of single accounts, whichever node accepts them. */
import type { CheckedEvent } from '../delivery/event.js'
import { HookswitchError } from '../errors.js'
import { createEventBus } from '../events.js'

/** An accepted event, with what the store has assigned to it. */
type AcceptedEvent = CheckedEvent & { readonly eventId: string; readonly sequence: number }

export interface EventWatchers {
  /** Calls `listener` for each event of an account. Returns a function that ends it. */
  watch(accountId: string, listener: (event: AcceptedEvent) => unknown): () => void
  /** Calls the listeners of an account. Never throws. */
  emit(event: CheckedEvent, eventId: string, sequence: number): void
  has(accountId: string): boolean
  /** Ids of the accounts that have listeners. */
  readonly accounts: Iterable<string>
  /** Called when an account has its first listener, or no longer any. Replaces the function before. */
  onChange(call: () => void): void
}

/** @param onFault receives what a listener threw */
export function createEventWatchers(onFault: (thrown: unknown) => void): EventWatchers {
  const bus = createEventBus<Record<string, AcceptedEvent>>(onFault)
  const counts = new Map<string, number>()
  let changed = () => {}

  function add(accountId: string, by: number): void {
    const count = (counts.get(accountId) ?? 0) + by
    if (count === 0) counts.delete(accountId)
    else counts.set(accountId, count)
    if (count === 0 || (count === 1 && by === 1)) changed()
  }

  return {
    watch(accountId, listener) {
      if (typeof listener !== 'function')
        throw new HookswitchError('InvalidOption', 'watchEvents(): the listener must be a function', {
          field: 'listener',
        })
      // A new function each time, so that a listener may watch twice.
      const call = (event: AcceptedEvent) => listener(event)
      bus.on(accountId, call)
      add(accountId, 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        bus.off(accountId, call)
        add(accountId, -1)
      }
    },
    emit(event, eventId, sequence) {
      if (counts.has(event.accountId)) bus.emit(event.accountId, { ...event, eventId, sequence })
    },
    has: (accountId) => counts.has(accountId),
    get accounts() {
      return counts.keys()
    },
    onChange(call) {
      changed = call
    },
  }
}
