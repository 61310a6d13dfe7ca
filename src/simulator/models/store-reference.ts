/**
 * The reference of the store model: a naive store over plain lists. Every decision scans everything, so that it is
 * evidently correct. Where the contract leaves a choice to the store, the reference takes the store's choice and checks it.
 */

import type { DeliveryReplays } from '../../delivery/delivery-queries.js'
import { SHARDS, shardOf } from '../../store/shards.js'
import type {
  AcceptanceCall,
  AcceptanceResultRow,
  ChangesResult,
  DeliveryCall,
  EventCall,
  GroupCall,
  GroupResultRow,
  LeaseResult,
  LeaseRow,
  LoadResult,
  RevisionRow,
  SettlementCall,
  StartCall,
  StoreCall,
  WaitingRow,
  WebhookRow,
} from './store-calls.js'
import { shardSet, shardsIn } from './store-calls.js'

type ReferenceDelivery = DeliveryCall & {
  state: string
  attempts: number
  interruptions: number
  /** 0: there was none. */
  failedMs: number
  number: number
  acceptedMs: number
  dueMs: number
  /** The owner of its shard has not polled it, which has to. */
  isIncoming: boolean
  reason?: string | undefined
  endedMs?: number
}

interface ReferenceNode {
  readonly owner: string
  fence: number
  hasLease: boolean
  untilMs: number
  shards: number[]
  /** What others did to its deliveries since its lease began. */
  changes: ({ readonly webhookId: string } | { readonly deliveryId: string })[]
  /** How often others changed anything since its lease began: a store may raise the version for each. */
  mayHaveChanged: number
  /** By version, what had happened when the store returned it. */
  versions: Record<string, { readonly changes: number; readonly mayHaveChanged: number }>
  starts: Record<string, readonly StartCall[]>
}

/** The state of the reference; all lists are in order of insertion. */
export interface ReferenceStore {
  readonly shared: boolean
  readonly leaseMs: number
  nodes: ReferenceNode[]
  /** Starts of leases that have ended. */
  left: StartCall[]
  webhooks: WebhookRow[]
  /** Deleted webhooks may be gone. */
  hasPruned: boolean
  /** When a settlement has disabled a webhook that nobody has changed since. */
  disabled: Record<string, number>
  deliveries: ReferenceDelivery[]
  /** Stored events. `hasGap`: its node had not read what others had accepted before. */
  events: Record<string, { readonly number: number; readonly callId: string; readonly hasGap: boolean }>
  records: { id: string; deliveryId: string; webhookId: string; callId: string; atMs: number }[]
  keys: (EventCall & { number: number })[]
  /** The last number of each call, and the nodes that gave it or have loaded its event. */
  numbers: Record<string, { readonly number: number; readonly readBy: string[] }>
}

export function createReferenceStore(shared: boolean, leaseMs: number): ReferenceStore {
  return {
    shared,
    leaseMs,
    nodes: [],
    left: [],
    webhooks: [],
    hasPruned: false,
    disabled: {},
    deliveries: [],
    events: {},
    records: [],
    keys: [],
    numbers: {},
  }
}

/**
 * Executes a call on the reference and returns the result that the store must have. `actual` is the store's result, which
 * decides where the store has a choice: fences, versions, and which free shards a node takes.
 */
