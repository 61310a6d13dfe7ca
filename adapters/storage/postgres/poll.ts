/**
 * How a node learns what other nodes wrote: notifications are fast but may be lost, so a statement once a second finds in
 * the tables whatever they missed.
 */
import { reasonOf } from 'hookswitch/store'
import { int4Array, int8Array, textArray } from './binary-arrays.js'
import type { CrashedNodes } from './crashed-nodes.js'
import type { Nodes } from './nodes.js'
import { type Notifier, parseMessage } from './notifications.js'
import type { Deps } from './session-deps.js'
import type { ChannelSubscription } from './session-listen.js'
import { queueStatements, type WatchRow } from './sql/queue.js'

interface PollDeps extends Pick<Deps, 'session' | 'schema' | 'channel' | 'log'> {
  readonly notifier: Notifier
  readonly nodes: Nodes
  readonly crashed: CrashedNodes
}

interface Poller {
  open(): Promise<void>
  close(): Promise<void>
}

/** Less than one statement a second. It runs on the listening connection, which it tests at the same time. */
const POLL_EVERY_MS = 1_010
/** Until a node has its first lease, nothing is polled: then soon, since its shards may be those of a crashed node. */
const FIRST_POLL_MS = 100
/** Less than the other nodes wait for a node that has lost its session (`crashed-nodes.ts`). */
const RECONNECT_MS = 500

export function createPoller(deps: PollDeps): Poller {
  const { session, schema, channel, log, notifier, nodes, crashed } = deps
  const { watch } = queueStatements(schema)
  const timers = new Set<NodeJS.Timeout>()
  let isOpen = false
  let subscription: ChannelSubscription | undefined
  /** Whether the log says that the listening connection is missing. */
  let isReported = false
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
      // The callers of the store report the outage. Incoming deliveries may be lost with the server.
      nodes.connectionLost()
    }
    schedule(nodes.isEmpty() ? FIRST_POLL_MS : POLL_EVERY_MS, poll)
  }

  async function hasWork(): Promise<boolean> {
    if (nodes.isEmpty()) return false
    const local = [...nodes.all()]
    const { query } = subscription ?? session
    const { key } = crashed
    const requestedMs = performance.now()
    const [row] = await query<WatchRow>(watch, [
      textArray(local.map(({ owner }) => owner)),
      int4Array(local.map(({ fence }) => fence)),
      textArray(local.map(({ seenXid }) => seenXid)),
      int8Array(local.map(({ version }) => version)),
      int8Array(local.map(({ pending }) => pending)),
      key,
    ])
    crashed.polled(key, row!, requestedMs)
    if (row!.watched !== watched) {
      watched = row!.watched
      notifier.notifyLiveListeners('watched')
    }
    return (
      row!.hasWork ||
      crashed.hasAny() ||
      local.some((node) => node.mayHaveLostIncoming || node.mayHaveLostCommits)
    )
  }

  async function listen(): Promise<void> {
    try {
      const opened = await session.listen(channel, { onMessage, onLost })
      if (!isOpen) return await opened.stop()
      subscription = opened
      isReported = false
      await crashed.connected(opened)
    } catch (thrown) {
      if (!isReported)
        log.warn(
          { reason: reasonOf(thrown) },
          'cannot listen for notifications of other nodes: what they accept is found within a second',
        )
      isReported = true
      schedule(RECONNECT_MS, listen)
    }
  }
  function onLost(): void {
    subscription = undefined
    nodes.connectionLost()
    crashed.disconnected()
    if (isOpen)
      log.info({}, 'lost the connection that listens for notifications of other nodes: reconnecting')
    schedule(RECONNECT_MS, listen)
  }

  function onMessage(text: string): void {
    const message = parseMessage(text)
    if (!message || message.free || message.shards.some(nodes.isOwnedHere)) notifier.notifyListeners()
    for (const signal of message?.live ?? []) notifier.notifyLiveListeners(signal)
  }

  return {
    async open() {
      isOpen = true
      watched = null
      await listen()
      schedule(FIRST_POLL_MS, poll)
    },
    async close() {
      isOpen = false
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
      if (subscription) await crashed.closed(subscription)
      await subscription?.stop()
      subscription = undefined
      await working
    },
  }
}
