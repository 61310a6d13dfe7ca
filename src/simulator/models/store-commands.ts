/**
 * The commands of the store model. A command is drawn as numbers; it chooses the rows it concerns when it runs, from
 * what the client has by then.
 */

import type * as FastCheck from 'fast-check'
import type { Fc } from './check.js'
import type {
  AcceptanceCall,
  DeliveryCall,
  EventCall,
  GroupCall,
  HealthRow,
  SettlementCall,
  StartCall,
  StoreCall,
} from './store-calls.js'
import { type ClientNode, endNode, type KnownDelivery, leaseOf, type StoreClient } from './store-client.js'

export interface StoreCommand {
  readonly name: string
  /** The steps of this command now; none if it has nothing to act on. */
  steps(client: StoreClient): readonly StoreStep[]
}

/** A call, time passing, a restart of the process on the same data, or what follows from the results before. */
export type StoreStep =
  | StoreCall
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'reopen' }
  | ((client: StoreClient) => readonly StoreStep[])

type WeightedCommand = FastCheck.WeightedArbitrary<StoreCommand>

const CALLS = ['x', 'y', 'z']
const ENDS = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const
/** Window of idempotency keys: long enough for a key to recur, short enough to end. */
const KEY_MS = 50

const pick = <T>(list: readonly T[], number: number): T[] =>
  list.length === 0 ? [] : [list[number % list.length]!]

const pickAll = <T>(list: readonly T[], numbers: readonly number[]): T[] => [
  ...new Set(numbers.flatMap((number) => pick(list, number))),
]

/** True once in `of` draws. */
const rarely = (fc: Fc, of: number) => fc.integer({ min: 1, max: of }).map((number) => number === of)

/** What the parts of a group are drawn as. */
interface DrawnGroup {
  node: number
  by: 'node' | 'former' | 'none'
  accepted: DrawnAccept[]
  ended: DrawnEnds | null
  starts: number[]
  finishes: boolean
}

interface DrawnAccept {
  calls: number[]
  webhooks: number[]
  key: number | null
  hash: string
  /** Repeats a delivery instead. */
  replay: number | null
}

interface DrawnEnds {
  deliveries: number[]
  end: number | null
  dueInMs: number
  interruptions: number
  /** Time since the first failure. */
  failedForMs: number | null
  health: { failures: number; pauseMs: number; openings: number } | null
  clearsHealth: boolean
  disable: boolean
  isUnsent: boolean
  isRecorded: boolean
  again: boolean
}

function groupParts(fc: Fc) {
  const accept = fc.record<DrawnAccept>({
    calls: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
    webhooks: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
    key: fc.option(fc.nat(2), { freq: 2 }),
    hash: fc.constantFrom('h', 'h', 'h', 'other'),
    replay: fc.option(fc.nat(9), { freq: 7 }),
  })
  const end = fc.record<DrawnEnds>({
    deliveries: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }),
    end: fc.option(fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4), { freq: 2 }),
    dueInMs: fc.nat(15),
    interruptions: fc.nat(2),
    failedForMs: fc.option(fc.nat(9), { freq: 2 }),
    health: fc.option(
      fc.record({ failures: fc.integer({ min: 1, max: 3 }), pauseMs: fc.nat(20), openings: fc.nat(1) }),
    ),
    clearsHealth: fc.boolean(),
    disable: rarely(fc, 10),
    isUnsent: rarely(fc, 6),
    isRecorded: fc.constantFrom(true, true, true, false),
    again: rarely(fc, 6),
  })
  const starts = fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 })
  const base = {
    node: fc.nat(1),
    by: fc.constantFrom<DrawnGroup['by']>('node', 'node', 'node', 'node', 'node', 'node', 'former', 'none'),
    accepted: fc.constant<DrawnAccept[]>([]),
    ended: fc.constant<DrawnEnds | null>(null),
    starts: fc.constant<number[]>([]),
    finishes: fc.constant(false),
  }
  return {
    accepting: fc.record<DrawnGroup>({ ...base, accepted: fc.tuple(accept) }),
    ending: fc.record<DrawnGroup>({ ...base, ended: end, finishes: fc.boolean() }),
    starting: fc.record<DrawnGroup>({ ...base, starts }),
    mixed: fc.record<DrawnGroup>({
      ...base,
      accepted: fc.array(accept, { maxLength: 2 }),
      ended: fc.option(end, { freq: 2 }),
      starts: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
      finishes: fc.boolean(),
    }),
  }
}

