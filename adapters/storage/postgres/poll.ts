/**
 * How a node learns what other nodes wrote: notifications are fast but may be lost, so a poll once a second finds in
 * the tables whatever they missed.
 */
import { shardOf } from 'hookswitch/store'
import { type Notifier, parseMessage } from './notifications.js'
import type { Deps } from './session-deps.js'
import type { ChannelSubscription } from './session-listen.js'
import { type NudgeRow, notificationStatements } from './sql/notifications.js'

export interface PollDeps extends Pick<Deps, 'session' | 'schema' | 'channel' | 'log'> {
  readonly notifier: Notifier
  /** Notifies the listeners of this process of those of these webhooks that have a due time. */
  notifyDue(webhookIds: readonly string[]): Promise<void>
}

export interface Poller {
  open(): Promise<void>
  close(): Promise<void>
  /** A scan at this moment may miss what others are writing: requests further scans, a few times. */
  scheduleScans(): void
}

/** Together with the check of the listening connection still less than one statement a second. */
const POLL_EVERY_MS = 1_010
/** A listening connection is silent by nature: this statement tests it. */
const CHECK_EVERY_MS = 60_000
const RECONNECT_MS = 1_000
const MAX_RECONNECT_MS = 30_000
/** The last is longer than any statement of an acceptance may take. */
const SCAN_AFTER_MS = [1_000, 5_000, 20_000, 65_000]

export function createPoller({ session, schema, channel, log, notifier, notifyDue }: PollDeps): Poller {
  const sql = notificationStatements(schema)
  const timers = new Set<NodeJS.Timeout>()
  let isOpen = false
  let hasPollFailed = false
  let subscription: ChannelSubscription | undefined
  let reconnectMs = RECONNECT_MS
  let working: Promise<unknown> = Promise.resolve()

  /** Runs `work` later, unless the store is closed by then; the timer keeps no process alive. */
  function schedule(ms: number, work: () => Promise<void>): void {
    if (!isOpen) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      working = Promise.all([working, work()])
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  async function poll(): Promise<void> {
    const shards = notifier.ownedShards()
    try {
      if (shards.length > 0) await pollShards(shards)
    } catch {
      // The callers of the store report the outage. Nudges may be lost with the server, so the next poll requests a
      // scan.
      hasPollFailed = true
    }
    schedule(POLL_EVERY_MS, poll)
  }

  async function pollShards(shards: readonly number[]): Promise<void> {
    const rows = await session.query<NudgeRow>(sql.poll, [shards])
    const due = rows.flatMap(({ webhookId }) => webhookId ?? [])
    if (due.length > 0) await notifyDue(due)
    if (hasPollFailed || due.length < rows.length) notifier.notifyListeners(undefined)
    hasPollFailed = false
  }

  async function listen(): Promise<void> {
    try {
      const opened = await session.listen(channel, { onMessage, onLost })
      if (!isOpen) return await opened.stop()
      subscription = opened
      reconnectMs = RECONNECT_MS
    } catch (thrown) {
      log.warn(
        { reason: thrown instanceof Error ? thrown.message : 'unknown' },
        'cannot listen for notifications of other nodes: what they accept is found within a second',
      )
      listenLater()
    }
  }
  function onLost(): void {
    subscription = undefined
    if (isOpen)
      log.info({}, 'lost the connection that listens for notifications of other nodes: reconnecting')
    listenLater()
  }
  function listenLater(): void {
    schedule(reconnectMs, listen)
    reconnectMs = Math.min(MAX_RECONNECT_MS, reconnectMs * 2)
  }

  function onMessage(text: string): void {
    const message = parseMessage(text)
    if (!message || message.look.some(notifier.isOwnedHere)) notifier.notifyListeners(undefined)
    const own = (message?.due ?? []).filter((webhookId) => notifier.isOwnedHere(shardOf(webhookId)))
    // The poll makes up for a read that fails.
    if (own.length > 0) working = Promise.all([working, notifyDue(own).catch(() => {})])
  }

  async function check(): Promise<void> {
    await subscription?.check()
    schedule(CHECK_EVERY_MS, check)
  }

  return {
    async open() {
      isOpen = true
      await listen()
      schedule(POLL_EVERY_MS, poll)
      schedule(CHECK_EVERY_MS, check)
    },
    async close() {
      isOpen = false
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
      await subscription?.stop()
      subscription = undefined
      await working
    },
    scheduleScans() {
      for (const ms of SCAN_AFTER_MS) schedule(ms, async () => notifier.notifyListeners(undefined))
    },
  }
}
