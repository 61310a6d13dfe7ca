import type { OpenLeg } from '../../src/legs/open-leg-store.js'
import { type Fault, faultsOf } from './broken-store.js'

const fault = faultsOf('open legs', 'openLegs')

/** Defects of open legs. */
export const brokenOpenLegs: readonly Fault[] = [
  fault('a page of open legs begins with the last leg of the previous page', (store) => ({
    async list(source, after, limit) {
      const all = await store.list(source, undefined, 1e9)
      const from = all.findIndex(({ callId }) => callId === after)
      return all.slice(Math.max(0, from), Math.max(0, from) + limit)
    },
  })),
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
  fault('the removal of an unknown open leg is an error', (store) => ({
    async write(source, changes, now) {
      const known = new Set((await store.list(source, undefined, 1e9)).map(({ callId }) => callId))
      const unknown = changes.remove.find((callId) => !known.has(callId))
      if (unknown !== undefined) throw new Error(`no leg ${unknown}`)
      return store.write(source, changes, now)
    },
  })),
  fault('only one write of open legs runs at a time, others are refused', (store) => {
    let isWriting = false
    return {
      async write(source, changes, now) {
        if (isWriting) throw new Error('deadlock detected')
        isWriting = true
        await new Promise(setImmediate)
        isWriting = false
        return store.write(source, changes, now)
      },
    }
  }),
  fault('long states of open legs are cut', (store) => ({
    write: (source, { put, remove }, now) =>
      store.write(
        source,
        { put: put.map((leg) => ({ ...leg, state: leg.state.slice(0, 4_000) })), remove },
        now,
      ),
  })),
  fault('open legs are erased without a check of the account', (store) => {
    const owners = new Map<string, string>()
    return {
      async write(source, changes, now) {
        for (const { callId, accountId } of changes.put)
          if (!owners.has(callId)) owners.set(callId, accountId)
        return store.write(source, changes, now)
      },
      erase: ({ accountId, callIds }, limit) =>
        store.erase(
          { accountId: owners.get(callIds?.[0] ?? '') ?? accountId, ...(callIds && { callIds }) },
          limit,
        ),
    }
  }),
  fault('erasing calls erases all open legs of the account', (store) => ({
    erase: ({ accountId }, limit) => store.erase({ accountId }, limit),
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
  fault('only the states of open legs are searched', (store) => ({
    mentions: async (accountId, text) =>
      (await store.mentions(accountId, text)).filter((callId) => !callId.includes(text)),
  })),
  fault('an open leg is pruned 1 ms early', (store) => ({
    prune: (beforeMs, limit) => store.prune(beforeMs + 1, limit),
  })),
  fault('a second write of an open leg postpones its pruning', (store) => ({
    async write(source, changes, now) {
      const replaced = changes.put.map(({ callId }) => callId)
      await store.write(source, { put: [], remove: replaced }, now)
      return store.write(source, changes, now)
    },
  })),
]