// Commands of one call each, which may run concurrently

export function queueCommands(fc: Fc): WeightedCommand[] {
  const command = <T extends object>(
    weight: number,
    name: string,
    fields: { [K in keyof T]: FastCheck.Arbitrary<T[K]> },
    steps: (client: StoreClient, fields: T) => readonly StoreStep[],
  ) => ({
    weight,
    arbitrary: fc
      .record<T>(fields)
      .map((drawn): StoreCommand => ({ name, steps: (client) => steps(client, drawn as T) })),
  })
  const group = (weight: number, name: string, drawn: FastCheck.Arbitrary<DrawnGroup>) => ({
    weight,
    arbitrary: drawn.map(
      (parts): StoreCommand => ({ name, steps: (client) => commitSteps(client, parts).steps }),
    ),
  })
  const parts = groupParts(fc)
  return [
    group(6, 'accept', parts.accepting),
    group(6, 'end', parts.ending),
    group(3, 'start', parts.starting),
    group(5, 'a group', parts.mixed),
    command<{ which: number; to: string; isLate: boolean }>(
      3,
      'change a webhook',
      {
        which: fc.nat(2),
        to: fc.constantFrom('disabled', 'enabled', 'renamed', 'moved', 'deleted'),
        isLate: rarely(fc, 6),
      },
      (client, { which, to, isLate }) => editSteps(client, which, to, isLate),
    ),
    command<{ which: number; byStranger: boolean }>(
      2,
      'read a webhook',
      { which: fc.nat(2), byStranger: rarely(fc, 4) },
      ({ webhooks, now }, { which, byStranger }) =>
        pick(webhooks, which).map(({ id }) => ({
          do: 'read',
          now,
          id,
          accountId: byStranger ? 'stranger' : 'account',
        })),
    ),
    {
      weight: 1,
      arbitrary: fc.constant<StoreCommand>({
        name: 'list webhooks',
        steps: ({ now }) => [{ do: 'list', now }],
      }),
    },
    command<{ node: number }>(2, 'read changes', { node: fc.nat(1) }, (client, { node }) =>
      freeNode(client, node).map((free) => changesOf(client, free)),
    ),
    command<{ node: number }>(2, 'poll', { node: fc.nat(1) }, (client, { node }) =>
      freeNode(client, node).map((free) => ({ do: 'poll', now: client.now, lease: leaseOf(free) })),
    ),
    command<{ node: number }>(1, 'load', { node: fc.nat(1) }, (client, { node }) =>
      freeNode(client, node).map((free) => loadOf(client, free)),
    ),
    command<{ which: number[] }>(
      1,
      'read bodies',
      { which: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 3 }) },
      ({ now, deliveries }, { which }) => {
        const ids = pickAll([...deliveries.keys()], which)
        return ids.length === 0 ? [] : [{ do: 'bodies', now, ids }]
      },
    ),
    command<{ ms: number }>(5, 'time passes', { ms: fc.integer({ min: 1, max: 30 }) }, (_, { ms }) => [
      { do: 'advance', ms },
    ]),
    command<{ create: boolean }>(
      1,
      'create a webhook',
      { create: fc.constant(true) },
      ({ webhooks, now, newId }) =>
        webhooks.length >= 3 ? [] : [{ do: 'insert', now, webhook: newWebhookRow(newId('w'), 'call') }],
    ),
  ]
}

