/**
 * The slow path of a group: a transaction that locks the node's row, webhooks, keys and events in this order, reads what the
 * group depends on, and decides each of its entries by the rules of all stores (`planAcceptance`, `decideSettlement`,
 * `canStart`). A unique violation means that another node was faster: the transaction runs again and reads what that node
 * has committed, from the third run on while others wait. A group that fails because of its data is tried call by call, to
 * find the one to blame.
 */
import {
  type Acceptance,
  type AcceptanceResult,
  applyEndpointChange,
  type CallNumbers,
  canStart,
  decideSettlement,
  disabledByRepeat,
  type EndedResult,
  type Group,
  type GroupResult,
  type HookswitchError,
  idConflict,
  isTerminal,
  type NewDelivery,
  type Settlement,
  type StoredKey,
  shardOf,
  type Webhook,
} from 'hookswitch/store'
import { int4Array, int8Array, textArray } from './binary-arrays.js'
import type { CommitDeps } from './commit-deps.js'
import { rememberNumber } from './commit-memory.js'
import { storedDeliveryId } from './delivery-id.js'
import { isDataError, sqlStateOf } from './errors.js'
import { callName, type GroupPlan, type KnownEvent, planGroup, type StoredFacts } from './group-plan.js'
import type { GroupToWrite, SettlementToWrite } from './group-statement.js'
import { STATES, webhookColumns, webhookOf } from './rows.js'
import type { Transaction } from './session.js'
import {
  commitStatements,
  type GroupDeliveryRow,
  type GroupWebhookRow,
  type LeaseRow,
  type NumberRow,
  type StoredEventRow,
  type StoredKeyRow,
} from './sql/commit.js'
import { encodeStarts } from './start-entries.js'
import type { Statement } from './statement.js'

interface SlowCommitDeps extends CommitDeps {
  readonly statementOf: (group: GroupToWrite) => readonly [Statement, unknown[]]
}

type Blamed = ReadonlyMap<number, AcceptanceResult>

/** Runs in all, while other nodes use the same numbers and keys. */
const MAX_RUNS = 6
/**
 * Runs during which other nodes may write keys and events. A node that accepts the keys of a group one by one can stop each run at
 * its next key, so the runs after these exclude others from both tables: nothing comes between reading and writing.
 */
const SHARED_RUNS = 2
const SETTLED: EndedResult = Object.freeze({ kind: 'settled' })
const FENCED: EndedResult = Object.freeze({ kind: 'fenced' })

/** Ends a transaction that only tries whether a group can be written. */
class DryRun extends Error {}

interface WriteMode {
  /** Rolled back at the end. */
  readonly isDryRun: boolean
  /** No other node writes keys and events meanwhile. */
  readonly isExclusive: boolean
}
const DRY_RUN: WriteMode = { isDryRun: true, isExclusive: false }

/** What a transaction has done. */
interface Written {
  readonly result: GroupResult
  /** Numbers of calls after the group, by `callName`: only a transaction that is committed has given them. */
  readonly numbers?: ReadonlyMap<string, CallNumbers>
}

/** A settlement with the decision about it. */
interface Decided {
  readonly settlement: Settlement
  readonly decision: 'write' | 'stored' | 'fenced'
  readonly webhook: GroupWebhookRow | undefined
}

