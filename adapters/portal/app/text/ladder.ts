/**
 * The ladder of a call: what happened on its legs, and what each webhook was sent of it. Columns are legs, then webhooks;
 * rows are events and missing numbers in order of time. Pure.
 */
import { printableLine } from 'hookswitch/adapter'
import type { Attempt, Call, CallEvent } from 'hookswitch/client'
import { outcomeOf } from './outcome.js'
import { duration, offset } from './times.js'

type CallLeg = Pick<Call['legs'][number], 'call_id' | 'from' | 'to'>

interface LadderAttempt {
  readonly isSuccess: boolean
  readonly outcome: string
  readonly durationMs: number | undefined
  /** Milliseconds since the end of the previous attempt; absent for the first. */
  readonly waitedMs: number | undefined
}

interface LadderDelivery {
  readonly id: string
  readonly webhookId: string
  readonly isReplay: boolean
  readonly state: string
  readonly attempts: readonly LadderAttempt[]
  /** The earlier event of the leg that its webhook has not got, and that goes first. */
  readonly waitsFor?: string
}

export interface LadderRow {
  readonly kind: 'event' | 'unwanted'
  readonly legIndex: number
  readonly callId: string
  readonly hook: string
  readonly sequence: number
  /** Milliseconds since the first event of the call; absent for what has no known time. */
  readonly offsetMs: number | undefined
  readonly timeMs: number | undefined
  readonly deliveries: readonly LadderDelivery[]
}

export interface Ladder {
  readonly legs: readonly CallLeg[]
  readonly webhookIds: readonly string[]
  readonly rows: readonly LadderRow[]
  readonly isTruncated: boolean
}

/** @param attempts of the call, in any order */
export function buildLadder(call: Call, attempts: readonly Attempt[]): Ladder {
  const events = [...call.events].sort((a, b) => timeOf(a) - timeOf(b) || a.sequence - b.sequence)
  const legs = legsOf(call, events)
  const legIndex = new Map(legs.map((leg, index) => [leg.call_id, index]))
  const byDelivery = groupAttempts(attempts)
  const earlier = firstUnsettled(events)
  const startMs = events[0] ? timeOf(events[0]) : 0
  const rows: LadderRow[] = events.map((event) => ({
    kind: 'event',
    legIndex: legIndex.get(event.call_id)!,
    callId: event.call_id,
    hook: event.hook,
    sequence: event.sequence,
    timeMs: timeOf(event),
    offsetMs: timeOf(event) - startMs,
    deliveries: event.deliveries.map(({ id, hook_id, kind, state }) => ({
      id,
      webhookId: hook_id,
      isReplay: kind === 'replay',
      state,
      attempts: chain(byDelivery.get(id) ?? []),
      ...waitOf(event, state, byDelivery.has(id), earlier.get(laneOf(event, hook_id))),
    })),
  }))
  for (const { call_id, sequence } of call.unwanted) insertUnwanted(rows, call_id, sequence, legIndex)
  const webhookIds = [...new Set(rows.flatMap((row) => row.deliveries.map(({ webhookId }) => webhookId)))]
  const column = ({ webhookId }: LadderDelivery) => webhookIds.indexOf(webhookId)
  const inOrder = rows.map((row) => ({
    ...row,
    deliveries: [...row.deliveries].sort((a, b) => column(a) - column(b)),
  }))
  return { legs, webhookIds, rows: inOrder, isTruncated: call.truncated }
}

const isUnsettled = (state: string) => state === 'waiting' || state === 'in_flight'
const laneOf = (event: CallEvent, webhookId: string) => JSON.stringify([event.call_id, webhookId])

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
  return { waitsFor: `${head.hook} #${head.sequence}` }
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
  for (const group of groups.values()) group.sort((a, b) => startOf(a) - startOf(b))
  return groups
}

const startOf = (attempt: Attempt) => Date.parse(attempt.sent_at)

function chain(attempts: readonly Attempt[]): readonly LadderAttempt[] {
  return attempts.map((attempt, index) => {
    const previous = attempts[index - 1]
    const waitedMs = previous && startOf(attempt) - startOf(previous) - (previous.duration_ms ?? 0)
    return {
      isSuccess: attempt.result === 'success',
      outcome: outcomeOf(attempt),
      durationMs: attempt.duration_ms,
      waitedMs: waitedMs === undefined ? undefined : Math.max(0, waitedMs),
    }
  })
}

