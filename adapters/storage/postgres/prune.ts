/** Removes expired rows, in small statements that hold no lock for long. */
import type { Deps, Queries } from './session-deps.js'
import { type EndedRow, type ExcessRow, pruneStatements, type QuietRow } from './sql/prune.js'

/** Webhooks that one statement checks. */
const WEBHOOKS_PER_STATEMENT = 200
/** An acceptance in progress may still refer to a webhook that was just deleted. */
const WEBHOOK_GRACE_MS = 60_000
/** Calls are kept for a day after their last event, and an hour more, since that time is written once an hour. */
const CALL_RETENTION_MS = 86_400_000 + 3_600_000

interface RemovedCount {
  readonly removed: number
}

export function postgresPruning({
  session,
  schema,
}: Pick<Deps, 'session' | 'schema'>): Pick<Queries, 'prune'> {
  const sql = pruneStatements(schema)
  const removedBy = async (statement: { name: string; text: string }, values: readonly unknown[]) =>
    (await session.query<RemovedCount>(statement, values))[0]!.removed

  /** Key where the last call reached its limit: a series of calls does not start from the beginning each time. */
  let resumeAt = 1

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

  /** Removes ended deliveries, and the events that no delivery refers to any more. */
  const pruneEnded = (beforeMs: number, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<EndedRow>(sql.ended, [beforeMs, limit])
      if (rows.length === 0) return 0
      const events = [...new Set(rows.map(({ event }) => event))]
      await tx.query(sql.lockEvents, [events])
      await tx.query(sql.deliveries, [rows.map(({ id }) => id)])
      await tx.query(sql.events, [events])
      return rows.length
    })

  const pruneQuietCalls = (now: number, limit: number) =>
    session.transaction(async (tx) => {
      const quiet = await tx.query<QuietRow>(sql.quiet, [now - CALL_RETENTION_MS, limit])
      const namesOf = (isUnused: boolean) => {
        const calls = quiet.filter(({ over }) => over === isUnused)
        return [calls.map(({ accountId }) => accountId), calls.map(({ callId }) => callId)] as const
      }
      const [unused, used] = [namesOf(true), namesOf(false)]
      if (unused[0].length > 0) await tx.query(sql.removeCalls, unused)
      if (used[0].length > 0) await tx.query(sql.keepCalls, [...used, now])
      return { checked: quiet.length, removed: unused[0].length }
    })

  async function pruneCalls(now: number, limit: number): Promise<number> {
    let removed = 0
    while (removed < limit) {
      const batch = await pruneQuietCalls(now, limit)
      removed += batch.removed
      if (batch.checked < limit) break
    }
    return removed
  }

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
        (left: number) => pruneEnded(beforeMs, left),
        (left: number) => removedBy(sql.keys, [now, left]),
        (left: number) => pruneCalls(now, left),
        (left: number) => pruneWebhooks(now - WEBHOOK_GRACE_MS, left),
      ]) {
        if (removed < limit) removed += await step(limit - removed)
      }
      return removed
    },
  }
}
