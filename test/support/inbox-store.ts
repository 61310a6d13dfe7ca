import type { InboxEntry } from '../../src/delivery/inbox-store.js'
import { HookswitchError } from '../../src/errors.js'
import type { Store } from '../../src/store/contract.js'

/** A transaction of the host: the entries written in it, until it commits. */
export type HostTransaction = InboxEntry[]

/** Adds an inbox in memory to a store, so that it accepts transactions of the host. */
export function withInbox(store: Store) {
  const rows = new Map<string, InboxEntry>()
  const listeners = new Set<(ready: undefined) => void>()
  const faults: (() => void)[] = []
  const withTransactions: Store = {
    ...store,
    supports: { ...store.supports, transactions: true },
    inbox: {
      put(tx, entry) {
        if (!Array.isArray(tx))
          throw new HookswitchError('InvalidOption', 'tx: not a transaction', { field: 'tx' })
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
        for (const id of acceptance.inboxIds ?? []) {
          if (!rows.has(id))
            throw new HookswitchError('Conflict', 'was relayed already', { field: 'inboxIds' })
        }
        const accepted = await store.deliveries.accept(acceptance, now)
        for (const id of acceptance.inboxIds ?? []) rows.delete(id)
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
    store: withTransactions,
    /** Committed entries that were not relayed yet. */
    rows,
    begin: (): HostTransaction => [],
    /** Commits and notifies the store's listeners. */
    commit(tx: HostTransaction) {
      for (const entry of tx) rows.set(entry.id, entry)
      for (const listener of listeners) listener(undefined)
    },
    /** The next read of the inbox throws this error; one read per call. */
    failOnce: (thrown: Error) =>
      faults.push(() => {
        throw thrown
      }),
  }
}
