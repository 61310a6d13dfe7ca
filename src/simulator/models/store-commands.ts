/**
 * The commands of the store model. A command is drawn as numbers; it chooses the rows it concerns when it runs, from
 * what the client has by then.
 */

import type * as FastCheck from 'fast-check'
import type { Fc } from './check.js'
import type { DeliveryCall, EventCall, HealthRow, SettlementCall, StoreCall } from './store-calls.js'
import type { StoreClient } from './store-client.js'

export interface StoreCommand {
  readonly name: string
  /** The steps of this command now; none if it has nothing to act on. */
  steps(client: StoreClient): readonly StoreStep[]
}

/** A call, time passing, or a restart of the process on the same data. */
export type StoreStep =
  | StoreCall
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'reopen' }

type WeightedCommand = FastCheck.WeightedArbitrary<StoreCommand>

const CALLS = ['x', 'y', 'z']
const ENDS = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const
/** Window of idempotency keys: long enough for a key to recur, short enough to end. */
const KEY_MS = 50

const pick = <T>(list: readonly T[], number: number): T[] =>
  list.length === 0 ? [] : [list[number % list.length]!]

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
  return [
    command<DrawnAccept>(
      7,
      'accept',
      {
        calls: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
        webhooks: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
        key: fc.option(fc.nat(2), { freq: 2 }),
        hash: fc.constantFrom('h', 'h', 'h', 'other'),
        lane: fc.constantFrom('call', 'call', 'shared'),
        maxPending: fc.constantFrom(1_000, 1_000, 9),
      },
      acceptCalls,
    ),
    command<{
      webhooks: number[]
      slots: number
      limit: number
      retriesFirst: boolean
      byFormerOwner: boolean
    }>(
      7,
      'claim',
      {
        webhooks: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
        slots: fc.integer({ min: 1, max: 4 }),
        limit: fc.integer({ min: 1, max: 6 }),
        retriesFirst: fc.boolean(),
        byFormerOwner: fc.integer({ min: 0, max: 11 }).map((number) => number === 11),
      },
      ({ webhooks, now, owner, formerOwners }, drawn) => {
        // Each webhook once: the contract does not define a webhook named twice.
        const named = [...new Set(drawn.webhooks.flatMap((number) => pick(webhooks, number)))]
        const { slots, limit, retriesFirst } = drawn
        const endpoints = named.map(({ id }) => ({ webhookId: id, slots, retriesFirst }))
        const claimant = drawn.byFormerOwner ? (formerOwners.at(-1) ?? 'a stranger') : owner
        return endpoints.length === 0 ? [] : [{ do: 'claim', now, owner: claimant, endpoints, limit }]
      },
    ),
    command<DrawnSettle>(
      9,
      'settle',
      {
        claims: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }),
        end: fc.option(fc.nat(4), { freq: 2 }),
        dueInMs: fc.nat(15),
        health: fc.option(
          fc.record({ failures: fc.integer({ min: 1, max: 3 }), pauseMs: fc.nat(20), openings: fc.nat(1) }),
        ),
        clearsHealth: fc.boolean(),
        disable: fc.integer({ min: 0, max: 9 }).map((number) => number === 9),
        by: fc.constantFrom('owner', 'owner', 'owner', 'owner', 'owner', 'owner', 'former'),
        again: fc.integer({ min: 0, max: 5 }).map((number) => number === 5),
      },
      settleCalls,
    ),
    command<{ which: number; to: string; isLate: boolean }>(
      3,
      'change a webhook',
      {
        which: fc.nat(2),
        to: fc.constantFrom('disabled', 'enabled', 'renamed', 'moved', 'deleted'),
        isLate: fc.integer({ min: 0, max: 5 }).map((number) => number === 5),
      },
      ({ webhooks, now, newId }, { which, to, isLate }) =>
        pick(
          webhooks.filter(({ deleted }) => !deleted),
          which,
        ).flatMap(({ health: _, ...webhook }): StoreCall[] => {
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
          return [{ do: 'replace', now, webhook: next, revision: webhook.revision - (isLate ? 1 : 0) }]
        }),
    ),
    command<{ which: number; byStranger: boolean }>(
      2,
      'read a webhook',
      { which: fc.nat(2), byStranger: fc.integer({ min: 0, max: 3 }).map((number) => number === 3) },
      ({ webhooks, now }, { which, byStranger }) =>
        pick(webhooks, which).map(({ id }) => ({
          do: 'read',
          now,
          id,
          accountId: byStranger ? 'stranger' : 'account',
        })),
    ),
    command<{ query: 'pending' | 'list' | 'ready' | 'stale' | 'orphans' }>(
      2,
      'query',
      { query: fc.constantFrom('pending', 'list', 'ready', 'stale', 'orphans') },
      ({ now, owner }, { query }) => [{ do: query, now, owner }],
    ),
    command<{ size: number }>(
      2,
      'read the next page',
      { size: fc.integer({ min: 1, max: 3 }) },
      ({ now, lastRead }, { size }) => [{ do: 'page', now, size, last: lastRead }],
    ),
    command<{ ms: number }>(6, 'time passes', { ms: fc.integer({ min: 1, max: 30 }) }, (_, { ms }) => [
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

interface DrawnAccept {
  calls: number[]
  webhooks: number[]
  key: number | null
  hash: string
  lane: string
  maxPending: number
}

function acceptCalls(client: StoreClient, drawn: DrawnAccept): readonly StoreCall[] {
  const { now, newId } = client
  const { key, hash, lane, maxPending } = drawn
  const existing = client.webhooks.filter(({ deleted }) => !(deleted && client.pruned))
  const webhooks = drawn.webhooks.flatMap((number) => existing.slice(number, number + 1))
  const events = drawn.calls.map(
    (call): EventCall => ({
      id: newId('e'),
      callId: CALLS[call]!,
      ...(key !== null && { key: `k${key}`, hash, untilMs: now + KEY_MS }),
    }),
  )
  const deliveries = events.flatMap(({ id: eventId, callId }) =>
    webhooks.map(({ id: webhookId, ordering, deleted, ...webhook }): DeliveryCall => {
      const id = newId('d')
      // As if the event had matched before the webhook was deleted.
      const epoch = webhook.epoch - (deleted ? 1 : 0)
      const ordered = lane === 'shared' ? lane : callId
      return { id, eventId, callId, webhookId, epoch, lane: ordering === 'none' ? id : ordered }
    }),
  )
  return deliveries.length === 0 ? [] : [{ do: 'accept', now, events, deliveries, maxPending }]
}

interface DrawnSettle {
  claims: number[]
  end: number | null
  dueInMs: number
  health: { failures: number; pauseMs: number; openings: number } | null
  clearsHealth: boolean
  disable: boolean
  by: string
  again: boolean
}

function settleCalls(client: StoreClient, drawn: DrawnSettle): readonly StoreCall[] {
  const { now, newId } = client
  const { end, dueInMs, health, clearsHealth, disable, by } = drawn
  // `again` settles a settled claim once more, preferably one whose delivery was claimed again since.
  const reclaimed = client.settled.filter(({ id }) => client.held.some((claim) => claim.id === id))
  const from = drawn.again ? (reclaimed.length > 0 ? reclaimed : client.settled) : client.held
  const claims = [...new Set(drawn.claims.flatMap((number) => pick(from, number)))]
  const newHealth: HealthRow | null = health && {
    failuresInRow: health.failures,
    ...(health.pauseMs > 9 && { pausedUntilMs: now + health.pauseMs }),
    ...(health.openings > 0 && { openings: health.openings }),
  }
  const settlements = claims.map(({ id, webhookId, callId, epoch, fence, attempts }): SettlementCall => {
    const next = end === null ? { to: 'waiting' as const, dueMs: now + dueInMs } : { to: ENDS[end]! }
    return {
      id,
      webhookId,
      callId,
      from: 'in_flight',
      fence,
      ...next,
      attempts: attempts + 1,
      reason: 'because',
      record: newId('a'),
      epoch,
      ...((newHealth || clearsHealth) && { health: newHealth }),
      ...(disable && { disable }),
    }
  })
  const owner = by === 'former' ? (client.formerOwners.at(-1) ?? 'a stranger') : client.owner
  return settlements.length === 0 ? [] : [{ do: 'settle', now, owner, settlements }]
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
  const list = fc.record({
    which: fc.option(fc.nat(2)),
    call: fc.option(fc.constantFrom('x', 'y', 'z')),
    ascending: fc.boolean(),
    size: fc.integer({ min: 1, max: 4 }),
  })
  return [
    drawn(1, 'a long time passes', fc.integer({ min: 40, max: 90 }), (_, ms) => [{ do: 'advance', ms }]),
    fixed(2, 'another node takes over', takeOver),
    fixed(1, 'the same node takes its shards again', ({ shared, leaseMs, now, owner }) =>
      shared
        ? [
            { do: 'advance', ms: leaseMs },
            { do: 'own', owner, now: now + leaseMs },
          ]
        : [{ do: 'own', owner, now }],
    ),
    fixed(1, 'renew', ({ now, owner }) => [{ do: 'renew', owner, now }]),
    fixed(1, 'release and own', ({ now, owner }) => [
      { do: 'release', owner, now },
      { do: 'own', owner, now },
    ]),
    fixed(1, 'own too early', ({ shared, now, newId }) =>
      shared ? [{ do: 'own too early', owner: newId('early node '), now }] : [],
    ),
    ...(durable
      ? [
          fixed(1, 'restart', (client): StoreStep[] => [
            { do: 'release', owner: client.owner, now: client.now },
            { do: 'reopen' },
            { do: 'own', owner: client.newId('node '), now: client.now },
          ]),
          fixed(1, 'crash', (client): StoreStep[] => [{ do: 'reopen' }, ...takeOver(client)]),
        ]
      : []),
    drawn(3, 'end a waiting delivery', fc.nat(9), endWaiting),
    drawn(3, 'list deliveries', list, ({ webhooks, now }, { which, ascending, size }) =>
      webhooks
        .slice(which ?? 0, (which ?? 0) + 1)
        .map(({ id }) => ({ do: 'deliveries', now, webhookId: id, ascending, size })),
    ),
    drawn(3, 'list attempts', list, ({ webhooks, now }, { which, call, ascending, size }) => {
      const webhookId = which === null ? undefined : webhooks[which % webhooks.length]?.id
      return [{ do: 'attempts', now, webhookId, callId: call ?? undefined, ascending, size }]
    }),
    drawn(1, 'prune', fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(60)), ({ now }, [keep, ageMs]) => [
      { do: 'prune', now, keep, beforeMs: now - ageMs },
    ]),
    drawn(1, 'erase', fc.constantFrom('x', 'y', 'z'), ({ now, owner }, callId) => [
      { do: 'erase', now, owner, callId },
    ]),
  ]
}

/** Another node owns the shards; in a shared store only when the lease of the former one has expired. */
function takeOver({ shared, leaseMs, now, owner: before, newId }: StoreClient): readonly StoreStep[] {
  const owner = newId('node ')
  if (!shared) return [{ do: 'own', owner, now }]
  return [
    { do: 'renew', owner: before, now },
    { do: 'advance', ms: leaseMs - 1 },
    { do: 'own too early', owner: newId('early node '), now: now + leaseMs - 1 },
    { do: 'advance', ms: 1 },
    { do: 'own', owner, now: now + leaseMs },
  ]
}

/** Cancels a delivery that the client has never claimed. */
function endWaiting(client: StoreClient, which: number): readonly StoreCall[] {
  const { now, owner, held, settled, deliveries } = client
  const claimed = new Set([...held, ...settled].map(({ id }) => id))
  const waiting = [...deliveries.values()].filter(({ id }) => !claimed.has(id))
  const chosen = waiting[which % Math.max(1, waiting.length)]
  if (!chosen) return []
  const { id, webhookId, callId, epoch } = chosen
  const settlement: SettlementCall = {
    id,
    webhookId,
    callId,
    epoch,
    from: 'waiting',
    fence: 0,
    to: 'cancelled',
    attempts: 0,
    reason: 'cancelled by the client',
  }
  return [{ do: 'settle', now, owner, settlements: [settlement] }]
}

// Commands about tokens and accounts, which concern no other rows

export function rowCommands(fc: Fc): WeightedCommand[] {
  const account = fc.constantFrom('root', 'branch', 'leaf')
  const hash = fc.constantFrom('t1', 't2', 't3', 't4')
  const user = fc.constantFrom('ada', 'bob')
  const call = (weight: number, arbitrary: FastCheck.Arbitrary<Omit<StoreCall, 'now'>>) => ({
    weight,
    arbitrary: arbitrary.map(
      (drawn): StoreCommand => ({
        name: drawn.do,
        steps: ({ now }) => [{ ...drawn, now } as StoreCall],
      }),
    ),
  })
  const accountRow = fc
    .tuple(account, fc.constantFrom('one.example', 'two.example', 'three.example'), fc.boolean())
    .map(([id, realm, below]) => ({
      id,
      realm,
      ...(below && id !== 'root' && { parentId: id === 'leaf' ? 'branch' : 'root' }),
    }))
  const holder = fc.constantFrom(undefined, null, 'ada', 'bob')
  return [
    {
      weight: 2,
      arbitrary: fc
        .integer({ min: 1, max: 30 })
        .map((ms): StoreCommand => ({ name: 'time passes', steps: () => [{ do: 'advance', ms }] })),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(account, fc.option(user, { nil: undefined }), fc.nat(60)).map(
        ([accountId, userId, ms]): StoreCommand => ({
          name: 'issue',
          steps: ({ now, newId }) => {
            const row = { hash: newId('t'), accountId, expiresMs: now + ms }
            return [{ do: 'issue', now, token: userId === undefined ? row : { ...row, userId } }]
          },
        }),
      ),
    },
    call(
      2,
      hash.map((drawn) => ({ do: 'read token' as const, hash: drawn })),
    ),
    call(
      1,
      hash.map((drawn) => ({ do: 'revoke' as const, hash: drawn })),
    ),
    call(
      1,
      fc.tuple(account, holder).map(([accountId, of]) => ({ do: 'revoke all', accountId, holder: of })),
    ),
    call(1, fc.constant({ do: 'prune tokens' as const })),
    call(
      2,
      accountRow.map((row) => ({ do: 'add account' as const, account: row })),
    ),
    call(
      1,
      accountRow.map((row) => ({ do: 'update account' as const, account: row })),
    ),
    call(
      1,
      account.map((id) => ({ do: 'remove account' as const, id })),
    ),
    call(
      2,
      account.map((id) => ({ do: 'find account' as const, id })),
    ),
    call(
      1,
      fc.tuple(account, user, user).map(([accountId, id, username]) => ({
        do: 'put user' as const,
        accountId,
        id,
        username,
      })),
    ),
    call(
      1,
      fc.tuple(account, user).map(([accountId, id]) => ({ do: 'remove user' as const, accountId, id })),
    ),
  ]
}
