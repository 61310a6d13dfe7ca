/** Items of the live stream as rows. The stream sends an item at least once, so rows are told apart by their id. Pure. */
import type { Attempt, StreamItem } from 'hookswitch/client'

export interface LiveItem {
  readonly key: string
  readonly atMs: number
  readonly attempt?: Attempt
  readonly webhookId?: string
  /** Attempts of one second that were too many to be sent one by one. */
  readonly rate?: { readonly ok: number; readonly failed: number }
  /** Without an attempt: `gap`, or what happened to the webhook (`created`, `changed`, `disabled`, `deleted`). */
  readonly news?: string
}

/** Items that the page keeps; older ones are in the list of attempts. */
export const MAX_ITEMS = 5_000

/** @returns `undefined` for an item without a row */
export function itemOf(item: StreamItem, nowMs: number): LiveItem | undefined {
  switch (item.type) {
    case 'attempt':
      return { key: item.data.id, atMs: Date.parse(item.data.sent_at), attempt: item.data }
    case 'webhook': {
      const { id: webhookId, change } = item.data
      return { key: `${item.id}/${webhookId}`, atMs: nowMs, webhookId, news: change }
    }
    case 'rate': {
      const { hook_id: webhookId, ok, failed, timestamp } = item.data
      return { key: `${webhookId}/${timestamp}`, atMs: nowMs, webhookId, rate: { ok, failed } }
    }
    case 'gap':
      return { key: `gap/${nowMs}`, atMs: nowMs, news: 'gap' }
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
  return [...fresh.reverse(), ...items].slice(0, MAX_ITEMS)
}
