import type { QueueStore } from '../../src/delivery/queue-store.js'
import type { Clock } from '../../src/ports.js'
import { type Fault, withPort } from './broken-store.js'

type OwnOrRenew = QueueStore['own']

/** Replaces `own` and `renew`. */
const withOwnership = (
  sentence: string,
  caughtBy: string,
  replace: (clock: Clock, store: QueueStore) => (call: OwnOrRenew) => OwnOrRenew,
): Fault => ({
  sentence,
  caughtBy,
  breakStore: withPort('deliveries', (store, _, clock) => {
    const wrap = replace(clock, store)
    return { own: wrap(store.own), renew: wrap(store.renew) }
  }),
})

/** Defects of store time. */
export const brokenClocks: readonly Fault[] = [
  withOwnership('store time is the wall clock', 'ownership', (clock) => (call) => async (...args) => ({
    ...(await call(...args)),
    storeMs: clock.now(),
  })),
  withOwnership('the time of day stands still', 'ownership', (clock) => {
    const clockMs = clock.now()
    return (call) =>
      async (...args) => ({ ...(await call(...args)), clockMs })
  }),
]

/** Defects of store time in a shared store. */
export const brokenSharedClocks: readonly Fault[] = [
  withOwnership('leases end when the wall clock jumps', 'several nodes', (clock, store) => {
    const startMs = clock.now() - clock.monotonic()
    const difference = () => clock.now() - clock.monotonic() - startMs
    const before = new Map<string, number>()
    return (call) => async (owner, leaseMs) => {
      if ((before.get(owner) ?? 0) !== difference()) await store.release(owner)
      before.set(owner, difference())
      return call(owner, leaseMs)
    }
  }),
]
