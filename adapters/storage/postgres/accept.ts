/**
 * Accepts events with their deliveries, many calls of `accept` in one transaction, each call whole or not at all:
 * whatever may reject a call is read and locked before anything is written. Lock order: inbox, keys, webhooks, events,
 * calls, lanes, each sorted. Decisions are in `accept-plan.ts`.
 */
import { type Acceptance, type AcceptedEvent, HookswitchError, shardOf } from 'hookswitch/store'
import { applyCounters, type Counters, countersOf } from './accept-counters.js'
import { isStale, notifyAccepted } from './accept-notify.js'
import {
  type AcceptCall,
  isPlanned,
  keyName,
  type Plan,
  type PlannedDelivery,
  planGroup,
} from './accept-plan.js'
import { type AcceptStatements, type AcquiredKey, readContext } from './accept-read.js'
import { countValues, writeValues } from './accept-write.js'
import { constraintOf, isOutcomeUnknown } from './errors.js'
import { type CallResult, createGroupCommit, type GroupCommit } from './group-commit.js'
import type { Notifier } from './notifications.js'
import type { Transaction } from './session.js'
import type { Deps } from './session-deps.js'
import { acceptStatements, type CountRow } from './sql/accept.js'
import { inboxStatements } from './sql/inbox.js'
import { keyStatements } from './sql/keys.js'
import { orphanStatements } from './sql/orphans.js'

export interface AcceptDeps extends Pick<Deps, 'session' | 'schema'> {
  readonly notifier: Notifier
  /** Slot (row) of the pending count that this store adds to. */
  readonly slot: number
}

/** Weight of a group: a hundred calls with one delivery each, or one event for a thousand webhooks. */
const MAX_WEIGHT = 1_200
const weightOf = ({ acceptance: { events, deliveries } }: AcceptCall) =>
  10 + events.length + deliveries.length

/**
 * Above this share of `maxPending`, the groups of all nodes take turns under a lock, so that two cannot exceed it
 * together.
 */
const NEAR_LIMIT = 0.9

/** By then a server that lost the connection has finished the transaction. */
const RESCAN_MS = 1_000

/** Thrown to start again with the lock. */
const LOCK_NEEDED = new Error('near the limit of pending deliveries')

interface WrittenGroup {
  readonly plan: Plan
  readonly heads: ReadonlySet<PlannedDelivery>
}

