import { disruptionsBetween } from './disruptions.js'
import type { Evidence, KnownEvent } from './evidence.js'
import type { Disruption, Sight } from './ledger.js'
import { expectedPayload } from './snapshot.js'
import { mayConcern } from './wanted.js'

/** Every request was meant, is what was accepted, the same each time, and not needless. */
export function judgeSights(doors: Evidence, events: Map<string, KnownEvent>): void {
  const { ledger, answers, findings, book, isUntroubled } = doors
  const byDelivery = new Map<string, Sight[]>()
  for (const sight of ledger.sights) {
    const others = byDelivery.get(sight.delivery)
    if (others) others.push(sight)
    else byDelivery.set(sight.delivery, [sight])
  }
  for (const [id, sights] of byDelivery) {
    const first = sights[0]!
    const { webhook } = first
    const delivery = answers.deliveries.get(id)
    if (!delivery || delivery.webhookId !== webhook) {
      findings.add(
        'I3',
        first.atMs,
        `a request of ${id} reached ${webhook}, and there is no such delivery`,
        id,
        webhook,
      )
      continue
    }
    const event = events.get(delivery.eventId)
    if (first.account !== delivery.accountId || !mayConcern(first.account, delivery.eventAccountId)) {
      findings.add(
        'I4',
        first.atMs,
        `${id} of ${delivery.eventAccountId} reached ${webhook} of ${first.account}`,
        id,
        webhook,
      )
    }
    const other = sights.find(({ body }) => body !== first.body)
    if (other)
      findings.add('I5', other.atMs, `${id} changed from ${first.body} to ${other.body}`, id, webhook)
    const kept = event?.publishes.find(({ outcome }) => outcome === 'kept')
    // Forms and queries are compared with themselves alone.
    if (
      kept &&
      first.body.startsWith('{') &&
      !sameJson(first.body, expectedPayload(kept.event, kept.eventId, kept.sequence))
    ) {
      findings.add('I5', first.atMs, `${id} arrived as ${first.body}, which was not published`, id, webhook)
    }
    const known = book.deliveries.get(id)
    for (const [at, sight] of sights.entries()) {
      const before = sights[at - 1]
      if (before && isSuccess(before) && before.isHeard && !excuse(ledger.disruptions, before, sight)) {
        findings.add('I8', sight.atMs, `${id} was answered ${before.status} and sent again`, id, webhook)
      }
      if (known && sight.atMs > known.successMs && !excuse(ledger.disruptions, before ?? sight, sight)) {
        findings.add('I8', sight.atMs, `${id} was sent after its success had been recorded`, id, webhook)
      }
    }
    const numbers = new Set(sights.map(({ attempt }) => attempt))
    if (isUntroubled && numbers.size !== sights.length) {
      findings.add(
        'I8',
        first.atMs,
        `${id} was sent ${sights.length} times in ${numbers.size} attempts`,
        id,
        webhook,
      )
    }
  }
}

/** What explains that a request was repeated: its node died or stood still, or its store did not answer. */
function excuse(disruptions: readonly Disruption[], first: Sight, next: Sight): Disruption | undefined {
  for (const disruption of disruptionsBetween(disruptions, first.atMs, next.atMs)) {
    const { node } = disruption
    if (node === undefined || node === first.node || node === next.node) return disruption
  }
  return undefined
}

const isSuccess = ({ status }: Sight) => status >= 200 && status < 300

/** Every record is of a request, and every request has its record. */
export function judgeRecords({ ledger, answers, findings }: Evidence): void {
  const seen = new Map<string, Sight[]>()
  for (const sight of ledger.sights) {
    const key = `${sight.delivery} ${sight.attempt}`
    seen.set(key, [...(seen.get(key) ?? []), sight])
  }
  const recorded = new Set<string>()
  for (const [id, records] of answers.attempts) {
    let last = 0
    for (const { attempt, status, webhookId, reason } of records) {
      if (attempt === undefined) continue
      if (attempt !== last + 1)
        findings.add('I9', 0, `attempt ${attempt} of ${id} follows on ${last}`, id, webhookId)
      last = attempt
      const key = `${id} ${attempt}`
      recorded.add(key)
      if (status === undefined || reason === 'interrupted') continue
      const sights = seen.get(key) ?? []
      if (sights.some((sight) => sight.status === status)) continue
      findings.add(
        'I19',
        0,
        `attempt ${attempt} of ${id} says ${status}, and its receiver did not`,
        id,
        webhookId,
      )
    }
  }
  for (const [key, [sight]] of seen) {
    if (recorded.has(key)) continue
    // A delivery is set aside without an attempt of its own, although its third node may have sent it.
    if (answers.deliveries.get(sight!.delivery)?.state === 'quarantined') continue
    findings.add(
      'I19',
      sight!.atMs,
      `request ${sight!.attempt} of ${sight!.delivery} has no record`,
      sight!.delivery,
      sight!.webhook,
    )
  }
}

function sameJson(text: string, expected: Readonly<Record<string, unknown>>): boolean {
  const found = JSON.parse(text) as Record<string, unknown>
  const keys = Object.keys(found)
  return keys.length === Object.keys(expected).length && keys.every((key) => found[key] === expected[key])
}