export const newWebhookRow = (id: string, ordering: 'call' | 'none') => ({
  id,
  name: `name of ${id}`,
  uri: `https://${id}.example.com/`,
  ordering,
  enabled: true,
  revision: 1,
  epoch: 1,
})

const freeNode = ({ nodes }: StoreClient, number: number): ClientNode[] =>
  pick(nodes, number).filter(({ isBusy }) => !isBusy)

const loadOf = ({ now }: StoreClient, node: ClientNode) =>
  ({ do: 'load', now, lease: leaseOf(node), shards: node.shards }) as const

const changesOf = ({ now }: StoreClient, node: ClientNode): StoreCall => ({
  do: 'changes',
  now,
  lease: leaseOf(node),
  since: node.version,
})

function editSteps(client: StoreClient, which: number, to: string, isLate: boolean): StoreCall[] {
  const { webhooks, now, newId } = client
  return pick(
    webhooks.filter(({ deleted }) => !deleted),
    which,
  ).map(({ health: _, ...webhook }): StoreCall => {
    const enabled = to === 'disabled' ? false : to === 'enabled' || webhook.enabled
    const cancels = (webhook.enabled && !enabled) || to === 'deleted'
    const next = {
      ...webhook,
      enabled,
      ...(to === 'renamed' && { name: newId('name ') }),
      ...(to === 'moved' && { uri: `https://${newId('host')}.example.com/` }),
      ...(to === 'deleted' && { deleted: true }),
      revision: webhook.revision + 1,
      epoch: webhook.epoch + (cancels ? 1 : 0),
    }
    return { do: 'replace', now, webhook: next, revision: webhook.revision - (isLate ? 1 : 0) }
  })
}

/** A group, after the changes that its node has to read first. */
function commitSteps(
  client: StoreClient,
  drawn: DrawnGroup,
): { readonly steps: readonly StoreStep[]; readonly group?: GroupCall } {
  const former = drawn.by === 'former' ? client.formerNodes.at(-1) : undefined
  const node = former ?? pick(client.nodes, drawn.node)[0]
  if (!node || node.isBusy) return { steps: [] }
  const { now } = client
  // In order: a start may concern a delivery that the group accepts.
  const accepted = drawn.accepted.flatMap((result) => acceptanceOf(client, node, result))
  const hasLease = drawn.by !== 'none'
  const ended = hasLease && drawn.ended ? settlementsOf(client, drawn.ended) : []
  const starts = hasLease ? startsOf(client, drawn.starts, accepted, ended) : []
  if (accepted.length + ended.length + starts.length === 0) return { steps: [] }
  if (starts.length > 0) node.lastKey += 1
  const group: GroupCall = {
    do: 'commit',
    now,
    owner: node.owner,
    ...(hasLease && { lease: leaseOf(node) }),
    version: node.version,
    accepted,
    ended,
    ...(starts.length > 0 && { starting: { key: node.lastKey, deliveries: starts } }),
    finished: hasLease && drawn.finishes ? node.startKeys.slice(0, 1) : [],
    isRepeat: false,
  }
  if (!node.isOutdated) return { steps: [group], group }
  return { steps: [changesOf(client, node), () => [{ ...group, version: node.version }]], group }
}

function acceptanceOf(client: StoreClient, node: ClientNode, drawn: DrawnAccept): AcceptanceCall[] {
  const { now, newId } = client
  const { key, hash, replay } = drawn
  if (replay !== null) return client.pruned ? [] : replayOf(client, node, replay)
  const existing = client.webhooks.filter(({ deleted }) => !(deleted && client.pruned))
  const webhooks = drawn.webhooks.flatMap((number) => existing.slice(number, number + 1))
  const events = drawn.calls.map(
    (call): EventCall => ({
      id: newId('e'),
      position: node.positions.next(now),
      callId: CALLS[call]!,
      ...(key !== null && { key: `k${key}`, hash, untilMs: now + KEY_MS }),
    }),
  )
  const deliveries = events.flatMap(({ id: eventId, callId, position }) =>
    webhooks.map(({ id: webhookId, ordering, deleted, ...webhook }): DeliveryCall => {
      const id = newId('d')
      // As if the event had matched before the webhook was deleted.
      const epoch = webhook.epoch - (deleted ? 1 : 0)
      return {
        id,
        position,
        eventId,
        callId,
        webhookId,
        epoch,
        lane: ordering === 'none' ? `-/${id}` : `account/${callId}`,
      }
    }),
  )
  return deliveries.length === 0 ? [] : [{ events, deliveries }]
}

