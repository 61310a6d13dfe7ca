import type { Store } from '../../../src/store/contract.js'
import { memoryStore } from '../../../src/store/memory.js'
import { newClock, silent } from '../../testkit/conformance-self-test-harness.js'
import { filterRows, onLease, onLoad, type StoreFault, withPort } from './store-fault.js'

const lost = (what: string, reopen: NonNullable<StoreFault['reopen']>): StoreFault => ({
  what,
  caughtBy: ['durability'],
  breakStore: (store) => store,
  reopen,
})

/** An empty store. */
async function openEmpty(): Promise<Store> {
  const store = memoryStore()
  await store.open({ clock: newClock(), log: silent })
  return store
}

/** The store after a restart that lost one port. */
const without = (
  port:
    | 'accounts'
    | 'tokens'
    | 'webhooks'
    | 'openLegs'
    | 'replays'
    | 'holds'
    | 'encryption'
    | 'stats'
    | 'callIndex',
) => lost(`a restart loses ${port}`, async (store) => ({ ...store, [port]: (await openEmpty())[port] }))

const afterRestart = (what: string, change: StoreFault['breakStore']) =>
  lost(what, async (store) => change(store, newClock()))

/** Defects of what survives a restart. */
export const brokenDurability: readonly StoreFault[] = [
  without('accounts'),
  without('tokens'),
  without('webhooks'),
  without('openLegs'),
  without('replays'),
  without('holds'),
  without('encryption'),
  without('stats'),
  without('callIndex'),
  afterRestart(
    'a restart loses starts',
    withPort(
      'deliveries',
      onLoad((part) => ({ ...part, interrupted: [] })),
    ),
  ),
  afterRestart(
    'a restart loses waiting deliveries',
    withPort(
      'deliveries',
      onLoad((part) => ({ ...part, waiting: filterRows(part.waiting, () => false) })),
    ),
  ),
  afterRestart(
    'store time begins again after a restart',
    withPort(
      'deliveries',
      onLease((lease) => ({ ...lease, storeMs: lease.storeMs - 60_000 })),
    ),
  ),
  afterRestart(
    'a restart forgets what was accepted',
    withPort('deliveries', (store) => ({ commit: (group) => store.commit({ ...group, isRepeat: false }) })),
  ),
]

/** Defects of closing. */
export const brokenClosing: readonly StoreFault[] = [
  {
    what: 'a closed store keeps working',
    caughtBy: ['closing'],
    breakStore: (store) => ({ ...store, close: async () => {} }),
  },
  {
    what: 'a store declares more than it supports',
    caughtBy: ['closing'],
    breakStore: (store) => ({
      ...store,
      supports: { ...store.supports, transactions: !store.supports.transactions },
    }),
  },
]
