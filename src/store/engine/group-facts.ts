/** Facts for a store that plans all acceptances of a group before it writes any. */
import type { Acceptance } from '../../delivery/delivery-store.js'
import type { AcceptanceFacts, AcceptancePlan, StoredEventFact, StoredKey } from './acceptance.js'

/** The facts of a store, and what the acceptances planned so far will write. */
export interface GroupFacts extends AcceptanceFacts {
  /** Adds what a plan of kind `write` will write: the plans after it see it. */
  add(acceptance: Acceptance, plan: AcceptancePlan): void
}

/**
 * Creates the facts of a group.
 *
 * @param stored what the store has. Its `numbers` returns the same object for all events of a call, so that numbers continue
 *   over the group.
 */
export function createGroupFacts(stored: AcceptanceFacts): GroupFacts {
  const keys = new Map<string, StoredKey>()
  const events = new Map<string, StoredEventFact>()
  const deliveries = new Set<string>()
  const inboxIds = new Set<string>()
  const keyName = (accountId: string, key: string) => `${accountId.length}/${accountId}${key}`
  return {
    key: (accountId, key) => keys.get(keyName(accountId, key)) ?? stored.key(accountId, key),
    event: (eventId) => events.get(eventId) ?? stored.event(eventId),
    hasWebhook: (webhookId) => stored.hasWebhook(webhookId),
    isTaken: (delivery) =>
      deliveries.has(`id/${delivery.id}`) ||
      deliveries.has(`${delivery.position}/${delivery.webhookId}`) ||
      stored.isTaken(delivery),
    hasInboxEntry: (id) => !inboxIds.has(id) && stored.hasInboxEntry(id),
    numbers: (event) => stored.numbers(event),
    add(acceptance, plan) {
      if (plan.kind !== 'write') return
      for (const [index, event] of acceptance.events.entries()) {
        const { id, sequence, duplicate } = plan.events[index]!
        if (duplicate) continue
        events.set(id, { sequence, variants: event.bodies.length })
        const { idempotency, accountId } = event
        if (!idempotency) continue
        const { key, bodyHash, untilMs } = idempotency
        keys.set(keyName(accountId, key), { id, sequence, bodyHash, untilMs })
      }
      for (const { id, webhookId, position } of plan.deliveries) {
        deliveries.add(`id/${id}`).add(`${position}/${webhookId}`)
      }
      for (const id of acceptance.inboxIds ?? []) inboxIds.add(id)
    },
  }
}
