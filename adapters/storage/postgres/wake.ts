import type { ReadyEndpoint } from 'hookswitch/store'
import type { Doors } from './session-doors.js'
import { wakeStatements } from './sql/wake.js'

export type Listener = (ready: readonly ReadyEndpoint[] | undefined) => void

/** Who is told of work, and how. */
export interface Waking {
  /** Whether a node of this process works on this shard, as far as it knows and while its lease lasts. */
  ownsHere(shard: number): boolean
  /** @param forMs milliseconds from now */
  owned(owner: string, shards: readonly number[], forMs: number): void
  /** Every shard that is owned here. */
  shards(): readonly number[]
  subscribe(listener: Listener): () => void
  /** Tells every listener of this process; one that throws hurts nobody. */
  wake(ready: readonly ReadyEndpoint[] | undefined): void
  /** There is something to look for in a shard, whoever owns it. */
  look(shard: number): void
  /** An endpoint of another node is due, perhaps earlier than that node knows. */
  announceDue(webhookId: string): void
  /** Sends what is still to be announced. */
  rest(): Promise<void>
}

/** What nodes tell each other: endpoints that are due, shards in which to look. */
export interface Message {
  readonly due: readonly string[]
  readonly look: readonly number[]
}

interface Owned {
  readonly shards: ReadonlySet<number>
  /** Monotonic. */
  readonly untilMs: number
}

/** At most one message in so long: each NOTIFY takes a lock that all commits of the server with a NOTIFY share. */
const GATHER_MS = 10
/** PostgreSQL refuses 8,000 bytes. */
const MOST_BYTES = 7_500

/**
 * Messages are sent after the commit, outside of it, and may be lost: what must not be is in tables (`nudge`, `inbox`,
 * `webhook.stale`), where the poll finds it.
 */
export function createWaking({ session, schema, channel, log }: Doors): Waking {
  const sql = wakeStatements(schema)
  const listeners = new Set<Listener>()
  const ownedBy = new Map<string, Owned>()
  let due = new Set<string>()
  let looks = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<unknown> = Promise.resolve()

  const ownsHere = (shard: number) => {
    for (const { shards, untilMs } of ownedBy.values()) {
      if (shards.has(shard) && performance.now() < untilMs) return true
    }
    return false
  }

  function send(): void {
    clearTimeout(timer)
    timer = undefined
    if (due.size === 0 && looks.size === 0) return
    const messages = messagesOf({ due: [...due], look: [...looks] })
    due = new Set()
    looks = new Set()
    const sent = Promise.all(messages.map((text) => session.query(sql.notify, [channel, text])))
    sending = sent.catch((thrown: unknown) => {
      log.debug({ reason: String(thrown) }, 'other nodes could not be told of work; they will find it')
    })
  }
  function soon(): void {
    if (timer) return
    timer = setTimeout(send, GATHER_MS)
    timer.unref()
  }
  function wake(ready: readonly ReadyEndpoint[] | undefined): void {
    if (ready?.length === 0) return
    for (const listener of [...listeners]) {
      try {
        listener(ready)
      } catch {
        // What is told here is already written: nobody is left to answer for a broken listener.
      }
    }
  }

  return {
    ownsHere,
    owned(owner, shards, forMs) {
      if (shards.length === 0) ownedBy.delete(owner)
      else ownedBy.set(owner, { shards: new Set(shards), untilMs: performance.now() + forMs })
    },
    shards: () => [...new Set([...ownedBy.values()].flatMap(({ shards }) => [...shards]))],
    subscribe(listener) {
      const call: Listener = (ready) => listener(ready)
      listeners.add(call)
      return () => {
        listeners.delete(call)
      }
    },
    wake,
    look(shard) {
      if (ownsHere(shard)) return wake(undefined)
      looks.add(shard)
      soon()
    },
    announceDue(webhookId) {
      due.add(webhookId)
      soon()
    },
    async rest() {
      send()
      await sending
    },
  }
}

/** As few messages as fit. */
function messagesOf({ due, look }: Message): readonly string[] {
  const text = JSON.stringify({ due, look })
  if (Buffer.byteLength(text) <= MOST_BYTES) return [text]
  const half = Math.ceil(due.length / 2)
  return [...messagesOf({ due: due.slice(0, half), look }), ...messagesOf({ due: due.slice(half), look: [] })]
}

/** What was heard; `undefined` where it is of a newer version, or none of ours. */
export function readMessage(text: string): Message | undefined {
  try {
    const { due, look } = JSON.parse(text) as Message
    return { due: due.map(String), look: look.map(Number) }
  } catch {
    return undefined
  }
}
