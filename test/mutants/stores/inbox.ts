import { faultsOf, onAcceptance, type StoreFault } from './store-fault.js'

const inboxFault = faultsOf('inbox', 'inbox')
const relayFault = faultsOf('inbox', 'deliveries')

/** Defects of the inbox. */
export const brokenInboxes: readonly StoreFault[] = [
  inboxFault('entries are listed backwards', (store) => ({
    staged: async (owner, limit) => (await store.staged(owner, 1e9)).toReversed().slice(0, limit),
  })),
  inboxFault('entries are listed for every node', (store) => {
    const owners = new Set<string>()
    return {
      async staged(owner, limit) {
        owners.add(owner)
        for (const owner of ['node-1', ...owners]) {
          const found = await store.staged(owner, limit)
          if (found.length > 0) return found
        }
        return []
      },
    }
  }),
  inboxFault('put accepts any object', (store) => ({
    async put(tx, entries) {
      const isObject = typeof tx === 'object' && tx !== null
      if (!isObject || 'entries' in tx) await store.put(tx, entries)
    },
  })),
  relayFault('a fenced group removes its entries', (store) => ({
    async commit(group) {
      const result = await store.commit(group)
      const inboxIds = group.accepted.flatMap((acceptance) => acceptance.inboxIds ?? [])
      if (result.kind === 'fenced' && inboxIds.length > 0) {
        const gone = { events: [], deliveries: [], inboxIds }
        await store.commit({ ...group, lease: undefined, accepted: [gone] })
      }
      return result
    },
  })),
  relayFault('an entry that is gone is relayed', (store) => {
    const seen = new Set<string>()
    return onAcceptance(({ inboxIds, ...acceptance }) => {
      const isAgain = inboxIds?.some((id) => seen.has(id))
      for (const id of inboxIds ?? []) seen.add(id)
      return isAgain || !inboxIds ? acceptance : { ...acceptance, inboxIds }
    })(store)
  }),
  relayFault('a repeated group finds its entries gone', (store) => ({
    commit: (group) => store.commit({ ...group, isRepeat: false }),
  })),
  relayFault(
    'an acceptance without events removes nothing',
    onAcceptance(({ inboxIds, ...acceptance }) =>
      acceptance.events.length > 0 && inboxIds ? { ...acceptance, inboxIds } : acceptance,
    ),
  ),
  relayFault('nobody is notified', () => ({ subscribe: () => () => {} })),
  relayFault('an erasure keeps the entries', () => ({ erase: async () => 0 })),
]

/** Defects of the inbox that only show with several nodes. */
export const brokenSharedInboxes: readonly StoreFault[] = [
  faultsOf('inbox of several nodes', 'deliveries')(
    'two nodes relay one entry',
    onAcceptance(({ inboxIds: _ignored, ...acceptance }) => acceptance),
  ),
]
