/** The queue: commits, leases, and what a node reads to build the queue in its memory and to keep it current. */
import {
  type Changes,
  type DeliveryContent,
  type DeliveryKey,
  dueMsForReaders,
  type Lease,
  type LoadedPart,
  type Polled,
  type QueueStore,
  type Start,
} from 'hookswitch/store'
import { int2Array, int4Array, int8Array, textArray } from './binary-arrays.js'
import { createCommit } from './commit.js'
import { createMemory } from './commit-memory.js'
import { createCrashedNodes } from './crashed-nodes.js'
import { postgresInbox } from './inbox.js'
import { createLeases } from './leases.js'
import { createNodes } from './nodes.js'
import { createNotifier } from './notifications.js'
import { createPoller } from './poll.js'
import { type DeliveryRow, deliveryOf } from './rows.js'
import type { Deps, Queries, Queue } from './session-deps.js'
import {
  type ChangesRow,
  type InterruptedRow,
  type LoadRow,
  type PollRow,
  queueStatements,
} from './sql/queue.js'
import { decodeStarts } from './start-entries.js'
import { bytesOf, type DecodedRows, decodeRows } from './waiting-rows.js'

/** Positions of erased deliveries in one answer; a node that is further behind loads its shards again. */
const MAX_REMOVED = 10_000

interface ClaimRow extends DeliveryRow {
  readonly i: number
  readonly body: string
  readonly traceparent: string | null
}

