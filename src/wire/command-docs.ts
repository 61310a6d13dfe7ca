import { fromGregorian } from '../values/greg-time.js'
import type { Doc } from './webhook-doc.js'

/** Which deliveries to send again, in this package's spelling. */
export type ReplayWish =
  | { readonly deliveryId: string }
  | {
      readonly createdFromMs?: number
      readonly createdToMs?: number
      readonly result?: 'success' | 'failure'
    }

/** The body of a replay, checked by its schema. Times are whole seconds, both ends included. */
export function readReplay(data: unknown): ReplayWish {
  const { delivery_id: deliveryId, ...range } = data as {
    delivery_id?: string
    created_from?: number
    created_to?: number
    result?: 'success' | 'failure'
  }
  if (deliveryId !== undefined) return { deliveryId }
  return {
    ...(range.created_from === undefined ? {} : { createdFromMs: fromGregorian(range.created_from) }),
    ...(range.created_to === undefined ? {} : { createdToMs: fromGregorian(range.created_to) + 999 }),
    ...(range.result === undefined ? {} : { result: range.result }),
  }
}

export const testDoc = (deliveryId: string): Doc => ({ delivery_id: deliveryId })
export const replayDoc = (deliveryIds: readonly string[]): Doc => ({ delivery_ids: deliveryIds })
export const publishedDoc = (eventIds: readonly string[]): Doc => ({ event_ids: eventIds })
export const secretDoc = (secret: string): Doc => ({ secret })