export function expectedResult(m: ReferenceStore, call: StoreCall, actual: unknown): unknown {
  const { now } = call
  switch (call.do) {
    case 'own':
    case 'renew':
      return grant(m, call.owner, now, actual as LeaseResult)
    case 'own too early':
      for (const node of m.nodes) node.mayHaveChanged += 1
      return ''
    case 'release': {
      const node = m.nodes.find(({ owner }) => owner === call.owner)
      if (node) Object.assign(node, { hasLease: false, starts: {}, shards: [] })
      return null
    }
    case 'hand over': {
      const node = liveNode(m, call.lease, now)
      const given = shardsIn(call.shards)
      if (!node) return null
      node.shards = node.shards.filter((shard) => !given.includes(shard))
      for (const [key, starts] of Object.entries(node.starts))
        node.starts[key] = starts.filter(({ webhookId }) => !given.includes(shardOf(webhookId)))
      return null
    }
    case 'commit':
      return commit(m, call, actual as GroupResultRow)
    case 'inspect':
    case 'load':
      return load(m, call, actual as LoadResult | null)
    case 'complete the takeover': {
      const node = liveNode(m, call.lease, now)
      if (node) m.left = m.left.filter((start) => !owns(node, start))
      return null
    }
    case 'poll':
      return poll(m, call.lease, now, actual as LoadResult | null)
    case 'changes':
      return changes(m, call.lease, call.since, now, actual as ChangesResult | null)
    case 'bodies':
      return call.ids.map((id) => {
        const row = m.deliveries.find((delivery) => delivery.id === id)
        if (row?.state !== 'waiting') return undefined
        const { eventId, attempts, epoch, replayOf } = row
        const lane = replayOf === undefined ? row.lane : 'replay'
        return { id, eventId, number: m.events[eventId]!.number, lane, attempts, epoch }
      })
    case 'replace': {
      const webhook = webhookById(m, call.webhook.id)
      if (!webhook || webhook.deleted || webhook.revision !== call.revision) return false
      const keepsHealth = webhook.uri === call.webhook.uri && (webhook.enabled || !call.webhook.enabled)
      m.webhooks[m.webhooks.indexOf(webhook)] =
        keepsHealth && webhook.health ? { ...call.webhook, health: webhook.health } : call.webhook
      delete m.disabled[webhook.id]
      noteChange(m, webhook.id, { webhookId: webhook.id })
      return true
    }
    case 'deliveries': {
      const rows = m.deliveries.filter(({ webhookId }) => webhookId === call.webhookId)
      const leavesAhead = !m.shared && leavesAheadToQueue(actual)
      return rows.sort((a, b) => a.position - b.position).map((row) => readDelivery(m, row, leavesAhead))
    }
    default:
      return expectedRows(m, call)
  }
}

const webhookById = (m: ReferenceStore, id: string) => m.webhooks.find((webhook) => webhook.id === id)

const isStale = (m: ReferenceStore, row: ReferenceDelivery) =>
  row.state === 'waiting' && row.epoch < webhookById(m, row.webhookId)!.epoch

const owns = (node: ReferenceNode, { webhookId }: { readonly webhookId: string }) =>
  node.shards.includes(shardOf(webhookId))

const hasLease = (m: ReferenceStore, node: ReferenceNode, now: number) =>
  node.hasLease && (!m.shared || now < node.untilMs)

const liveNode = (m: ReferenceStore, lease: LeaseRow, now: number) =>
  m.nodes.find((node) => node.owner === lease.owner && node.fence === lease.fence && hasLease(m, node, now))

/** The process ended. A store that is not shared keeps no incoming deliveries then: the next owner loads everything. */
export function reopenReference(m: ReferenceStore): void {
  if (!m.shared) for (const row of m.deliveries) row.isIncoming = false
}

// Leases

function grant(m: ReferenceStore, owner: string, now: number, actual: LeaseResult): unknown {
  for (const node of m.nodes) {
    const isFenced = m.shared ? now >= node.untilMs : node.owner !== owner
    if (node.hasLease && isFenced) endLease(m, node)
  }
  let node = m.nodes.find((node) => node.owner === owner)
  if (!node) {
    node = newNode(owner)
    m.nodes.push(node)
  }
  const isNew = !node.hasLease
  const lastFence = node.fence
  if (isNew) Object.assign(node, newNode(owner))
  const living = m.nodes.filter((candidate) => candidate === node || candidate.hasLease)
  const free = allShards().filter((shard) => !living.some(({ shards }) => shards.includes(shard)))
  const kept = node.shards
  const mayTake = [...kept, ...free]
  const taken = shardsIn(actual.shards)
  const share = Math.ceil(SHARDS / living.length)
  const least = Math.min(mayTake.length, Math.max(kept.length, share))
  const lastPosition = Math.max(0, ...m.deliveries.map(({ position }) => position))
  Object.assign(node, { fence: actual.fence, hasLease: true, untilMs: now + m.leaseMs, shards: taken })
  if (isNew ? actual.fence <= lastFence : actual.fence !== lastFence)
    return `a fence ${isNew ? 'above' : 'of'} ${lastFence}`
  if (actual.position < lastPosition) return `a position from ${lastPosition}`
  if (kept.some((shard) => !taken.includes(shard)) || taken.some((shard) => !mayTake.includes(shard)))
    return `shards ${shardSet(kept)}, with some of ${shardSet(free)}`
  if (taken.length < least) return `at least ${least} shards`
  const leaving = shardsIn(actual.leaving)
  if (leaving.some((shard) => !taken.includes(shard)) || (living.length === 1 && leaving.length > 0))
    return 'other leaving shards'
  return actual
}

