/**
 * The ladder of a call: what happened on its legs, and what each webhook was sent of it. Columns are legs, then webhooks;
 * rows are events in order of time, and numbers of which no webhook was sent anything. Pure.
 */
import { printableLine } from 'hookswitch/adapter'
import type { Attempt, Call, CallEvent } from 'hookswitch/client'
import { outcomeOf } from './outcome.js'
import { partyName } from './parties.js'

type CallLeg = Pick<Call['legs'][number], 'call_id' | 'from' | 'to' | 'direction'>

interface LadderAttempt {
  readonly isSuccess: boolean
  readonly outcome: string
  readonly startMs: number
  readonly durationMs: number | undefined
}

export interface LadderDelivery {
  readonly id: string
  readonly webhookId: string
  readonly isReplay: boolean
  readonly state: string
  /** Oldest first, as far as they are kept. */
  readonly attempts: readonly LadderAttempt[]
  /** The status of the last answer, where no attempt is kept. */
  readonly lastStatus?: string
  /** When the next attempt is due, Unix ms. */
  readonly nextMs?: number
  /** The kind of the earlier event of the leg that its webhook has not got, and that goes first. */
  readonly waitsFor?: string
}

export interface LadderEvent {
  readonly kind: 'event'
  readonly id: string
  readonly legIndex: number
  readonly callId: string
  readonly hook: string
  readonly sequence: number
  readonly timeMs: number
  /** Milliseconds since the first event of the call. */
  readonly offsetMs: number
  /** Milliseconds since the event before, where these are long. */
  readonly laterMs?: number
  /** In the order of the columns of the webhooks; those of one webhook in the order in which they were accepted. */
  readonly deliveries: readonly LadderDelivery[]
}

/** Events of a leg of which nothing was sent, or of which no record is kept. */
interface LadderUnsent {
  readonly kind: 'unsent'
  readonly legIndex: number
  readonly callId: string
  /** Numbers of the first and of the last one. */
  readonly sequence: number
  readonly last: number
}

export type LadderRow = LadderEvent | LadderUnsent

export interface Ladder {
  readonly legs: readonly CallLeg[]
  readonly webhookIds: readonly string[]
  readonly rows: readonly LadderRow[]
  readonly isTruncated: boolean
}

/** Shortest pause between two events that is shown as a separate row, ms. */
const LONG_PAUSE_MS = 5_000

/**
 * @param attempts of the call, in any order
 * @param nowMs a time before it says nothing about the next attempt: that of a pause counts, which the call does not have
 */
export function buildLadder(call: Call, attempts: readonly Attempt[], nowMs: number): Ladder {
  const events = [...call.events].sort((a, b) => timeOf(a) - timeOf(b) || a.sequence - b.sequence)
  const legs = legsOf(call, events)
  const legIndex = new Map(legs.map((leg, index) => [leg.call_id, index]))
  const byDelivery = groupAttempts(attempts)
  const earlier = firstUnsettled(events)
  const webhookIds = [
    ...new Set(events.flatMap(({ deliveries }) => deliveries.map(({ hook_id }) => hook_id))),
  ]
  const startMs = events[0] ? timeOf(events[0]) : 0
  let previousMs = startMs
  const rows: LadderRow[] = events.map((event) => {
    const timeMs = timeOf(event)
    const laterMs = timeMs - previousMs
    previousMs = timeMs
    const deliveries = event.deliveries.map((delivery): LadderDelivery => {
      const { id, hook_id: webhookId, kind, state, next_attempt_at: next } = delivery
      const nextMs = next === undefined ? 0 : Date.parse(next)
      return {
        id,
        webhookId,
        isReplay: kind === 'replay',
        state,
        attempts: (byDelivery.get(id) ?? []).map(attemptOf),
        ...(delivery.last_status !== undefined && { lastStatus: delivery.last_status }),
        ...(nextMs > nowMs && { nextMs }),
        ...waitOf(event, state, byDelivery.has(id), earlier.get(laneOf(event, webhookId))),
      }
    })
    return {
      kind: 'event',
      id: event.id,
      legIndex: legIndex.get(event.call_id)!,
      callId: event.call_id,
      hook: event.hook,
      sequence: event.sequence,
      timeMs,
      offsetMs: timeMs - startMs,
      ...(laterMs >= LONG_PAUSE_MS && { laterMs }),
      deliveries: byColumn(deliveries, webhookIds),
    }
  })
  for (const { call_id, sequence } of call.unwanted) insertUnsent(rows, call_id, sequence, legIndex)
  return { legs, webhookIds, rows, isTruncated: call.truncated }
}

const isUnsettled = (state: string) => state === 'waiting' || state === 'in_flight'
const laneOf = (event: CallEvent, webhookId: string) => JSON.stringify([event.call_id, webhookId])

