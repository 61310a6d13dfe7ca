/** Removes expired rows, in small statements that hold no lock for long. */
import { CALL_RETENTION_MS, createPositions } from 'hookswitch/store'
import { int4Array, int8Array, textArray } from './binary-arrays.js'
import { removedOn } from './session.js'
import type { Deps, Queries } from './session-deps.js'
import { historyStatement } from './sql/history-bytes.js'
import { liveStatements } from './sql/live.js'
import {
  type ExaminedAttempts,
  type ExcessRow,
  pruneStatements,
  type RemovedAttempts,
  type RemovedDeliveries,
  type RemovedEvents,
  type UnusedRow,
} from './sql/prune.js'
import type { Statement } from './statement.js'

/** The first position of this time. */
const firstPosition = (ms: number) => createPositions(0).next(ms)

/** Webhooks that one statement checks, if they have few deliveries. */
const WEBHOOKS_PER_STATEMENT = 200
/**
 * Entries of an index that one statement may read to find what exceeds the limit: 10,000 take 3 ms, and ten times as long where
 * the attempts of each delivery are counted (`excess`).
 */
const ENTRIES_PER_STATEMENT = 10_000
/** Failed attempts that one statement examines. */
const ATTEMPTS_PER_STATEMENT = 1_000
/** Rows that a call of `pruneOldest` removes beyond its limit, which is one of deliveries. */
const MORE_ROWS = 1_000
/** An acceptance in progress may still refer to a webhook that was just deleted. */
const WEBHOOK_GRACE_MS = 60_000
/** Numbers of a call are kept for a day after its last event, and an hour more: nodes measure that by their own clocks. */
const NUMBER_RETENTION_MS = CALL_RETENTION_MS + 3_600_000
/** Events that each search for unused ones examines in one call. */
const MAX_EXAMINED = 20_000
const EVENTS_PER_STATEMENT = 500
/** How much earlier than needed the search among events that have just become old enough begins, ms: for a restart. */
const RESTART_MS = 3_600_000

/** Positions between which events are examined, part by part. */
interface Search {
  after: number
}

type PruneLimits = Parameters<Queries['prune']>[0]

/** Where a walk over failed attempts in the order of time has stopped: those of waiting deliveries stay. */
const newWalk = () => ({ fromMs: Number.NEGATIVE_INFINITY, after: Number.MIN_SAFE_INTEGER })

