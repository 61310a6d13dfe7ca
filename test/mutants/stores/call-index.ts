import { faultsOf, type StoreFault } from './store-fault.js'

const fault = faultsOf('call index', 'callIndex')

/** Defects of the call index. */
export const brokenCallIndex: readonly StoreFault[] = [
  fault('unwanted events are found for every account', (store) => ({
    events: ({ accountId, ...query }) =>
      store.events(
        query.eventId === undefined && query.callIds === undefined
          ? { ...query, ...(accountId !== undefined && { accountId }) }
          : query,
      ),
  })),
  fault('unwanted events are listed oldest first', (store) => ({
    events: async (query) => [...(await store.events(query))].reverse(),
  })),
  fault('a list of unwanted events has no limit', (store) => ({
    events: (query) => store.events({ ...query, limit: 1e6 }),
  })),
  fault('the source of an unwanted event is lost', (store) => ({
    write: ({ events, numbers }) =>
      store.write({ events: events.map((event) => ({ ...event, source: '' })), numbers }),
  })),
  fault('numbers are cut to 32 bits', (store) => ({
    write: ({ events, numbers }) =>
      store.write({ events, numbers: numbers.map((row) => ({ ...row, number: row.number % 2 ** 32 })) }),
  })),
  fault('calls of a number are found for every account', (store) => ({
    calls: ({ accountId: _, ...query }) => store.calls(query),
  })),
  fault('a list of calls has no limit', (store) => ({
    calls: (query) => store.calls({ ...query, limit: 1e6 }),
  })),
  fault('an erasure leaves the call index', () => ({ erase: async () => 0 })),
  fault('an erasure of calls removes all of the account', (store) => ({
    erase: ({ accountId }, limit) => store.erase({ accountId }, limit),
  })),
  fault('an erasure ignores its limit', (store) => ({ erase: (what) => store.erase(what, 1e6) })),
  fault('the newest unwanted events of an account are removed', (store) => ({
    trim: async (kind, accountId, upTo, limit) => store.trim(kind, accountId, upTo + 1e6, limit),
  })),
  fault('a trim ignores its limit', (store) => ({
    trim: (kind, accountId, upTo) => store.trim(kind, accountId, upTo, 1e6),
  })),
  fault('a trim removes unwanted events alone', (store) => ({
    trim: async (kind, ...what) => (kind === 'events' ? store.trim(kind, ...what) : 0),
  })),
  fault('an account has the share of all', (store) => ({
    excess: (kind, keep) => store.excess(kind, keep),
  })),
  fault('one row too many is kept', (store) => ({
    excess: (kind, keep, ...account) => store.excess(kind, keep + 1, ...account),
  })),
  fault('the call index is pruned 1 ms late', (store) => ({
    prune: ({ events, numbers }, limit) =>
      store.prune(
        {
          events: { ...events, beforeMs: events.beforeMs - 1 },
          numbers: { ...numbers, beforeMs: numbers.beforeMs - 1 },
        },
        limit,
      ),
  })),
  fault('the call index is pruned by age alone', (store) => ({
    prune: ({ events, numbers }, limit) =>
      store.prune({ events: { ...events, upTo: 0 }, numbers: { ...numbers, upTo: 0 } }, limit),
  })),
]
