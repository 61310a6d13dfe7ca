/** Retention: removes rows that are no longer needed, oldest first. A call reads few rows besides those it removes. */
import { CALL_RETENTION_MS, positionAt, type QueueStore } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { createDeletion } from './deletion.js'
import { IS_REFERENCED_SQL } from './phone-calls.js'
import type { Synchronous } from './synchronous.js'

type Prune = Synchronous<QueueStore>['prune']

/** A concurrent acceptance may still name a webhook that was deleted a moment ago. */
const KEEP_DELETED_WEBHOOK_MS = 60_000
/** How long an event without deliveries is kept. */
const KEEP_UNSENT_EVENT_MS = 3_600_000
/**
 * Rows that a call deletes. Rows of different webhooks share few pages: those of 100 are about 400, which the commit writes to the
 * disk while other calls wait.
 */
export const MAX_DELETED = 100
/** How often a call looks for so many rows, where it may delete none of those that it finds. */
const MAX_SLICES = 10
/** Index entries that a call reads, about, to count the attempts of webhooks and to find those above the limit. */
const MAX_STEPS = 20_000
/** Deleted webhooks checked per call. */
const MAX_CHECKED_WEBHOOKS = 200

interface AttemptRow {
  readonly key: number
  readonly atMs: number
  /** Whether its delivery waits. */
  readonly isPending: number
}

interface DeletedWebhookRow {
  readonly key: number
  readonly deletedMs: number
}

/** The oldest attempts and ends. */
const OLDEST_SQL = `select key, at_ms as "atMs", state is null and exists (
    select 1 from hookswitch_waiting w where w.position = a.position and w.webhook = a.webhook
  ) as "isPending"
  from hookswitch_attempt a where key > ? order by key limit ? + 0`

export function createPrune(context: EngineContext): Prune {
  const { prepareQuery, prepareChange, endpoints, eventBodies, attemptCounts } = context
  const { deleteAttempt, deleteDelivery } = createDeletion(context)
  const pruneCalls = createCallPrune(context)
  const oldest = prepareQuery<AttemptRow>(OLDEST_SQL)
  const unsent = prepareQuery<{
    readonly position: number
  }>(`select position from hookswitch_event indexed by hookswitch_event_unsent
    where variants = 0 and position < ? order by position limit ? + 0`)
  const deleteExpiredKeys = prepareChange(`delete from hookswitch_idempotency where (account, key) in (
      select account, key from hookswitch_idempotency indexed by hookswitch_idempotency_until
      where until_ms <= ? order by until_ms limit ? + 0
    )`)
  const deletedWebhooks =
    prepareQuery<DeletedWebhookRow>(`select key, deleted_ms as "deletedMs" from hookswitch_webhook indexed by hookswitch_webhook_deleted
    where deleted_ms is not null and (deleted_ms, key) > (?, ?) order by deleted_ms, key limit ? + 0`)
  const isReferenced =
    prepareQuery<object>(`select 1 where exists (select 1 from hookswitch_waiting where webhook = ?)
      or exists (select 1 from hookswitch_attempt where webhook = ? and state is not null)
      or exists (select 1 from hookswitch_attempt where webhook = ? and doc is not null)`)
  /** Rows up to this key are left, or are of a clock that was ahead: they must not keep the rows behind them. */
  let passedKey = 0
  /** The deleted webhook that was checked last: the next call continues after it. */
  let lastChecked: DeletedWebhookRow = { key: 0, deletedMs: 0 }

  function pruneExcessAttempts(maxAttempts: number, limit: number): number {
    let removed = 0
    const excess = attemptCounts.exceeding(maxAttempts, MAX_STEPS)
    for (;;) {
      const next = excess.next()
      if (next.done) return next.value ? removed : limit
      removed += deleteDelivery(next.value).attempts
      if (removed >= limit) return removed
    }
  }

  function pruneOldAttempts(beforeMs: number, limit: number, now: number): number {
    let removed = 0
    for (let slice = 0; slice < MAX_SLICES && removed < limit; slice += 1) {
      const found = oldest.all(passedKey, limit - removed)
      for (const { key, atMs, isPending } of found) {
        if (atMs >= beforeMs && atMs <= now) {
          passedKey = 0
          return removed
        }
        if (atMs < beforeMs && isPending === 0 && deleteAttempt(key)) removed += 1
        passedKey = key
      }
      if (found.length > 0) continue
      // Those that are left are looked at again after all others.
      passedKey = 0
      return removed
    }
    return limit
  }

  /** Removes events without deliveries: they are stored for the repeat of their group only. */
  function pruneUnsentEvents(limit: number, now: number): number {
    const found = unsent.all(positionAt(now - KEEP_UNSENT_EVENT_MS), limit)
    for (const { position } of found) eventBodies.remove(position)
    return found.length
  }

  function pruneDeletedWebhooks(limit: number, now: number): number {
    let removed = 0
    const found = deletedWebhooks.all(
      lastChecked.deletedMs,
      lastChecked.key,
      Math.min(MAX_CHECKED_WEBHOOKS, limit),
    )
    for (const row of found) {
      lastChecked = row
      if (now - row.deletedMs <= KEEP_DELETED_WEBHOOK_MS || isReferenced.get(row.key, row.key, row.key))
        continue
      const endpoint = endpoints.byKey(row.key)
      if (endpoint) endpoints.remove(endpoint)
      removed += 1
    }
    if (found.length === 0) lastChecked = { key: 0, deletedMs: 0 }
    return removed
  }

  return ({ attemptsPerWebhook, beforeMs, limit }, now) => {
    const most = Math.min(limit, MAX_DELETED)
    let left = most
    const run = (step: (limit: number) => number) => {
      if (left > 0) left -= step(left)
    }
    run((most) => pruneExcessAttempts(attemptsPerWebhook, most))
    run((most) => pruneOldAttempts(beforeMs, most, now))
    run((most) => pruneUnsentEvents(most, now))
    run((most) => deleteExpiredKeys(now, most))
    run((most) => pruneCalls(most, now))
    run((most) => pruneDeletedWebhooks(most, now))
    return left <= 0 ? limit : most - left
  }
}

