import type { Doors, Readback } from './session-doors.js'
import { type EndedRow, type ExcessRow, pruneStatements, type QuietRow } from './sql/prune.js'

/** Webhooks looked at by one statement. */
const SLICE = 200
/** An acceptance under way may still name a webhook that was deleted a moment ago. */
const FORGET_AFTER_MS = 60_000
/** Calls are kept for a day after their last event. Their time is written once an hour, hence the hour on top. */
const CALL_KEPT_MS = 86_400_000 + 3_600_000

interface Removed {
  readonly removed: number
}

/** Removes what nobody needs, in small statements that lock nothing for long. */
export function postgresPruning({
  session,
  schema,
}: Pick<Doors, 'session' | 'schema'>): Pick<Readback, 'prune'> {
  const sql = pruneStatements(schema)
  const removedBy = async (statement: { name: string; text: string }, values: readonly unknown[]) =>
    (await session.query<Removed>(statement, values))[0]!.removed

  /** Where the last call had enough: a drain in batches does not begin anew with each. */
  let resume = 1

  /** Those beyond their webhook's number. */
  async function excess(perWebhook: number, limit: number): Promise<number> {
    const [last] = await session.query<{ key: number }>(sql.lastWebhook, [])
    let removed = 0
    for (let looked = 0; looked < last!.key; looked += SLICE) {
      const rows = await session.query<ExcessRow>(sql.excess, [resume, resume + SLICE - 1, perWebhook])
      for (const { key, upTo } of rows) {
        if (removed < limit) removed += await removedBy(sql.attemptsUpTo, [key, upTo, limit - removed])
      }
      if (removed >= limit) return removed
      resume = resume + SLICE > last!.key ? 1 : resume + SLICE
    }
    return removed
  }

  /** Ended deliveries, and the events that none refers to any more. */
  const ended = (beforeMs: number, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<EndedRow>(sql.ended, [beforeMs, limit])
      if (rows.length === 0) return 0
      const events = [...new Set(rows.map(({ event }) => event))]
      await tx.query(sql.lockEvents, [events])
      await tx.query(sql.deliveries, [rows.map(({ id }) => id)])
      await tx.query(sql.events, [events])
      return rows.length
    })

  const quietCalls = (now: number, limit: number) =>
    session.transaction(async (tx) => {
      const quiet = await tx.query<QuietRow>(sql.quiet, [now - CALL_KEPT_MS, limit])
      const namesOf = (over: boolean) => {
        const some = quiet.filter((row) => row.over === over)
        return [some.map(({ accountId }) => accountId), some.map(({ callId }) => callId)] as const
      }
      const [gone, kept] = [namesOf(true), namesOf(false)]
      if (gone[0].length > 0) await tx.query(sql.removeCalls, gone)
      if (kept[0].length > 0) await tx.query(sql.keepCalls, [...kept, now])
      return { looked: quiet.length, removed: gone[0].length }
    })

  async function calls(now: number, limit: number): Promise<number> {
    let removed = 0
    while (removed < limit) {
      const batch = await quietCalls(now, limit)
      removed += batch.removed
      if (batch.looked < limit) break
    }
    return removed
  }

  const webhooks = (beforeMs: number, limit: number) =>
    session.transaction(async (tx) => {
      const rows = await tx.query<{ key: number }>(sql.deletedWebhooks, [beforeMs, limit])
      if (rows.length === 0) return 0
      return (await tx.query<Removed>(sql.webhooks, [rows.map(({ key }) => key)]))[0]!.removed
    })

  return {
    async prune({ attemptsPerWebhook, beforeMs, limit }, now) {
      let removed = 0
      for (const step of [
        (left: number) => excess(attemptsPerWebhook, left),
        (left: number) => removedBy(sql.attemptsBefore, [beforeMs, left]),
        (left: number) => ended(beforeMs, left),
        (left: number) => removedBy(sql.keys, [now, left]),
        (left: number) => calls(now, left),
        (left: number) => webhooks(now - FORGET_AFTER_MS, left),
      ]) {
        if (removed < limit) removed += await step(limit - removed)
      }
      return removed
    },
  }
}
