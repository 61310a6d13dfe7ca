/**
 * Commits groups. Nearly all take the fast path: one statement that assumes what this store remembers (keys of webhooks,
 * last numbers of calls) and what the node knows because its version is current. Where an assumption is wrong, the statement
 * writes nothing (a division by zero, SQLSTATE 22012, or a unique violation, 23505), and the slow path reads and locks first.
 */
import {
  canStart,
  type EndedResult,
  type Group,
  type GroupResult,
  isTerminal,
  type Start,
  shardOf,
} from 'hookswitch/store'
import { textArray } from './binary-arrays.js'
import type { CommitDeps } from './commit-deps.js'
import { type Memory, rememberNumber } from './commit-memory.js'
import { createSlowCommit } from './commit-slow.js'
import { isDataError, sqlStateOf } from './errors.js'
import { callName, type GroupPlan, type KnownWebhook, planGroup, type StoredFacts } from './group-plan.js'
import {
  type GroupChecks,
  type GroupToWrite,
  groupStatements,
  type SettlementToWrite,
} from './group-statement.js'
import { healthText } from './rows.js'
import { commitStatements, type NumberRow } from './sql/commit.js'
import { encodeStarts } from './start-entries.js'

/** Groups whose numbers are read first after one was found wrong: another node accepts events of the same calls. */
const CAREFUL_GROUPS = 100
const MAX_EPOCH = 2 ** 31 - 1

const SETTLED: EndedResult = Object.freeze({ kind: 'settled' })
const OUTDATED: GroupResult = Object.freeze({ kind: 'outdated' })
const NOTHING: readonly never[] = Object.freeze([])

export function createCommit(deps: CommitDeps) {
  const { session, schema, notifier, nodes, memory } = deps
  const sql = commitStatements(schema)
  const statementOf = groupStatements(schema)
  const commitSlowly = createSlowCommit({ ...deps, statementOf })
  let carefulGroups = 0

  function unknownWebhooks(group: Group): ReadonlySet<string> {
    const unknown = new Set<string>()
    const note = ({ webhookId }: { readonly webhookId: string }) => {
      if (!memory.webhookKeys.has(webhookId)) unknown.add(webhookId)
    }
    for (const { deliveries } of group.accepted) deliveries.forEach(note)
    group.ended.forEach(note)
    group.starting?.deliveries.forEach(note)
    return unknown
  }

  async function readWebhookKeys(webhookIds: ReadonlySet<string>): Promise<void> {
    const rows = await session.query<{ id: string; key: number }>(sql.webhookKeys, [
      textArray([...webhookIds]),
    ])
    for (const { id, key } of rows) memory.webhookKeys.set(id, key)
  }

  async function readNumbers(group: Group): Promise<void> {
    const calls = new Map<string, readonly [string, string]>()
    for (const { events } of group.accepted) {
      for (const { accountId, callId, numbered } of events) {
        if (numbered && callId !== undefined) calls.set(callName(accountId, callId), [accountId, callId])
      }
    }
    const wanted = [...calls.values()]
    const rows = await session.query<NumberRow>(sql.numbers, [
      textArray(wanted.map(([account]) => account)),
      textArray(wanted.map(([, call]) => call)),
    ])
    for (const { account, call, sequence } of rows) {
      rememberNumber(memory, account, call, sequence)
      calls.delete(callName(account, call))
    }
    for (const name of calls.keys()) memory.numbers.delete(name)
  }

  /** What the fast path assumes: nothing is stored of new events, and numbers are the remembered ones. */
  function assumedFacts(newCalls: (readonly [string, string])[]): StoredFacts {
    return {
      key: () => undefined,
      event: () => undefined,
      webhook: (id) => knownWebhook(memory, id),
      isTaken: () => false,
      hasInboxEntry: () => true,
      numbers(accountId, callId) {
        const known = memory.numbers.get(callName(accountId, callId))
        if (known) return { ...known }
        newCalls.push([accountId, callId])
        return { sequence: 0, node: -1 }
      },
    }
  }

  /** `undefined`: the group must be written on the slow path. */
  async function commitFast(group: Group, ownShards: ReadonlySet<number>): Promise<GroupResult | undefined> {
    const { lease, now } = group
    const node = nodes.numberOf(lease)
    // A replay names an event that is stored already.
    if (group.isRepeat || group.accepted.some(({ deliveries }) => deliveries.some(isReplay))) return undefined
    if (group.ended.some(({ endpoint, position }) => endpoint?.disable || position === undefined))
      return undefined
    const unknown = unknownWebhooks(group)
    const isCareful = carefulGroups > 0 && group.accepted.length > 0
    if (unknown.size > 0) await readWebhookKeys(unknown)
    if (isCareful) {
      carefulGroups -= 1
      await readNumbers(group)
    }
    // A webhook that does not exist, or whose key had to make room for those that were read.
    if ((unknown.size > 0 || isCareful) && unknownWebhooks(group).size > 0) return undefined
    // From here to the statement nothing waits: what is planned from memory is not sent to a server that takes over later.
    if (nodes.mustLoad(lease)) return OUTDATED
    const newCalls: (readonly [string, string])[] = []
    const plan = planGroup(group.accepted, assumedFacts(newCalls), { node, now, isRepeat: false, ownShards })
    const written = rowsToWrite(group, plan, memory, ownShards)
    if (!written) return undefined
    const checks = checksOf(group, plan, written.ended, memory, newCalls)
    if (!checks) return undefined
    try {
      await session.query(...statementOf({ ...written, checks }))
    } catch (thrown) {
      const state = sqlStateOf(thrown)
      if (state !== '22012' && state !== '23505' && !isDataError(state)) throw thrown
      carefulGroups = CAREFUL_GROUPS
      return undefined
    }
    for (const [name, numbers] of plan.numbers) memory.numbers.set(name, numbers)
    return {
      kind: 'committed',
      accepted: plan.results,
      ended: group.ended.length === 0 ? NOTHING : group.ended.map(() => SETTLED),
      notStarted: NOTHING,
      version: group.version,
    }
  }

  return async function commit(group: Group): Promise<GroupResult> {
    const { lease } = group
    const ownShards = lease ? await nodes.shardsOf(lease.owner) : new Set<number>()
    nodes.setPending(lease, group.pending)
    if (isEmpty(group) && lease) return (await nodes.check(lease, group)) ?? emptyResult(group)
    const result = (await commitFast(group, ownShards)) ?? (await commitSlowly(group, ownShards))
    if (result.kind === 'committed') {
      nodes.applied(lease, result.version)
      notifyForeign(group, ownShards)
    }
    return result
  }

  function notifyForeign({ accepted }: Group, ownShards: ReadonlySet<number>): void {
    for (const { deliveries } of accepted) {
      for (const { webhookId } of deliveries) {
        const shard = shardOf(webhookId)
        if (!ownShards.has(shard)) notifier.notify(shard)
      }
    }
  }
}