export function postgresPruning({
  session,
  schema,
  clock,
}: Pick<Deps, 'session' | 'schema' | 'clock'>): Pick<Queries, 'prune' | 'historyBytes' | 'pruneOldest'> {
  const sql = pruneStatements(schema)
  const live = liveStatements(schema)
  const history = historyStatement(schema)
  const removedBy = removedOn(session)

  /** Key after which the last call stopped: a series of calls does not start from the beginning each time. */
  let excessAfter = 0
  /** All webhooks were checked in this series of calls. */
  let hasCheckedAll = false
  // Until VACUUM, an index has the entries of the rows that were removed. Each call goes on behind them.
  /** Times from which on the ended deliveries of each statement are looked for, ms. */
  const endedFromMs = new Map<Statement, number>()
  const failed = newWalk()
  /** Walks over all events, for what the other ways have missed. */
  const all: Search = { after: Number.MIN_SAFE_INTEGER }
  /** Follows the events that have just become old enough. */
  let young: Search | undefined

  /**
   * Removes delivered originals with their attempts, of each webhook the oldest while they have more than `perWebhook` attempts.
   * A call checks a part of the webhooks, and returns the limit while there are more: all of them once in a series of calls.
   */
  async function pruneExcess(
    { attemptsPerWebhook, beforeMs }: PruneLimits,
    limit: number,
    events: Set<number>,
  ): Promise<number> {
    if (hasCheckedAll) return 0
    const webhooks = Math.min(WEBHOOKS_PER_STATEMENT, ENTRIES_PER_STATEMENT / (attemptsPerWebhook + 1))
    const values = [excessAfter, Math.ceil(webhooks), attemptsPerWebhook]
    const lostBefore = firstPosition(beforeMs + RESTART_MS)
    const rows = await session.query<ExcessRow>(sql.excess, [...values, lostBefore])
    const excessive = rows.filter(({ upTo }) => upTo !== null)
    let removed = 0
    if (excessive.length > 0) {
      const keys = int4Array(excessive.map(({ key }) => key))
      const upTo = int8Array(excessive.map((row) => row.upTo))
      removed = (await removeAttempts(sql.excessive, [keys, upTo, limit], events)).removed
      // There may be more of the same webhooks.
      if (removed >= limit) return limit
    }
    const last = rows.at(-1)
    hasCheckedAll = last === undefined || last.isLast
    excessAfter = hasCheckedAll ? 0 : last!.key
    return hasCheckedAll ? removed : limit
  }

  /** Removes failed attempts of deliveries that have ended, which may have been later. */
  async function pruneFailed({ beforeMs }: PruneLimits, limit: number, events: Set<number>): Promise<number> {
    const { fromMs, after } = failed
    const values = [fromMs, after, beforeMs, limit, ATTEMPTS_PER_STATEMENT]
    const row = await removeAttempts<ExaminedAttempts>(sql.failed, values, events)
    const hasMore = row.removed >= limit || row.examined === ATTEMPTS_PER_STATEMENT
    Object.assign(failed, hasMore ? { fromMs: row.lastMs, after: row.lastPosition } : newWalk())
    return hasMore ? limit : row.removed
  }

  /** Removes up to `limit` of the oldest deliveries that ended before `beforeMs`, and about `maxRows` attempts with them. */
  async function pruneEnded(
    statement: Statement,
    beforeMs: number,
    { limit, maxRows }: { readonly limit: number; readonly maxRows: number },
    events: Set<number>,
  ): Promise<RemovedDeliveries> {
    const fromMs = endedFromMs.get(statement) ?? Number.NEGATIVE_INFINITY
    const row = await removeAttempts<RemovedDeliveries>(statement, [fromMs, beforeMs, limit, maxRows], events)
    if (row.deliveries >= limit || row.removed >= maxRows) endedFromMs.set(statement, row.lastMs!)
    else endedFromMs.delete(statement)
    return row
  }

  async function removeAttempts<Removed extends RemovedAttempts = RemovedAttempts>(
    statement: Statement,
    values: readonly unknown[],
    events: Set<number>,
  ): Promise<Removed> {
    const [row] = await session.query<Removed>(statement, values)
    for (const event of JSON.parse(row!.events) as number[]) events.add(event)
    return row!
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

  /** Removes the bodies of events that nothing refers to any more: the events themselves are kept for their numbers. */
  async function emptyEvents(positions: readonly number[]): Promise<void> {
    if (positions.length === 0) return
    await session.transaction(async (tx) => {
      await tx.query(sql.lockEvents, [int8Array(positions)])
      await tx.query(sql.emptyEvents, [int8Array(positions)])
    })
  }

  const pruneWebhooks = (beforeMs: number, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<{ key: number }>(sql.deletedWebhooks, [beforeMs, limit])
      if (rows.length === 0) return 0
      return removedOn(tx)(sql.webhooks, [rows.map(({ key }) => key)])
    })

  return {
    async prune(limits, now) {
      const { beforeMs, limit } = limits
      const quietSinceMs = now - NUMBER_RETENTION_MS
      const events = new Set<number>()
      const endedBefore = (statement: Statement) => async (left: number) =>
        (await pruneEnded(statement, beforeMs, { limit: left, maxRows: left }, events)).removed
      let removed = 0
      for (const step of [
        (left: number) => pruneExcess(limits, left, events),
        endedBefore(sql.oldestDelivered),
        endedBefore(sql.oldestOthers),
        (left: number) => pruneFailed(limits, left, events),
        (left: number) => removedBy(sql.keys, [now, left]),
        (left: number) => pruneYoungEvents(quietSinceMs, left),
        (left: number) => pruneAllEvents(quietSinceMs, left),
        (left: number) => pruneWebhooks(now - WEBHOOK_GRACE_MS, left),
      ]) {
        if (removed < limit) removed += await step(limit - removed)
      }
      // The series of calls ends.
      if (removed < limit) hasCheckedAll = false
      await pruneEventsOf(events, quietSinceMs)
      await session.query(sql.changes, [])
      await session.query(live.pruneBatches, [])
      await session.query(live.pruneWatches, [])
      // The last delivery may have had more attempts than were left.
      return Math.min(removed, limit)
    },
    async historyBytes() {
      return (await session.query<{ bytes: number }>(history, []))[0]!.bytes
    },
    async pruneOldest(limit) {
      const events = new Set<number>()
      let deliveries = 0
      for (const statement of [sql.oldestDelivered, sql.oldestOthers]) {
        for (let isLast = false; !isLast && deliveries < limit; ) {
          // Others may have removed what is behind, or left something before it: once more from the beginning.
          isLast = !endedFromMs.has(statement)
          const most = { limit: limit - deliveries, maxRows: limit - deliveries + MORE_ROWS }
          const row = await pruneEnded(statement, Number.POSITIVE_INFINITY, most, events)
          deliveries += row.deliveries
          if (row.removed >= most.maxRows) return finish()
        }
      }
      return finish()

      async function finish() {
        const [row] = await session.query<{ nowMs: number }>(sql.now, [clock?.now() ?? null])
        await pruneEventsOf(events, row!.nowMs - NUMBER_RETENTION_MS)
        await emptyEvents([...events])
        return deliveries
      }
    },
  }
}
