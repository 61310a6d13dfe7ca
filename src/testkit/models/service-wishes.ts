import type * as FastCheck from 'fast-check'
import type { Fc } from './check.js'
import type { Manner, ServiceStep } from './service-calls.js'
import type { NaiveService } from './service-naive-state.js'

/** What is to be done next, as numbers; whom it concerns is chosen from what there is by then. */
export interface ServiceWish {
  readonly what: string
  /** Nothing: there is nothing it could be done to. */
  steps(known: NaiveService, newName: (kind: string) => string): readonly ServiceStep[]
}

const MANNERS: readonly Manner[] = ['answers', 'fails', 'is away', 'is slow', 'is slow']

const chosen = <T>(list: readonly T[], number: number): T[] =>
  list.length === 0 ? [] : [list[number % list.length]!]

/** Of deliveries: webhooks, events, receivers, time and the ends of the process. */
export function deliveryWishes(fc: Fc): FastCheck.WeightedArbitrary<ServiceWish>[] {
  const wish = wishing(fc)
  const account = fc.constantFrom('root', 'root', 'branch', 'branch', 'other')
  const kind = fc.constantFrom('channel_create', 'channel_create', 'channel_destroy')
  return [
    wish(
      1,
      'make a webhook',
      { account, kind: fc.constantFrom('all', 'channel_create'), below: fc.boolean() },
      ({ hooks }, facts, newName) =>
        hooks.length >= 4 ? [] : [{ do: 'make', hook: newName('w'), ...facts }],
    ),
    wish(
      3,
      'change a webhook',
      {
        which: fc.nat(3),
        to: fc.constantFrom('enabled', 'disabled', 'enabled', 'named', 'removed'),
        revision: fc.constantFrom('any', 'right', 'old'),
      },
      ({ hooks }, { which, to, revision }, newName) =>
        chosen(hooks, which).flatMap(({ id: hook, revision: now }): ServiceStep[] => {
          const only = revision === 'any' ? undefined : revision === 'right' ? now : now - 1
          if (to === 'removed') return [{ do: 'remove', hook, revision: only }]
          const change = to === 'named' ? { name: newName('name ') } : { enabled: to === 'enabled' }
          return [{ do: 'patch', hook, change, revision: only }]
        }),
    ),
    wish(
      9,
      'publish',
      { account, call: fc.constantFrom('x', 'y'), kind, key: fc.option(fc.nat(2), { freq: 2 }) },
      (_, { account: id, call, kind: hook, key }, newName) => [
        {
          do: 'publish',
          account: id,
          call,
          kind: hook,
          key: key === null ? undefined : `k${key}`,
          event: newName('e'),
        },
      ],
    ),
    wish(
      4,
      'teach a receiver',
      { which: fc.nat(3), manner: fc.constantFrom(...MANNERS) },
      ({ hooks }, facts) =>
        chosen(hooks, facts.which).map(({ id }) => ({ do: 'teach', hook: id, manner: facts.manner })),
    ),
    wish(5, 'time passes', { ms: fc.constantFrom(1, 500, 1_000, 2_000, 3_000, 5_000) }, (_, { ms }) => [
      { do: 'pass', ms },
    ]),
    wish(1, 'list', { account }, (_, { account: id }) => [{ do: 'list', account: id }]),
    ...ends(fc),
  ]
}

/** Of accounts: logins, tokens, credentials. */
export function loginWishes(fc: Fc): FastCheck.WeightedArbitrary<ServiceWish>[] {
  const wish = wishing(fc)
  const account = fc.constantFrom('root', 'branch')
  return [
    wish(
      5,
      'sign in',
      {
        account,
        by: fc.constantFrom('key' as const, 'password' as const),
        right: fc.constantFrom(true, true, true, false),
      },
      (_, facts) => [{ do: 'sign in', ...facts }],
    ),
    wish(5, 'use a token', { which: fc.nat(9) }, ({ tokens }, { which }) =>
      chosen(tokens, which).map(({ name }) => ({ do: 'use', token: name })),
    ),
    wish(2, 'sign out', { which: fc.nat(9) }, ({ tokens }, { which }) =>
      chosen(tokens, which).map(({ name }) => ({ do: 'sign out', token: name })),
    ),
    wish(1, 'rotate a key', { account }, (_, { account: id }) => [{ do: 'rotate the key', account: id }]),
    wish(1, 'set a password', { account }, (_, { account: id }) => [{ do: 'set the password', account: id }]),
    wish(2, 'enable', { account, enabled: fc.boolean() }, (_, facts) => [{ do: 'enable', ...facts }]),
    wish(1, 'a long time passes', { ms: fc.constantFrom(1, 100_000, 300_000) }, (_, { ms }) => [
      { do: 'pass', ms },
    ]),
    wish(
      2,
      'use a token at the end of its time',
      { which: fc.nat(9), early: fc.boolean() },
      ({ tokens, nowMs }, { which, early }) =>
        chosen(tokens, which).flatMap(({ name, untilMs }): ServiceStep[] => {
          const ms = untilMs - nowMs - (early ? 1 : 0)
          const use = { do: 'use', token: name } as const
          return ms > 0 ? [{ do: 'pass', ms }, use] : [use]
        }),
    ),
    ...ends(fc),
  ]
}

function ends(fc: Fc): FastCheck.WeightedArbitrary<ServiceWish>[] {
  return [
    { weight: 1, arbitrary: fc.constant({ what: 'restart', steps: () => [{ do: 'restart' }] }) },
    { weight: 1, arbitrary: fc.constant({ what: 'crash', steps: () => [{ do: 'crash' }] }) },
  ]
}

function wishing(fc: Fc) {
  return <T extends object>(
    weight: number,
    what: string,
    facts: { [K in keyof T]: FastCheck.Arbitrary<T[K]> },
    steps: (known: NaiveService, facts: T, newName: (kind: string) => string) => readonly ServiceStep[],
  ): FastCheck.WeightedArbitrary<ServiceWish> => ({
    weight,
    arbitrary: fc.record<T>(facts).map(
      (given): ServiceWish => ({
        what,
        steps: (known, newName) => steps(known, given as T, newName),
      }),
    ),
  })
}
