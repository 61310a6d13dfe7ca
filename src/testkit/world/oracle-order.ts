import type { StoredDelivery } from '../../delivery/delivery-queries.js'
import type { Evidence, KnownEvent } from './evidence.js'

/**
 * For a webhook that was always called in order: in one call an event is first sent when the one before it has ended.
 * What was cancelled or has expired holds back nobody, whenever its row is written.
 */
export function judgeOrder(
  { ledger, answers, findings, book }: Evidence,
  events: ReadonlyMap<string, KnownEvent>,
): void {
  const firstMs = new Map<string, number>()
  for (const { delivery, atMs } of ledger.sights) if (!firstMs.has(delivery)) firstMs.set(delivery, atMs)
  const sequenceOf = ({ eventId }: StoredDelivery) =>
    events.get(eventId)?.publishes.find(({ outcome }) => outcome === 'kept')?.sequence ?? 0
  const calls = new Map<string, StoredDelivery[]>()
  for (const delivery of answers.deliveries.values()) {
    const wishes = ledger.webhooks.get(delivery.webhookId)?.changes ?? []
    if (delivery.replayOf !== undefined || !wishes.length) continue
    if (wishes.some(({ wish }) => wish.ordering !== 'call')) continue
    const key = `${delivery.webhookId} ${delivery.eventAccountId}/${delivery.callId}`
    const others = calls.get(key)
    if (others) others.push(delivery)
    else calls.set(key, [delivery])
  }
  for (const deliveries of calls.values()) {
    deliveries.sort((a, b) => sequenceOf(a) - sequenceOf(b))
    for (const [at, next] of deliveries.entries()) {
      const before = deliveries[at - 1]
      if (!before || before.state === 'cancelled' || before.state === 'expired') continue
      const endedMs = book.deliveries.get(before.id)?.endedMs ?? 0
      const sentMs = firstMs.get(next.id)
      if (sentMs === undefined || sentMs >= endedMs) continue
      const what = `${next.id} was sent ${Math.round(endedMs - sentMs)} ms before ${before.id} of its call had ended`
      findings.add('I17', sentMs, what, next.id, before.id, next.webhookId)
    }
  }
}