/** Puts a missing number behind the last lower number of its leg. */
function insertUnwanted(
  rows: LadderRow[],
  callId: string,
  sequence: number,
  legIndex: ReadonlyMap<string, number>,
): void {
  const after = rows.findLastIndex((row) => row.callId === callId && row.sequence < sequence)
  const before = rows.findIndex((row) => row.callId === callId && row.sequence > sequence)
  const at = after >= 0 ? after + 1 : before >= 0 ? before : rows.length
  rows.splice(at, 0, {
    kind: 'unwanted',
    legIndex: legIndex.get(callId)!,
    callId,
    hook: '',
    sequence,
    offsetMs: undefined,
    timeMs: undefined,
    deliveries: [],
  })
}

/** Words of the ladder's text, translated. */
export interface LadderWords {
  readonly unwanted: string
  readonly replay: string
  readonly state: (state: string) => string
  readonly waitsFor: (event: string) => string
  readonly webhook: (id: string) => string
}

/** One delivery in one line: `✕ 503 ┄2.1 s┄▶ ✓ 204 31 ms`. */
export function deliveryText(
  delivery: LadderDelivery,
  words: Pick<LadderWords, 'replay' | 'state' | 'waitsFor'>,
): string {
  const attempts = delivery.attempts.map(({ isSuccess, outcome, durationMs, waitedMs }) => {
    const wait = waitedMs === undefined ? '' : `┄${duration(waitedMs)}┄▶ `
    const took = isSuccess && durationMs !== undefined ? ` ${duration(durationMs)}` : ''
    return `${wait}${isSuccess ? '✓' : '✕'} ${outcome}${took}`
  })
  const isOver = delivery.attempts.at(-1)?.isSuccess === true
  const { isReplay, state, waitsFor } = delivery
  const end = waitsFor === undefined ? words.state(state) : words.waitsFor(waitsFor)
  return [...(isReplay ? [`${words.replay}:`] : []), ...attempts, ...(isOver ? [] : [end])].join(' ')
}

/** The whole ladder as lines of text, for tickets and mails. */
export function ladderText(callId: string, ladder: Ladder, words: LadderWords): string {
  const lines = [callId, ...ladder.legs.map((leg, index) => legText(leg, index))]
  let previousMs = 0
  for (const row of ladder.rows) {
    const name = legName(row.legIndex)
    const number = ` #${row.sequence}`
    if (row.kind === 'unwanted') {
      lines.push(`${''.padEnd(10)} ${name}${number}: ${words.unwanted}`)
      continue
    }
    const delta = offset((row.offsetMs ?? 0) - previousMs)
    previousMs = row.offsetMs ?? previousMs
    lines.push(`${delta.padEnd(10)} ${name} ${row.hook}${number}`)
    for (const delivery of row.deliveries) {
      lines.push(`${''.padEnd(12)} → ${words.webhook(delivery.webhookId)}: ${deliveryText(delivery, words)}`)
    }
  }
  return `${lines.map(printableLine).join('\n')}\n`
}

/** The ladder with at most so many webhooks, of which those that did not get everything come first. */
export function withWebhooks(ladder: Ladder, count: number): Ladder {
  if (ladder.webhookIds.length <= count) return ladder
  const deliveries = ladder.rows.flatMap((row) => row.deliveries)
  const lacking = new Set(
    deliveries.filter(({ state }) => state !== 'delivered').map(({ webhookId }) => webhookId),
  )
  const rank = (id: string) => (lacking.has(id) ? 0 : 1)
  const webhookIds = [...ladder.webhookIds].sort((a, b) => rank(a) - rank(b)).slice(0, count)
  const shown = new Map(webhookIds.map((id, column) => [id, column]))
  const rows = ladder.rows.map((row) => ({
    ...row,
    deliveries: row.deliveries
      .filter(({ webhookId }) => shown.has(webhookId))
      .sort((a, b) => shown.get(a.webhookId)! - shown.get(b.webhookId)!),
  }))
  return { ...ladder, webhookIds, rows }
}

/** A, B, … Z, AA. */
export function legName(index: number): string {
  return index < 26
    ? String.fromCharCode(65 + index)
    : legName(Math.floor(index / 26) - 1) + legName(index % 26)
}

function legText({ call_id, from, to }: CallLeg, index: number): string {
  const parties = [from, to].filter((party) => party !== undefined).join(' → ')
  return `${legName(index)} = ${call_id}${parties === '' ? '' : ` (${parties})`}`
}
