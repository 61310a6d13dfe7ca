/** A source that connects to its switch by itself: one connection that comes back, one mapping, one feed. */
import type { EventHub } from 'hookswitch'
import { keepConnected, type Session } from './connection.js'
import { type Feed, type FeedCounts, feed, type SourceEvents } from './feed.js'
import { type CheckedSourceOptions, whole } from './options.js'

/** Channel events out of a switch. */
export interface SwitchSource {
  /** `connected`, `disconnected`, `account_unknown`, `rejected`, `problem`. */
  readonly events: EventHub<SourceEvents>
  /** Connects, and again whenever the connection is lost, until `close`. Called again it does nothing. */
  start(): void
  status(): SourceStatus
  /**
   * Ends the connection, publishes what was heard, tells of what could not be published (`rejected`,
   * `account_unknown`). Before `hs.close()`, or what waits cannot be published.
   */
  close(options?: {
    /** How long publishing may take, milliseconds. Default 5,000. */
    readonly drainMs?: number
  }): Promise<void>
}

/** How a source stands. */
export interface SourceStatus extends FeedCounts {
  /** Logged in and subscribed. */
  readonly isConnected: boolean
  /** Legs that have begun and not ended. */
  readonly openLegs: number
}

/** What differs between switches. */
export interface SwitchParts {
  /** For events and the log: `freeswitch 127.0.0.1:8021`. */
  readonly peer: string
  /** Connects, logs in, subscribes, finds what was missed; then gives everything heard to the feed. */
  readonly open: (feed: Feed, signal: AbortSignal) => Promise<Session>
  readonly openLegs: () => number
}

export function switchSource(
  { publish, clock, random, log, limits }: CheckedSourceOptions,
  { peer, open, openLegs }: SwitchParts,
): SwitchSource {
  const way = feed({ publish, clock, random, log, name: peer }, limits)
  let connection: { close(): Promise<void> } | undefined
  let closed: Promise<void> | undefined
  let isConnected = false

  return {
    events: way.events,
    start() {
      if (closed) return
      connection ??= keepConnected({
        clock,
        random,
        open: (signal) => open(way, signal),
        onConnected() {
          isConnected = true
          way.connected(peer)
        },
        onDisconnected(reason, retryInMs) {
          isConnected = false
          way.disconnected(peer, reason, retryInMs)
        },
      })
    },
    status: () => ({ isConnected, openLegs: openLegs(), ...way.counts() }),
    close({ drainMs = 5_000 } = {}) {
      whole(0, 2_147_483_647)('drainMs', drainMs)
      closed ??= (async () => {
        await connection?.close()
        isConnected = false
        await way.close(drainMs)
      })()
      return closed
    },
  }
}
