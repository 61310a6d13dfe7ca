/** Binds the hub of streams and the exchange with other nodes to a running instance, and notifies them of what happens. */
import type { Caller } from '../auth/authenticate.js'
import { isWithin, rightsOf } from '../auth/authority.js'
import { authorizeToken } from '../auth/authorize-token.js'
import { hashToken } from '../auth/token.js'
import type { TokenCache } from '../auth/token-cache.js'
import type { DeliveryEnd, DeliveryEvents } from '../delivery/delivery-events.js'
import type { Metrics } from '../metrics.js'
import type { NormalizedOptions } from '../options/normalize.js'
import type { Clock, Log } from '../ports.js'
import type { Store } from '../store/contract.js'
import type { EventWatchers } from '../stream/event-watchers.js'
import { createExchange, type Exchange } from '../stream/exchange.js'
import { createStreamHub, type StreamHub } from '../stream/hub.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { WebhookChange } from '../wire/stream-json.js'

interface StreamDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly options: NormalizedOptions
  readonly auth: Parameters<typeof authorizeToken>[0]
  descendants(accountId: string): Promise<readonly string[]>
  newId(): string
}

export function bindStreams({ store, options, auth, newId, ...deps }: StreamDeps): StreamHub {
  let scope = ''
  return createStreamHub({
    ...deps,
    store: store.deliveries,
    isShared: store.supports.sharedBetweenNodes,
    get scope() {
      if (scope === '' && !store.supports.durable) scope = newId()
      return scope
    },
    options,
    lineage: auth.lineages.lineage,
    mayRead: (caller, accountId, lineage) => isWithin(caller, rightsOf(caller, options), accountId, lineage),
    recheck: ({ token }, accountId) => authorizeToken(auth, token, accountId),
  })
}

/** @param watchers listeners of the host to events of single accounts */
export function bindExchange(
  hub: StreamHub,
  watchers: EventWatchers,
  { store, clock, log, auth, newId }: StreamDeps,
): Exchange {
  return createExchange({
    hub,
    watchers,
    live: store.live,
    instance: newId(),
    clock,
    log,
    lineage: auth.lineages.lineage,
  })
}

/** A token cache that also has the streams of the tokens checked that it drops. */
export function withStreams(cache: TokenCache, streams: () => Pick<StreamHub, 'recheck'>): TokenCache {
  const recheck = (isConcerned: (caller: Caller) => boolean) => streams().recheck(isConcerned)
  return {
    ...cache,
    invalidateToken(hash) {
      cache.invalidateToken(hash)
      recheck(({ token }) => hashToken(token) === hash)
    },
    invalidateAccount(accountId) {
      cache.invalidateAccount(accountId)
      recheck((caller) => caller.accountId === accountId)
    },
    invalidateAll() {
      cache.invalidateAll()
      recheck(() => true)
    },
  }
}

/**
 * Notifies streams of an event of the dispatcher.
 *
 * @param recordSuccesses whether successes are recorded
 * @param body of the delivery that caused it, if it is in memory
 */
export function notifyStreams<Name extends keyof DeliveryEvents>(
  streams: StreamHub,
  exchange: Exchange,
  recordSuccesses: boolean,
  name: Name,
  payload: DeliveryEvents[Name],
  body: string | undefined,
): void {
  if (name === 'attempt') {
    const record = payload as DeliveryEvents['attempt']
    if (recordSuccesses || record.result !== 'success') streams.recorded(record, body)
  } else if (name === 'webhook_disabled') {
    const { webhookId: id, accountId, reason } = payload as DeliveryEvents['webhook_disabled']
    exchange.webhookChanged({ id, accountId, change: 'disabled', disableReason: reason })
  } else if (name === 'webhook_paused' || name === 'webhook_resumed' || name === 'webhook_failing') {
    const { webhookId: id, accountId } = payload as DeliveryEvents['webhook_resumed']
    exchange.webhookChanged({ id, accountId, change: 'changed' })
  } else if (name !== 'delivered' && name !== 'webhook_backlog_full') {
    // An end without a request is recorded, and is no attempt.
    streams.attemptsChanged((payload as DeliveryEnd).accountId)
  }
}

/** How a webhook was edited. @param before absent: it was created */
export function changeOf(before: Webhook | undefined, after: Webhook): WebhookChange {
  const { id, accountId } = after
  if (!before) return { id, accountId, change: 'created' }
  if (after.deletedMs !== undefined) return { id, accountId, change: 'deleted' }
  const isDisabled = before.settings.enabled && !after.settings.enabled
  return { id, accountId, change: isDisabled ? 'disabled' : 'changed' }
}
