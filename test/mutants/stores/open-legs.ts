import type { OpenLeg } from '../../../src/legs/open-leg-store.js'
import { faultsOf, type StoreFault } from './store-fault.js'

const fault = faultsOf('open legs', 'openLegs')

/** Defects of open legs. */
export const brokenOpenLegs: readonly StoreFault[] = [
  fault('a page of open legs exceeds its limit', (store) => ({
    list: (source, after, limit) => store.list(source, after, limit + 1),
  })),
  fault('open legs of all switches share their ids', (store) => ({
    write: (_source, changes, now) => store.write('switch', changes, now),
    list: (_source, after, limit) => store.list('switch', after, limit),
  })),
  fault('the first write of an open leg wins', (store) => ({
    async write(source, { put, remove }, now) {
      const known = new Set((await store.list(source, undefined, 1e9)).map(({ callId }) => callId))
      return store.write(source, { put: put.filter(({ callId }) => !known.has(callId)), remove }, now)
    },
  })),
  fault('a write only adds open legs', (store) => ({
    write: (source, { put }, now) => store.write(source, { put, remove: [] }, now),
  })),
  fault('long states of open legs are cut', (store) => ({
    write: (source, { put, remove }, now) =>
      store.write(
        source,
        { put: put.map((leg) => ({ ...leg, state: leg.state.slice(0, 4_000) })), remove },
        now,
      ),
  })),
  fault('erasing an account ignores the limit on open legs', (store) => ({
    erase: (what) => store.erase(what, 1e9),
  })),
  fault('a part of a number finds an open leg', (store) => {
    const written = new Map<string, OpenLeg>()
    return {
      async write(source, changes, now) {
        for (const leg of changes.put) written.set(leg.callId, leg)
        return store.write(source, changes, now)
      },
      mentions: async (accountId, text) =>
        [...written.values()]
          .filter((leg) => leg.accountId === accountId && `${leg.callId} ${leg.state}`.includes(text))
          .map(({ callId }) => callId),
    }
  }),
  fault('an open leg is pruned 1 ms early', (store) => ({
    prune: (beforeMs, limit) => store.prune(beforeMs + 1, limit),
  })),
]
