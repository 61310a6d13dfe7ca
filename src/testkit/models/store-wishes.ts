import type * as FastCheck from 'fast-check'
import type { Fc } from './check.js'
import type { DeliveryCall, EventCall, HealthRow, SettlementCall, StoreCall } from './store-calls.js'
import type { StoreClient } from './store-client.js'

/** What is to be done next, as numbers; whom it concerns is chosen when it is done, from what there is by then. */
export interface StoreWish {
  readonly what: string
  /** The calls it comes to now; none: there is nothing it could be done to. */
  calls(client: StoreClient): readonly StoreStep[]
}

/** A call, or what happens around the store: time passes, the process ends and another opens what it left. */
export type StoreStep = StoreCall | { readonly do: 'pass'; readonly ms: number } | { readonly do: 'reopen' }

const CALLS = ['x', 'y', 'z']
const ENDS = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const
/** Long enough for a key to be met again, short enough to see its end. */
const KEY_MS = 50

const chosen = <T>(list: readonly T[], number: number): T[] =>
  list.length === 0 ? [] : [list[number % list.length]!]

/** Wishes that are one call each: what may be under way at once. */
export function queueWishes(fc: Fc): FastCheck.WeightedArbitrary<StoreWish>[] {
  const wish = <T extends object>(
    weight: number,
    what: string,
    facts: { [K in keyof T]: FastCheck.Arbitrary<T[K]> },
    calls: (client: StoreClient, facts: T) => readonly StoreStep[],
  ) => ({
    weight,
    arbitrary: fc
      .record<T>(facts)
      .map((given): StoreWish => ({ what, calls: (client) => calls(client, given as T) })),
  })
  return [
    wish<Accepting>(
      7,
      'accept',
      {
        calls: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
        hooks: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
        key: fc.option(fc.nat(2), { freq: 2 }),
        hash: fc.constantFrom('h', 'h', 'h', 'other'),
        lane: fc.constantFrom('call', 'call', 'shared'),
        most: fc.constantFrom(1_000, 1_000, 9),
      },
      accepting,
    ),
    wish<{ hooks: number[]; room: number; limit: number; retriesFirst: boolean; former: boolean }>(
      7,
      'claim',
      {
        hooks: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
        room: fc.integer({ min: 1, max: 4 }),
        limit: fc.integer({ min: 1, max: 6 }),
        retriesFirst: fc.boolean(),
        former: fc.integer({ min: 0, max: 11 }).map((one) => one === 11),
      },
      ({ hooks, now, owner, former: before }, { hooks: which, room, limit, retriesFirst, former }) => {
        // Each once: what it means to name one twice is not promised.
        const named = [...new Set(which.flatMap((one) => chosen(hooks, one)))]
        const endpoints = named.map(({ id }) => ({ webhookId: id, room, retriesFirst }))
        const who = former ? (before.at(-1) ?? 'a stranger') : owner
        return endpoints.length === 0 ? [] : [{ do: 'claim', now, owner: who, endpoints, limit }]
      },
    ),
    wish<Settling>(
      9,
      'settle',
      {
        which: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }),
        end: fc.option(fc.nat(4), { freq: 2 }),
        dueInMs: fc.nat(15),
        health: fc.option(
          fc.record({ failures: fc.integer({ min: 1, max: 3 }), pauseMs: fc.nat(20), openings: fc.nat(1) }),
        ),
        forget: fc.boolean(),
        disable: fc.integer({ min: 0, max: 9 }).map((one) => one === 9),
        who: fc.constantFrom('owner', 'owner', 'owner', 'owner', 'owner', 'owner', 'former'),
        again: fc.integer({ min: 0, max: 5 }).map((one) => one === 5),
      },
      settling,
    ),
    wish<{ which: number; to: string; late: boolean }>(
      3,
      'change a webhook',
      {
        which: fc.nat(2),
        to: fc.constantFrom('disabled', 'enabled', 'renamed', 'moved', 'deleted'),
        late: fc.integer({ min: 0, max: 5 }).map((one) => one === 5),
      },
      ({ hooks, now, newId }, { which, to, late }) =>
        chosen(
          hooks.filter(({ deleted }) => !deleted),
          which,
        ).flatMap(({ health: _, ...hook }): StoreCall[] => {
          const enabled = to === 'disabled' ? false : to === 'enabled' || hook.enabled
          const ends = (hook.enabled && !enabled) || to === 'deleted'
          const next = {
            ...hook,
            enabled,
            ...(to === 'renamed' && { name: newId('name ') }),
            ...(to === 'moved' && { uri: `https://${newId('host')}.example.com/` }),
            ...(to === 'deleted' && { deleted: true }),
            revision: hook.revision + 1,
            epoch: hook.epoch + (ends ? 1 : 0),
          }
          return [{ do: 'replace', now, hook: next, revision: hook.revision - (late ? 1 : 0) }]
        }),
    ),
    wish<{ which: number; stranger: boolean }>(
      2,
      'read a webhook',
      { which: fc.nat(2), stranger: fc.integer({ min: 0, max: 3 }).map((one) => one === 3) },
      ({ hooks, now }, { which, stranger }) =>
        chosen(hooks, which).map(({ id }) => ({
          do: 'read',
          now,
          id,
          accountId: stranger ? 'stranger' : 'account',
        })),
    ),
    wish<{ what: 'pending' | 'list' | 'ready' | 'stale' | 'orphans' }>(
      2,
      'look',
      { what: fc.constantFrom('pending', 'list', 'ready', 'stale', 'orphans') },
      ({ now, owner }, { what }) => [{ do: what, now, owner }],
    ),
    wish<{ size: number }>(
      2,
      'read a page more',
      { size: fc.integer({ min: 1, max: 3 }) },
      ({ now, lastRead }, { size }) => [{ do: 'page', now, size, last: lastRead }],
    ),
    wish<{ ms: number }>(6, 'time passes', { ms: fc.integer({ min: 1, max: 30 }) }, (_, { ms }) => [
      { do: 'pass', ms },
    ]),
    wish<{ make: boolean }>(1, 'make a webhook', { make: fc.constant(true) }, ({ hooks, now, newId }) =>
      hooks.length >= 3 ? [] : [{ do: 'insert', now, hook: newHook(newId('w'), 'call') }],
    ),
  ]
}