export function createSlowCommit({ session, schema, nodes, memory, statementOf, notifier }: SlowCommitDeps) {
  const sql = commitStatements(schema)

  return async function commitSlowly(group: Group, ownShards: ReadonlySet<number>): Promise<GroupResult> {
    let blamed: Blamed = new Map()
    for (let run = 1; ; run += 1) {
      try {
        const mode = { isDryRun: false, isExclusive: run > SHARED_RUNS }
        const written = await session.transaction((tx) => write(tx, group, ownShards, blamed, mode))
        for (const [name, numbers] of written.numbers ?? []) memory.numbers.set(name, numbers)
        return written.result
      } catch (thrown) {
        const state = sqlStateOf(thrown)
        if (state === '23505' && run < MAX_RUNS) continue
        if (!isDataError(state) || blamed.size > 0) throw thrown
        blamed = await findBlamed(group, ownShards)
        if (blamed.size === 0) throw thrown
      }
    }
  }

  /** Tries each acceptance alone. */
  async function findBlamed(group: Group, ownShards: ReadonlySet<number>): Promise<Blamed> {
    const blamed = new Map<number, AcceptanceResult>()
    for (const [index, acceptance] of group.accepted.entries()) {
      const { starting: _none, ...rest } = group
      const alone: Group = { ...rest, accepted: [acceptance], ended: [], finished: [] }
      try {
        await session.transaction((tx) => write(tx, alone, ownShards, new Map(), DRY_RUN))
      } catch (thrown) {
        if (thrown instanceof DryRun) continue
        if (!isDataError(sqlStateOf(thrown))) throw thrown
        blamed.set(index, { kind: 'refused', error: thrown as HookswitchError })
      }
    }
    return blamed
  }

  async function write(
    tx: Transaction,
    group: Group,
    ownShards: ReadonlySet<number>,
    blamed: Blamed,
    { isDryRun, isExclusive }: WriteMode,
  ): Promise<Written> {
    const { lease, now, isRepeat, starting } = group
    if (nodes.mustLoad(lease)) return { result: { kind: 'outdated' } }
    if (lease) {
      // The first run of a repeated group may still be under way, and holds the row FOR SHARE: the repeat waits for it.
      const isAlone = isRepeat || group.ended.some(({ endpoint }) => endpoint?.disable)
      const statement = isAlone ? sql.leaseAlone : sql.lease
      const [row] = await tx.query<LeaseRow>(statement, [lease.owner, lease.fence, now])
      if (!row?.isAlive) return { result: { kind: 'fenced' } }
      if (row.version !== group.version) return { result: { kind: 'outdated' } }
    }
    const accepted = group.accepted.filter((_, index) => !blamed.has(index))
    const webhooks = await lockWebhooks(tx, group, accepted)
    // First: a short time between reading keys and writing them leaves other nodes little time to use the same keys.
    const refused = new Map([...(await readCollisions(tx, group)), ...blamed])
    const facts = await readFacts(tx, accepted, webhooks, now, isExclusive)
    const node = nodes.numberOf(lease)
    const plan = planGroup(group.accepted, facts, { node, now, isRepeat, ownShards, refused })
    const rows = withAccepted(await readRows(tx, group, webhooks), plan)
    const decided = lease
      ? await decideEnded(tx, group, webhooks, rows, ownShards)
      : group.ended.map((settlement): Decided => ({ settlement, decision: 'fenced', webhook: undefined }))
    const { ended, version } = await changeWebhooks(tx, group, decided)
    const notStarted = starting ? refusedStarts(group, decided, ended, rows, webhooks, ownShards) : []
    const refusedIndexes = new Set(notStarted)
    const started = starting?.deliveries.filter((_, index) => !refusedIndexes.has(index)) ?? []
    const keyOf = { get: (id: string) => webhooks.get(id)?.key }
    const fence = lease?.fence ?? 0
    const { events, deliveries, inboxIds } = plan
    const nothing = {
      now,
      fence,
      events: [],
      deliveries: [],
      inboxIds: [],
      ended: [],
      health: new Map(),
      finished: [],
    }
    // What an earlier run of the group has started may be refused now.
    const finishedBefore = isRepeat && starting ? [starting.key] : []
    // A statement does not see the rows that it inserts.
    await tx.query(...statementOf({ ...nothing, events, deliveries, inboxIds, finished: finishedBefore }))
    const [statement, values] = statementOf({
      ...nothing,
      ended: decided.flatMap(({ decision, settlement, webhook }): SettlementToWrite[] =>
        decision === 'write' ? [{ settlement, webhookKey: webhook!.key }] : [],
      ),
      finished: group.finished,
      ...(started.length > 0 && { starting: { key: starting!.key, entries: encodeStarts(started, keyOf)! } }),
    })
    await tx.query(statement, values)
    if (isDryRun) throw new DryRun()
    const result: GroupResult = { kind: 'committed', accepted: plan.results, ended, notStarted, version }
    return { result, numbers: plan.numbers }
  }

  /** First those that settlements change, then those that others must not remove. */
  async function lockWebhooks(tx: Transaction, group: Group, accepted: readonly Acceptance[]) {
    const changed = new Set<string>()
    const others = new Set<string>()
    for (const { webhookId, endpoint } of group.ended) (endpoint ? changed : others).add(webhookId)
    for (const { deliveries } of accepted) for (const { webhookId } of deliveries) others.add(webhookId)
    for (const { webhookId } of group.starting?.deliveries ?? []) others.add(webhookId)
    const webhooks = new Map<string, GroupWebhookRow>()
    const lock = async (statement: Statement, ids: readonly string[]) => {
      if (ids.length === 0) return
      for (const row of await tx.query<GroupWebhookRow>(statement, [textArray(ids)])) {
        webhooks.set(row.id, row)
        memory.webhookKeys.set(row.id, row.key)
      }
    }
    await lock(sql.webhooksToChange, [...changed])
    await lock(
      sql.webhooks,
      [...others].filter((id) => !changed.has(id)),
    )
    return webhooks
  }

  async function readFacts(
    tx: Transaction,
    accepted: readonly Acceptance[],
    webhooks: ReadonlyMap<string, GroupWebhookRow>,
    now: number,
    isExclusive: boolean,
  ): Promise<StoredFacts> {
    const events = accepted.flatMap((acceptance) => acceptance.events)
    const deliveries = accepted.flatMap((acceptance) => acceptance.deliveries)
    const inboxIds = accepted.flatMap((acceptance) => acceptance.inboxIds ?? [])
    const inbox = new Set(
      inboxIds.length === 0
        ? []
        : (await tx.query<{ id: string }>(sql.inbox, [textArray(inboxIds)])).map(({ id }) => id),
    )
    if (isExclusive) await tx.query(sql.excludeOthers, [])
    const keys = await readKeys(tx, events, now)
    const ids = [...events.map(({ id }) => id), ...deliveries.map(({ eventId }) => eventId)]
    const stored = new Map<string, KnownEvent>()
    const readEvents = async () => {
      for (const row of await tx.query<StoredEventRow>(sql.events, [textArray(ids)])) stored.set(row.id, row)
    }
    if (ids.length > 0) await readEvents()
    const taken = await readTaken(tx, deliveries, webhooks, stored)
    // Perhaps by an earlier run of the group without a lease, for which nothing has waited, since the events were read.
    if (taken.size > 0) await readEvents()
    const numbers = await readNumbers(tx, events)
    return {
      key: (accountId, key) => keys.get(callName(accountId, key)),
      event: (id) => stored.get(id),
      webhook: (id) => webhooks.get(id),
      isTaken: (delivery) => taken.has(delivery),
      hasInboxEntry: (id) => inbox.has(id),
      numbers: (accountId, callId) => ({ ...numbers.get(callName(accountId, callId))! }),
    }
  }

  async function readKeys(tx: Transaction, events: readonly Acceptance['events'][number][], now: number) {
    const keyed = events.filter(({ idempotency }) => idempotency !== undefined)
    const stored = new Map<string, StoredKey>()
    if (keyed.length === 0) return stored
    const names = [
      textArray(keyed.map(({ accountId }) => accountId)),
      textArray(keyed.map(({ idempotency }) => idempotency!.key)),
    ]
    const rows = await tx.query<StoredKeyRow>(sql.keys, names)
    for (const row of rows) stored.set(callName(row.account, row.key), row)
    if (rows.some(({ untilMs }) => untilMs <= now)) await tx.query(sql.freeKeys, [...names, now])
    return stored
  }

  /** Acceptances with an event whose position another event has, with their refusals. */
  async function readCollisions(
    tx: Transaction,
    { accepted }: Group,
  ): Promise<Map<number, AcceptanceResult>> {
    const events = accepted.flatMap((acceptance) => acceptance.events)
    if (events.length === 0) return new Map()
    const positions = int8Array(events.map(({ position }) => position!))
    const rows = await tx.query<{ id: string; position: number }>(sql.positions, [positions])
    const idAt = new Map(rows.map(({ id, position }) => [position, id]))
    const collisions = new Map<number, AcceptanceResult>()
    accepted.forEach((acceptance, index) => {
      const collided = acceptance.events.find(({ id, position }) => (idAt.get(position!) ?? id) !== id)
      if (collided) collisions.set(index, { kind: 'refused', error: idConflict(collided.id) })
    })
    return collisions
  }

  async function readTaken(
    tx: Transaction,
    deliveries: readonly NewDelivery[],
    webhooks: ReadonlyMap<string, GroupWebhookRow>,
    stored: ReadonlyMap<string, KnownEvent>,
  ): Promise<ReadonlySet<NewDelivery>> {
    if (deliveries.length === 0) return new Set()
    const rows = await tx.query<{ i: number }>(sql.taken, [
      int4Array(deliveries.map(({ webhookId }) => webhooks.get(webhookId)?.key ?? 0)),
      int8Array(deliveries.map(({ position }) => position!)),
      textArray(deliveries.map(({ id, eventId }) => storedDeliveryId(id, eventId))),
      int8Array(deliveries.map(({ eventId }) => stored.get(eventId)?.position ?? null)),
    ])
    return new Set(rows.map(({ i }) => deliveries[i - 1]!))
  }

  async function readNumbers(tx: Transaction, events: readonly Acceptance['events'][number][]) {
    const calls = new Map<string, readonly [string, string]>()
    for (const { accountId, callId, numbered } of events) {
      if (numbered && callId !== undefined) calls.set(callName(accountId, callId), [accountId, callId])
    }
    if (calls.size === 0) return new Map()
    const wanted = [...calls.values()]
    const rows = await tx.query<NumberRow>(sql.numbers, [
      textArray(wanted.map(([account]) => account)),
      textArray(wanted.map(([, call]) => call)),
    ])
    const last = new Map(rows.map(({ account, call, sequence }) => [callName(account, call), sequence]))
    return new Map(
      Array.from(calls, ([name, [account, call]]) => {
        const sequence = last.get(name)
        if (sequence !== undefined) return [name, rememberNumber(memory, account, call, sequence)]
        return [name, { sequence: 0, node: -1 }]
      }),
    )
  }

  /** The stored deliveries that the group settles or starts, locked where they wait, by key of the webhook and position. */
  async function readRows(
    tx: Transaction,
    { ended, starting, isRepeat }: Group,
    webhooks: ReadonlyMap<string, GroupWebhookRow>,
  ): Promise<ReadonlyMap<string, GroupDeliveryRow>> {
    const wanted = [...ended, ...(starting?.deliveries ?? [])].flatMap(({ webhookId, position }) => {
      const key = webhooks.get(webhookId)?.key
      return key === undefined || position === undefined ? [] : [{ key, position }]
    })
    const rows = new Map<string, GroupDeliveryRow>()
    if (wanted.length === 0) return rows
    const values = [
      int4Array(wanted.map(({ key }) => key)),
      int8Array(wanted.map(({ position }) => position)),
    ]
    for (const statement of isRepeat ? [sql.ended, sql.waiting] : [sql.waiting]) {
      for (const row of await tx.query<GroupDeliveryRow>(statement, values)) rows.set(placeOf(row), row)
    }
    return rows
  }

  async function decideEnded(
    tx: Transaction,
    { ended, isRepeat }: Group,
    webhooks: ReadonlyMap<string, GroupWebhookRow>,
    rows: ReadonlyMap<string, GroupDeliveryRow>,
    ownShards: ReadonlySet<number>,
  ): Promise<readonly Decided[]> {
    const rowOf = (settlement: Settlement) => {
      const key = webhooks.get(settlement.webhookId)?.key
      return key === undefined ? undefined : rows.get(placeOf({ key, position: settlement.position ?? 0 }))
    }
    const recorded = isRepeat ? await readRecords(tx, ended, rowOf) : new Set<Settlement>()
    const settled = new Set<string>()
    return ended.map((settlement): Decided => {
      const webhook = webhooks.get(settlement.webhookId)
      const row = rowOf(settlement)
      if (!webhook || !ownShards.has(webhook.shard)) return { settlement, decision: 'fenced', webhook }
      const state = row && { state: STATES[row.state]!, attempts: row.attempts }
      const isFirst = !row || !settled.has(placeOf(row))
      const decision = isFirst
        ? decideSettlement(state, settlement, isRepeat, recorded.has(settlement))
        : 'fenced'
      if (row && decision === 'write') settled.add(placeOf(row))
      return { settlement, decision, webhook }
    })
  }

  async function readRecords(
    tx: Transaction,
    ended: readonly Settlement[],
    rowOf: (settlement: Settlement) => GroupDeliveryRow | undefined,
  ): Promise<ReadonlySet<Settlement>> {
    const wanted = ended.filter((settlement) => settlement.record && rowOf(settlement))
    if (wanted.length === 0) return new Set()
    const rows = await tx.query<{ i: number }>(sql.records, [
      int8Array(wanted.map((settlement) => rowOf(settlement)!.event)),
      // As in the document, where a quote inside a value is escaped.
      textArray(wanted.map(({ record }) => JSON.stringify(record!.id))),
    ])
    return new Set(rows.map(({ i }) => wanted[i - 1]!))
  }

  /** Writes health and disabling, in the order of the settlements; a webhook that is disabled raises the version. */
  async function changeWebhooks(tx: Transaction, { lease, version }: Group, decided: readonly Decided[]) {
    const current = new Map<string, Webhook>()
    const changed = new Set<string>()
    const disabledIds: string[] = []
    const ended = decided.map(({ settlement, decision, webhook }): EndedResult => {
      if (decision === 'fenced') return FENCED
      const { webhookId, endpoint } = settlement
      if (!endpoint) return SETTLED
      const before = current.get(webhookId) ?? webhookOf({ doc: webhook!.doc!, health: webhook!.health })
      if (decision === 'stored') {
        const disabled = disabledByRepeat(before, settlement)
        return disabled ? { kind: 'settled', disabled } : SETTLED
      }
      const after = applyEndpointChange(before, endpoint)
      current.set(webhookId, after)
      if (after === before) return SETTLED
      changed.add(webhookId)
      if (after.epoch === before.epoch) return SETTLED
      disabledIds.push(webhookId)
      return { kind: 'settled', disabled: after }
    })
    for (const { webhook } of decided) {
      if (!webhook || !changed.delete(webhook.id)) continue
      const after = current.get(webhook.id)!
      const { doc, health } = webhookColumns(after)
      await tx.query(sql.changeWebhook, [webhook.key, after.epoch, after.revision, doc, health])
    }
    if (disabledIds.length === 0) return { ended, version }
    const [raised] = await tx.query<{ version: number }>(sql.raiseVersion, [
      lease!.fence,
      textArray(disabledIds),
    ])
    for (const id of disabledIds) notifier.notify(shardOf(id))
    return { ended, version: raised!.version }
  }
}

