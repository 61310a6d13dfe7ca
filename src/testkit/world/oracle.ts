import { hasEnded, type KnownState } from './book.js'
import type { Evidence, KnownEvent } from './evidence.js'
import type { Ledger, WebhookHistory } from './ledger.js'
import { judgeOrder } from './oracle-order.js'
import { judgeRegisters } from './oracle-registers.js'
import { judgeRecords, judgeSights, sightsByDelivery } from './oracle-requests.js'
import { judgeWaits } from './oracle-waits.js'
import { mayConcern, verdictOf } from './wanted.js'

/** Judges a run when everything is quiet, by what was told and seen from outside. */
export function judge(doors: Evidence): void {
  const events = judgePublishes(doors)
  judgeFanOut(doors, events)
  judgeEnds(doors)
  const byDelivery = sightsByDelivery(doors.ledger.sights)
  judgeSights(doors, byDelivery, events)
  judgeRecords(doors, byDelivery)
  judgeOrder(doors, events)
  judgeWaits(doors, byDelivery)
  judgeRegisters(doors)
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
        webhooks: [],
        body: '',
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
  for (const { id, webhookId, eventId, replayOf } of answers.deliveries.values()) {
    if (replayOf !== undefined) continue
    const event = events.get(eventId)
    if (!event) {
      findings.add('I3', 0, `${id} is a delivery of ${eventId}, which nobody published`, id, webhookId)
      continue
    }
    if (event.webhooks.includes(webhookId)) {
      findings.add('I2', 0, `${eventId} went to ${webhookId} twice`, id)
      continue
    }
    event.webhooks.push(webhookId)
    const history = ledger.webhooks.get(webhookId)
    const verdict = history && verdictOf(history, event.publishes[0]!.event, event.fromMs, event.toMs)
    if (verdict === 'no')
      findings.add('I2', event.toMs, `${eventId} went to ${webhookId}, which does not want it`, id, webhookId)
  }
  const concerned = concernedBy([...ledger.webhooks.values()])
  for (const { id, webhooks, publishes, fromMs, toMs } of events.values()) {
    const { event } = publishes[0]!
    for (const { history, madeMs, goneMs } of concerned(event.accountId)) {
      // No event must go to what was not there yet, or not any more.
      if (madeMs > toMs || goneMs < fromMs || webhooks.includes(history.id)) continue
      if (verdictOf(history, event, fromMs, toMs) !== 'must') continue
      const what = `${id} was kept, and ${history.id} has no delivery of it`
      findings.add('I1', toMs, what, id, history.id, event.callId)
    }
  }
}

/** A webhook, and when it may have been there. */
interface Span {
  readonly history: WebhookHistory
  readonly madeMs: number
  readonly goneMs: number
}

/** The webhooks that events of an account may concern: looked for once for each. */
function concernedBy(histories: readonly WebhookHistory[]): (account: string) => readonly Span[] {
  const spans = histories.map((history): Span => {
    const last = history.changes.at(-1)!
    const isGone = last.wish.isDeleted && last.outcome === 'done'
    return { history, madeMs: history.changes[0]!.atMs, goneMs: isGone ? last.doneMs : Infinity }
  })
  const known = new Map<string, readonly Span[]>()
  return (account) => {
    const found = known.get(account) ?? spans.filter(({ history }) => mayConcern(history.accountId, account))
    known.set(account, found)
    return found
  }
}

/** What of a webhook an end of its deliveries depends on, whatever it was told to be. */
interface Bounds {
  readonly leastTries: number
  readonly mostTries: number
  readonly knowsAge: boolean
}

function boundsOf({ webhooks }: Ledger): ReadonlyMap<string, Bounds> {
  return new Map(
    Array.from(webhooks.values(), ({ id, changes }) => {
      const tries = changes.map(({ wish }) => 1 + wish.retries)
      const knowsAge = changes.some(({ wish }) => wish.maxAgeSeconds)
      return [id, { leastTries: Math.min(...tries), mostTries: Math.max(...tries), knowsAge }]
    }),
  )
}

/** Every delivery has come to an end, with what that end needs. */
function judgeEnds({ ledger, answers, findings, book }: Evidence): void {
  const bounds = boundsOf(ledger)
  const successes = new Set<string>()
  for (const sight of ledger.sights) {
    if (sight.status >= 200 && sight.status < 300) successes.add(sight.delivery)
  }
  for (const { id, state, reason, webhookId, tries } of answers.deliveries.values()) {
    const known = book.deliveries.get(id)
    const bound = bounds.get(webhookId)
    const add = (invariant: string, what: string) =>
      findings.add(invariant, known?.endedMs ?? 0, `${id} ${what}`, id, webhookId)
    if (!hasEnded(state as KnownState)) {
      add(state === 'waiting' ? 'I23' : 'I1', `is still ${state} when everything is quiet`)
    } else if (state === 'delivered') {
      if (!successes.has(id)) add('I1', 'is delivered, and no receiver answered with success')
    } else if (!reason) add('I1', `is ${state} without a reason`)
    if (bound && tries > bound.mostTries) add('I7', `was tried ${tries} times`)
    if (bound && state === 'exhausted' && tries < bound.leastTries)
      add('I7', `was given up after ${tries} tries`)
    if (bound && state === 'expired' && !bound.knowsAge)
      add('I10', 'has expired, and its webhook knows no age')
    if (known && known.state !== state && !(state === 'cancelled' && known.state === 'waiting'))
      add('I10', `is shown as ${state}, and was last written as ${known.state}`)
  }
}
