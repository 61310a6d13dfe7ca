/** What nodes that share a store exchange for live streams, as JSON. Pure. */
import type { CheckedEvent } from '../delivery/event.js'
import type { LiveItem } from '../delivery/live-store.js'
import type { WebhookChange } from '../wire/stream-json.js'

/** What happened on one node. */
export type LiveNews =
  | {
      readonly type: 'event'
      readonly event: CheckedEvent
      readonly eventId: string
      readonly sequence: number
    }
  | { readonly type: 'webhook'; readonly change: WebhookChange }
  /** Events of an account that were too many to write. */
  | { readonly type: 'dropped'; readonly accountId: string; readonly count: number }

export function accountOf(news: LiveNews): string {
  if (news.type === 'event') return news.event.accountId
  return news.type === 'webhook' ? news.change.accountId : news.accountId
}

export function liveItemOf(news: LiveNews): LiveItem {
  const item = { accountId: accountOf(news), json: JSON.stringify(news) }
  if (news.type !== 'event') return item
  const { event, eventId } = news
  return { ...item, eventId, ...(event.callId !== undefined && { callId: event.callId }) }
}

/** Returns `undefined` for an item of another version, which this one does not know. */
export function parseLiveItem(json: string): LiveNews | undefined {
  const news = JSON.parse(json) as LiveNews
  return ['event', 'webhook', 'dropped'].includes(news.type) ? news : undefined
}
