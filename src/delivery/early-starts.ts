/**
 * Deliveries that start in the group that accepts them. Their first request waits for one commit instead of two.
 *
 * Theory of operation
 *
 * - Before a group is committed, deliveries that it accepts enter the queue as if they were committed, so that the scheduler
 *   selects among them and what waits already. Those that were not taken leave the queue again; the others are early starts.
 * - Only a delivery that can be sent at once enters: its endpoint is known, enabled and neither paused nor probed, no other
 *   delivery of its lane waits or is in flight. And only if there are free slots for all deliveries of the group: otherwise
 *   those that were accepted first would get them, whoever else waits.
 * - The store gives an event its sequence number, which is part of the body. So an early start gets both from the result of
 *   the group (`confirm`), before it is sent.
 * - An early start whose acceptance is refused, or whose event is a duplicate, was never accepted: it is withdrawn. One whose
 *   lane may have earlier deliveries, of other nodes, enters the queue like a delivery that was not started.
 */
import { isPaused, isProbed } from '../webhooks/health.js'
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
  /** Its deliveries that start in the same group, in the order of `acceptance.deliveries`. */
  earlyStarts: readonly QueuedDelivery[]
}

export interface EarlyStarts {
  /** Lets deliveries of these acceptances enter the queue, if there are not more of them than `slots`. */
  enter(accepting: readonly AcceptingEvents[], slots: number, now: number): void
  /** Those that were not taken leave the queue. */
  dropUntaken(accepting: readonly AcceptingEvents[], now: number): void
  /**
   * Their acceptance is committed. Returns those that the queue has; the others must enter it like deliveries that were not
   * started.
   */
  confirm(
    acceptance: Acceptance,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    earlyStarts: readonly QueuedDelivery[],
    now: number,
  ): readonly QueuedDelivery[]
  /** They were not accepted: they leave the queue, and are abandoned. */
  withdraw(earlyStarts: readonly QueuedDelivery[], now: number): void
}

export interface EarlyStartDeps {
  readonly queue: Pick<
    PendingQueue,
    'add' | 'end' | 'remove' | 'endpoint' | 'hasLane' | 'setSequence' | 'waitingContents'
  >
  readonly maxContents: number
  /** Whether the deliveries of a shard are loaded. */
  isLoaded(shard: number): boolean
  /** Whether a delivery is too old to be sent. */
  isTooOld(delivery: QueuedDelivery): boolean
  /** The deliveries of the endpoint have changed. */
  update(endpoint: QueueEndpoint): void
}

const NONE: readonly QueuedDelivery[] = Object.freeze([])

export function createEarlyStarts(deps: EarlyStartDeps): EarlyStarts {
  const { queue, maxContents, isLoaded, isTooOld, update } = deps

  /** Whether an endpoint may get a delivery of this lane and epoch now. */
  function isOpen({ shard, webhook, epoch: current }: QueueEndpoint, epoch: number, now: number): boolean {
    const { health } = webhook
    return isLoaded(shard) && epoch === current && !isPaused(health, now) && !isProbed(health)
  }

  function enterFrom({ events, deliveries }: Acceptance, now: number): readonly QueuedDelivery[] {
    let entered: QueuedDelivery[] | undefined
    let near = 0
    for (const source of deliveries) {
      if (queue.waitingContents >= maxContents) break
      const endpoint = queue.endpoint(source.webhookId)
      if (!endpoint || !isOpen(endpoint, source.epoch, now)) continue
      if (queue.hasLane(endpoint, source.lane)) continue
      const index = eventIndexOf(events, source.eventId, near)
      // The body of a replay is in the store.
      if (index < 0) continue
      near = index
      const { position = 0 } = source
      const delivery = new QueuedDelivery(source, endpoint, position, 0, now, '', events[index]!.traceparent)
      if (isTooOld(delivery) || !queue.add(delivery, now)) continue
      delivery.isUncommitted = true
      if (entered) entered.push(delivery)
      else entered = [delivery]
      update(endpoint)
    }
    return entered ?? NONE
  }

  function withdraw(earlyStarts: readonly QueuedDelivery[], now: number): void {
    for (const delivery of earlyStarts) {
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
      if (left >= 0) for (const one of accepting) one.earlyStarts = enterFrom(one.acceptance, now)
    },
    dropUntaken(accepting, now) {
      for (const one of accepting) {
        const untaken = one.earlyStarts.filter(({ state }) => state !== 'in_flight')
        if (untaken.length === 0) continue
        one.earlyStarts = one.earlyStarts.filter(({ state }) => state === 'in_flight')
        for (const delivery of untaken) {
          queue.end(delivery, now)
          update(delivery.endpoint)
        }
      }
    },
    confirm({ events }, { events: accepted, mayHaveGap }, earlyStarts, now) {
      let near = 0
      return earlyStarts.filter((delivery) => {
        delivery.isUncommitted = false
        if (delivery.isAbandoned) return false
        near = eventIndexOf(events, delivery.eventId, near)
        const { duplicate, sequence } = accepted[near]!
        // Its place in its lane depends on its number: it enters anew if an edit of its webhook has put it back, or if earlier
        // deliveries may have been loaded since, or will be.
        if (duplicate || mayHaveGap || delivery.state !== 'in_flight') {
          withdraw([delivery], now)
          return false
        }
        delivery.sequence = sequence
        delivery.body = fillIn(events[near]!.bodies[delivery.variant]!, sequence)
        queue.setSequence(delivery)
        return true
      })
    },
    withdraw,
  }
}
