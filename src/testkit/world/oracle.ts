import { hasEnded, type KnownState } from './book.js'
import type { Evidence, KnownEvent } from './evidence.js'
import { judgeOrder } from './oracle-order.js'
import { judgeRecords, judgeSights } from './oracle-requests.js'
import { verdictOf } from './wanted.js'

/** Judges a run when everything is quiet, by what was told and seen from outside. */
export function judge(doors: Evidence): void {
  const events = judgePublishes(doors)
  judgeFanOut(doors, events)
  judgeEnds(doors)
  judgeSights(doors, events)
  judgeRecords(doors)
  judgeOrder(doors, events)
}

/** One key is one event, its calls are numbered in the order of acceptance. */
function judgePublishes({ ledger, findings }: Evidence): Map<string, KnownEvent> {
  const byKey = new Map<string, KnownEvent>()
  for (const publish of ledger.publishes) {
    const known = byKey.get(publish.key)
    if (known) known.publishes.push(publish)
    else
      byKey.set(publish.key, {
        key: publish.key,
        publishes: [publish],
        id: '',
        fromMs: publish.atMs,
        toMs: Number.POSITIVE_INFINITY,
      })
  }
  const byId = new Map<string, KnownEvent>()
  const numbers = new Map<string, number>()
  for (const event of byKey.values()) {
    const kept = event.publishes.filter(({ outcome }) => outcome === 'kept')
    const [first] = kept
    if (!first) continue
    event.id = first.eventId
    event.toMs = Math.min(...kept.map(({ doneMs }) => doneMs))
    const other = kept.find(
      ({ eventId, sequence }) => eventId !== first.eventId || sequence !== first.sequence,
    )
    const { accountId, callId } = first.event
    if (other) {
      const what = `${event.key} became ${first.eventId} (${first.sequence}) and ${other.eventId} (${other.sequence})`
      findings.add('I6', other.doneMs, what, first.eventId, other.eventId, callId)
    }
    if (kept.filter(({ isDuplicate }) => !isDuplicate).length > 1) {
      findings.add(
        'I6',
        first.doneMs,
        `${event.key} was accepted as new more than once`,
        first.eventId,
        callId,
      )
    }
    const call = `${accountId}/${callId}`
    const number = (numbers.get(call) ?? 0) + 1
    numbers.set(call, number)
    if (first.sequence !== number) {
      const what = `${first.eventId} is number ${first.sequence} of its call, and the ${number}. that was accepted`
      findings.add('I17', first.doneMs, what, first.eventId, callId)
    }
    byId.set(event.id, event)
  }
  return byId
}

/** Exactly the webhooks that matched have a delivery of an event, one each. */
function judgeFanOut({ ledger, answers, findings }: Evidence, events: Map<string, KnownEvent>): void {
  const found = new Map<string, string>()
  for (const { id, webhookId, eventId, replayOf } of answers.deliveries.values()) {
    if (replayOf !== undefined) continue
    const event = events.get(eventId)
    const place = `${eventId} ${webhookId}`
    if (found.has(place))
      findings.add('I2', 0, `${eventId} went to ${webhookId} twice`, id, found.get(place)!)
    found.set(place, id)
    if (!event) {
      findings.add('I3', 0, `${id} is a delivery of ${eventId}, which nobody published`, id, webhookId)
      continue
    }
    const history = ledger.webhooks.get(webhookId)
    const verdict = history && verdictOf(history, event.publishes[0]!.event, event.fromMs, event.toMs)
    if (verdict === 'no')
      findings.add('I2', event.toMs, `${eventId} went to ${webhookId}, which does not want it`, id, webhookId)
  }
  for (const event of events.values()) {
    for (const history of ledger.webhooks.values()) {
      if (found.has(`${event.id} ${history.id}`)) continue
      const verdict = verdictOf(history, event.publishes[0]!.event, event.fromMs, event.toMs)
      if (verdict !== 'must') continue
      const { callId } = event.publishes[0]!.event
      findings.add(
        'I1',
        event.toMs,
        `${event.id} was kept, and ${history.id} has no delivery of it`,
        event.id,
        history.id,
        callId,
      )
    }
  }
}

/** Every delivery has come to an end, with what that end needs. */
function judgeEnds({ ledger, answers, findings, book }: Evidence): void {
  const successes = new Set<string>()
  for (const sight of ledger.sights) {
    if (sight.status >= 200 && sight.status < 300) successes.add(sight.delivery)
  }
  for (const { id, state, reason, webhookId, tries } of answers.deliveries.values()) {
    const at = book.deliveries.get(id)?.endedMs ?? 0
    if (!hasEnded(state as KnownState)) {
      const invariant = state === 'waiting' ? 'I23' : 'I1'
      findings.add(invariant, 0, `${id} is still ${state} when everything is quiet`, id, webhookId)
    } else if (state === 'delivered') {
      if (!successes.has(id))
        findings.add('I1', at, `${id} is delivered, and no receiver answered with success`, id, webhookId)
    } else if (!reason) {
      findings.add('I1', at, `${id} is ${state} without a reason`, id, webhookId)
    }
    const budgets = (ledger.webhooks.get(webhookId)?.changes ?? []).map(({ wish }) => 1 + wish.retries)
    if (budgets.length > 0 && tries > Math.max(...budgets))
      findings.add('I7', at, `${id} was tried ${tries} times`, id, webhookId)
    if (state === 'exhausted' && budgets.length > 0 && tries < Math.min(...budgets)) {
      findings.add('I7', at, `${id} was given up after ${tries} tries`, id, webhookId)
    }
    const wishes = ledger.webhooks.get(webhookId)?.changes.map(({ wish }) => wish) ?? []
    if (state === 'expired' && wishes.length > 0 && wishes.every(({ maxAgeSeconds }) => !maxAgeSeconds)) {
      findings.add('I10', at, `${id} has expired, and its webhook knows no age`, id, webhookId)
    }
    const known = book.deliveries.get(id)
    if (known && known.state !== state && !(state === 'cancelled' && known.state === 'waiting')) {
      findings.add(
        'I10',
        at,
        `${id} is shown as ${state}, and was last written as ${known.state}`,
        id,
        webhookId,
      )
    }
  }
}
