import type { ReadyEndpoint } from 'hookswitch/store'
import type { Plan, PlannedDelivery } from './accept-decide.js'
import type { Waking } from './wake.js'

/** Accepted for an epoch that has ended: cancelled from the start. */
export function isStale({ delivery, webhook }: PlannedDelivery): boolean {
  return delivery.epoch < webhook.epoch
}

/** Tells what was accepted to those who send it: this node in the same breath, others by a message. */
export function tellAccepted(plan: Plan, heads: ReadonlySet<PlannedDelivery>, waking: Waking): void {
  const own: ReadyEndpoint[] = []
  const told = new Set<number>()
  for (const head of heads) {
    const { webhook, now } = head
    if (isStale(head) || webhook.deleted || told.has(webhook.key)) continue
    told.add(webhook.key)
    const { id: webhookId, accountId, origin, failing, pausedMs } = webhook
    if (!waking.ownsHere(webhook.shard)) waking.announceDue(webhookId)
    else own.push({ webhookId, accountId, origin, failing, dueMs: Math.max(now, pausedMs) })
  }
  if (own.length > 0) waking.wake(own)
  for (const shard of new Set(plan.deliveries.filter(isStale).map(({ webhook }) => webhook.shard))) {
    waking.look(shard)
  }
}
