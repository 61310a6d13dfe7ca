import type { Clock, Log } from '../ports.js'
import type { Tell } from './delivery-events.js'
import type { DeliveryStore, Settled, Settlement } from './delivery-store.js'
import { type Delivery, isTerminal } from './lifecycle.js'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

export interface SettlerDoors {
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly log: Log
  readonly tell: Tell
}

/** Tells the host what one settlement did. */
function announce(tell: Tell, delivery: Delivery, settlement: Settlement, settled: Settled): void {
  if (settled.kind === 'fenced') return
  const { record, next } = settlement
  if (record?.attempt !== undefined) tell('attempt', record)
  if (isTerminal(next.state)) {
    tell(next.state as Exclude<typeof next.state, 'waiting' | 'in_flight'>, {
      deliveryId: delivery.id,
      webhookId: delivery.webhookId,
      accountId: delivery.accountId,
      eventId: delivery.eventId,
      hook: delivery.hook,
      attempts: next.attempts,
      ...(delivery.callId === undefined ? {} : { callId: delivery.callId }),
      ...(next.reason === undefined ? {} : { reason: next.reason }),
    })
  }
  if (settled.disabled) {
    const { id: webhookId, accountId, disableReason = '' } = settled.disabled
    tell('webhook_disabled', { webhookId, accountId, reason: disableReason })
  }
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
  pairs: readonly { readonly delivery: Delivery; readonly settlement: Settlement }[],
  newest: (settlement: Settlement) => Settlement,
  now: () => number,
  signal: AbortSignal,
): Promise<readonly Settled[] | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    let settled: readonly Settled[]
    try {
      settled = await doors.store.settle(
        pairs.map((pair) => newest(pair.settlement)),
        now(),
      )
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : 'unknown'
      doors.log.warn({ reason, deliveries: pairs.length }, 'outcomes could not be stored, trying again')
      if (signal.aborted) return undefined
      await doors.clock.sleep(pauseMs, signal)
      continue
    }
    pairs.forEach(({ delivery, settlement }, index) => {
      announce(doors.tell, delivery, settlement, settled[index]!)
    })
    return settled
  }
}
