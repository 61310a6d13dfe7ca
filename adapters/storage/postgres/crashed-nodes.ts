/**
 * Finds nodes whose process has crashed before their lease ends. Theory of operation:
 *
 * - The listening connection of a store holds an advisory lock on a random key, a new one for each connection. The key is
 *   stored for each node of the store (`node_session`). The server releases the lock when the session ends, at once
 *   when the process is killed.
 * - A session that ended is no proof of a crash: a connection may be cut, or ended by the server. So the identity of the
 *   process is stored too. A process of the same machine is known to run or not (`process-state.ts`).
 * - Any other process counts as crashed when its session was gone, with the same key and the same lease, at each poll for
 *   `CONFIRM_MS`, all on one connection of this store. A node that lives stores a new key within that time, or removes
 *   its key if it has a connection but not that one.
 * - When the server ends, all sessions end: keys of an earlier run of the server mean nothing. The table is unlogged, so
 *   a crash of the server empties it, and a standby has no rows in it.
 * - A node without a stored key keeps its shards until its lease ends. So does one behind a pooler that moves sessions
 *   between connections: it finds that its session does not hold the lock.
 * - What a wrong verdict costs: the node is fenced, as at the end of a lease, and what it has in flight is sent again.
 */
import { randomBytes } from 'node:crypto'
import { int4Array } from './binary-arrays.js'
import type { Nodes } from './nodes.js'
import { processIdentity, processStateOf } from './process-state.js'
import type { Deps } from './session-deps.js'
import type { ChannelSubscription } from './session-listen.js'
import { leaseStatements } from './sql/leases.js'
import type { WatchRow } from './sql/queue.js'
import { sessionKeyStatements } from './sql/session-keys.js'

/** A node of another store, with its session key. */
interface NodeSession {
  readonly fence: number
  /** In decimal digits: it may exceed the safe integers. */
  readonly key: string | null
  /** `processIdentity` of its process. */
  readonly process: string | null
  readonly aliveUntilMs: number
}

export interface CrashedNodes {
  /** The key that is held by the listening connection; null: none. */
  readonly key: string | null
  readonly process: string | null
  /** A new listening connection: takes a key there, and stores it. Never rejects. */
  connected(subscription: Pick<ChannelSubscription, 'query'>): Promise<void>
  /** The listening connection is lost. */
  disconnected(): void
  /** Gives the key back, since the connection may belong to the host. Never rejects. */
  closed(subscription: Pick<ChannelSubscription, 'query'>): Promise<void>
  /**
   * A poll, on the listening connection if it had the key `polledKey`, says which sessions are gone.
   *
   * @param requestedMs monotonic time before the poll
   */
  polled(polledKey: string | null, row: Pick<WatchRow, 'gone' | 'holdsKey'>, requestedMs: number): void
  /** Whether the process of a node whose session is gone now has crashed. */
  isCrashed(node: NodeSession): boolean
  /** Whether the last poll found a crashed node. */
  hasAny(): boolean
}

/** How long a session is gone before its process, if it cannot be seen, counts as crashed. */
const CONFIRM_MS = 3_000
/** Polls further apart confirm nothing: this process was stopped in between, perhaps with the machine of the other. */
const MAX_GAP_MS = 2_500
const POOLED =
  'a pooler moves the session of this node between connections to PostgreSQL: if the node crashes, its shards wait until its lease ends, for up to 30 seconds'

interface Confirmation extends NodeSession {
  /** Monotonic, ms. */
  readonly sinceMs: number
  readonly untilMs: number
}

export function createCrashedNodes({
  session,
  schema,
  log,
  nodes,
}: Pick<Deps, 'session' | 'schema' | 'log'> & { readonly nodes: Nodes }): CrashedNodes {
  const sql = sessionKeyStatements(schema)
  const { lock } = leaseStatements(schema)
  const process = processIdentity()
  let key: string | null = null
  /** Whether the stored keys of the nodes may differ from `key`. */
  let mustStore = false
  let isPooled = false
  let confirmations = new Map<number, Confirmation>()

  const isSame = (a: NodeSession, b: NodeSession) => a.key === b.key && a.aliveUntilMs === b.aliveUntilMs

  function isCrashed(node: NodeSession): boolean {
    const state = processStateOf(node.process)
    if (state !== 'unknown') return state === 'gone'
    const confirmed = confirmations.get(node.fence)
    return (
      confirmed !== undefined &&
      isSame(confirmed, node) &&
      confirmed.untilMs - confirmed.sinceMs >= CONFIRM_MS
    )
  }

  async function store(): Promise<void> {
    const fences = Array.from(nodes.all(), ({ fence }) => fence)
    mustStore = false
    if (fences.length === 0) return
    try {
      await session.transaction(async (tx) => {
        await tx.query(lock, [])
        // Read under the lock: the last of several transactions stores the present key.
        await tx.query(sql.store, [int4Array(fences), key, process])
      })
    } catch {
      mustStore = true
    }
  }

  return {
    get key() {
      return key
    },
    process,
    async connected(subscription) {
      if (isPooled) return
      const next = (randomBytes(8).readBigUInt64BE() >> 1n).toString()
      // If it fails, the connection is lost.
      const [row] = await subscription.query<{ locked: boolean }>(sql.take, [next]).catch(() => [])
      if (!row?.locked) return
      key = next
      await store()
    },
    disconnected() {
      confirmations = new Map()
      if (key === null) return
      key = null
      // If the other connections work, the node lives, whatever happens to this one.
      void store()
    },
    async closed(subscription) {
      confirmations = new Map()
      if (key !== null) await subscription.query(sql.release, [key]).catch(() => {})
      key = null
    },
    polled(polledKey, { gone, holdsKey }, requestedMs) {
      if (mustStore) void store()
      // Sessions of others are watched on one connection.
      if (polledKey === null || polledKey !== key) return
      if (!holdsKey) {
        isPooled = true
        log.warn({}, POOLED)
        this.disconnected()
        return
      }
      const answeredMs = performance.now()
      confirmations = new Map(
        sessionsOf(gone).map((node) => {
          const before = confirmations.get(node.fence)
          const continues =
            before !== undefined && isSame(before, node) && requestedMs - before.untilMs <= MAX_GAP_MS
          const sinceMs = continues ? before.sinceMs : answeredMs
          return [node.fence, { ...node, sinceMs, untilMs: requestedMs }]
        }),
      )
    },
    isCrashed,
    hasAny: () => [...confirmations.values()].some(isCrashed),
  }
}

function sessionsOf(gone: string | null): readonly NodeSession[] {
  const rows = JSON.parse(gone ?? '[]') as [number, string, string | null, number][]
  return rows.map(([fence, key, process, aliveUntilMs]) => ({ fence, key, process, aliveUntilMs }))
}
