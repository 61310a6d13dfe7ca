/** Removes expired rows, in small statements that hold no lock for long. */
import { CALL_RETENTION_MS, createPositions } from 'hookswitch/store'
import { int8Array } from './binary-arrays.js'
import type { Deps, Queries } from './session-deps.js'
import { liveStatements } from './sql/live.js'
import { type ExcessRow, pruneStatements, type UnusedRow } from './sql/prune.js'

/** Webhooks that one statement checks. */
const WEBHOOKS_PER_STATEMENT = 200
/** An acceptance in progress may still refer to a webhook that was just deleted. */
const WEBHOOK_GRACE_MS = 60_000
/** Numbers of a call are kept for a day after its last event, and an hour more: nodes measure that by their own clocks. */
const NUMBER_RETENTION_MS = CALL_RETENTION_MS + 3_600_000
/** Events that one call examines at most. */
const MAX_EXAMINED = 20_000
const EVENTS_PER_STATEMENT = 500

interface RemovedCount {
  readonly removed: number
}

export function postgresPruning({
  session,
  schema,
}: Pick<Deps, 'session' | 'schema'>): Pick<Queries, 'prune'> {
  const sql = pruneStatements(schema)
  const live = liveStatements(schema)
  const removedBy = async (statement: { name: string; text: string }, values: readonly unknown[]) =>
    (await session.query<RemovedCount>(statement, values))[0]!.removed

  /** Key where the last call reached its limit: a series of calls does not start from the beginning each time. */
  let resumeAt = 1
  /** Position after which the last call stopped to look for unused events. */
  let unusedAfter = Number.MIN_SAFE_INTEGER

  /** Removes the attempts of each webhook beyond the newest `perWebhook`. */
  async function pruneExcess(perWebhook: number, limit: number): Promise<number> {
    const [last] = await session.query<{ key: number }>(sql.lastWebhook, [])
    let removed = 0
    for (let checked = 0; checked < last!.key; checked += WEBHOOKS_PER_STATEMENT) {
      const rows = await session.query<ExcessRow>(sql.excess, [
        resumeAt,
        resumeAt + WEBHOOKS_PER_STATEMENT - 1,
        perWebhook,
      ])
      for (const { key, upTo } of rows) {
        if (removed < limit) removed += await removedBy(sql.attemptsUpTo, [key, upTo, limit - removed])
      }
      if (removed >= limit) return removed
      resumeAt = resumeAt + WEBHOOKS_PER_STATEMENT > last!.key ? 1 : resumeAt + WEBHOOKS_PER_STATEMENT
    }
    return removed
  }

  /** Removes events that no delivery or attempt refers to. */
  async function pruneEvents(quietSinceMs: number, limit: number): Promise<number> {
    // Higher positions are too young.
    const before = createPositions(0).next(quietSinceMs)
    let removed = 0
    for (let examined = 0; examined < MAX_EXAMINED && removed < limit; examined += EVENTS_PER_STATEMENT) {
      const rows = await session.query<UnusedRow>(sql.unused, [
        unusedAfter,
        quietSinceMs,
        before,
        EVENTS_PER_STATEMENT,
      ])
      const found = rows.filter(({ isRemovable }) => isRemovable)
      const removable = found.slice(0, limit - removed).map(({ position }) => position)
      if (removable.length > 0) removed += await removeEvents(removable)
      const isEnd = rows.length < EVENTS_PER_STATEMENT && removable.length === found.length
      const last = removable.length < found.length ? removable.at(-1) : rows.at(-1)?.position
      unusedAfter = isEnd || last === undefined ? Number.MIN_SAFE_INTEGER : last
      if (isEnd) break
    }
    return removed
  }

  const removeEvents = (positions: readonly number[]) =>
    session.transaction(async (tx) => {
      await tx.query(sql.lockEvents, [int8Array(positions)])
      return (await tx.query<RemovedCount>(sql.events, [int8Array(positions)]))[0]!.removed
    })

  const pruneWebhooks = (beforeMs: number, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<{ key: number }>(sql.deletedWebhooks, [beforeMs, limit])
      if (rows.length === 0) return 0
      return (await tx.query<RemovedCount>(sql.webhooks, [rows.map(({ key }) => key)]))[0]!.removed
    })

  return {
    async prune({ attemptsPerWebhook, beforeMs, limit }, now) {
      let removed = 0
      for (const step of [
        (left: number) => pruneExcess(attemptsPerWebhook, left),
        (left: number) => removedBy(sql.attemptsBefore, [beforeMs, left]),
        (left: number) => removedBy(sql.keys, [now, left]),
        (left: number) => pruneEvents(now - NUMBER_RETENTION_MS, left),
        (left: number) => pruneWebhooks(now - WEBHOOK_GRACE_MS, left),
      ]) {
        if (removed < limit) removed += await step(limit - removed)
      }
      await session.query(sql.changes, [])
      await session.query(live.pruneBatches, [])
      await session.query(live.pruneWatches, [])
      return removed
    },
  }
}