const newNode = (owner: string): ReferenceNode => ({
  owner,
  fence: 0,
  hasLease: false,
  untilMs: 0,
  shards: [],
  changes: [],
  mayHaveChanged: 0,
  versions: {},
  starts: {},
})

const allShards = () => Array.from({ length: SHARDS }, (_, shard) => shard)

function endLease(m: ReferenceStore, node: ReferenceNode): void {
  m.left.push(...Object.values(node.starts).flat())
  Object.assign(node, { hasLease: false, starts: {}, shards: [] })
}

/** The owner of the webhook's shard must read the change; others may get a higher version for it. */
function noteChange(m: ReferenceStore, webhookId: string, change: ReferenceNode['changes'][number]): void {
  for (const node of m.nodes) {
    node.mayHaveChanged += 1
    if (owns(node, { webhookId })) node.changes.push(change)
  }
}

/** Notes a version that the store returned. False: it is too low. */
function noteVersion(node: ReferenceNode, version: number): boolean {
  const known = node.versions[version]
  const { changes, mayHaveChanged } = node
  if (known) return known.changes === changes.length
  const isAbove = Object.keys(node.versions).every((before) => Number(before) < version)
  node.versions[version] = { changes: changes.length, mayHaveChanged }
  return isAbove
}

function changes(
  m: ReferenceStore,
  lease: LeaseRow,
  since: number,
  now: number,
  actual: ChangesResult | null,
): unknown {
  const node = liveNode(m, lease, now)
  if (!node) return null
  if (!actual) return 'the changes'
  if (!noteVersion(node, actual.version)) return 'a higher version'
  const known = node.versions[since]
  if (!known) return actual
  const listed = node.changes.slice(known.changes)
  const webhooks = new Set(listed.flatMap((change) => ('webhookId' in change ? change.webhookId : [])))
  const removed = new Set(listed.flatMap((change) => ('deliveryId' in change ? change.deliveryId : [])))
  // Erased deliveries that did not wait any more may be listed too.
  const isStored = (id: string) => m.deliveries.some((row) => row.id === id)
  const isComplete = [...removed].every((id) => actual.removed.includes(id))
  const hasAllRemoved = isComplete && !actual.removed.some(isStored)
  return {
    version: actual.version,
    mustReload: false,
    webhooks: revisionsOf(m, webhooks, actual.webhooks),
    removed: hasAllRemoved ? actual.removed : [...removed].sort(),
  }
}

/** The webhooks, each with its present revision, or a later one if it changed while the store read it. */
function revisionsOf(
  m: ReferenceStore,
  ids: Iterable<string>,
  actual: readonly RevisionRow[],
): readonly RevisionRow[] {
  return [...ids].sort().flatMap((id) => {
    const { revision, deleted } = webhookById(m, id)!
    const read = actual.find((row) => row.id === id)
    if (!read && deleted && m.hasPruned) return []
    return [{ id, revision: Math.max(revision, read?.revision ?? 0) }]
  })
}

// Groups

function commit(m: ReferenceStore, call: GroupCall, actual: GroupResultRow): GroupResultRow {
  const { lease, version, now, isRepeat } = call
  const node = lease && liveNode(m, lease, now)
  if (lease && !node) return 'fenced'
  const known = node?.versions[version]
  if (node && known) {
    if (known.changes < node.changes.length) return 'outdated'
    if (actual === 'outdated' && known.mayHaveChanged < node.mayHaveChanged) return 'outdated'
  }
  const result = typeof actual === 'object' ? actual : undefined
  const accepted = call.accepted.map((candidate, at) =>
    accept(m, candidate, call, node, result?.accepted[at]),
  )
  const ended = call.ended.map((end) => (node && owns(node, end) ? settle(m, end, now, isRepeat) : 'fenced'))
  const starts = call.starting?.deliveries ?? []
  const started = starts.filter((start) => node && owns(node, start) && canStart(m, start))
  if (node && call.starting) node.starts[call.starting.key] = started
  for (const key of call.finished) if (node) delete node.starts[key]
  const notStarted = starts.filter((start) => !started.includes(start)).map(({ id }) => id)
  const raised = result?.version ?? version
  const hasDisabled = ended.includes('settled and disabled') && !isRepeat
  if (node && raised !== version && !noteVersion(node, raised))
    return { accepted, ended, notStarted, version }
  const isRight = hasDisabled ? raised > version : raised === version || isRepeat
  return { accepted, ended, notStarted, version: isRight ? raised : version + (hasDisabled ? 1 : 0) }
}

