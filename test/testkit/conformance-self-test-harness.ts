/** Runs the conformance suite without a test runner, on the memory store with or without a defect. */
import type { Clock, Log } from '../../src/ports.js'
import type { Store } from '../../src/store/contract.js'
import { memoryStore } from '../../src/store/memory.js'
import { type StoreHarness, storeConformance } from '../../src/testkit/conformance/index.js'
import type { StoreFault } from '../mutants/stores/store-fault.js'
import { addLiveItems } from '../support/live-store.js'
import { addInbox } from './conformance-self-test-inbox.js'

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** A clock that stands still. */
export function newClock(): Clock {
  return {
    now: () => 0,
    monotonic: () => 0,
    sleep: () => Promise.resolve(),
    yield: () => Promise.resolve(),
  }
}

/** A rule of the suite, named with the name of its group. */
interface Rule {
  readonly group: string
  readonly name: string
  readonly body: () => Promise<void>
}

function listRules(harness: StoreHarness): readonly Rule[] {
  const path: string[] = []
  const rules: Rule[] = []
  storeConformance(
    {
      describe(name, body) {
        path.push(name)
        body()
        path.pop()
      },
      it(sentence, body) {
        const group = path.slice(1).join(': ')
        rules.push({ group, name: `${group}: ${sentence}`, body })
      },
    },
    harness,
  )
  return rules
}

/**
 * The memory store as a store that supports everything: it has an inbox, and its data survives as long as the store is
 * used.
 */
function harnessOf(isShared: boolean, fault: Partial<StoreFault>, joins = false): StoreHarness {
  let transaction: StoreHarness['transaction']
  return {
    name: 'a store',
    supports: { durable: true, sharedBetweenNodes: isShared, transactions: true, liveItems: isShared },
    notificationTimeoutMs: 5,
    async open({ clock }) {
      const memory = memoryStore({ shared: isShared })
      await memory.open({ clock, log: silent })
      const inbox = addInbox(memory)
      transaction = (_store, end, work) => inbox.transaction(end, work)
      const durable: Store = { ...inbox.store, supports: { ...inbox.store.supports, durable: true } }
      const store = isShared ? addLiveItems(durable) : durable
      return fault.breakStore ? fault.breakStore(store, clock) : store
    },
    ...(joins && {
      async join(store: Store) {
        await store.open({ clock: newClock(), log: silent })
        return { ...store }
      },
    }),
    reopen: fault.reopen ?? (async (store) => store),
    transaction: (...args) => transaction!(...args),
  }
}

/** All rules for a store that supports everything. */
export const rulesOf = (isShared: boolean): readonly Rule[] => listRules(harnessOf(isShared, {}))

/**
 * The names of the rules that a store with this defect breaks.
 *
 * @param fault default: none. `group`: only this group of rules runs
 * @param joins whether each node has its own store object. Default: all nodes use one
 */
export async function brokenRules(
  isShared: boolean,
  fault: Partial<StoreFault> & { readonly group?: string } = {},
  joins = false,
): Promise<readonly string[]> {
  const broken: string[] = []
  for (const { group, name, body } of listRules(harnessOf(isShared, fault, joins))) {
    if (fault.group !== undefined && group !== fault.group) continue
    await body().catch(() => broken.push(name))
  }
  return broken
}
