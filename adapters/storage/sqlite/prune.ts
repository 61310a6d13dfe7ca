import type { DeliveryStore } from 'hookswitch/store'
import { callPruner } from './prune-calls.js'
import { change, query } from './query.js'
import { removal } from './removal.js'
import type { Synchronous } from './synchronous.js'
import type { Tools } from './tools.js'

type Prune = Synchronous<DeliveryStore>['prune']

/** An acceptance under way may still name a webhook that was deleted a moment ago. */
const FORGET_AFTER_MS = 60_000

/** Index entries that are counted in one call, of webhooks whose number of attempts is not known. */
const STEPS = 50_000
/** Deleted webhooks that are looked at in one call. */
const DELETED = 200

interface PositionRow {
  readonly position: number
}

interface DeletedRow {
  readonly key: number
  readonly deletedMs: number
}

/** Removes what nobody needs, oldest first: a call looks at little more than what it removes. */
export function pruner(tools: Tools): Prune {
  const { db, endpoints, kept } = tools
  const { attempt: removeAttempt, delivery: removeDelivery } = removal(tools)
  const pruneCalls = callPruner(db, tools.calls)
  const oldestOf = query<PositionRow>(
    db,
    `select position from hookswitch_attempt indexed by hookswitch_attempt_webhook
    where webhook = ? order by position limit ? + 0`,
  )
  const oldest = query<PositionRow & { readonly atMs: number }>(
    db,
    'select position, at_ms as "atMs" from hookswitch_attempt order by position limit ? + 0',
  )
  const ended = query<PositionRow>(
    db,
    `select position from hookswitch_delivery indexed by hookswitch_delivery_ended
    where ended_ms < ? order by ended_ms limit ? + 0`,
  )
  const keys = change(
    db,
    `delete from hookswitch_idempotency where (account, key) in (
      select account, key from hookswitch_idempotency indexed by hookswitch_idempotency_until
      where until_ms <= ? order by until_ms limit ? + 0
    )`,
  )
  const deleted = query<DeletedRow>(
    db,
    `select key, deleted_ms as "deletedMs" from hookswitch_webhook indexed by hookswitch_webhook_deleted
    where deleted_ms is not null and (deleted_ms, key) > (?, ?) order by deleted_ms, key limit ? + 0`,
  )
  const isRead = query<object>(
    db,
    `select 1 where exists (select 1 from hookswitch_delivery where webhook = ?)
      or exists (select 1 from hookswitch_attempt where webhook = ?)`,
  )
  /** The deleted webhook that was looked at last: the next call goes on behind it. */
  let lookedAt: DeletedRow = { key: 0, deletedMs: 0 }

  function aboveNumber(most: number, limit: number): number {
    let removed = 0
    for (const [webhook, excess] of kept.above(most, STEPS)) {
      if (removed >= limit) break
      for (const { position } of oldestOf.all(webhook, Math.min(excess, limit - removed))) {
        if (removeAttempt(position)) removed += 1
      }
    }
    return removed
  }

  function recordedBefore(beforeMs: number, limit: number): number {
    let removed = 0
    for (const { position, atMs } of oldest.all(limit)) {
      if (atMs >= beforeMs) break
      if (removeAttempt(position)) removed += 1
    }
    return removed
  }

  function endedBefore(beforeMs: number, limit: number, now: number): number {
    const found = ended.all(beforeMs, limit)
    for (const { position } of found) removeDelivery(position, now)
    return found.length
  }

  function deletedWebhooks(limit: number, now: number): number {
    let removed = 0
    const found = deleted.all(lookedAt.deletedMs, lookedAt.key, Math.min(DELETED, limit))
    for (const row of found) {
      lookedAt = row
      if (now - row.deletedMs <= FORGET_AFTER_MS || isRead.get(row.key, row.key)) continue
      const endpoint = endpoints.byKey(row.key)
      if (endpoint) endpoints.remove(endpoint)
      removed += 1
    }
    if (found.length === 0) lookedAt = { key: 0, deletedMs: 0 }
    return removed
  }

  return ({ attemptsPerWebhook, beforeMs, limit }, now) => {
    let left = limit
    const some = (kind: (limit: number) => number) => {
      if (left > 0) left -= kind(left)
    }
    some((most) => aboveNumber(attemptsPerWebhook, most))
    some((most) => recordedBefore(beforeMs, most))
    some((most) => endedBefore(beforeMs, most, now))
    some((most) => keys(now, most))
    some((most) => pruneCalls(most, now))
    some((most) => deletedWebhooks(most, now))
    return limit - left
  }
}
