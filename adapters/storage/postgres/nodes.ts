/** What this process knows of the nodes that use the store: their shards, versions, and how far they have polled. */
import type { Group, GroupResult, Lease } from 'hookswitch/store'
import type { Deps } from './session-deps.js'
import { commitStatements, type LeaseRow } from './sql/commit.js'
import { leaseStatements } from './sql/leases.js'

/** One node of this process. */
interface LocalNode {
  readonly owner: string
  fence: number
  number: number
  shards: ReadonlySet<number>
  /** Highest version that the node was told. */
  version: number
  /** Incoming deliveries of transactions before this one were seen by the last poll (`xid8`). */
  seenXid: string
  pending: number
  /**
   * Incoming deliveries may be lost: the answer to a poll was, or the server has crashed, which empties an unlogged table. The
   * next poll raises the version without a change, so that the node loads its shards again.
   */
  mayHaveLostIncoming: boolean
  /**
   * Another server has taken over, which may lack the last commits, and versions with them: the node loads its shards before
   * the next group.
   */
  mayHaveLostCommits: boolean
}

export interface Nodes {
  all(): Iterable<LocalNode>
  isEmpty(): boolean
  get(lease: Lease): LocalNode | undefined
  /** Number of the node of this lease; -1: unknown. */
  numberOf(lease: Lease | undefined): number
  shardsOf(owner: string): Promise<ReadonlySet<number>>
  granted(lease: Lease & { readonly node: number; readonly shards: readonly number[] }): void
  handedOver(lease: Lease, shards: readonly number[]): void
  removed(owner: string): void
  applied(lease: Lease | undefined, version: number): void
  setPending(lease: Lease | undefined, pending: number): void
  /** Whether any node of this process owns the shard. */
  isOwnedHere(shard: number): boolean
  connectionLost(): void
  serverReplaced(): void
  /** Whether another server has taken over, and the node does not know it yet: it learns from `changes` that it has to load. */
  mustLoad(lease: Lease | undefined): boolean
  /** Whether a group would be written; `undefined`: it would. */
  check(lease: Lease, group: Pick<Group, 'now' | 'version'>): Promise<GroupResult | undefined>
}

const NO_SHARDS: ReadonlySet<number> = new Set()

export function createNodes({ session, schema }: Pick<Deps, 'session' | 'schema'>): Nodes {
  const nodes = new Map<string, LocalNode>()
  const { lease: checkLease } = commitStatements(schema)
  const { shardsOf } = leaseStatements(schema)
  const get = ({ owner, fence }: Lease) => {
    const node = nodes.get(owner)
    return node?.fence === fence ? node : undefined
  }
  const mustLoad = (lease: Lease | undefined) => (lease && get(lease)?.mayHaveLostCommits) ?? false

  return {
    all: () => nodes.values(),
    isEmpty: () => nodes.size === 0,
    get,
    numberOf: (lease) => (lease && get(lease)?.number) ?? -1,
    async shardsOf(owner) {
      const node = nodes.get(owner)
      if (node) return node.shards
      // The store was opened again under the lease.
      const rows = await session.query<{ shard: number }>(shardsOf, [owner])
      return rows.length === 0 ? NO_SHARDS : new Set(rows.map(({ shard }) => shard))
    },
    granted({ owner, fence, node: number, shards }) {
      const before = nodes.get(owner)
      const isSame =
        before?.fence === fence &&
        before.shards.size === shards.length &&
        shards.every((shard) => before.shards.has(shard))
      if (isSame) return
      const isSameLease = before?.fence === fence
      nodes.set(owner, {
        owner,
        fence,
        number,
        shards: new Set(shards),
        version: isSameLease ? before.version : 0,
        // Incoming deliveries of a shard that is new may be older than the last poll.
        seenXid: '0',
        pending: before?.pending ?? 0,
        mayHaveLostIncoming: isSameLease && before.mayHaveLostIncoming,
        mayHaveLostCommits: isSameLease && before.mayHaveLostCommits,
      })
    },
    handedOver(lease, shards) {
      const node = get(lease)
      if (node) node.shards = new Set([...node.shards].filter((shard) => !shards.includes(shard)))
    },
    removed(owner) {
      nodes.delete(owner)
    },
    applied(lease, version) {
      const node = lease && get(lease)
      if (node) node.version = Math.max(node.version, version)
    },
    setPending(lease, pending) {
      const node = lease && get(lease)
      if (node) node.pending = pending
    },
    isOwnedHere(shard) {
      for (const { shards } of nodes.values()) if (shards.has(shard)) return true
      return false
    },
    connectionLost() {
      for (const node of nodes.values()) node.mayHaveLostIncoming = true
    },
    serverReplaced() {
      for (const node of nodes.values()) {
        node.mayHaveLostCommits = true
        // The new server gives the numbers of lost transactions again.
        node.seenXid = '0'
      }
    },
    mustLoad,
    async check({ owner, fence }, { now, version }) {
      if (mustLoad({ owner, fence })) return { kind: 'outdated' }
      const [row] = await session.query<LeaseRow>(checkLease, [owner, fence, now])
      if (!row?.isAlive) return { kind: 'fenced' }
      return row.version === version ? undefined : { kind: 'outdated' }
    },
  }
}
