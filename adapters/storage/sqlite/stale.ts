/** Keeps track of webhooks with stale deliveries: waiting, and of an older epoch. */
import type { SqliteHandle } from './driver.js'
import { prepareQuery } from './query.js'

export interface StaleWebhooks {
  add(webhook: number): void
  /** No stale delivery of this webhook is left. */
  remove(webhook: number): void
  /** Keys of the webhooks. The first call scans all webhooks with waiting deliveries. */
  webhooks(): Iterable<number>
  invalidate(): void
}

/** Every webhook with waiting deliveries, each found by one step through the index. */
export const WAITING_WEBHOOKS = `with recursive waiting (key) as (
    select min(webhook) from hookswitch_delivery indexed by hookswitch_delivery_queue where state <= 1
    union all
    select (
      select min(webhook) from hookswitch_delivery indexed by hookswitch_delivery_queue
      where state <= 1 and webhook > waiting.key
    ) from waiting where waiting.key is not null
  )`

export function createStaleWebhooks(db: SqliteHandle): StaleWebhooks {
  const scan = prepareQuery<{ readonly key: number }>(
    db,
    `${WAITING_WEBHOOKS}
    select w.key from waiting join hookswitch_webhook w on w.key = waiting.key
    where (
      select min(d.epoch) from hookswitch_delivery d indexed by hookswitch_delivery_queue
      where d.webhook = w.key and d.state <= 1
    ) < w.epoch`,
  )
  const webhooks = new Set<number>()
  let isComplete = false

  return {
    add: (webhook) => void webhooks.add(webhook),
    remove: (webhook) => void webhooks.delete(webhook),
    webhooks() {
      if (!isComplete) for (const { key } of scan.all()) webhooks.add(key)
      isComplete = true
      return webhooks
    },
    invalidate() {
      isComplete = false
    },
  }
}