function byColumn(
  deliveries: readonly LadderDelivery[],
  webhookIds: readonly string[],
): readonly LadderDelivery[] {
  const column = new Map(webhookIds.map((id, index) => [id, index]))
  return deliveries
    .filter(({ webhookId }) => column.has(webhookId))
    .sort((a, b) => column.get(a.webhookId)! - column.get(b.webhookId)!)
}

/** The first event of each leg that a webhook has not got yet; those behind it wait for it. */
function firstUnsettled(events: readonly CallEvent[]): ReadonlyMap<string, CallEvent> {
  const first = new Map<string, CallEvent>()
  for (const event of events) {
    for (const { hook_id, state } of event.deliveries) {
      const lane = laneOf(event, hook_id)
      if (isUnsettled(state) && !first.has(lane)) first.set(lane, event)
    }
  }
  return first
}

function waitOf(
  event: CallEvent,
  state: string,
  hasAttempts: boolean,
  head: CallEvent | undefined,
): Pick<LadderDelivery, 'waitsFor'> {
  if (state !== 'waiting' || hasAttempts || !head || head === event) return {}
  return { waitsFor: head.hook }
}

const timeOf = ({ happened_at }: CallEvent): number => Date.parse(happened_at)

function legsOf(call: Call, events: readonly CallEvent[]): readonly CallLeg[] {
  const legs = new Map<string, CallLeg>(call.legs.map((leg) => [leg.call_id, leg]))
  for (const { call_id } of [...events, ...call.unwanted]) {
    if (!legs.has(call_id)) legs.set(call_id, { call_id })
  }
  return [...legs.values()]
}

function groupAttempts(attempts: readonly Attempt[]): ReadonlyMap<string, readonly Attempt[]> {
  const groups = new Map<string, Attempt[]>()
  for (const attempt of attempts) {
    const group = groups.get(attempt.delivery_id)
    if (group) group.push(attempt)
    else groups.set(attempt.delivery_id, [attempt])
  }
  for (const group of groups.values()) group.sort((a, b) => Date.parse(a.sent_at) - Date.parse(b.sent_at))
  return groups
}

const attemptOf = (attempt: Attempt): LadderAttempt => ({
  isSuccess: attempt.result === 'success',
  outcome: outcomeOf(attempt),
  startMs: Date.parse(attempt.sent_at),
  durationMs: attempt.duration_ms,
})

/** Puts a missing number behind the last lower number of its leg; those in a row share one row. */
function insertUnsent(
  rows: LadderRow[],
  callId: string,
  sequence: number,
  legIndex: ReadonlyMap<string, number>,
): void {
  const before = rows.findIndex(
    (row) => row.kind === 'unsent' && row.callId === callId && row.last === sequence - 1,
  )
  const known = rows[before]
  if (known?.kind === 'unsent') {
    rows[before] = { ...known, last: sequence }
    return
  }
  const lower = rows.findLastIndex((row) => row.callId === callId && row.sequence < sequence)
  const higher = rows.findIndex((row) => row.callId === callId && row.sequence > sequence)
  const at = lower >= 0 ? lower + 1 : higher >= 0 ? higher : rows.length
  rows.splice(at, 0, { kind: 'unsent', legIndex: legIndex.get(callId)!, callId, sequence, last: sequence })
}

/** Words of the ladder, translated. */
export interface LadderWords {
  readonly event: (hook: string) => string
  readonly state: (state: string) => string
  readonly webhook: (id: string) => string
  /** The status of an answer, or the code of a failure. */
  readonly outcome: (outcome: string) => string
  /** An outcome that several attempts in a row had: `503, 3 times`. */
  readonly times: (outcome: string, count: number) => string
  /** A success after failures: `503, then 204 after 2 s`. */
  readonly after: (failures: string, success: string, ms: number) => string
  readonly waitsFor: (event: string) => string
  readonly waitsUntil: (ms: number) => string
  readonly span: (ms: number) => string
  readonly clock: (ms: number) => string
  readonly replay: (text: string) => string
  readonly unsent: (row: { readonly sequence: number; readonly last: number }) => string
}

/** What became of a delivery, in a few words: `204, 12 ms`, `502, then 204 after 2 s`, `503, 3 times`. */
export function hitText(delivery: LadderDelivery, words: LadderWords): string {
  const text = resultText(delivery, words)
  return delivery.isReplay ? words.replay(text) : text
}

