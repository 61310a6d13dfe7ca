import type { InboxEntry } from '../src/delivery/inbox-store.js'
import { HookswitchError } from '../src/errors.js'
import type { Store } from '../src/store/contract.js'

/** A transaction of the host: a list of what was put in it, until it commits. */
export type HostTransaction = InboxEntry[]

/** A store that takes transactions of the host, with its inbox in memory. */
export function withInbox(store: Store) {
  const rows = new Map<string, InboxEntry>()
  const listeners = new Set<(ready: undefined) => void>()
  const faults: (() => void)[] = []
  const withIt: Store = {
    ...store,
    supports: { ...store.supports, transactions: true },
    inbox: {
      put(tx, entry) {
        if (!Array.isArray(tx))
          throw new HookswitchError('InvalidOption', 'tx: no transaction', { field: 'tx' })
        tx.push(entry)
      },
      async staged(_owner, limit) {
        faults.shift()?.()
        return [...rows.values()].slice(0, limit)
      },
    },
    deliveries: {
      ...store.deliveries,
      async accept(acceptance, now) {
        for (const id of acceptance.admits ?? []) {
          if (!rows.has(id)) throw new HookswitchError('Conflict', 'was admitted', { field: 'admits' })
        }
        const accepted = await store.deliveries.accept(acceptance, now)
        for (const id of acceptance.admits ?? []) rows.delete(id)
        return accepted
      },
      subscribe(listener) {
        listeners.add(listener)
        const stop = store.deliveries.subscribe(listener)
        return () => {
          listeners.delete(listener)
          stop()
        }
      },
    },
  }
  return {
    store: withIt,
    /** What is staged and not admitted. */
    rows,
    begin: (): HostTransaction => [],
    /** Commits, and tells the store's listeners. */
    commit(tx: HostTransaction) {
      for (const entry of tx) rows.set(entry.id, entry)
      for (const listener of listeners) listener(undefined)
    },
    /** Thrown by the next questions for what is staged, one each. */
    failOnce: (thrown: Error) =>
      faults.push(() => {
        throw thrown
      }),
  }
}
