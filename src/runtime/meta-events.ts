/**
 * Tells customers of trouble with their webhooks: turns events of the dispatcher into meta events, few per account. Runs
 * after the settlement that causes one is written; a crash in between loses the meta event, never the settlement.
 */

import { LRUCache } from 'lru-cache'
import type { AcceptDeps } from '../delivery/accept.js'
import type { DeliveryEvents } from '../delivery/delivery-events.js'
import type { Delivery } from '../delivery/lifecycle.js'
import { acceptMetaEvent } from '../delivery/meta-event.js'
import { createWaitGroup } from '../delivery/worker/wait-group.js'
import { reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { type RateLimit, type TokenBucket, take } from '../values/token-bucket.js'
import { isMetaHook, type MetaEvent } from '../webhooks/meta-hooks.js'

/** Meta events of one kind and account on one node: ten at once, then one a minute. */
const LIMIT: RateLimit = { burst: 10, refillPerSecond: 1 / 60 }
/** Accounts and kinds whose rate is remembered. */
const MAX_BUCKETS = 10_000

interface MetaEventDeps {
  readonly accept: AcceptDeps
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

/** Observes deliveries and publishes the events about webhooks. Exported because declarations name it. */
export interface MetaEvents {
  /** Publishes the meta event for an event of the dispatcher, if there is one. Never throws. */
  observe<Name extends keyof DeliveryEvents>(
    name: Name,
    payload: DeliveryEvents[Name],
    delivery: Delivery | undefined,
  ): void
  /** Resolves when none is being accepted. */
  idle(): Promise<void>
}

interface Rate {
  readonly bucket: TokenBucket
  readonly suppressed: number
}

type Details = Omit<MetaEvent, 'timestampMs'>

export function createMetaEvents({ accept, clock, log }: MetaEventDeps): MetaEvents {
  // `max` would allocate for all of them in advance.
  const rates = new LRUCache<string, Rate>({ maxSize: MAX_BUCKETS, sizeCalculation: () => 1 })
  const accepting = createWaitGroup()

  /** Takes a token. Returns the number of events suppressed since the last one; `undefined`: this one is too. */
  function admit({ accountId, hook }: Details): number | undefined {
    const key = `${hook}/${accountId}`
    const rate = rates.get(key)
    const { isGranted, bucket } = take(rate?.bucket, 1, clock.monotonic(), LIMIT)
    const suppressed = rate?.suppressed ?? 0
    rates.set(key, { bucket, suppressed: isGranted ? 0 : suppressed + 1 })
    return isGranted ? suppressed : undefined
  }

  return {
    idle: accepting.wait,
    observe(name, payload, delivery) {
      // What happens to the deliveries of meta events causes none: two failing webhooks would feed each other.
      if (delivery && isMetaHook(delivery.hook)) return
      const details = detailsOf(name, payload)
      if (!details) return
      const suppressed = admit(details)
      if (suppressed === undefined) return
      const event = { ...details, timestampMs: clock.now(), ...(suppressed > 0 && { suppressed }) }
      accepting.add(1)
      acceptMetaEvent(accept, event)
        .catch((thrown: unknown) => {
          const { hook, accountId, webhookId } = event
          log.warn(
            { hook, accountId, webhookId, reason: reasonOf(thrown) },
            'an event about a webhook was lost',
          )
        })
        .finally(() => accepting.add(-1))
    },
  }
}

/** The meta event for an event of the dispatcher; `undefined`: there is none. */
function detailsOf<Name extends keyof DeliveryEvents>(
  name: Name,
  payload: DeliveryEvents[Name],
): Details | undefined {
  if (name === 'webhook_paused')
    return { hook: 'webhook_paused', ...(payload as DeliveryEvents['webhook_paused']) }
  if (name === 'webhook_failing')
    return { hook: 'webhook_failing', ...(payload as DeliveryEvents['webhook_failing']) }
  if (name === 'webhook_disabled') {
    return { hook: 'webhook_disabled', ...(payload as DeliveryEvents['webhook_disabled']) }
  }
  if (name === 'webhook_backlog_full') {
    const { limit: maxPending, ...full } = payload as DeliveryEvents['webhook_backlog_full']
    return { hook: 'webhook_backlog_full', ...full, maxPending }
  }
  if (name !== 'exhausted') return undefined
  const end = payload as DeliveryEvents['exhausted']
  const { accountId, webhookId, deliveryId, hook: deliveryHook, attempts, callId, reason, detail } = end
  return {
    hook: 'delivery_exhausted',
    ...{ accountId, webhookId, deliveryId, deliveryHook, attempts },
    ...(callId !== undefined && { callId }),
    ...(reason !== undefined && { reason }),
    ...(detail !== undefined && { detail }),
  }
}