export function postgresQueue(deps: Deps): Queue {
  const { session, schema, clock } = deps
  const sql = queueStatements(schema)
  const memory = createMemory()
  const nodes = createNodes(deps)
  const notifier = createNotifier(deps, nodes)
  const crashed = createCrashedNodes({ ...deps, nodes })
  const poller = createPoller({ ...deps, notifier, nodes, crashed })
  const clockMs = () => clock?.now() ?? null
  let running: Promise<unknown> = Promise.resolve()

  /** `commit`, `handOver`, `poll`: a group that is under way knows which shards the node has. */
  function inTurn<Args extends unknown[], Result>(
    work: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return (...args) => {
      const result = running.then(() => work(...args))
      running = result.catch(() => {})
      return result
    }
  }

  function decoded(waiting: string | null, webhooks: string | null): DecodedRows {
    const rows = decodeRows(waiting, webhooks)
    rows.webhooks.forEach(({ id }, index) => {
      memory.webhookKeys.set(id, rows.keys[index]!)
    })
    return rows
  }

  async function load(
    lease: Lease,
    shards: readonly number[],
    cursor?: string,
  ): Promise<LoadedPart | undefined> {
    const numbers = int2Array(shards)
    const [key, after] = (cursor ?? '0/0').split('/').map(Number)
    const values = [lease.owner, lease.fence, numbers, key, clockMs(), after]
    const [row] = await session.query<LoadRow>(sql.load, values)
    if (!row) return undefined
    const { waiting, webhooks } = decoded(row.waiting, row.webhooks)
    const { version, nextKey, nextAfter } = row
    nodes.applied(lease, version)
    const timeline = deps.timeline()
    const part = { version, waiting, webhooks, ...(timeline !== undefined && { history: timeline }) }
    if (nextKey !== null) return { ...part, interrupted: [], cursor: `${nextKey}/${nextAfter}` }
    return { ...part, interrupted: await interruptedStarts(numbers) }
  }

  async function interruptedStarts(shards: Buffer): Promise<readonly Start[]> {
    const rows = await session.query<{ fence: number; entries: string }>(sql.starts, [shards])
    const starts = rows.flatMap(({ fence, entries }) =>
      decodeStarts(bytesOf(entries)).map((start) => [...start, fence] as const),
    )
    if (starts.length === 0) return []
    return session.query<InterruptedRow>(sql.interrupted, [
      int4Array(starts.map(([key]) => key)),
      int8Array(starts.map(([, position]) => position)),
      int4Array(starts.map(([, , attempt]) => attempt)),
      int4Array(starts.map(([, , , fence]) => fence)),
      shards,
    ])
  }

  async function changes(lease: Lease, sinceVersion: number): Promise<Changes | undefined> {
    const values = [lease.owner, lease.fence, sinceVersion, clockMs()]
    const [row] = await session.query<ChangesRow>(sql.changes, values)
    if (!row) return undefined
    const { version } = row
    const node = nodes.get(lease)
    if (node?.mayHaveLostCommits) {
      node.mayHaveLostCommits = false
      node.version = version
      return { version, webhooks: [], removed: [], mustReload: true }
    }
    nodes.applied(lease, version)
    const listed = JSON.parse(row.changes ?? '[]') as [string | null, number[] | null][]
    const removed: DeliveryKey[] = []
    for (const [webhookId, positions] of listed) {
      if (webhookId !== null) for (const position of positions ?? []) removed.push({ webhookId, position })
      // The webhook may be gone, and numbers of erased calls begin again.
      if (webhookId !== null && positions === null) memory.webhookKeys.delete(webhookId)
      else memory.numbers.clear()
    }
    if (row.listed !== version - sinceVersion || removed.length > MAX_REMOVED) {
      memory.webhookKeys.clear()
      memory.numbers.clear()
      return { version, webhooks: [], removed: [], mustReload: true }
    }
    return { version, webhooks: decoded(null, row.webhooks).webhooks, removed, mustReload: false }
  }

  async function poll(lease: Lease): Promise<Polled | undefined> {
    const { owner, fence } = lease
    const node = nodes.get(lease)
    if (node?.mayHaveLostIncoming) {
      await session.query(sql.requireLoad, [owner, fence])
      node.mayHaveLostIncoming = false
    }
    const values = [owner, fence, node?.seenXid ?? '0', clockMs()]
    const [row] = await session.query<PollRow>(sql.poll, values).catch((thrown: unknown) => {
      // It may have taken incoming deliveries.
      nodes.connectionLost()
      throw thrown
    })
    if (!row) return undefined
    if (node) node.seenXid = row.xid
    const { pendingElsewhere } = row
    // `changes` then says that everything is to be loaded.
    const version = node?.mayHaveLostCommits ? node.version + 1 : row.version
    const mustRenew = crashed.hasAny()
    return { ...rowsOnly(decoded(row.waiting, row.webhooks)), version, pendingElsewhere, mustRenew }
  }

  async function bodies(keys: readonly DeliveryKey[]): Promise<readonly (DeliveryContent | undefined)[]> {
    const contents: (DeliveryContent | undefined)[] = keys.map(() => undefined)
    if (keys.length === 0) return contents
    const rows = await session.query<ClaimRow>(sql.bodies, [
      textArray(keys.map(({ webhookId }) => webhookId)),
      int8Array(keys.map(({ position }) => position)),
    ])
    for (const row of rows) {
      const { i, body, traceparent, dueMs, acceptedMs } = row
      const delivery = deliveryOf(row, dueMsForReaders(dueMs ?? 0, acceptedMs, 0))
      contents[i - 1] = traceparent === null ? { delivery, body } : { delivery, body, traceparent }
    }
    return contents
  }

  const leases = createLeases({ ...deps, notifier, nodes, crashed })
  const deliveries: Omit<QueueStore, keyof Queries> = {
    ...leases,
    handOver: inTurn(leases.handOver),
    commit: inTurn(createCommit({ ...deps, notifier, nodes, memory })),
    poll: inTurn(poll),
    load,
    changes,
    bodies,
    subscribe: notifier.subscribe,
  }

  return {
    deliveries,
    inbox: postgresInbox(deps),
    memory,
    notify: notifier.notify,
    notifyLive: notifier.notifyLive,
    subscribeLive: notifier.subscribeLive,
    serverReplaced() {
      // Keys and numbers that were lost are used again.
      memory.webhookKeys.clear()
      memory.numbers.clear()
      nodes.serverReplaced()
    },
    open: poller.open,
    async close() {
      await running
      await notifier.flush()
      await poller.close()
    },
  }
}

const rowsOnly = ({ waiting, webhooks }: DecodedRows) => ({ waiting, webhooks })