function accept(
  m: ReferenceStore,
  { events, deliveries }: AcceptanceCall,
  { now, isRepeat, owner, lease }: GroupCall,
  node: ReferenceNode | undefined,
  actual: AcceptanceResultRow | undefined,
): AcceptanceResultRow {
  const findByKey = <E extends EventCall>({ key, id }: EventCall, among: readonly E[]) =>
    among.find((event) => key !== undefined && event.key === key && now < event.untilMs! && event.id !== id)
  const originals = events.map(
    (event, at) => findByKey(event, m.keys) ?? findByKey(event, events.slice(0, at)),
  )
  if (originals.some((original, at) => original && original.hash !== events[at]!.hash)) return 'Conflict'
  const own = events.filter((_, at) => !originals[at])
  const areStored =
    own.length > 0
      ? own.every(({ id }) => m.events[id])
      : events.length === 0 &&
        deliveries.every((delivery) => m.deliveries.some(({ id }) => id === delivery.id))
  const added = deliveries.filter(({ eventId }) => !originals[events.findIndex(({ id }) => id === eventId)])
  let mustHaveGap = isRepeat && own.some(({ id }) => m.events[id]?.hasGap)
  if (!(isRepeat && areStored)) {
    if (own.some(({ id }) => m.events[id])) return 'Conflict'
    if (added.some(({ replayOf, eventId }) => replayOf !== undefined && !m.events[eventId])) return 'NotFound'
    for (const { id, callId, key } of own) {
      const last = m.numbers[callId]
      const hasGap = last !== undefined && lease !== undefined && !last.readBy.includes(owner)
      mustHaveGap ||= hasGap
      const number = (last?.number ?? 0) + 1
      m.numbers[callId] = { number, readBy: lease ? [owner] : [] }
      m.events[id] = { number, callId, hasGap }
      if (key === undefined) continue
      const event = own.find((stored) => stored.id === id)!
      m.keys = [...m.keys.filter((candidate) => candidate.key !== key), { ...event, number }]
    }
    for (const row of added) {
      const number = row.replayOf === undefined ? m.events[row.eventId]!.number : 0
      const isIncoming = !node || !owns(node, row)
      const counts = { attempts: 0, interruptions: 0, failedMs: 0, number, dueMs: 0 }
      m.deliveries.push({ ...row, ...counts, state: 'waiting', acceptedMs: now, isIncoming })
    }
  }
  const results = events.map(({ id }, at) => {
    const original = originals[at]
    const first = original?.id ?? id
    return {
      id: first,
      number: m.events[first]?.number ?? numberOfKey(m, first),
      duplicate: original !== undefined,
    }
  })
  const hasGap = typeof actual === 'object' && actual.mayHaveGap
  return { events: results, mayHaveGap: mustHaveGap || hasGap }
}

const numberOfKey = (m: ReferenceStore, eventId: string) =>
  m.keys.find(({ id }) => id === eventId)?.number ?? 0

function settle(m: ReferenceStore, s: SettlementCall, now: number, isRepeat: boolean): string {
  const row = m.deliveries.find((delivery) => delivery.id === s.id)
  if (isRepeat) {
    const hasRecord = m.records.some(({ id }) => id === s.record)
    const hasEffect = row?.state === s.to && row.attempts === s.attempts
    if (hasRecord || hasEffect) {
      return s.disable &&
        m.disabled[s.webhookId] !== undefined &&
        webhookById(m, s.webhookId)!.epoch === s.epoch + 1
        ? 'settled and disabled'
        : 'settled'
    }
  }
  if (row?.state !== 'waiting' || row.attempts !== s.from) return 'fenced'
  Object.assign(row, {
    state: s.to,
    attempts: s.attempts,
    interruptions: s.interruptions,
    failedMs: s.failedMs ?? 0,
    reason: s.reason,
    dueMs: s.dueMs ?? 0,
  })
  if (s.to !== 'waiting') row.endedMs = now
  if (s.record) {
    m.records.push({ id: s.record, deliveryId: s.id, webhookId: s.webhookId, callId: s.callId, atMs: now })
  }
  const at = m.webhooks.findIndex(({ id }) => id === s.webhookId)
  const { health: before, ...webhook } = m.webhooks[at]!
  if (webhook.epoch !== s.epoch) return 'settled'
  const health = s.health === undefined ? before : (s.health ?? undefined)
  const next: WebhookRow = health === undefined ? webhook : { ...webhook, health }
  const isDisabled = s.disable === true && webhook.enabled
  const { epoch, revision } = webhook
  m.webhooks[at] = isDisabled ? { ...next, enabled: false, epoch: epoch + 1, revision: revision + 1 } : next
  if (!isDisabled) return 'settled'
  m.disabled[webhook.id] = now
  noteChange(m, webhook.id, { webhookId: webhook.id })
  return 'settled and disabled'
}

