import type * as FastCheck from 'fast-check'
import type { Fc } from './check.js'
import type { SettlementCall, StoreCall } from './store-calls.js'
import type { StoreClient } from './store-client.js'
import type { StoreStep, StoreWish } from './store-wishes.js'

/** Wishes that need the store for themselves: several calls each, time, crashes, other nodes. */
export function aloneWishes(fc: Fc, durable: boolean): FastCheck.WeightedArbitrary<StoreWish>[] {
  const plain = (weight: number, what: string, calls: StoreWish['calls']) => ({
    weight,
    arbitrary: fc.constant<StoreWish>({ what, calls }),
  })
  const sized = <T>(weight: number, what: string, size: FastCheck.Arbitrary<T>, calls: Sized<T>) => ({
    weight,
    arbitrary: size.map((given): StoreWish => ({ what, calls: (client) => calls(client, given) })),
  })
  const list = fc.record({
    hook: fc.option(fc.nat(2)),
    call: fc.option(fc.constantFrom('x', 'y', 'z')),
    ascending: fc.boolean(),
    size: fc.integer({ min: 1, max: 4 }),
  })
  return [
    sized(1, 'a long time passes', fc.integer({ min: 40, max: 90 }), (_, ms) => [{ do: 'pass', ms }]),
    plain(2, 'another node takes over', takeOver),
    plain(1, 'its own lease is taken anew', ({ shared, leaseMs, now, owner }) =>
      shared
        ? [
            { do: 'pass', ms: leaseMs },
            { do: 'own', owner, now: now + leaseMs },
          ]
        : [{ do: 'own', owner, now }],
    ),
    plain(1, 'renew', ({ now, owner }) => [{ do: 'renew', owner, now }]),
    plain(1, 'give back and take again', ({ now, owner }) => [
      { do: 'release', owner, now },
      { do: 'own', owner, now },
    ]),
    plain(1, 'ask too early', ({ shared, now, newId }) =>
      shared ? [{ do: 'ask too early', owner: newId('early node '), now }] : [],
    ),
    ...(durable
      ? [
          plain(1, 'restart', (client): StoreStep[] => [
            { do: 'release', owner: client.owner, now: client.now },
            { do: 'reopen' },
            { do: 'own', owner: client.newId('node '), now: client.now },
          ]),
          plain(1, 'crash', (client): StoreStep[] => [{ do: 'reopen' }, ...takeOver(client)]),
        ]
      : []),
    sized(3, 'end what waits', fc.nat(9), endWaiting),
    sized(3, 'list deliveries', list, ({ hooks, now }, { hook, ascending, size }) =>
      hooks
        .slice(hook ?? 0, (hook ?? 0) + 1)
        .map(({ id }) => ({ do: 'deliveries', now, webhookId: id, ascending, size })),
    ),
    sized(3, 'list attempts', list, ({ hooks, now }, { hook, call, ascending, size }) => {
      const webhookId = hook === null ? undefined : hooks[hook % hooks.length]?.id
      return [{ do: 'attempts', now, webhookId, callId: call ?? undefined, ascending, size }]
    }),
    sized(1, 'prune', fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(60)), ({ now }, [keep, ageMs]) => [
      { do: 'prune', now, keep, beforeMs: now - ageMs },
    ]),
    sized(1, 'erase', fc.constantFrom('x', 'y', 'z'), ({ now, owner }, callId) => [
      { do: 'erase', now, owner, callId },
    ]),
  ]
}

type Sized<T> = (client: StoreClient, given: T) => readonly StoreStep[]

/** Where nodes share the store, not before the lease of the one before has ended. */
function takeOver({ shared, leaseMs, now, owner: before, newId }: StoreClient): readonly StoreStep[] {
  const owner = newId('node ')
  if (!shared) return [{ do: 'own', owner, now }]
  return [
    { do: 'renew', owner: before, now },
    { do: 'pass', ms: leaseMs - 1 },
    { do: 'ask too early', owner: newId('early node '), now: now + leaseMs - 1 },
    { do: 'pass', ms: 1 },
    { do: 'own', owner, now: now + leaseMs },
  ]
}

/** For its age, or since its webhook was withdrawn: whatever was never claimed, as far as is known. */
function endWaiting(client: StoreClient, which: number): readonly StoreCall[] {
  const { now, owner, held, settled, known } = client
  const claimed = new Set([...held, ...settled].map(({ id }) => id))
  const waiting = [...known.values()].filter(({ id }) => !claimed.has(id))
  const one = waiting[which % Math.max(1, waiting.length)]
  if (!one) return []
  const { id, webhookId, callId, epoch } = one
  const settlement: SettlementCall = {
    id,
    webhookId,
    callId,
    epoch,
    from: 'waiting',
    fence: 0,
    to: 'cancelled',
    attempts: 0,
    reason: 'withdrawn',
  }
  return [{ do: 'settle', now, owner, settlements: [settlement] }]
}

const passing = (ms: number): StoreWish => ({ what: 'time passes', calls: () => [{ do: 'pass', ms }] })

/** Tokens and accounts: rows that nothing else touches. */
export function rowWishes(fc: Fc): FastCheck.WeightedArbitrary<StoreWish>[] {
  const account = fc.constantFrom('root', 'branch', 'leaf')
  const hash = fc.constantFrom('t1', 't2', 't3', 't4')
  const user = fc.constantFrom('ada', 'bob')
  const call = (weight: number, arbitrary: FastCheck.Arbitrary<Omit<StoreCall, 'now'>>) => ({
    weight,
    arbitrary: arbitrary.map(
      (given): StoreWish => ({
        what: given.do,
        calls: ({ now }) => [{ ...given, now } as StoreCall],
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
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 30 }).map(passing) },
    {
      weight: 2,
      arbitrary: fc.tuple(account, fc.option(user, { nil: undefined }), fc.nat(60)).map(
        ([accountId, userId, ms]): StoreWish => ({
          what: 'issue',
          calls: ({ now, newId }) => {
            const row = { hash: newId('t'), accountId, expiresMs: now + ms }
            return [{ do: 'issue', now, token: userId === undefined ? row : { ...row, userId } }]
          },
        }),
      ),
    },
    call(
      2,
      hash.map((one) => ({ do: 'read token' as const, hash: one })),
    ),
    call(
      1,
      hash.map((one) => ({ do: 'revoke' as const, hash: one })),
    ),
    call(
      1,
      fc.tuple(account, holder).map(([accountId, who]) => ({ do: 'revoke all', accountId, holder: who })),
    ),
    call(1, fc.constant({ do: 'prune tokens' as const })),
    call(
      2,
      accountRow.map((one) => ({ do: 'add account' as const, account: one })),
    ),
    call(
      1,
      accountRow.map((one) => ({ do: 'move account' as const, account: one })),
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