function replayOf(client: StoreClient, node: ClientNode, which: number): AcceptanceCall[] {
  return pick([...client.deliveries.values()], which).map((delivery) => {
    const { eventId, callId, webhookId, epoch } = delivery
    const { replayOf = delivery.id, originalPosition = delivery.position } = delivery
    const id = client.newId('d')
    const position = node.positions.next(client.now)
    const row = {
      id,
      position,
      eventId,
      callId,
      webhookId,
      epoch,
      lane: `replay/${id}`,
      replayOf,
      originalPosition,
    }
    return { events: [], deliveries: [row] }
  })
}

function settlementsOf(client: StoreClient, drawn: DrawnEnds): SettlementCall[] {
  const { now, newId, settled, deliveries } = client
  const { end, dueInMs, interruptions, failedForMs, health, clearsHealth, disable, isUnsent, isRecorded } =
    drawn
  // `again` sends a settlement of the past once more.
  if (drawn.again) return pickAll(settled, drawn.deliveries).filter(isFirstOfItsDelivery)
  const chosen = pickAll(
    [...deliveries.values()].filter(({ hasEnded }) => !hasEnded),
    drawn.deliveries,
  )
  const newHealth: HealthRow | null = health && {
    failuresInRow: health.failures,
    ...(health.pauseMs > 9 && { pausedUntilMs: now + health.pauseMs }),
    ...(health.openings > 0 && { openings: health.openings }),
  }
  return chosen.map(({ id, webhookId, callId, position, epoch, attempts }): SettlementCall => {
    const next = end === null ? { to: 'waiting' as const, dueMs: now + dueInMs } : { to: ENDS[end]! }
    return {
      id,
      webhookId,
      callId,
      position,
      from: attempts,
      ...next,
      attempts: attempts + (isUnsent && end !== null ? 0 : 1),
      interruptions,
      ...(failedForMs !== null && { failedMs: now - failedForMs }),
      reason: 'because',
      // What waits again has had an attempt, which has a record.
      ...((isRecorded || end === null) && { record: newId('a') }),
      epoch,
      ...((newHealth || clearsHealth) && { health: newHealth }),
      ...(disable && { disable }),
    }
  })
}

const isFirstOfItsDelivery = ({ id }: SettlementCall, at: number, all: readonly SettlementCall[]) =>
  all.findIndex((item) => item.id === id) === at

function startsOf(
  { deliveries }: StoreClient,
  drawn: readonly number[],
  accepted: readonly AcceptanceCall[],
  ended: readonly SettlementCall[],
): StartCall[] {
  const known = [...deliveries.values()].filter(({ hasEnded }) => !hasEnded)
  const added = accepted.flatMap((acceptance) =>
    acceptance.deliveries.map((delivery): KnownDelivery => ({ ...delivery, attempts: 0, hasEnded: false })),
  )
  return pickAll([...added, ...known], drawn).map(({ id, webhookId, position, epoch, attempts }) => {
    const settled = ended.find((settlement) => settlement.id === id)
    return { id, webhookId, position, epoch, attempt: (settled?.attempts ?? attempts) + 1 }
  })
}

// Commands that need the store exclusively: several calls, time, crashes, other nodes

