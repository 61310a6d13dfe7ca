import { type Acceptance, type AcceptedEvent, HookswitchError, shardOf } from 'hookswitch/store'
import { applyCounts, type Counted, countPlan } from './accept-count.js'
import {
  type AcceptCall,
  decide,
  isPlanned,
  keyName,
  type Plan,
  type PlannedDelivery,
} from './accept-decide.js'
import { type FactStatements, gatherFacts, type Taken } from './accept-facts.js'
import { isStale, tellAccepted } from './accept-tell.js'
import { countValues, writeValues } from './accept-write.js'
import { constraintOf, isUnsure } from './errors.js'
import { type Group, grouped, type Outcome } from './group.js'
import type { Transaction } from './session.js'
import type { Doors } from './session-doors.js'
import { acceptStatements, type CountRow } from './sql/accept.js'
import { inboxStatements } from './sql/inbox.js'
import { keyStatements } from './sql/keys.js'
import { orphanStatements } from './sql/orphans.js'
import type { Waking } from './wake.js'

export interface AcceptDoors extends Pick<Doors, 'session' | 'schema'> {
  readonly waking: Waking
  /** Where this store counts what it adds. */
  readonly slot: number
}

/** Weight of a group: a hundred calls of one delivery, or one event for a thousand webhooks. */
const MOST = 1_200
const weightOf = ({ acceptance: { events, deliveries } }: AcceptCall) =>
  10 + events.length + deliveries.length

/** So near to the bound, calls of all nodes come one after the other: else two would pass it together. */
const NEAR = 0.9

/** By then a server that lost the connection has ended what it was told. */
const LOOK_AGAIN_MS = 1_000

/** Thrown to begin anew, one after the other. */
const TOO_NEAR = new Error('near the bound')

interface Written {
  readonly plan: Plan
  readonly heads: ReadonlySet<PlannedDelivery>
}

/**
 * Accepts calls group by group, each call all or nothing: what may be refused is looked at, and held, before anything is
 * written of it. Locks in the order inbox, keys, webhooks, events, calls, lanes; each sorted.
 */
export function acceptor({ session, schema, waking, slot }: AcceptDoors) {
  const sql: FactStatements = {
    accept: acceptStatements(schema),
    keys: keyStatements(schema),
    inbox: inboxStatements(schema),
    stale: orphanStatements(schema),
  }
  /** Not known before the first look. */
  let near = true

  async function writeOnce(calls: readonly AcceptCall[]): Promise<Written> {
    const alone = near
    return session.transaction(async (tx) => {
      if (alone) await tx.query(sql.accept.lockPending, [])
      const { facts, taken } = await gatherFacts(tx, sql, calls)
      near = isNear(calls, facts.pending)
      if (near && !alone) throw TOO_NEAR
      const plan = decide(calls, facts)
      await markStale(tx, plan)
      const counted = countPlan(plan)
      const heads = await count(tx, plan, counted)
      if (plan.deliveries.length > 0 || counted.legs.length > 0) {
        await tx.query(sql.accept.write, writeValues(plan, heads, counted, slot, nudgedBy(heads)))
      }
      await useKeys(tx, plan, taken)
      if (plan.admitted.size > 0) await tx.query(sql.inbox.admit, [[...plan.admitted]])
      return { plan, heads }
    })
  }

  async function count(tx: Transaction, plan: Plan, counted: Counted): Promise<ReadonlySet<PlannedDelivery>> {
    if (counted.calls.length === 0 && counted.lanes.length === 0) return new Set()
    return applyCounts(plan, counted, await tx.query<CountRow>(sql.accept.count, countValues(counted)))
  }

  async function markStale(tx: Transaction, plan: Plan): Promise<void> {
    const late = plan.deliveries.filter(isStale).map(({ webhook }) => webhook.key)
    if (late.length > 0) await tx.query(sql.stale.mark, [[...new Set(late)]])
  }

  async function useKeys(tx: Transaction, { keys }: Plan, taken: readonly Taken[]): Promise<void> {
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
    const left = taken.filter(({ account, key }) => !keys.has(keyName(account, key)))
    if (left.length === 0) return
    await tx.query(sql.keys.leave, [left.map(({ account }) => account), left.map(({ key }) => key)])
  }

  /** Endpoints whose owner is another node, as far as this one knows. */
  function nudgedBy(heads: ReadonlySet<PlannedDelivery>) {
    const nudged = new Map<number, PlannedDelivery['webhook']>()
    for (const { webhook } of heads) if (!waking.ownsHere(webhook.shard)) nudged.set(webhook.key, webhook)
    return [...nudged.values()]
  }

  async function write(calls: readonly AcceptCall[]): Promise<readonly Outcome<readonly AcceptedEvent[]>[]> {
    let written: Written
    try {
      written = await writeOnce(calls).catch((thrown: unknown) => {
        if (thrown !== TOO_NEAR) throw thrown
        return writeOnce(calls)
      })
    } catch (thrown) {
      if (isUnsure(thrown)) lookAgain(calls)
      throw refusal(thrown)
    }
    tellAccepted(written.plan, written.heads, waking)
    return written.plan.answers.map((answer) =>
      'code' in answer
        ? { error: answer }
        : { value: answer.map(({ of, duplicate }) => accepted(of, duplicate)) },
    )
  }

  /** It may be written all the same, or be in a moment: nobody was told of it. */
  function lookAgain(calls: readonly AcceptCall[]): void {
    const webhooks = calls.flatMap(({ acceptance }) =>
      acceptance.deliveries.map(({ webhookId }) => webhookId),
    )
    const shards = [...new Set(webhooks.map(shardOf))]
    const look = () => shards.forEach(waking.look)
    look()
    setTimeout(look, LOOK_AGAIN_MS).unref()
  }

  const group: Group<AcceptCall, readonly AcceptedEvent[]> = grouped(write, { most: MOST, weigh: weightOf })
  return {
    accept: (acceptance: Acceptance, now: number) => group.run({ acceptance, now }),
    rest: group.rest,
  }
}

type Source = Extract<Plan['answers'][number], readonly unknown[]>[number]['of']

function accepted(of: Source, duplicate: boolean): AcceptedEvent {
  const id = isPlanned(of) ? of.event.id : of.eventId
  return { id, sequence: of.sequence, duplicate }
}

function isNear(calls: readonly AcceptCall[], pending: number): boolean {
  let added = 0
  let bound = Number.POSITIVE_INFINITY
  for (const { acceptance } of calls) {
    if (acceptance.deliveries.length === 0) continue
    added += acceptance.deliveries.length
    bound = Math.min(bound, acceptance.maxPending)
  }
  return added > 0 && pending + added > bound * NEAR
}

function refusal(thrown: unknown): unknown {
  if (constraintOf(thrown) !== 'delivery_id') return thrown
  return new HookswitchError('Conflict', 'the id of a delivery is taken', { field: 'id', cause: thrown })
}
