/**
 * How a node learns what other nodes wrote: notifications are fast but may be lost, so a statement once a second finds in
 * the tables whatever they missed.
 */
import { int4Array, int8Array, textArray } from './binary-arrays.js'
import type { Nodes } from './nodes.js'
import { type Notifier, parseMessage } from './notifications.js'
import type { Deps } from './session-deps.js'
import type { ChannelSubscription } from './session-listen.js'
import { queueStatements } from './sql/queue.js'

export interface PollDeps extends Pick<Deps, 'session' | 'schema' | 'channel' | 'log'> {
  readonly notifier: Notifier
  readonly nodes: Nodes
}

export interface Poller {
  open(): Promise<void>
  close(): Promise<void>
}

/** Together with the check of the listening connection still less than one statement a second. */
const POLL_EVERY_MS = 1_010
/** A listening connection is silent by nature: this statement tests it. */
const CHECK_EVERY_MS = 60_000
const RECONNECT_MS = 1_000
const MAX_RECONNECT_MS = 30_000

export function createPoller({ session, schema, channel, log, notifier, nodes }: PollDeps): Poller {
  const { watch } = queueStatements(schema)
  const timers = new Set<NodeJS.Timeout>()
  let isOpen = false
  let subscription: ChannelSubscription | undefined
  let reconnectMs = RECONNECT_MS
  let working: Promise<unknown> = Promise.resolve()
  /** What was watched of live items at the last poll. */
  let watched: string | null = null

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
    try {
      if (await hasWork()) notifier.notifyListeners()
    } catch {
      // The callers of the store report the outage. Nudges may be lost with the server.
      nodes.connectionLost()
    }
    schedule(POLL_EVERY_MS, poll)
  }

  async function hasWork(): Promise<boolean> {
    const local = [...nodes.all()]
    if (local.length === 0) return false
    const [row] = await session.query<{ hasWork: boolean; watched: string | null }>(watch, [
      textArray(local.map(({ owner }) => owner)),
      int4Array(local.map(({ fence }) => fence)),
      textArray(local.map(({ seenXid }) => seenXid)),
      int8Array(local.map(({ version }) => version)),
      int8Array(local.map(({ pending }) => pending)),
    ])
    if (row!.watched !== watched) {
      watched = row!.watched
      notifier.notifyLiveListeners('watched')
    }
    return row!.hasWork || local.some((node) => node.mayHaveLostNudges || node.mayHaveLostCommits)
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
    nodes.connectionLost()
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
    if (!message || message.free || message.shards.some(nodes.isOwnedHere)) notifier.notifyListeners()
    for (const signal of message?.live ?? []) notifier.notifyLiveListeners(signal)
  }

  async function check(): Promise<void> {
    await subscription?.check()
    schedule(CHECK_EVERY_MS, check)
  }

  return {
    async open() {
      isOpen = true
      watched = null
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
  }
}