function canStart(m: ReferenceStore, { id, attempt, epoch }: StartCall): boolean {
  const row = m.deliveries.find((delivery) => delivery.id === id)
  if (row?.state !== 'waiting' || row.attempts !== attempt - 1) return false
  return Math.min(row.epoch, epoch) >= webhookById(m, row.webhookId)!.epoch
}

// What a node builds its queue from

/** The node has read what others accepted before: a store need not report a gap after that, but may. */
function closeGaps(m: ReferenceStore, { owner }: ReferenceNode): void {
  for (const { readBy } of Object.values(m.numbers)) readBy.push(owner)
  for (const [id, event] of Object.entries(m.events)) m.events[id] = { ...event, hasGap: false }
}

function load(
  m: ReferenceStore,
  { lease, now, do: kind }: Extract<StoreCall, { readonly shards: string; readonly lease: LeaseRow }>,
  actual: LoadResult | null,
): unknown {
  const node = liveNode(m, lease, now)
  if (!node) return null
  if (!actual || !noteVersion(node, actual.version)) return 'a higher version'
  if (kind === 'load') closeGaps(m, node)
  const interrupted = m.left.filter((start) => owns(node, start) && isInterrupted(m, start))
  return {
    ...waitingOf(
      m,
      m.deliveries.filter((row) => owns(node, row)),
      actual,
    ),
    interrupted: [...new Set(interrupted.map(({ id, attempt }) => `${id} attempt ${attempt}`))].sort(),
  }
}

const isInterrupted = (m: ReferenceStore, { id, attempt }: StartCall) =>
  m.deliveries.some((row) => row.id === id && row.state === 'waiting' && row.attempts === attempt - 1)

function poll(m: ReferenceStore, lease: LeaseRow, now: number, actual: LoadResult | null): unknown {
  const node = liveNode(m, lease, now)
  if (!node) return null
  if (!actual || !noteVersion(node, actual.version)) return 'a higher version'
  closeGaps(m, node)
  const incoming = m.deliveries.filter((row) => row.isIncoming && owns(node, row))
  for (const row of incoming) row.isIncoming = false
  return { ...waitingOf(m, incoming, actual), interrupted: [] }
}

function waitingOf(m: ReferenceStore, rows: readonly ReferenceDelivery[], actual: LoadResult) {
  const lanes: Record<string, WaitingRow[]> = {}
  for (const row of rows.filter(({ state }) => state === 'waiting').sort(compareInLane)) {
    const { id, number, dueMs, epoch, attempts, interruptions, failedMs } = row
    const lane = `${row.webhookId} ${row.lane}`
    lanes[lane] ??= []
    lanes[lane].push({ id, number, dueMs, epoch, attempts, interruptions, failedMs })
  }
  const ids = new Set(Object.keys(lanes).map((lane) => lane.split(' ')[0]!))
  return { version: actual.version, lanes, webhooks: revisionsOf(m, ids, actual.webhooks) }
}

/** By number; deliveries without one, which are replays, come first. */
const compareInLane = (a: ReferenceDelivery, b: ReferenceDelivery) =>
  a.number - b.number || a.position - b.position

/** Whether a store that one process uses has left the numbers of deliveries ahead to the queue of this process. */
const leavesAheadToQueue = (actual: unknown) =>
  Array.isArray(actual) && actual.every(({ ahead }: { readonly ahead: number }) => ahead === 0)

