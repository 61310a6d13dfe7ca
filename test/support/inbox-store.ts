import type { Acceptance } from '../../src/delivery/delivery-store.js'
import type { InboxEntry } from '../../src/delivery/inbox-store.js'
import type { AcceptanceResult } from '../../src/delivery/queue-store.js'
import { HookswitchError } from '../../src/errors.js'
import type { Store } from '../../src/store/contract.js'

/** A transaction of the host: the entries written in it, until it commits. */
export type HostTransaction = InboxEntry[]

/** Adds an inbox in memory to a store, so that it accepts transactions of the host. */
export function withInbox(store: Store) {
  const rows = new Map<string, InboxEntry>()
  const listeners = new Set<() => void>()
  const faults: (() => void)[] = []
  const withTransactions: Store = {
    ...store,
    supports: { ...store.supports, transactions: true },
    inbox: {
      put(tx, entries) {
        if (!Array.isArray(tx))
          throw new HookswitchError('InvalidOption', 'tx: not a transaction', { field: 'tx' })
        tx.push(...entries)
      },
      async staged(_owner, limit) {
        faults.shift()?.()
        return [...rows.values()].slice(0, limit)
      },
    },
    deliveries: {
      ...store.deliveries,
      async commit(group) {
        const isKnown = ({ inboxIds = [] }: Acceptance) => inboxIds.every((id) => rows.has(id))
        const known = group.accepted.filter(isKnown).map(({ inboxIds: _, ...acceptance }) => acceptance)
        const result = await store.deliveries.commit({ ...group, accepted: known })
        if (result.kind !== 'committed') return result
        const written = result.accepted.values()
        const accepted = group.accepted.map((acceptance): AcceptanceResult => {
          if (!isKnown(acceptance)) {
            const error = new HookswitchError('Conflict', 'was relayed already', { field: 'inboxIds' })
            return { kind: 'refused', error }
          }
          const result = written.next().value!
          if (result.kind === 'accepted') for (const id of acceptance.inboxIds ?? []) rows.delete(id)
          return result
        })
        return { ...result, accepted }
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
      for (const listener of listeners) listener()
    },
    /** The next read of the inbox throws this error; one read per call. */
    failOnce: (thrown: Error) =>
      faults.push(() => {
        throw thrown
      }),
  }
}