export const newHook = (id: string, ordering: 'call' | 'none') => ({
  id,
  name: `name of ${id}`,
  uri: `https://${id}.example.com/`,
  ordering,
  enabled: true,
  revision: 1,
  epoch: 1,
})

interface Accepting {
  calls: number[]
  hooks: number[]
  key: number | null
  hash: string
  lane: string
  most: number
}

function accepting(client: StoreClient, wish: Accepting): readonly StoreCall[] {
  const { now, newId } = client
  const { key, hash, lane, most } = wish
  const known = client.hooks.filter(({ deleted }) => !(deleted && client.pruned))
  const hooks = wish.hooks.flatMap((one) => known.slice(one, one + 1))
  const events = wish.calls.map(
    (call): EventCall => ({
      id: newId('e'),
      callId: CALLS[call]!,
      ...(key !== null && { key: `k${key}`, hash, untilMs: now + KEY_MS }),
    }),
  )
  const deliveries = events.flatMap(({ id: eventId, callId }) =>
    hooks.map(({ id: webhookId, ordering, deleted, ...hook }): DeliveryCall => {
      const id = newId('d')
      // It was matched before the webhook was deleted.
      const epoch = hook.epoch - (deleted ? 1 : 0)
      const ordered = lane === 'shared' ? lane : callId
      return { id, eventId, callId, webhookId, epoch, lane: ordering === 'none' ? id : ordered }
    }),
  )
  return deliveries.length === 0 ? [] : [{ do: 'accept', now, events, deliveries, most }]
}

interface Settling {
  which: number[]
  end: number | null
  dueInMs: number
  health: { failures: number; pauseMs: number; openings: number } | null
  forget: boolean
  disable: boolean
  who: string
  again: boolean
}

function settling(client: StoreClient, wish: Settling): readonly StoreCall[] {
  const { now, newId } = client
  const { end, dueInMs, health, forget, disable, who } = wish
  // Best under the fence of a claim before the one of now.
  const reclaimed = client.settled.filter(({ id }) => client.held.some((one) => one.id === id))
  const from = wish.again ? (reclaimed.length > 0 ? reclaimed : client.settled) : client.held
  const found = [...new Set(wish.which.flatMap((one) => chosen(from, one)))]
  const judged: HealthRow | null = health && {
    failuresInRow: health.failures,
    ...(health.pauseMs > 9 && { pausedUntilMs: now + health.pauseMs }),
    ...(health.openings > 0 && { openings: health.openings }),
  }
  const settlements = found.map(({ id, webhookId, callId, epoch, fence, attempts }): SettlementCall => {
    const goes = end === null ? { to: 'waiting' as const, dueMs: now + dueInMs } : { to: ENDS[end]! }
    return {
      id,
      webhookId,
      callId,
      from: 'in_flight',
      fence,
      ...goes,
      attempts: attempts + 1,
      reason: 'because',
      record: newId('a'),
      epoch,
      ...((judged || forget) && { health: judged }),
      ...(disable && { disable }),
    }
  })
  const owner = who === 'former' ? (client.former.at(-1) ?? 'a stranger') : client.owner
  return settlements.length === 0 ? [] : [{ do: 'settle', now, owner, settlements }]
}
