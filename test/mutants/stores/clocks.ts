import type { QueueStore } from '../../../src/delivery/queue-store.js'
import type { Clock } from '../../../src/ports.js'
import type { Store } from '../../../src/store/contract.js'
import { faultsOf, type StoreFault } from './store-fault.js'

type OwnOrRenew = QueueStore['own']

const leaseFault = faultsOf('ownership', 'deliveries')
const nodeFault = faultsOf('several nodes', 'deliveries')

/** Replaces `own` and `renew`. */
const onCalls =
  (replace: (clock: Clock, store: QueueStore) => (call: OwnOrRenew) => OwnOrRenew) =>
  (store: QueueStore, _: Store, clock: Clock) => {
    const wrap = replace(clock, store)
    return { own: wrap(store.own), renew: wrap(store.renew) }
  }

/** Defects of store time. */
export const brokenClocks: readonly StoreFault[] = [
  leaseFault(
    'store time is the wall clock',
    onCalls((clock) => (call) => async (...args) => ({
      ...(await call(...args)),
      storeMs: clock.now(),
    })),
  ),
  leaseFault(
    'the time of day stands still',
    onCalls((clock) => {
      const clockMs = clock.now()
      return (call) =>
        async (...args) => ({ ...(await call(...args)), clockMs })
    }),
  ),
]

/** Defects of store time in a shared store. */
export const brokenSharedClocks: readonly StoreFault[] = [
  nodeFault(
    'leases end when the wall clock jumps',
    onCalls((clock, store) => {
      const startMs = clock.now() - clock.monotonic()
      const difference = () => clock.now() - clock.monotonic() - startMs
      const before = new Map<string, number>()
      return (call) => async (owner, leaseMs) => {
        if ((before.get(owner) ?? 0) !== difference()) await store.release(owner)
        before.set(owner, difference())
        return call(owner, leaseMs)
      }
    }),
  ),
]
