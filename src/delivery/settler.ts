import type { Clock, Log } from '../ports.js'
import { type AnnounceDoors, announce } from './announce.js'
import type { AttemptRecord } from './attempt-record.js'
import type { DeliveryStore, Settled, Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

export interface SettlerDoors extends AnnounceDoors {
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly log: Log
}

/** What is to be written of one delivery. */
export interface Writing {
  readonly delivery: Delivery
  readonly settlement: Settlement
  /** The record of an attempt that is told, but not kept. */
  readonly unkept?: AttemptRecord
}

/**
 * Writes settlements until the store has them: while it is out, the deliveries stay in flight and so hold back new
 * ones. Gives up (`undefined`) only when `signal` says that the node must go: another, or a restart, finds them.
 *
 * @param newest the settlement as it is to be written by a try, for it may have waited
 * @param now store time of each try
 */
export async function persist(
  doors: SettlerDoors,
  writings: readonly Writing[],
  newest: (settlement: Settlement) => Settlement,
  now: () => number,
  signal: AbortSignal,
): Promise<readonly Settled[] | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    let settled: readonly Settled[]
    try {
      settled = await doors.store.settle(
        writings.map(({ settlement }) => newest(settlement)),
        now(),
      )
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : 'unknown'
      doors.log.warn({ reason, deliveries: writings.length }, 'outcomes could not be stored, trying again')
      if (signal.aborted) return undefined
      await doors.clock.sleep(pauseMs, signal)
      continue
    }
    const atMs = now()
    writings.forEach(({ delivery, settlement, unkept }, index) => {
      try {
        announce(doors, delivery, settlement, settlement.record ?? unkept, settled[index]!, atMs)
      } catch (thrown) {
        // It is written: who is told of it may fail, what follows from it may not.
        doors.log.error({ reason: String(thrown), deliveryId: delivery.id }, 'an outcome could not be told')
      }
    })
    return settled
  }
}