function readDelivery(m: ReferenceStore, row: ReferenceDelivery, leavesAhead: boolean) {
  const { id, attempts, state, reason, webhookId, lane, originalPosition } = row
  const common = { id, attempts, originalPosition, replays: replaysOf(m, row) }
  if (isStale(m, row)) return { ...common, state: 'cancelled', reason: 'cancelled', ahead: 0 }
  if (state !== 'waiting') return { ...common, state, reason, ahead: 0 }
  const ofLane = m.deliveries.filter((delivery) => delivery.webhookId === webhookId && delivery.lane === lane)
  const isAhead = (delivery: ReferenceDelivery) =>
    delivery.state === 'waiting' && !isStale(m, delivery) && compareInLane(delivery, row) < 0
  const ahead = leavesAhead ? 0 : ofLane.filter(isAhead).length
  const dueMs = ahead > 0 ? undefined : row.dueMs || row.acceptedMs
  return { ...common, state, reason, dueMs, ahead }
}

/** The mark that the replays of a delivery make. */
function replaysOf(
  m: ReferenceStore,
  { webhookId, position }: ReferenceDelivery,
): DeliveryReplays | undefined {
  const replays = m.deliveries.filter(
    (row) => row.webhookId === webhookId && row.originalPosition === position,
  )
  const last = replays.sort((a, b) => a.position - b.position).at(-1)
  const isRecovery = (row: ReferenceDelivery) =>
    row.state === 'delivered' || (row.state === 'waiting' && !isStale(m, row))
  return last && { lastId: last.id, lastAcceptedMs: last.acceptedMs, hasRecovered: replays.some(isRecovery) }
}

/** Webhooks, attempt records and removal. */
function expectedRows(m: ReferenceStore, call: StoreCall): unknown {
  const { now } = call
  switch (call.do) {
    case 'insert':
      if (webhookById(m, call.webhook.id)) return 'Conflict'
      m.webhooks.push(call.webhook)
      return null
    case 'read': {
      const webhook = webhookById(m, call.id)
      return call.accountId !== 'account' || !webhook || webhook.deleted ? null : webhook
    }
    case 'list': {
      const live = m.webhooks.filter(({ deleted }) => !deleted)
      return live.sort((a, b) => (`${a.name} ${a.id}` < `${b.name} ${b.id}` ? -1 : 1)).map(({ id }) => id)
    }
    case 'attempts':
      return m.records.map(({ id }) => id)
    case 'prune':
      m.hasPruned = true
      for (const { id } of m.webhooks) pruneDelivered(m, id, call.keep)
      for (const { id, endedMs = now } of [...m.deliveries])
        if (endedMs < call.beforeMs) removeDelivery(m, id)
      m.records = m.records.filter(
        ({ deliveryId, atMs }) =>
          atMs >= call.beforeMs ||
          m.deliveries.some(({ id, state }) => id === deliveryId && state === 'waiting'),
      )
      return null
    case 'erase':
      for (const node of m.nodes) node.mayHaveChanged += 1
      for (const { id, webhookId, callId, state } of m.deliveries)
        if (callId === call.callId && state === 'waiting') noteChange(m, webhookId, { deliveryId: id })
      for (const [id, { callId }] of Object.entries(m.events)) if (callId === call.callId) delete m.events[id]
      m.deliveries = m.deliveries.filter(({ callId }) => callId !== call.callId)
      m.records = m.records.filter(({ callId }) => callId !== call.callId)
      m.keys = m.keys.filter(({ callId }) => callId !== call.callId)
      delete m.numbers[call.callId]
      return null
    default:
      throw new Error(`the reference does not implement '${call.do}'`)
  }
}

function removeDelivery(m: ReferenceStore, deliveryId: string): void {
  m.deliveries = m.deliveries.filter(({ id }) => id !== deliveryId)
  m.records = m.records.filter((record) => record.deliveryId !== deliveryId)
}

/** Removes the oldest originals that were delivered, with their attempts, while those have too many. */
function pruneDelivered(m: ReferenceStore, webhookId: string, keep: number): void {
  const originals = m.deliveries.filter(
    (row) => row.webhookId === webhookId && row.state === 'delivered' && row.replayOf === undefined,
  )
  const attemptsOf = (id: string) => m.records.filter(({ deliveryId }) => deliveryId === id).length
  for (const { id } of originals.sort((a, b) => a.position - b.position)) {
    const attempts = originals.reduce((sum, row) => sum + attemptsOf(row.id), 0)
    if (attempts > keep && attemptsOf(id) > 0) removeDelivery(m, id)
  }
}