export function createAcceptor({ session, schema, notifier, slot }: AcceptDeps) {
  const sql: AcceptStatements = {
    accept: acceptStatements(schema),
    keys: keyStatements(schema),
    inbox: inboxStatements(schema),
    stale: orphanStatements(schema),
  }
  /** True until the first read of the pending count. */
  let isNearLimit = true

  async function tryToWrite(calls: readonly AcceptCall[]): Promise<WrittenGroup> {
    const hasLock = isNearLimit
    return session.transaction(async (tx) => {
      if (hasLock) await tx.query(sql.accept.lockPending, [])
      const { context, acquired } = await readContext(tx, sql, calls)
      isNearLimit = approachesLimit(calls, context.pending)
      if (isNearLimit && !hasLock) throw LOCK_NEEDED
      const plan = planGroup(calls, context)
      await markStale(tx, plan)
      const counters = countersOf(plan)
      const heads = await count(tx, plan, counters)
      if (plan.deliveries.length > 0 || counters.legs.length > 0) {
        await tx.query(sql.accept.write, writeValues(plan, heads, counters, slot, webhooksToNudge(heads)))
      }
      await writeKeys(tx, plan, acquired)
      if (plan.relayedIds.size > 0) await tx.query(sql.inbox.remove, [[...plan.relayedIds]])
      return { plan, heads }
    })
  }

  async function count(
    tx: Transaction,
    plan: Plan,
    counters: Counters,
  ): Promise<ReadonlySet<PlannedDelivery>> {
    if (counters.calls.length === 0 && counters.lanes.length === 0) return new Set()
    return applyCounters(plan, counters, await tx.query<CountRow>(sql.accept.count, countValues(counters)))
  }

  async function markStale(tx: Transaction, plan: Plan): Promise<void> {
    const stale = plan.deliveries.filter(isStale).map(({ webhook }) => webhook.key)
    if (stale.length > 0) await tx.query(sql.stale.mark, [[...new Set(stale)]])
  }

  async function writeKeys(tx: Transaction, { keys }: Plan, acquired: readonly AcquiredKey[]): Promise<void> {
    const used = [...keys.values()].map(({ event, sequence }) => ({ event, sequence, ...event.idempotency! }))
    if (used.length > 0) {
      await tx.query(sql.keys.use, [
        used.map(({ event }) => event.accountId),
        used.map(({ key }) => key),
        used.map(({ event }) => event.id),
        used.map(({ bodyHash }) => bodyHash),
        used.map(({ untilMs }) => untilMs),
        used.map(({ event }) => event.callId ?? null),
        used.map(({ sequence }) => sequence),
      ])
    }
    const unused = acquired.filter(({ account, key }) => !keys.has(keyName(account, key)))
    if (unused.length === 0) return
    await tx.query(sql.keys.release, [unused.map(({ account }) => account), unused.map(({ key }) => key)])
  }

  /** Webhooks with a new head whose shard another node owns, as far as this node knows. */
  function webhooksToNudge(heads: ReadonlySet<PlannedDelivery>) {
    const webhooks = new Map<number, PlannedDelivery['webhook']>()
    for (const { webhook } of heads) {
      if (!notifier.isOwnedHere(webhook.shard)) webhooks.set(webhook.key, webhook)
    }
    return [...webhooks.values()]
  }

  async function write(
    calls: readonly AcceptCall[],
  ): Promise<readonly CallResult<readonly AcceptedEvent[]>[]> {
    let written: WrittenGroup
    try {
      written = await tryToWrite(calls).catch((thrown: unknown) => {
        if (thrown !== LOCK_NEEDED) throw thrown
        return tryToWrite(calls)
      })
    } catch (thrown) {
      if (isOutcomeUnknown(thrown)) requestScans(calls)
      throw errorOf(thrown)
    }
    notifyAccepted(written.plan, written.heads, notifier)
    return written.plan.results.map((result) =>
      'code' in result
        ? { error: result }
        : { value: result.map(({ source, duplicate }) => acceptedEvent(source, duplicate)) },
    )
  }

  /** The group may be committed, or may be in a moment, without a notification. */
  function requestScans(calls: readonly AcceptCall[]): void {
    const webhooks = calls.flatMap(({ acceptance }) =>
      acceptance.deliveries.map(({ webhookId }) => webhookId),
    )
    const shards = [...new Set(webhooks.map(shardOf))]
    const scan = () => shards.forEach(notifier.requestScan)
    scan()
    setTimeout(scan, RESCAN_MS).unref()
  }

  const group: GroupCommit<AcceptCall, readonly AcceptedEvent[]> = createGroupCommit(write, {
    maxWeight: MAX_WEIGHT,
    weightOf,
  })
  return {
    accept: (acceptance: Acceptance, now: number) => group.run({ acceptance, now }),
    /** Resolves when no group is being written. */
    idle: group.idle,
  }
}

type Source = Extract<Plan['results'][number], readonly unknown[]>[number]['source']

function acceptedEvent(source: Source, duplicate: boolean): AcceptedEvent {
  const id = isPlanned(source) ? source.event.id : source.eventId
  return { id, sequence: source.sequence, duplicate }
}

function approachesLimit(calls: readonly AcceptCall[], pending: number): boolean {
  let added = 0
  let limit = Number.POSITIVE_INFINITY
  for (const { acceptance } of calls) {
    if (acceptance.deliveries.length === 0) continue
    added += acceptance.deliveries.length
    limit = Math.min(limit, acceptance.maxPending)
  }
  return added > 0 && pending + added > limit * NEAR_LIMIT
}

function errorOf(thrown: unknown): unknown {
  if (constraintOf(thrown) !== 'delivery_id') return thrown
  return new HookswitchError('Conflict', 'the id of a delivery is taken', {
    field: 'id',
    cause: thrown,
  })
}
