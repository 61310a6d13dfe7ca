/**
 * The way from a mapping to the service: what waits for its account, what waits for its turn, and what the host is
 * told. Every source has one; a connection asks it `isFull` and stops reading.
 */
import {
  type ChannelEvent,
  type Clock,
  type EventHub,
  eventHub,
  type Log,
  type Random,
  safeLog,
} from 'hookswitch'
import { accountHold, type HoldLimits, type UnknownAccount } from './account-hold.js'
import { fitted } from './fit.js'
import type { LegNews, Mapped, Problem } from './leg-news.js'
import { pump, type Rejected } from './pump.js'
import { said } from './said.js'

/** What a source tells its host. */
export type SourceEvents = {
  /** Logged in and subscribed: events come, and the first of them may have come already. */
  connected: { readonly peer: string }
  /** Not connected any more, or not yet; the next try comes by itself after `retryInMs`. */
  disconnected: { readonly peer: string; readonly reason: string; readonly retryInMs: number }
  /** Events of a leg whose account never became known: they are not published. */
  account_unknown: UnknownAccount
  /**
   * An event that the service refused for good; or, without an `error`, that was left when the source was closed: the
   * service was full, out, or closed before it.
   */
  rejected: Rejected
  /** A message that could not be used. */
  problem: Problem
}

/** What a feed needs; `publish` is `hs.publish` or a function in front of it. */
export interface FeedDoors {
  readonly publish: (event: ChannelEvent) => Promise<unknown>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log | undefined
  /** For the log: `freeswitch 127.0.0.1:8021`. */
  readonly name: string
}

export interface Feed {
  readonly events: EventHub<SourceEvents>
  take(mapped: Mapped): void
  /** Too much waits: stop reading until `onRoom`. */
  isFull(): boolean
  /** Calls back whenever there is room again. */
  onRoom(listener: () => void): void
  connected(peer: string): void
  disconnected(peer: string, reason: string, retryInMs: number): void
  counts(): FeedCounts
  /** Publishes what waits, for at most `drainMs`; tells of what is left. */
  close(drainMs: number): Promise<void>
}

/** How a feed stands. */
export interface FeedCounts {
  /** Events given to `publish` and taken by it. */
  readonly published: number
  /** Events that wait for their turn or are being published. */
  readonly waiting: number
  /** Legs whose account is not known yet. */
  readonly legsWithoutAccount: number
}

/** What the log says of a problem that is not the switch's. */
const SAYS: Partial<Record<Problem['kind'], string>> = {
  account_of_threw: 'a function of the host failed',
  overflow: 'too many legs are open',
  lost: 'a connection was lost',
  refused: 'a connection was refused',
}

export function feed({ publish, clock, random, log: given, name }: FeedDoors, limits: HoldLimits): Feed {
  const log = safeLog(given)
  const events = eventHub<SourceEvents>((thrown, event) =>
    log.error({ source: name, event, error: said(thrown) }, 'a listener of the source threw'),
  )
  const hold = accountHold(limits)
  const ending = new AbortController()
  const listeners: (() => void)[] = []
  let published = 0
  let isWatching = false

  const queue = pump({
    clock,
    random,
    publish: async (event) => {
      await publish(event)
      published += 1
    },
    onRejected(rejected) {
      const { hook, callId } = rejected.event
      const error = rejected.error === undefined ? 'the source was closed' : said(rejected.error)
      log.error({ source: name, hook, callId, error }, 'an event is not published')
      events.emit('rejected', rejected)
    },
    onPostponed(error, attempt) {
      if (attempt === 1)
        log.warn({ source: name, error: said(error) }, 'an event cannot be published now: it waits')
    },
    onKnown: ({ hook, callId }) => log.debug({ source: name, hook, callId }, 'an event was published before'),
    onRoom: () => {
      for (const listener of listeners) listener()
    },
  })

  const tellUnknown = (all: readonly UnknownAccount[]) => {
    for (const unknown of all) {
      const { callId, reason, drafts } = unknown
      const fields = { source: name, callId, reason, events: drafts.length }
      log.warn(fields, 'no account is known for a leg: its events are not published')
      events.emit('account_unknown', unknown)
    }
  }

  /** Looks after those who wait, for as long as somebody does. */
  const watch = async () => {
    if (isWatching) return
    isWatching = true
    for (let next = hold.nextMs(); next !== undefined && !ending.signal.aborted; next = hold.nextMs()) {
      await clock.sleep(Math.max(1, next - clock.monotonic()), ending.signal)
      tellUnknown(hold.expire(clock.monotonic()))
    }
    isWatching = false
  }

  const takeNews = (news: LegNews) => {
    const { ready, unknown } = hold.take(news, clock.monotonic())
    for (const event of ready) queue.put(fitted(event))
    if (unknown.length > 0) tellUnknown(unknown)
  }

  return {
    events,
    take({ news, problems }) {
      for (const one of news) takeNews(one)
      for (const problem of problems) {
        log.warn(
          { source: name, ...problem },
          SAYS[problem.kind] ?? 'a message of the switch could not be used',
        )
        events.emit('problem', problem)
      }
      if (!isWatching && hold.size() > 0) void watch()
    },
    isFull: () => queue.isFull(),
    onRoom(listener) {
      listeners.push(listener)
    },
    connected(peer) {
      log.info({ source: name }, 'connected to the switch')
      events.emit('connected', { peer })
    },
    disconnected(peer, reason, retryInMs) {
      log.warn({ source: name, reason, retryInMs }, 'not connected to the switch')
      events.emit('disconnected', { peer, reason, retryInMs })
    },
    counts: () => ({ published, waiting: queue.size(), legsWithoutAccount: hold.size() }),
    async close(drainMs) {
      ending.abort()
      // Sleeps hold no process open: without this one it would end with events that nobody was told of.
      const alive = setInterval(() => {}, 60_000)
      await queue.drain(drainMs)
      clearInterval(alive)
      queue.close()
      // What a connection keeps until there is room is told of, too.
      for (const listener of listeners) listener()
      tellUnknown(hold.flush())
    },
  }
}