const isReplay = ({ replayOf }: { readonly replayOf?: string | undefined }) => replayOf !== undefined

function isEmpty({ accepted, ended, starting, finished }: Group): boolean {
  return accepted.length === 0 && ended.length === 0 && !starting && finished.length === 0
}

const emptyResult = ({ version }: Group): GroupResult => ({
  kind: 'committed',
  accepted: NOTHING,
  ended: NOTHING,
  notStarted: NOTHING,
  version,
})

function knownWebhook({ webhookKeys }: Memory, id: string): KnownWebhook | undefined {
  const key = webhookKeys.get(id)
  return key === undefined ? undefined : { key, shard: shardOf(id) }
}

/** The rows of a group; `undefined`: a settlement is of a shard of another node, or of an unknown webhook. */
function rowsToWrite(
  group: Group,
  plan: GroupPlan,
  memory: Memory,
  ownShards: ReadonlySet<number>,
): (GroupToWrite & { readonly ended: readonly SettlementToWrite[] }) | undefined {
  const ended: SettlementToWrite[] = []
  const health = new Map<number, { readonly epoch: number; readonly health: string | null }>()
  for (const settlement of group.ended) {
    const { webhookId, endpoint } = settlement
    const webhookKey = memory.webhookKeys.get(webhookId)
    if (webhookKey === undefined || !ownShards.has(shardOf(webhookId))) return undefined
    ended.push({ settlement, webhookKey })
    if (endpoint?.health !== undefined) {
      health.set(webhookKey, { epoch: endpoint.epoch, health: healthText(endpoint.health) })
    }
  }
  const { starting, lease, finished, now } = group
  const { events, deliveries, inboxIds } = plan
  const entries = starting && encodeStarts(starting.deliveries, memory.webhookKeys)
  if (
    starting &&
    !(entries && starting.deliveries.every(({ webhookId }) => ownShards.has(shardOf(webhookId))))
  )
    return undefined
  return {
    now,
    events,
    deliveries,
    inboxIds,
    ended,
    health,
    fence: lease?.fence ?? 0,
    finished,
    ...(starting && { starting: { key: starting.key, entries: entries! } }),
  }
}

/** What the statement checks; `undefined`: a start is certainly refused. */
function checksOf(
  { lease, version, starting, ended }: Group,
  plan: GroupPlan,
  settlements: readonly SettlementToWrite[],
  { webhookKeys }: Memory,
  newCalls: GroupChecks['newCalls'],
): GroupChecks | undefined {
  const webhooks = new Map<number, number>()
  const foreignWebhooks = new Set<number>()
  const waiting: (readonly [number, number, number])[] = []
  for (const { webhookKey, isForeign } of plan.deliveries) {
    if (isForeign) foreignWebhooks.add(webhookKey)
    else webhooks.set(webhookKey, MAX_EPOCH)
  }
  if (starting) {
    const known = new Map<string, { readonly attempts: number; readonly epoch: number } | undefined>()
    const name = (key: number, position: number) => `${key}/${position}`
    for (const { delivery, webhookKey } of plan.deliveries) {
      known.set(name(webhookKey, delivery.position!), { attempts: 0, epoch: delivery.epoch })
    }
    settlements.forEach(({ settlement: { next, position, endpoint }, webhookKey }) => {
      const row = isTerminal(next.state)
        ? undefined
        : { attempts: next.attempts, epoch: endpoint?.epoch ?? MAX_EPOCH }
      known.set(name(webhookKey, position!), row)
    })
    for (const start of starting.deliveries) {
      const key = webhookKeys.get(start.webhookId)!
      const place = name(key, start.position)
      if (!known.has(place)) waiting.push([key, start.position, start.attempt - 1])
      else if (!isExpected(known.get(place), start)) return undefined
      webhooks.set(key, Math.min(webhooks.get(key) ?? MAX_EPOCH, start.epoch))
    }
  }
  // A repeated settlement of one delivery would find the row only once.
  if (ended.length > 1 && new Set(settlements.map(placeOf)).size < ended.length) return undefined
  return { ...(lease && { lease: { ...lease, version } }), webhooks, foreignWebhooks, newCalls, waiting }
}

const isExpected = (row: { readonly attempts: number; readonly epoch: number } | undefined, start: Start) =>
  canStart(row, start, start.epoch)

const placeOf = ({ webhookKey, settlement: { position } }: SettlementToWrite) => `${webhookKey}/${position}`
