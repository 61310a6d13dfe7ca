/**
 * Notifies the listeners of this process and, by NOTIFY, the other nodes that something is due.
 *
 * Messages are sent after the commit, outside of the transaction, and may be lost. What must not be lost is in tables
 * (`nudge`, `inbox`, `webhook.stale`), where the poll finds it (`poll.ts`).
 */
import type { ReadyEndpoint } from 'hookswitch/store'
import type { Deps } from './session-deps.js'
import { notificationStatements } from './sql/notifications.js'

export type Listener = (ready: readonly ReadyEndpoint[] | undefined) => void

export interface Notifier {
  /** Whether a node of this process owns the shard, as far as this process knows and while the lease lasts. */
  isOwnedHere(shard: number): boolean
  /** @param forMs how long the lease lasts from now, in milliseconds */
  setOwnedShards(owner: string, shards: readonly number[], forMs: number): void
  /** Every shard that a node of this process owns. */
  ownedShards(): readonly number[]
  subscribe(listener: Listener): () => void
  /**
   * Calls every listener of this process; one that throws does not affect the others.
   *
   * @param ready endpoints that are due; `undefined` requests a scan
   */
  notifyListeners(ready: readonly ReadyEndpoint[] | undefined): void
  /** Requests a scan of the shard from its owner, whichever node that is. */
  requestScan(shard: number): void
  /** Notifies the other nodes that an endpoint is due, perhaps earlier than its owner knows. */
  notifyDue(webhookId: string): void
  /** Sends the messages that are still waiting. */
  flush(): Promise<void>
}

/** Payload of NOTIFY, as JSON. */
export interface Message {
  /** Ids of webhooks that are due. */
  readonly due: readonly string[]
  /** Shards to scan. */
  readonly look: readonly number[]
}

interface OwnedShards {
  readonly shards: ReadonlySet<number>
  /** Monotonic time, ms. */
  readonly untilMs: number
}

/** At most one message in this time: each NOTIFY takes a lock that all commits with a NOTIFY on the server share. */
const BATCH_MS = 10
/** PostgreSQL rejects 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_500

export function createNotifier({ session, schema, channel, log }: Deps): Notifier {
  const sql = notificationStatements(schema)
  const listeners = new Set<Listener>()
  const ownedBy = new Map<string, OwnedShards>()
  let due = new Set<string>()
  let scans = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<unknown> = Promise.resolve()

  const isOwnedHere = (shard: number) => {
    for (const { shards, untilMs } of ownedBy.values()) {
      if (shards.has(shard) && performance.now() < untilMs) return true
    }
    return false
  }

  function send(): void {
    clearTimeout(timer)
    timer = undefined
    if (due.size === 0 && scans.size === 0) return
    const messages = messagesOf({ due: [...due], look: [...scans] })
    due = new Set()
    scans = new Set()
    const sent = Promise.all(messages.map((text) => session.query(sql.notify, [channel, text])))
    sending = sent.catch((thrown: unknown) => {
      log.debug({ reason: String(thrown) }, 'could not notify other nodes: their poll will find the work')
    })
  }
  function sendSoon(): void {
    if (timer) return
    timer = setTimeout(send, BATCH_MS)
    timer.unref()
  }
  function notifyListeners(ready: readonly ReadyEndpoint[] | undefined): void {
    if (ready?.length === 0) return
    for (const listener of [...listeners]) {
      try {
        listener(ready)
      } catch {
        // The work is committed already; no caller is left to receive the error of a listener.
      }
    }
  }

  return {
    isOwnedHere,
    setOwnedShards(owner, shards, forMs) {
      if (shards.length === 0) ownedBy.delete(owner)
      else ownedBy.set(owner, { shards: new Set(shards), untilMs: performance.now() + forMs })
    },
    ownedShards: () => [...new Set([...ownedBy.values()].flatMap(({ shards }) => [...shards]))],
    subscribe(listener) {
      // A new function each time, so that a listener may subscribe twice.
      const call: Listener = (ready) => listener(ready)
      listeners.add(call)
      return () => {
        listeners.delete(call)
      }
    },
    notifyListeners,
    requestScan(shard) {
      if (isOwnedHere(shard)) return notifyListeners(undefined)
      scans.add(shard)
      sendSoon()
    },
    notifyDue(webhookId) {
      due.add(webhookId)
      sendSoon()
    },
    async flush() {
      send()
      await sending
    },
  }
}

/** As few messages as the limit of a payload allows. */
function messagesOf({ due, look }: Message): readonly string[] {
  const text = JSON.stringify({ due, look })
  if (Buffer.byteLength(text) <= MAX_PAYLOAD_BYTES) return [text]
  const half = Math.ceil(due.length / 2)
  return [...messagesOf({ due: due.slice(0, half), look }), ...messagesOf({ due: due.slice(half), look: [] })]
}

/** Parses a payload; `undefined` for one of a newer version or of another program. */
export function parseMessage(text: string): Message | undefined {
  try {
    const { due, look } = JSON.parse(text) as Message
    return { due: due.map(String), look: look.map(Number) }
  } catch {
    return undefined
  }
}
