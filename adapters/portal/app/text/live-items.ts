/** Items of the live stream as rows. The stream sends an item at least once, so rows are told apart by their id. Pure. */
import type { Attempt, StreamItem } from 'hookswitch/client'
import { fromGregorian } from './gregorian-time.js'
import { partiesText } from './parties.js'

export interface LiveItem {
  readonly key: string
  /** When it happened. */
  readonly atMs: number
  /** When it arrived. */
  readonly arrivedMs: number
  readonly attempt?: Attempt
  readonly webhookId?: string
  /** Attempts of one second that were too many to be sent one by one. */
  readonly rate?: { readonly ok: number; readonly failed: number }
  /** Without an attempt: `gap`, or what happened to the webhook (`created`, `changed`, `disabled`, `deleted`). */
  readonly news?: string
}

/** Rows of the live list; older ones are in the activity of their webhooks. */
export const MAX_ROWS = 200
/** Items of one batch. */
export const MAX_ITEMS = 5_000

/** @returns `undefined` for an item without a row */
export function itemOf(item: StreamItem, nowMs: number): LiveItem | undefined {
  switch (item.type) {
    case 'attempt':
      return {
        key: item.data.id,
        atMs: Date.parse(item.data.sent_at),
        arrivedMs: nowMs,
        attempt: item.data,
      }
    case 'webhook': {
      const { id: webhookId, change } = item.data
      return { key: `${item.id}/${webhookId}`, atMs: nowMs, arrivedMs: nowMs, webhookId, news: change }
    }
    case 'rate': {
      const { hook_id: webhookId, ok, failed, timestamp } = item.data
      return {
        key: `${webhookId}/${timestamp}`,
        atMs: fromGregorian(timestamp),
        arrivedMs: nowMs,
        webhookId,
        rate: { ok, failed },
      }
    }
    case 'gap':
      return { key: `gap/${nowMs}`, atMs: nowMs, arrivedMs: nowMs, news: 'gap' }
    default:
      return undefined
  }
}

interface ListedWebhook {
  readonly id: string
  readonly state: string
  readonly failing_since?: string
  readonly last?: { readonly sent_at: string; readonly result: string; readonly resp_status_code?: string }
}

/** The rows of webhooks after these attempts: the state that follows from the last one, as far as an attempt decides it. */
export function withAttempts<Row extends ListedWebhook>(
  rows: readonly Row[],
  items: readonly LiveItem[],
): readonly Row[] {
  const newest = new Map<string, Attempt>()
  for (const { attempt } of items) {
    if (!attempt) continue
    const known = newest.get(attempt.hook_id)
    if (!known || known.sent_at <= attempt.sent_at) newest.set(attempt.hook_id, attempt)
  }
  if (newest.size === 0) return rows
  return rows.map((row) => {
    const attempt = newest.get(row.id)
    if (!attempt || (row.last && row.last.sent_at > attempt.sent_at)) return row
    const { sent_at, result, resp_status_code } = attempt
    const last = { sent_at, result, ...(resp_status_code === undefined ? {} : { resp_status_code }) }
    if (row.state === 'paused' || row.state === 'disabled') return { ...row, last }
    if (result !== 'success') return { failing_since: sent_at, ...row, state: 'failing', last }
    const { failing_since: _over, ...ok } = row
    return { ...ok, state: 'ok', last } as unknown as Row
  })
}

/** Adds items, the newest first, without those that are there already. */
export function addItems(items: readonly LiveItem[], added: readonly LiveItem[]): readonly LiveItem[] {
  const known = new Set(items.map(({ key }) => key))
  const fresh = added.filter(({ key }) => !known.has(key) && known.add(key))
  if (fresh.length === 0) return items
  return [...fresh.reverse(), ...items].slice(0, MAX_ROWS)
}

interface LiveFilter {
  /** Kind of the event; '': any. */
  readonly kind: string
  /** Part of a number, a name or the id of a call; '': any. */
  readonly text: string
}

/** Whether a row passes; only attempts have a kind and a call. */
export function passes({ attempt, news }: LiveItem, { kind, text }: LiveFilter): boolean {
  if (kind === '' && text === '') return true
  if (!attempt) return news === 'gap'
  if (kind !== '' && attempt.hook_event !== kind) return false
  const { call, caller_name, call_id } = attempt
  const searched = [partiesText(call), caller_name, call_id].join(' ').toLowerCase()
  return searched.includes(text.trim().toLowerCase())
}

/** Attempts of the last minute, by second. */
export interface LiveRate {
  /** The second of the last slot, in Unix time. */
  readonly second: number
  /** Oldest first. */
  readonly ok: readonly number[]
  readonly failed: readonly number[]
}

/** Seconds that are counted. */
const SLOTS = 60

export const emptyRate = (nowMs: number): LiveRate => ({
  second: Math.floor(nowMs / 1_000),
  ok: Array<number>(SLOTS).fill(0),
  failed: Array<number>(SLOTS).fill(0),
})

/** Moves the slots to the present, and counts items in the second of their attempts. */
export function addToRate(rate: LiveRate, items: readonly LiveItem[], nowMs: number): LiveRate {
  const second = Math.max(rate.second, Math.floor(nowMs / 1_000))
  const shift = Math.min(SLOTS, second - rate.second)
  const moved = (counts: readonly number[]) => [...counts.slice(shift), ...Array<number>(shift).fill(0)]
  const [ok, failed] = [moved(rate.ok), moved(rate.failed)]
  for (const { atMs, attempt, rate: counted } of items) {
    // The clock of the service may be ahead.
    const slot = SLOTS - 1 - Math.max(0, second - Math.floor(atMs / 1_000))
    if (slot < 0) continue
    ok[slot]! += counted?.ok ?? (attempt?.result === 'success' ? 1 : 0)
    failed[slot]! += counted?.failed ?? (attempt?.result === 'failure' ? 1 : 0)
  }
  return { second, ok, failed }
}

/** @returns attempts a second over the whole seconds that the list has been open, and failures of the minute */
export function rateFigures({ ok, failed, second }: LiveRate, openedMs: number) {
  const seconds = Math.max(1, Math.min(SLOTS - 1, second - Math.floor(openedMs / 1_000)))
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  // The last second has just begun.
  const whole = (counts: readonly number[]) => sum(counts.slice(SLOTS - 1 - seconds, -1))
  return {
    perSecond: (whole(ok) + whole(failed)) / seconds,
    failed: sum(failed),
    total: sum(ok) + sum(failed),
  }
}
