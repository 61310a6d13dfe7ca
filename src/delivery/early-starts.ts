/**
 * Deliveries that start in the group that accepts them. Their first request waits for one commit instead of two.
 *
 * Theory of operation
 *
 * - Before a group is committed, the deliveries that it accepts enter the queue as if they were committed, so that the
 *   scheduler selects among them and what waits already. Only if there are free slots for all of them: otherwise those
 *   that were accepted first would get the slots, whoever else waits.
 * - The store gives an event its sequence number, which is part of the body. So a delivery that was taken gets both from the
 *   result of the group (`confirm`), before it is sent. One that was not taken enters the queue again, in its place.
 * - A delivery whose acceptance is refused, or whose event is a duplicate, was never accepted: it is withdrawn. One that may
 *   come after deliveries of other nodes enters the queue again too, and they are read before anything is taken.
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

export interface EarlyStarts {
  /** Lets deliveries of these acceptances enter the queue, if there are not more of them than `slots`. */
  enter(accepting: readonly AcceptingEvents[], slots: number, now: number): void
  /** They are committed. Returns those that start; the others have left the queue, and those that were accepted must enter it. */
  confirm(
    accepting: AcceptingEvents,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    now: number,
  ): readonly QueuedDelivery[]
  /** They were not accepted: they leave the queue, and are abandoned. */
  withdraw(entered: readonly QueuedDelivery[], now: number): void
}

export interface EarlyStartDeps {
  readonly queue: Pick<PendingQueue, 'add' | 'remove' | 'endpoint' | 'setSequence' | 'waitingContents'>
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

  function enterFrom({ events, deliveries }: Acceptance, now: number): readonly QueuedDelivery[] {
    let entered: QueuedDelivery[] | undefined
    let near = 0
    for (const source of deliveries) {
      // The queue would keep no content, and request it from the store before it is there.
      if (queue.waitingContents >= maxContents) break
      const endpoint = queue.endpoint(source.webhookId)
      const index = eventIndexOf(events, source.eventId, near)
      // The body of a replay is in the store.
      if (!endpoint || !isLoaded(endpoint.shard) || index < 0) continue
      near = index
      const { position = 0 } = source
      const delivery = new QueuedDelivery(source, endpoint, position, 0, now, '', events[index]!.traceparent)
      if (isTooOld(delivery) || !queue.add(delivery, now)) continue
      delivery.isUncommitted = true
      if (entered) entered.push(delivery)
      else entered = [delivery]
      update(endpoint)
    }
    return entered ?? NO_DELIVERIES
  }

  function withdraw(entered: readonly QueuedDelivery[], now: number): void {
    for (const delivery of entered) {
      delivery.isUncommitted = false
      delivery.isAbandoned = true
      queue.remove(delivery, now)
      update(delivery.endpoint)
    }
  }

  return {
    enter(accepting, slots, now) {
      let left = slots
      for (const { acceptance } of accepting) left -= acceptance.deliveries.length
      if (left >= 0) for (const one of accepting) one.entered = enterFrom(one.acceptance, now)
    },
    confirm({ acceptance: { events }, entered }, { events: accepted, mayHaveGap }, now) {
      let near = 0
      return entered.filter((delivery) => {
        // The lease has ended, and the queue is empty.
        if (delivery.isAbandoned) return false
        near = eventIndexOf(events, delivery.eventId, near)
        const { duplicate, sequence } = accepted[near]!
        if (duplicate || mayHaveGap || delivery.state !== 'in_flight') {
          withdraw([delivery], now)
          return false
        }
        delivery.isUncommitted = false
        delivery.sequence = sequence
        delivery.body = fillIn(events[near]!.bodies[delivery.variant]!, sequence)
        queue.setSequence(delivery)
        return true
      })
    },
    withdraw,
  }
}
