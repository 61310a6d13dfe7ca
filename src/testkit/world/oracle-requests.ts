import { disruptionsBetween } from './disruptions.js'
import type { Evidence, KnownEvent } from './evidence.js'
import type { Disruption, Sight } from './ledger.js'
import { expectedPayload } from './snapshot.js'
import { mayConcern } from './wanted.js'

/** Requests by their delivery, in the order of their arrival. */
export function sightsByDelivery(sights: readonly Sight[]): ReadonlyMap<string, readonly Sight[]> {
  const byDelivery = new Map<string, Sight[]>()
  for (const sight of sights) {
    const others = byDelivery.get(sight.delivery)
    if (others) others.push(sight)
    else byDelivery.set(sight.delivery, [sight])
  }
  return byDelivery
}

/** Every request was meant, is what was accepted, the same each time, and not needless. */
export function judgeSights(
  doors: Evidence,
  byDelivery: ReadonlyMap<string, readonly Sight[]>,
  events: Map<string, KnownEvent>,
): void {
  const { answers, findings, book, isUntroubled } = doors
  for (const [id, sights] of byDelivery) {
    const first = sights[0]!
    const { webhook } = first
    const add = (invariant: string, atMs: number, what: string) =>
      findings.add(invariant, atMs, `${id} ${what}`, id, webhook)
    const delivery = answers.deliveries.get(id)
    if (!delivery || delivery.webhookId !== webhook) {
      add('I3', first.atMs, `reached ${webhook}, and there is no such delivery`)
      continue
    }
    const event = events.get(delivery.eventId)
    if (first.account !== delivery.accountId || !mayConcern(first.account, delivery.eventAccountId)) {
      add('I4', first.atMs, `of ${delivery.eventAccountId} reached ${webhook} of ${first.account}`)
    }
    if (event && !isPublished(event, first.body)) {
      add('I5', first.atMs, `arrived as ${first.body}, which was not published`)
    }
    const successMs = book.deliveries.get(id)?.successMs ?? Number.POSITIVE_INFINITY
    const numbers: number[] = []
    for (const [at, sight] of sights.entries()) {
      if (!numbers.includes(sight.attempt)) numbers.push(sight.attempt)
      if (sight.body !== first.body) {
        add('I5', sight.atMs, `changed from ${first.body} to ${sight.body}`)
      }
      const before = sights[at - 1]
      if (before && isSuccess(before) && before.isHeard && !excuse(doors, before, sight)) {
        add('I8', sight.atMs, `was answered ${before.status} and sent again`)
      }
      if (sight.atMs > successMs && !excuse(doors, before ?? sight, sight)) {
        add('I8', sight.atMs, 'was sent after its success had been recorded')
      }
    }
    if (isUntroubled && numbers.length !== sights.length) {
      add('I8', first.atMs, `was sent ${sights.length} times in ${numbers.length} attempts`)
    }
  }
}

/** Forms and queries are compared with themselves alone. */
function isPublished(event: KnownEvent, body: string): boolean {
  if (body === event.body || !body.startsWith('{')) return true
  const kept = event.publishes.find(({ outcome }) => outcome === 'kept')
  if (kept && !sameJson(body, expectedPayload(kept.event, kept.eventId, kept.sequence))) return false
  event.body = body
  return true
}

/**
 * What explains that a request was repeated: its node died or stood still, or its store did not answer. A machine that
 * was suspended takes its lease for longer than it is, until it renews it: what it claims in between is claimed again.
 */
function excuse({ ledger, leaseMs }: Evidence, first: Sight, next: Sight): Disruption | undefined {
  for (const disruption of disruptionsBetween(ledger.disruptions, first.atMs - leaseMs, next.atMs)) {
    const { node, kind, untilMs } = disruption
    if (kind !== 'pause' && untilMs < first.atMs) continue
    if (node === undefined || node === first.node || node === next.node) return disruption
  }
  return undefined
}

const isSuccess = ({ status }: Sight) => status >= 200 && status < 300

/** Every record is of a request, and every request has its record. */
export function judgeRecords(
  { answers, findings }: Evidence,
  byDelivery: ReadonlyMap<string, readonly Sight[]>,
): void {
  for (const [id, records] of answers.attempts) {
    const sights = byDelivery.get(id) ?? []
    let last = 0
    for (const { attempt, status, webhookId, reason } of records) {
      if (attempt === undefined) continue
      if (attempt !== last + 1)
        findings.add('I9', 0, `attempt ${attempt} of ${id} follows on ${last}`, id, webhookId)
      last = attempt
      if (status === undefined || reason === 'interrupted') continue
      if (sights.some((sight) => sight.attempt === attempt && sight.status === status)) continue
      const what = `attempt ${attempt} of ${id} says ${status}, and its receiver did not`
      findings.add('I19', 0, what, id, webhookId)
    }
  }
  for (const [id, sights] of byDelivery) {
    const records = answers.attempts.get(id) ?? []
    for (const { attempt, atMs, webhook } of sights) {
      if (records.some((record) => record.attempt === attempt)) continue
      // A delivery is set aside without an attempt of its own, although its third node may have sent it.
      if (answers.deliveries.get(id)?.state === 'quarantined') continue
      findings.add('I19', atMs, `request ${attempt} of ${id} has no record`, id, webhook)
    }
  }
}

function sameJson(text: string, expected: Readonly<Record<string, unknown>>): boolean {
  const found = JSON.parse(text) as Record<string, unknown>
  const keys = Object.keys(found)
  return keys.length === Object.keys(expected).length && keys.every((key) => found[key] === expected[key])
}
