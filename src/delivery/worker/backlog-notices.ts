/** Reports deliveries that were displaced: at once, then at most once a minute, whatever the number of webhooks. */
import { type LabelOf, METRICS, type Metrics } from '../../metrics.js'
import type { Clock, Log } from '../../ports.js'
import type { Emit } from '../delivery-events.js'
import { accountLimit, type QueueLimits, type ShareLimit } from '../queue/shares.js'

/** Between two reports, ms. */
const INTERVAL_MS = 60_000
/** Webhooks that one log line names. */
const MAX_NAMED = 20

interface BacklogNotices {
  /** Deliveries of a webhook were displaced, because of this limit. */
  add(webhook: { readonly id: string; readonly accountId: string }, count: number, limit: ShareLimit): void
}

type Share = LabelOf<'hookswitch_queue_full_total'>
const SHARES: Readonly<Record<ShareLimit, Share>> = {
  maxPendingPerWebhook: METRICS.hookswitch_queue_full_total.values[0],
  maxPendingPerAccount: METRICS.hookswitch_queue_full_total.values[1],
  maxPending: METRICS.hookswitch_queue_full_total.values[2],
}

interface Displaced {
  readonly webhookId: string
  readonly accountId: string
  /** The limit that displaced the last of them. */
  limit: ShareLimit
  count: number
}

/** @param closing aborts when the node closes; the remaining counts are reported at that moment */
export function createBacklogNotices(
  deps: {
    readonly clock: Clock
    readonly log: Log
    readonly emit: Emit
    readonly metrics?: Pick<Metrics, 'count'> | undefined
  },
  limits: QueueLimits,
  closing: AbortSignal,
): BacklogNotices {
  const { clock, log, emit, metrics } = deps
  const unreported = new Map<string, Displaced>()
  let isReporting = false

  const allowedBy = (limit: ShareLimit) =>
    limit === 'maxPendingPerAccount' ? accountLimit(limits) : limits[limit]

  function report(): void {
    const webhooks = [...unreported.values()].sort((a, b) => b.count - a.count)
    unreported.clear()
    const deliveries = webhooks.reduce((sum, { count }) => sum + count, 0)
    const named = webhooks.slice(0, MAX_NAMED)
    log.warn(
      {
        deliveries,
        webhooks: named.map(({ count, limit, ...ids }) => ({
          ...ids,
          deliveries: count,
          [limit]: allowedBy(limit),
        })),
        ...(webhooks.length > named.length && { otherWebhooks: webhooks.length - named.length }),
      },
      'too many deliveries wait for these webhooks: the oldest have expired unsent (queue_full)',
    )
    for (const { webhookId, accountId, count, limit } of webhooks)
      emit('webhook_backlog_full', {
        webhookId,
        accountId,
        expired: count,
        share: SHARES[limit],
        limit: allowedBy(limit),
      })
  }

  async function run(): Promise<void> {
    isReporting = true
    // What the same turn displaces is in one report.
    await clock.yield()
    while (unreported.size > 0) {
      report()
      await clock.sleep(INTERVAL_MS, closing)
    }
    isReporting = false
  }

  return {
    add({ id, accountId }, count, limit) {
      metrics?.count('hookswitch_queue_full_total', count, SHARES[limit])
      const before = unreported.get(id)
      if (before) Object.assign(before, { limit, count: before.count + count })
      else unreported.set(id, { webhookId: id, accountId, limit, count })
      if (!isReporting) void run()
    },
  }
}
