import type { ReadyEndpoint } from 'hookswitch/store'
import type { Plan, PlannedDelivery } from './accept-plan.js'
import type { Notifier } from './notifications.js'

/** Whether the delivery belongs to an epoch that has ended: it is cancelled from the start. */
export function isStale({ delivery, webhook }: PlannedDelivery): boolean {
  return delivery.epoch < webhook.epoch
}

/** Notifies the owners of what was accepted: listeners of this process directly, other nodes by a message. */
export function notifyAccepted(plan: Plan, heads: ReadonlySet<PlannedDelivery>, notifier: Notifier): void {
  const own: ReadyEndpoint[] = []
  const notified = new Set<number>()
  for (const head of heads) {
    const { webhook, now } = head
    if (isStale(head) || webhook.deleted || notified.has(webhook.key)) continue
    notified.add(webhook.key)
    const { id: webhookId, accountId, origin, failing, pausedMs } = webhook
    if (!notifier.isOwnedHere(webhook.shard)) notifier.notifyDue(webhookId)
    else own.push({ webhookId, accountId, origin, failing, dueMs: Math.max(now, pausedMs) })
  }
  if (own.length > 0) notifier.notifyListeners(own)
  for (const shard of new Set(plan.deliveries.filter(isStale).map(({ webhook }) => webhook.shard))) {
    notifier.requestScan(shard)
  }
}