export function exclusiveCommands(fc: Fc, durable: boolean): WeightedCommand[] {
  const fixed = (weight: number, name: string, steps: StoreCommand['steps']) => ({
    weight,
    arbitrary: fc.constant<StoreCommand>({ name, steps }),
  })
  const drawn = <T>(
    weight: number,
    name: string,
    arbitrary: FastCheck.Arbitrary<T>,
    steps: (client: StoreClient, value: T) => readonly StoreStep[],
  ) => ({
    weight,
    arbitrary: arbitrary.map((value): StoreCommand => ({ name, steps: (client) => steps(client, value) })),
  })
  const { mixed } = groupParts(fc)
  return [
    drawn(1, 'a long time passes', fc.integer({ min: 40, max: 90 }), (_, ms) => [{ do: 'advance', ms }]),
    drawn(2, 'another node takes over', fc.boolean(), (client, completes) => takeOver(client, completes)),
    drawn(1, 'a lease ends and is granted again', fc.boolean(), (client, completes) => {
      const [node] = client.nodes
      const { shared, leaseMs, now } = client
      if (!node) return []
      if (!shared) return [{ do: 'own', owner: node.owner, now }, ...loadSteps(node.owner, completes)]
      return [
        ...client.nodes.map(({ owner }) => ({ do: 'renew' as const, owner, now })),
        { do: 'advance', ms: leaseMs },
        (later) => later.nodes.slice(1).flatMap(({ owner }) => end(later, owner)),
        (later) => [{ do: 'renew', owner: node.owner, now: later.now }],
        ...loadSteps(node.owner, completes),
      ]
    }),
    drawn(2, 'a lease ends', fc.tuple(mixed, fc.boolean()), (client, [group, isEarly]) => {
      const [node] = client.nodes
      if (!client.shared || !node) return []
      return [
        ...client.nodes.map(({ owner }) => ({ do: 'renew' as const, owner, now: client.now })),
        { do: 'advance', ms: client.leaseMs - (isEarly ? 1 : 0) },
        (later) => commitSteps(later, { ...group, node: 0, by: 'node' }).steps,
        (later) => [{ do: 'poll', now: later.now, lease: leaseOf(node) }],
        { do: 'advance', ms: 1 },
        ...ownAlone(client.newId('node '), true),
      ]
    }),
    drawn(1, 'renew', fc.nat(1), ({ nodes, now }, which) =>
      pick(nodes, which).map(({ owner }) => ({ do: 'renew', owner, now })),
    ),
    fixed(1, 'release and own', (client) =>
      pick(client.nodes, 0).flatMap(({ owner }): StoreStep[] => [
        { do: 'release', owner, now: client.now },
        { do: 'own', owner, now: client.now },
        ...loadSteps(owner, false),
      ]),
    ),
    fixed(2, 'another node joins', join),
    fixed(1, 'a node leaves', (client) =>
      client.nodes.length < 2
        ? []
        : [
            ...pick(client.nodes, 0).map(({ owner }) => ({ do: 'release' as const, owner, now: client.now })),
            (later) => end(later, later.nodes[0]!.owner),
            (later) => later.nodes.map(({ owner }) => ({ do: 'renew', owner, now: later.now })),
            (later) => later.nodes.flatMap(({ owner }) => loadSteps(owner, false)),
          ],
    ),
    ...(durable
      ? [
          fixed(1, 'restart', (client): StoreStep[] => {
            const owner = client.newId('node ')
            return [
              ...client.nodes.map((node) => ({ do: 'release' as const, owner: node.owner, now: client.now })),
              { do: 'reopen' },
              endAll,
              { do: 'own', owner, now: client.now },
              ...loadSteps(owner, true),
            ]
          }),
          drawn(1, 'crash', fc.boolean(), (client, completes): StoreStep[] => [
            { do: 'reopen' },
            ...takeOver(client, completes),
          ]),
        ]
      : []),
    drawn(
      3,
      'a group whose answer is lost',
      fc.tuple(mixed, fc.constantFrom('nothing', 'an edit', 'time', 'a lease'), fc.nat(2)),
      (client, [group, between, which]) => repeatSteps(client, { ...group, by: 'node' }, between, which),
    ),
    drawn(
      2,
      'prune',
      fc.tuple(fc.nat(3), fc.oneof(fc.nat(60), fc.constant(1_000_000))),
      ({ now }, [keep, ageMs]) => [{ do: 'prune', now, keep, beforeMs: now - ageMs }],
    ),
    drawn(1, 'erase', fc.constantFrom('x', 'y', 'z'), ({ now }, callId) => [{ do: 'erase', now, callId }]),
  ]
}