/** Calls checked at a time. */
const CALL_SLICE = 2_000

interface SliceRow {
  /** Key of the last call of the slice; null: the slice is empty. */
  readonly last: number | null
}

/** Interval at which the newest key is noted, ms. */
const MARK_INTERVAL_MS = 3_600_000

/**
 * Removes calls that had no event for a day and that no row refers to. Most calls are still needed, and there may be
 * millions: each run checks a slice, and the next run continues after it.
 *
 * Calls that are younger than a day end a pass, and the next pass begins at the first call. Otherwise, where calls come faster
 * than they are checked, it would never end, and what was still needed when it was checked would stay for ever.
 */
function createCallPrune({
  prepareQuery,
  prepareChange,
  phoneCalls,
}: EngineContext): (limit: number, now: number) => number {
  const slice = prepareQuery<SliceRow>(
    'select max(key) as last from (select key from hookswitch_call where key > ? order by key limit ? + 0)',
  )
  const remove = prepareChange(`delete from hookswitch_call where key in (
      select key from hookswitch_call c
      where key > ? and key <= ? and last_ms <= ? and not (${IS_REFERENCED_SQL})
      order by key limit ? + 0
    )`)
  const newestKey = prepareQuery<SliceRow>('select max(key) as last from hookswitch_call')
  /** The newest key at some times, oldest first. The first is more than a day old, unless this process is younger. */
  const marks: { readonly atMs: number; readonly key: number }[] = []
  let checkedUpTo = 0

  /** The newest call that can be a day old. */
  function lastToCheck(now: number): number {
    // The clock was set back.
    while ((marks.at(-1)?.atMs ?? 0) > now) marks.pop()
    if (now - (marks.at(-1)?.atMs ?? 0) >= MARK_INTERVAL_MS)
      marks.push({ atMs: now, key: newestKey.get()!.last ?? 0 })
    while (marks[1] && marks[1].atMs <= now - CALL_RETENTION_MS) marks.shift()
    const { atMs, key } = marks[0]!
    return atMs <= now - CALL_RETENTION_MS ? key : Number.POSITIVE_INFINITY
  }

  return (limit, now) => {
    const end = lastToCheck(now)
    let removed = 0
    // Two rounds: the rest of the table, and its beginning.
    for (let round = 0; round < 2 && removed < limit; round += 1) {
      const { last } = slice.get(checkedUpTo, CALL_SLICE)!
      if (last === null) {
        checkedUpTo = 0
        continue
      }
      const count = remove(checkedUpTo, last, now - CALL_RETENTION_MS, limit - removed)
      removed += count
      if (count > 0) phoneCalls.invalidate()
      // A slice that may contain more removable calls is checked again.
      if (removed < limit) checkedUpTo = last >= end ? 0 : last
    }
    return removed
  }
}
