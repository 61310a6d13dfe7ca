/**
 * Brings what happens to the streams and listeners of all nodes: of this one at once, and of others through the store, where it
 * has live items.
 */
import type { Account } from '../accounts/account.js'
import type { CheckedEvent } from '../delivery/event.js'
import type { LiveStore, LiveWatch } from '../delivery/live-store.js'
import type { Clock, Log } from '../ports.js'
import type { WebhookChange } from '../wire/stream-json.js'
import type { EventWatchers } from './event-watchers.js'
import type { StreamHub } from './hub.js'
import type { LiveNews } from './live-news.js'
import { createLiveReader } from './live-reader.js'
import { combineWatches } from './live-watches.js'
import { createLiveWriter } from './live-writer.js'

interface ExchangeDeps {
  readonly hub: Pick<
    StreamHub,
    'accepted' | 'webhookChanged' | 'dropped' | 'watches' | 'isWatched' | 'onChange'
  >
  readonly watchers: EventWatchers
  /** Absent: items stay on this node. */
  readonly live: LiveStore | undefined
  /** Id of this instance. */
  readonly instance: string
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  /** The account, then its ancestors. */
  lineage(accountId: string): Promise<readonly Account[]>
}

export interface Exchange {
  /** This node has accepted an event. */
  accepted(event: CheckedEvent, eventId: string, sequence: number): void
  /** A webhook was changed by this node. */
  webhookChanged(change: WebhookChange): void
  /** Begins to exchange items with other nodes. To be called once, when the store is open. */
  start(): void
  /** Ends that: writes what waits, for a few seconds at most. */
  close(): Promise<void>
}

export function createExchange(deps: ExchangeDeps): Exchange {
  const { hub, watchers, live } = deps

  function accepted(event: CheckedEvent, eventId: string, sequence: number): void {
    hub.accepted(event, eventId, sequence)
    watchers.emit(event, eventId, sequence)
  }
  if (!live) return { accepted, webhookChanged: hub.webhookChanged, start() {}, close: async () => {} }

  function receive(news: LiveNews): void {
    if (news.type === 'event') accepted(news.event, news.eventId, news.sequence)
    else if (news.type === 'webhook') hub.webhookChanged(news.change)
    else hub.dropped(news.accountId, news.count)
  }

  const writer = createLiveWriter({ ...deps, store: live })
  const reader = createLiveReader({
    ...deps,
    store: live,
    watches: () => combineWatches([...hub.watches(), ...watchersOf(watchers)]),
    isWatched: (accountId) => hub.isWatched(accountId) || watchers.has(accountId),
    receive,
    lost: () => hub.dropped(undefined, null),
  })
  let unsubscribe = () => {}

  return {
    accepted(event, eventId, sequence) {
      accepted(event, eventId, sequence)
      writer.offer({ type: 'event', event, eventId, sequence })
    },
    webhookChanged(change) {
      hub.webhookChanged(change)
      writer.offer({ type: 'webhook', change })
    },
    start() {
      unsubscribe = live.subscribe({ onWatched: writer.refresh, onItems: reader.hint })
      hub.onChange(reader.refresh)
      watchers.onChange(reader.refresh)
      reader.refresh()
      // The store may have said what is watched before this node listened.
      writer.refresh()
    },
    async close() {
      unsubscribe()
      watchers.onChange(() => {})
      await Promise.all([writer.close(), reader.close()])
    },
  }
}

const watchersOf = ({ accounts }: EventWatchers): readonly LiveWatch[] =>
  Array.from(accounts, (accountId) => ({ accountId, descendants: false, kinds: ['event'] }))