/** What a node does after it got shards. */
export function loadSteps(owner: string, completes: boolean): StoreStep[] {
  const load = (client: StoreClient) => loadOf(client, client.nodes.find((node) => node.owner === owner)!)
  return [
    (client) => [load(client)],
    (client) => (completes ? [{ ...load(client), do: 'complete the takeover' }] : []),
  ]
}

const end = (client: StoreClient, owner: string): StoreStep[] => {
  endNode(client, owner)
  return []
}
const endAll = (client: StoreClient): StoreStep[] =>
  [...client.nodes].flatMap(({ owner }) => end(client, owner))

/** A node takes all shards, because the others have ended. */
function ownAlone(owner: string, completes: boolean): readonly StoreStep[] {
  return [endAll, (client) => [{ do: 'own', owner, now: client.now }], ...loadSteps(owner, completes)]
}

/** Another node owns the shards; in a shared store only when the leases of the former ones have expired. */
function takeOver(client: StoreClient, completes: boolean): readonly StoreStep[] {
  const { shared, leaseMs, now, nodes, newId } = client
  const owner = newId('node ')
  if (!shared) return ownAlone(owner, completes)
  return [
    ...nodes.map((node) => ({ do: 'renew' as const, owner: node.owner, now })),
    { do: 'advance', ms: leaseMs - 1 },
    (later) => [{ do: 'own too early', owner: newId('early node '), now: later.now }],
    { do: 'advance', ms: 1 },
    ...ownAlone(owner, completes),
  ]
}

/** Another node gets its share, which the first one gives up. */
export function join(client: StoreClient): readonly StoreStep[] {
  if (!client.shared || client.nodes.length !== 1) return []
  const [first] = client.nodes
  const owner = client.newId('node ')
  return [
    { do: 'own', owner, now: client.now },
    (later) => [{ do: 'renew', owner: first!.owner, now: later.now }],
    (later) =>
      first!.leaving === ''
        ? []
        : [{ do: 'hand over', now: later.now, lease: leaseOf(first!), shards: first!.leaving }],
    (later) => [{ do: 'renew', owner, now: later.now }],
    ...loadSteps(owner, false),
  ]
}

/** Commits a group twice, as if the first answer had been lost, with something else in between. */
function repeatSteps(
  client: StoreClient,
  drawn: DrawnGroup,
  between: string,
  which: number,
): readonly StoreStep[] {
  const { steps, group } = commitSteps(client, drawn)
  const node = group && client.nodes.find(({ owner }) => owner === group.owner)
  if (!group || !node) return []
  const again = (later: StoreClient): StoreStep[] => [
    changesOf(later, node),
    () => [{ ...group, lease: leaseOf(node), version: node.version, isRepeat: true }],
  ]
  if (between === 'nothing') return [...steps, () => [{ ...group, version: node.version, isRepeat: true }]]
  if (between === 'time') return [...steps, { do: 'advance', ms: 20 }, again]
  if (between === 'an edit') return [...steps, (later) => editSteps(later, which, 'disabled', false), again]
  // The events alone are left when the lease was lost in between.
  const { starting: _starting, ...rest } = group
  return [
    ...steps,
    { do: 'release', owner: node.owner, now: client.now },
    { do: 'own', owner: node.owner, now: client.now },
    ...loadSteps(node.owner, true),
    () => [{ ...rest, lease: leaseOf(node), version: node.version, ended: [], finished: [], isRepeat: true }],
  ]
}