/** Indexes of the starts that may not begin, after the acceptances and settlements of the group. */
function refusedStarts(
  { starting }: Group,
  decided: readonly Decided[],
  ended: readonly EndedResult[],
  rows: ReadonlyMap<string, GroupDeliveryRow>,
  webhooks: ReadonlyMap<string, GroupWebhookRow>,
  ownShards: ReadonlySet<number>,
): readonly number[] {
  const waiting = new Map<string, { readonly attempts: number; readonly epoch: number }>()
  for (const [place, row] of rows) if (row.state === 0) waiting.set(place, row)
  /** Epochs that the settlements have raised. */
  const raised = new Map<string, number>()
  for (const end of ended)
    if (end.kind === 'settled' && end.disabled) raised.set(end.disabled.id, end.disabled.epoch)
  for (const { settlement, decision, webhook } of decided) {
    if (decision !== 'write') continue
    const { next, position } = settlement
    const place = placeOf({ key: webhook!.key, position: position! })
    if (isTerminal(next.state)) waiting.delete(place)
    else waiting.set(place, { ...waiting.get(place)!, attempts: next.attempts })
  }
  return starting!.deliveries.flatMap((start, index) => {
    const webhook = webhooks.get(start.webhookId)
    if (!webhook || !ownShards.has(webhook.shard)) return [index]
    const epoch = raised.get(webhook.id) ?? webhook.epoch
    const row = waiting.get(placeOf({ key: webhook.key, position: start.position }))
    return canStart(row, start, epoch) ? [] : [index]
  })
}

/** The stored deliveries with those that the group accepts. */
function withAccepted(rows: ReadonlyMap<string, GroupDeliveryRow>, { deliveries }: GroupPlan) {
  const all = new Map(rows)
  for (const { delivery, webhookKey: key, event } of deliveries) {
    const { epoch, position } = delivery
    const row = { key, position: position!, state: 0, attempts: 0, epoch, event }
    all.set(placeOf(row), row)
  }
  return all
}

const placeOf = ({ key, position }: { readonly key: number; readonly position: number }) =>
  `${key}/${position}`
