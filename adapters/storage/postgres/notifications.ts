/**
 * Notifies the listeners of this process and, by NOTIFY, the other nodes that they may have something to do.
 *
 * Messages are sent after the commit, outside of the transaction, and may be lost. What must not be lost is in tables
 * (`incoming`, `change`, `inbox`, `shard`), where the poll finds it (`poll.ts`).
 */

import type { LiveListener } from 'hookswitch/store'
import { reasonOf } from 'hookswitch/store'
import type { Nodes } from './nodes.js'
import type { Deps, LiveSignal } from './session-deps.js'
import { notificationStatements } from './sql/notifications.js'

type Listener = () => void

export interface Notifier {
  subscribe(listener: Listener): () => void
  /** Calls every listener of this process; one that throws does not affect the others. */
  notifyListeners(): void
  /** The owner of this shard may have something to do. */
  notify(shard: number): void
  /** Shards became free. */
  notifyFree(): void
  subscribeLive(listener: LiveListener): () => void
  /** Calls the listeners of this process. */
  notifyLiveListeners(signal: LiveSignal): void
  /** Live items, or what is watched of them, have changed. */
  notifyLive(signal: LiveSignal): void
  /** Sends the messages that are still waiting. */
  flush(): Promise<void>
}

/** Payload of NOTIFY, as JSON. @internal */
export interface Message {
  /** Shards whose owner has something to do. */
  readonly shards: readonly number[]
  /** Whether shards became free. */
  readonly free: boolean
  /** What has changed of live items. Absent: nothing. */
  readonly live?: readonly LiveSignal[]
}

/** At most one message in this time: each NOTIFY takes a lock that all commits with a NOTIFY on the server share. */
const BATCH_MS = 10

export function createNotifier({ session, schema, channel, log }: Deps, nodes: Nodes): Notifier {
  const sql = notificationStatements(schema)
  const listeners = new Set<Listener>()
  const liveListeners = new Set<LiveListener>()
  let shards = new Set<number>()
  let hasFree = false
  let live = new Set<LiveSignal>()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<unknown> = Promise.resolve()

  function send(): void {
    clearTimeout(timer)
    timer = undefined
    if (shards.size === 0 && !hasFree && live.size === 0) return
    const message: Message = { shards: [...shards], free: hasFree, ...(live.size > 0 && { live: [...live] }) }
    shards = new Set()
    hasFree = false
    live = new Set()
    sending = session.query(sql.notify, [channel, JSON.stringify(message)]).catch((thrown: unknown) => {
      log.debug({ reason: reasonOf(thrown) }, 'could not notify other nodes: their poll will find the work')
    })
  }
  function sendSoon(): void {
    if (timer) return
    timer = setTimeout(send, BATCH_MS)
    timer.unref()
  }
  function notifyListeners(): void {
    for (const listener of [...listeners]) {
      try {
        listener()
      } catch {
        // The work is committed already; no caller is left to receive the error of a listener.
      }
    }
  }

  return {
    subscribe(listener) {
      // A new function each time, so that a listener may subscribe twice.
      const call = () => listener()
      listeners.add(call)
      return () => {
        listeners.delete(call)
      }
    },
    notifyListeners,
    subscribeLive(listener) {
      const own = { ...listener }
      liveListeners.add(own)
      return () => {
        liveListeners.delete(own)
      }
    },
    notifyLiveListeners(signal) {
      for (const listener of liveListeners) {
        if (signal === 'watched') listener.onWatched()
        else listener.onItems()
      }
    },
    notifyLive(signal) {
      live.add(signal)
      sendSoon()
    },
    notify(shard) {
      if (nodes.isOwnedHere(shard)) return notifyListeners()
      shards.add(shard)
      sendSoon()
    },
    notifyFree() {
      notifyListeners()
      hasFree = true
      sendSoon()
    },
    async flush() {
      send()
      await sending
    },
  }
}

/** Parses a payload; `undefined` for one of a newer version or of another program. */
export function parseMessage(text: string): Message | undefined {
  try {
    const { shards, free, live = [] } = JSON.parse(text) as Message
    return { shards: shards.map(Number), free: free === true, live: [...live] }
  } catch {
    return undefined
  }
}