function resultText(
  { attempts, state, lastStatus, nextMs, waitsFor }: LadderDelivery,
  words: LadderWords,
): string {
  const last = attempts.at(-1)
  const failures = runs(attempts.filter(({ isSuccess }) => !isSuccess).map(({ outcome }) => outcome))
    .map(([outcome, count]) =>
      count === 1 ? words.outcome(outcome) : words.times(words.outcome(outcome), count),
    )
    .join(', ')
  if (last?.isSuccess) {
    const { outcome, durationMs, startMs } = last
    if (failures !== '') return words.after(failures, outcome, startMs - attempts[0]!.startMs)
    return durationMs === undefined ? outcome : `${outcome}, ${words.span(durationMs)}`
  }
  if (state === 'waiting') {
    if (waitsFor !== undefined) return words.waitsFor(words.event(waitsFor))
    return nextMs === undefined ? words.state(state) : words.waitsUntil(nextMs)
  }
  const answers = failures === '' ? (lastStatus ?? '') : failures
  if (answers === '') return words.state(state)
  // Given up, after these answers: they say it.
  return state === 'exhausted' || state === 'delivered' ? answers : `${answers}, ${words.state(state)}`
}

/** Equal texts that follow each other, with their number. */
function runs(texts: readonly string[]): readonly (readonly [text: string, count: number])[] {
  const found: [string, number][] = []
  for (const text of texts) {
    const last = found.at(-1)
    if (last?.[0] === text) last[1] += 1
    else found.push([text, 1])
  }
  return found
}

/** What of a call has not arrived. */
interface Missing {
  /** Events that webhooks were to get: each event once for each webhook, however often it was replayed. */
  readonly wanted: number
  /** Those that are still sent by themselves. */
  readonly waiting: readonly LadderDelivery[]
  /** Those that are not, with the event. */
  readonly lost: readonly { readonly event: LadderEvent; readonly delivery: LadderDelivery }[]
}

export function missingOf({ rows }: Pick<Ladder, 'rows'>): Missing {
  let wanted = 0
  const waiting: LadderDelivery[] = []
  const lost: { event: LadderEvent; delivery: LadderDelivery }[] = []
  for (const event of rows) {
    if (event.kind === 'unsent') continue
    for (const first of event.deliveries) {
      const group = event.deliveries.filter(({ webhookId }) => webhookId === first.webhookId)
      if (group[0] !== first) continue
      wanted += 1
      if (group.some(({ state }) => state === 'delivered')) continue
      const open = group.find(({ state }) => isUnsettled(state))
      if (open) waiting.push(open)
      else lost.push({ event, delivery: first })
    }
  }
  return { wanted, waiting, lost }
}

/** The whole ladder as lines of text, for tickets and mails. */
export function ladderText(callId: string, ladder: Ladder, words: LadderWords): string {
  const lines = [callId, ...ladder.legs.map((leg, index) => legText(leg, index))]
  for (const row of ladder.rows) {
    const name = legName(row.legIndex)
    if (row.kind === 'unsent') {
      lines.push(`${''.padEnd(12)}  ${name} ${words.unsent(row)}`)
      continue
    }
    lines.push(`${words.clock(row.timeMs).padEnd(12)}  ${name} #${row.sequence} ${words.event(row.hook)}`)
    for (const delivery of row.deliveries) {
      lines.push(`${''.padEnd(14)}→ ${words.webhook(delivery.webhookId)}: ${hitText(delivery, words)}`)
    }
  }
  return `${lines.map(printableLine).join('\n')}\n`
}

/** The ladder with at most so many webhooks, of which those that did not get everything come first. */
export function withWebhooks(ladder: Ladder, count: number): Ladder {
  if (ladder.webhookIds.length <= count) return ladder
  const deliveries = ladder.rows.flatMap((row) => (row.kind === 'event' ? row.deliveries : []))
  const lacking = new Set(
    deliveries.filter(({ state }) => state !== 'delivered').map(({ webhookId }) => webhookId),
  )
  const rank = (id: string) => (lacking.has(id) ? 0 : 1)
  const webhookIds = [...ladder.webhookIds].sort((a, b) => rank(a) - rank(b)).slice(0, count)
  const rows = ladder.rows.map((row) =>
    row.kind === 'event' ? { ...row, deliveries: byColumn(row.deliveries, webhookIds) } : row,
  )
  return { ...ladder, webhookIds, rows }
}

/** A, B, … Z, AA. @internal */
export function legName(index: number): string {
  return index < 26
    ? String.fromCharCode(65 + index)
    : legName(Math.floor(index / 26) - 1) + legName(index % 26)
}

function legText({ call_id, from, to }: CallLeg, index: number): string {
  const parties = [from, to].filter((party) => party !== undefined).join(' → ')
  return `${legName(index)} = ${call_id}${parties === '' ? '' : ` (${parties})`}`
}

/** The party at whose phone a leg ends: who called on an inbound leg, who was called on another one. */
export function legParty(leg: CallLeg): string | undefined {
  const party = leg.direction === 'outbound' ? (leg.to ?? leg.from) : (leg.from ?? leg.to)
  return party === undefined ? undefined : partyName(party)
}
