import type { SqliteHandle } from './driver.js'
import { query } from './query.js'

/** Which webhooks may have waiting deliveries of older epochs. */
export interface Stale {
  note(webhook: number): void
  /** None was found. */
  cleared(webhook: number): void
  /** By key. The first time all endpoints that are not idle are looked at. */
  webhooks(): Iterable<number>
  forget(): void
}

/** Every webhook of which something waits, each found by one step through the index. */
export const WAITING_WEBHOOKS = `with recursive waiting (key) as (
    select min(webhook) from hookswitch_delivery indexed by hookswitch_delivery_queue where state <= 1
    union all
    select (
      select min(webhook) from hookswitch_delivery indexed by hookswitch_delivery_queue
      where state <= 1 and webhook > waiting.key
    ) from waiting where waiting.key is not null
  )`

export function staleWebhooks(db: SqliteHandle): Stale {
  const look = query<{ readonly key: number }>(
    db,
    `${WAITING_WEBHOOKS}
    select w.key from waiting join hookswitch_webhook w on w.key = waiting.key
    where (
      select min(d.epoch) from hookswitch_delivery d indexed by hookswitch_delivery_queue
      where d.webhook = w.key and d.state <= 1
    ) < w.epoch`,
  )
  const noted = new Set<number>()
  let isComplete = false

  return {
    note: (webhook) => void noted.add(webhook),
    cleared: (webhook) => void noted.delete(webhook),
    webhooks() {
      if (!isComplete) for (const { key } of look.all()) noted.add(key)
      isComplete = true
      return noted
    },
    forget() {
      isComplete = false
    },
  }
}
