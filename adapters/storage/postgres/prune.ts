/** Removes expired rows, in small statements that hold no lock for long. */
import { CALL_RETENTION_MS, createPositions } from 'hookswitch/store'
import { int8Array, textArray } from './binary-arrays.js'
import type { Deps, Queries } from './session-deps.js'
import { liveStatements } from './sql/live.js'
import {
  type ExcessRow,
  pruneStatements,
  type RemovedAttempts,
  type RemovedEvents,
  type UnusedRow,
} from './sql/prune.js'
import type { Statement } from './statement.js'

/** The first position of this time. */
const firstPosition = (ms: number) => createPositions(0).next(ms)

/** Webhooks that one statement checks. */
const WEBHOOKS_PER_STATEMENT = 200
/** An acceptance in progress may still refer to a webhook that was just deleted. */
const WEBHOOK_GRACE_MS = 60_000
/** Numbers of a call are kept for a day after its last event, and an hour more: nodes measure that by their own clocks. */
const NUMBER_RETENTION_MS = CALL_RETENTION_MS + 3_600_000
/** Events that each search for unused ones examines in one call. */
const MAX_EXAMINED = 20_000
const EVENTS_PER_STATEMENT = 500
/** How much earlier than needed the search among events that have just become old enough begins, ms: for a restart. */
const RESTART_MS = 3_600_000

interface RemovedCount {
  readonly removed: number
}

/** Positions between which events are examined, part by part. */
interface Search {
  after: number
}

