import type { DeliveryStore } from '../../src/delivery/delivery-store.js'
import type { Clock } from '../../src/ports.js'
import { type Fault, withDeliveries } from './broken-queues.js'

type OwnOrRenew = DeliveryStore['own']

/** Replaces `own` and `renew`. */
const withOwnership =
  (replace: (call: OwnOrRenew, store: DeliveryStore, clock: Clock) => OwnOrRenew): Fault[2] =>
  (store, clock) =>
    withDeliveries((deliveries) => ({
      own: replace(deliveries.own, deliveries, clock),
      renew: replace(deliveries.renew, deliveries, clock),
    }))(store)

/** Defects of store time. */
export const brokenClocks: readonly Fault[] = [
  [
    'store time is the wall clock',
    'ownership',
    withOwnership((call, _, clock) => async (owner, leaseMs) => ({
      ...(await call(owner, leaseMs)),
      storeMs: clock.now(),
    })),
  ],
  [
    'store time stands still until the wall clock has caught up',
    'ownership',
    (store, clock) => {
      let latestMs = 0
      return withOwnership((call) => async (owner, leaseMs) => {
        latestMs = Math.max(latestMs, clock.now())
        return { ...(await call(owner, leaseMs)), storeMs: latestMs }
      })(store, clock)
    },
  ],
]

/** Defects of store time in a shared store. */
export const brokenSharedClocks: readonly Fault[] = [
  [
    'leases end when the wall clock jumps',
    'several nodes',
    withOwnership((call, store, clock) => {
      const startMs = clock.now() - clock.monotonic()
      const difference = () => clock.now() - clock.monotonic() - startMs
      const before = new Map<string, number>()
      return async (owner, leaseMs) => {
        if ((before.get(owner) ?? 0) !== difference()) await store.release(owner)
        before.set(owner, difference())
        return call(owner, leaseMs)
      }
    }),
  ],
]
