/**
 * Deliveries that start in the group that accepts them. Their first request waits for one commit instead of two.
 *
 * Theory of operation
 *
 * - Before a group is committed, its accepted deliveries enter the queue as if they were committed, so that the scheduler
 *   selects among them and the waiting ones. This happens only with free slots for all of them: otherwise the first accepted
 *   deliveries would get the slots, whatever else is waiting. Untaken deliveries leave the queue again.
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
  /** Its deliveries that are queued before they are committed, in the order of `acceptance.deliveries`. */
  uncommitted: readonly QueuedDelivery[]
}

interface UncommittedStarts {
  /** Queues the deliveries of these acceptances, if there are at most `slots` of them. */
  enqueue(accepting: readonly AcceptingEvents[], slots: number, now: number): void
  /** Removes the deliveries that were not taken. */
  dropUntaken(accepting: readonly AcceptingEvents[], now: number): void
  /**
   * Completes committed deliveries. Returns those that start. The others have left the queue; the caller queues those that were
   * accepted.
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
  /** Removes and abandons deliveries that were not accepted, or may not start. */
  withdraw(uncommitted: readonly QueuedDelivery[], now: number): void
}

interface UncommittedStartDeps {
  readonly queue: Pick<PendingQueue, 'add' | 'end' | 'endpoint' | 'setSequence' | 'keepsContent'>
  /** Whether the deliveries of a shard are loaded. */
  isLoaded(shard: number): boolean
  /** The deliveries of the endpoint have changed. */
  update(endpoint: QueueEndpoint): void
}

/** No delivery. */
export const NO_DELIVERIES: readonly QueuedDelivery[] = Object.freeze([])

export function createUncommittedStarts(deps: UncommittedStartDeps): UncommittedStarts {
  const { queue, isLoaded, update } = deps

  function enqueueFrom({ events, deliveries }: Acceptance, now: number): readonly QueuedDelivery[] {
    const uncommitted: QueuedDelivery[] = []
    let hint = 0
    for (const source of deliveries) {
      const endpoint = queue.endpoint(source.webhookId)
      const index = eventIndexOf(events, source.eventId, hint)
      // The body of a replay is in the store.
      if (!endpoint || !isLoaded(endpoint.shard) || index < 0) continue
      hint = index
      const { position = 0 } = source
      const delivery = new QueuedDelivery(source, endpoint, position, 0, now, '', events[index]!.traceparent)
      // Without a content in memory the queue would request it from the store before it is there.
      if (!queue.keepsContent(endpoint) || !queue.add(delivery, now)) continue
      delivery.isUncommitted = true
      uncommitted.push(delivery)
      update(endpoint)
    }
    return uncommitted
  }

  function withdraw(uncommitted: readonly QueuedDelivery[], now: number): void {
    for (const delivery of uncommitted) {
      delivery.isUncommitted = false
      delivery.isAbandoned = true
      queue.end(delivery, now)
      update(delivery.endpoint)
    }
  }

  return {
    enqueue(accepting, slots, now) {
      let left = slots
      for (const { acceptance } of accepting) left -= acceptance.deliveries.length
      if (left < 0) return
      for (const pending of accepting) pending.uncommitted = enqueueFrom(pending.acceptance, now)
    },
    dropUntaken(accepting, now) {
      for (const pending of accepting) {
        const untaken = pending.uncommitted.filter(({ state }) => state !== 'in_flight')
        if (untaken.length === 0) continue
        withdraw(untaken, now)
        pending.uncommitted = pending.uncommitted.filter(({ state }) => state === 'in_flight')
      }
    },
    confirm({ acceptance: { events }, uncommitted }, { events: accepted }, mayHaveGap, now) {
      let hint = 0
      return uncommitted.filter((delivery) => {
        // The lease has ended, or its webhook was disabled.
        if (delivery.isAbandoned) return false
        hint = eventIndexOf(events, delivery.eventId, hint)
        const { duplicate, sequence } = accepted[hint]!
        if (duplicate || mayHaveGap) {
          withdraw([delivery], now)
          return false
        }
        delivery.isUncommitted = false
        delivery.acceptedMs = now
        delivery.sequence = sequence
        delivery.body = fillIn(events[hint]!.bodies[delivery.variant]!, sequence)
        queue.setSequence(delivery)
        return true
      })
    },
    withdraw,
  }
}