export function postgresPruning({
  session,
  schema,
}: Pick<Deps, 'session' | 'schema'>): Pick<Queries, 'prune'> {
  const sql = pruneStatements(schema)
  const live = liveStatements(schema)
  const removedBy = async (statement: Statement, values: readonly unknown[]) =>
    (await session.query<RemovedCount>(statement, values))[0]!.removed

  /** Key after which the last call stopped: a series of calls does not start from the beginning each time. */
  let excessAfter = 0
  /** Walks over all events, for what the other ways have missed. */
  const all: Search = { after: Number.MIN_SAFE_INTEGER }
  /** Follows the events that have just become old enough. */
  let young: Search | undefined

  /** Removes the attempts of each webhook beyond the newest `perWebhook`. Checks all webhooks, unless it reaches the limit. */
  async function pruneExcess(perWebhook: number, limit: number, events: Set<number>): Promise<number> {
    let removed = 0
    for (let isLastRound = excessAfter === 0; ; ) {
      const rows = await session.query<ExcessRow>(sql.excess, [
        excessAfter,
        WEBHOOKS_PER_STATEMENT,
        perWebhook,
      ])
      for (const { key, upTo } of rows) {
        if (upTo === null) continue
        removed += await removeAttempts(sql.attemptsUpTo, [key, upTo, limit - removed], events)
        if (removed >= limit) return removed
      }
      excessAfter = rows.at(-1)?.key ?? 0
      if (rows.length > 0) continue
      if (isLastRound) return removed
      isLastRound = true
    }
  }

  async function removeAttempts(
    statement: Statement,
    values: readonly unknown[],
    events: Set<number>,
  ): Promise<number> {
    const [row] = await session.query<RemovedAttempts>(statement, values)
    for (const event of JSON.parse(row!.events) as number[]) events.add(event)
    return row!.removed
  }

  /** Removes those of these events that nothing refers to any more, and then the last events of their calls. */
  async function pruneEventsOf(positions: Iterable<number>, quietSinceMs: number): Promise<void> {
    for (let candidates = [...positions]; candidates.length > 0; ) {
      const rows = await session.query<{ position: number }>(sql.unusedAmong, [
        int8Array(candidates),
        quietSinceMs,
      ])
      const { calls } = await removeEvents(rows.map(({ position }) => position))
      if (calls.length === 0) return
      const lasts = await session.query<{ position: number }>(sql.lastOfCalls, [
        textArray(calls.map(([callId]) => callId)),
        textArray(calls.map(([, accountId]) => accountId)),
      ])
      candidates = lasts.map(({ position }) => position)
    }
  }

  /** Continues a search for events that nothing refers to. `isAtEnd`: it has examined all. */
  async function pruneEvents(
    search: Search,
    quietSinceMs: number,
    limit: number,
  ): Promise<{ readonly removed: number; readonly isAtEnd: boolean }> {
    const before = firstPosition(quietSinceMs)
    let removed = 0
    for (let examined = 0; examined < MAX_EXAMINED && removed < limit; examined += EVENTS_PER_STATEMENT) {
      const rows = await session.query<UnusedRow>(sql.unused, [
        search.after,
        quietSinceMs,
        before,
        EVENTS_PER_STATEMENT,
      ])
      const found = rows.filter(({ isRemovable }) => isRemovable)
      const removable = found.slice(0, limit - removed).map(({ position }) => position)
      removed += (await removeEvents(removable)).removed
      const hasAll = removable.length === found.length
      search.after = (hasAll ? rows.at(-1)?.position : removable.at(-1)) ?? search.after
      if (hasAll && rows.length < EVENTS_PER_STATEMENT) return { removed, isAtEnd: true }
    }
    return { removed, isAtEnd: false }
  }

  /** Removes events that have become old enough. Each is examined once, however many are kept for longer. */
  async function pruneYoungEvents(quietSinceMs: number, limit: number): Promise<number> {
    young ??= { after: firstPosition(quietSinceMs - RESTART_MS) }
    const { removed, isAtEnd } = await pruneEvents(young, quietSinceMs, limit)
    // There are more: the next call continues.
    return isAtEnd ? removed : limit
  }

  async function pruneAllEvents(quietSinceMs: number, limit: number): Promise<number> {
    const { removed, isAtEnd } = await pruneEvents(all, quietSinceMs, limit)
    if (isAtEnd) all.after = Number.MIN_SAFE_INTEGER
    return removed
  }

  async function removeEvents(positions: readonly number[]): Promise<{
    readonly removed: number
    readonly calls: readonly (readonly [callId: string, accountId: string])[]
  }> {
    if (positions.length === 0) return { removed: 0, calls: [] }
    return session.transaction(async (tx) => {
      await tx.query(sql.lockEvents, [int8Array(positions)])
      const [row] = await tx.query<RemovedEvents>(sql.events, [int8Array(positions)])
      return { removed: row!.removed, calls: JSON.parse(row!.calls) }
    })
  }

  const pruneWebhooks = (beforeMs: number, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<{ key: number }>(sql.deletedWebhooks, [beforeMs, limit])
      if (rows.length === 0) return 0
      return (await tx.query<RemovedCount>(sql.webhooks, [rows.map(({ key }) => key)]))[0]!.removed
    })

  return {
    async prune({ attemptsPerWebhook, beforeMs, limit }, now) {
      const quietSinceMs = now - NUMBER_RETENTION_MS
      const events = new Set<number>()
      let removed = 0
      for (const step of [
        (left: number) => removeAttempts(sql.attemptsBefore, [beforeMs, left], events),
        (left: number) => removedBy(sql.keys, [now, left]),
        (left: number) => pruneYoungEvents(quietSinceMs, left),
        // Examines the newest attempts of all webhooks: once in a series of calls, after what is removed by its age.
        (left: number) => pruneExcess(attemptsPerWebhook, left, events),
        (left: number) => pruneAllEvents(quietSinceMs, left),
        (left: number) => pruneWebhooks(now - WEBHOOK_GRACE_MS, left),
      ]) {
        if (removed < limit) removed += await step(limit - removed)
      }
      await pruneEventsOf(events, quietSinceMs)
      await session.query(sql.changes, [])
      await session.query(live.pruneBatches, [])
      await session.query(live.pruneWatches, [])
      return removed
    },
  }
}
