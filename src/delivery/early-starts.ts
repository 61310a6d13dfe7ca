/**
 * Deliveries that start in the group that accepts them. Their first request waits for one commit instead of two.
 *
 * Theory of operation
 *
 * - Before a group is committed, the deliveries that it accepts enter the queue as if they were committed, so that the
 *   scheduler selects among them and what waits already. Only if there are free slots for all of them: otherwise those
 *   that were accepted first would get the slots, regardless of who else is waiting. What was not taken leaves the queue again.
 * - The store gives an event its sequence number, which is part of the body. So a delivery gets both from the result of the
 *   group (`confirm`), before it is sent.
 * - A delivery whose acceptance is refused, or whose event is a duplicate, was never accepted: it is withdrawn. So are all of
 *   a group after which events of other nodes have to be read: they enter the queue in their places, like deliveries that
 *   did not start.
 */
import { fillIn } from './body-variants.js'
import type { Acceptance } from './delivery-store.js'
import { eventIndexOf } from './event-index.js'
import type { PendingQueue } from './queue/pending-queue.js'
import type { QueueEndpoint } from './queue/queue-endpoint.js'
import { QueuedDelivery } from './queue/queued-delivery.js'
import type { AcceptanceResult } from './queue-store.js'

/** An acceptance of a group. */
export interface AcceptingEvents {
  readonly acceptance: Acceptance
  /** Its deliveries that are in the queue before they are committed, in the order of `acceptance.deliveries`. */
  entered: readonly QueuedDelivery[]
}

interface EarlyStarts {
  /** Lets deliveries of these acceptances enter the queue, if there are at most `slots` of them. */
  enter(accepting: readonly AcceptingEvents[], slots: number, now: number): void
  /** Those that were not taken leave the queue. */
  dropUntaken(accepting: readonly AcceptingEvents[], now: number): void
  /**
   * They are committed. Returns those that start; the others have left the queue, and those that were accepted must enter it.
   *
   * @param mayHaveGap whether any acceptance of the group may have a gap: a later event of a call does not name the gap
   *   that the group has found before an earlier one
   */
  confirm(
    accepting: AcceptingEvents,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    mayHaveGap: boolean,
    now: number,
  ): readonly QueuedDelivery[]
  /** They were not accepted, or may not start: they leave the queue, and are abandoned. */
  withdraw(entered: readonly QueuedDelivery[], now: number): void
}

interface EarlyStartDeps {
  readonly queue: Pick<PendingQueue, 'add' | 'end' | 'endpoint' | 'setSequence' | 'waitingContents'>
  readonly maxContents: number
  /** Whether the deliveries of a shard are loaded. */
  isLoaded(shard: number): boolean
  /** Whether a delivery is too old to be sent. */
  isTooOld(delivery: QueuedDelivery): boolean
  /** The deliveries of the endpoint have changed. */
  update(endpoint: QueueEndpoint): void
}

/** No delivery. */
export const NO_DELIVERIES: readonly QueuedDelivery[] = Object.freeze([])

export function createEarlyStarts(deps: EarlyStartDeps): EarlyStarts {
  const { queue, maxContents, isLoaded, isTooOld, update } = deps

  /** `isLast`: one cannot enter, and what comes after it must not enter before it. */
  function enterFrom(
    { events, deliveries }: Acceptance,
    now: number,
  ): { readonly entered: readonly QueuedDelivery[]; readonly isLast: boolean } {
    const entered: QueuedDelivery[] = []
    let near = 0
    for (const source of deliveries) {
      // The queue would keep no content, and request it from the store before it is there.
      if (queue.waitingContents >= maxContents) return { entered, isLast: true }
      const endpoint = queue.endpoint(source.webhookId)
      const index = eventIndexOf(events, source.eventId, near)
      // The body of a replay is in the store.
      if (!endpoint || !isLoaded(endpoint.shard) || index < 0) continue
      near = index
      const { position = 0 } = source
      const delivery = new QueuedDelivery(source, endpoint, position, 0, now, '', events[index]!.traceparent)
      if (isTooOld(delivery) || !queue.add(delivery, now)) return { entered, isLast: true }
      delivery.isUncommitted = true
      entered.push(delivery)
      update(endpoint)
    }
    return { entered, isLast: false }
  }

  function withdraw(entered: readonly QueuedDelivery[], now: number): void {
    for (const delivery of entered) {
      delivery.isUncommitted = false
      delivery.isAbandoned = true
      queue.end(delivery, now)
      update(delivery.endpoint)
    }
  }

  return {
    enter(accepting, slots, now) {
      let left = slots
      for (const { acceptance } of accepting) left -= acceptance.deliveries.length
      if (left < 0) return
      for (const one of accepting) {
        const { entered, isLast } = enterFrom(one.acceptance, now)
        one.entered = entered
        if (isLast) return
      }
    },
    dropUntaken(accepting, now) {
      for (const one of accepting) {
        const untaken = one.entered.filter(({ state }) => state !== 'in_flight')
        if (untaken.length === 0) continue
        withdraw(untaken, now)
        one.entered = one.entered.filter(({ state }) => state === 'in_flight')
      }
    },
    confirm({ acceptance: { events }, entered }, { events: accepted }, mayHaveGap, now) {
      let near = 0
      return entered.filter((delivery) => {
        // The lease has ended, or its webhook was disabled.
        if (delivery.isAbandoned) return false
        near = eventIndexOf(events, delivery.eventId, near)
        const { duplicate, sequence } = accepted[near]!
        // The commit may have waited for the store for a long time.
        if (duplicate || mayHaveGap || isTooOld(delivery)) {
          withdraw([delivery], now)
          return false
        }
        delivery.isUncommitted = false
        delivery.acceptedMs = now
        delivery.sequence = sequence
        delivery.body = fillIn(events[near]!.bodies[delivery.variant]!, sequence)
        queue.setSequence(delivery)
        return true
      })
    },
    withdraw,
  }
}
