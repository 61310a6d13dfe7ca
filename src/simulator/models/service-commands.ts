/**
 * The commands of the service model. A command is drawn as numbers; it chooses what it concerns when it runs, from the
 * reference's state.
 */

import type * as FastCheck from 'fast-check'
import type { Fc } from './check.js'
import type { Behaviour, ServiceStep } from './service-calls.js'
import type { ReferenceService } from './service-reference.js'

export interface ServiceCommand {
  readonly name: string
  /** The steps of this command now; none if it has nothing to act on. */
  steps(reference: ReferenceService, newName: (kind: string) => string): readonly ServiceStep[]
}

type WeightedCommand = FastCheck.WeightedArbitrary<ServiceCommand>

const BEHAVIOURS: readonly Behaviour[] = ['succeeds', 'rejects', 'is unreachable', 'is slow', 'is slow']

const pick = <T>(list: readonly T[], number: number): T[] =>
  list.length === 0 ? [] : [list[number % list.length]!]

/** Commands about deliveries: webhooks, events, receivers, time, restarts and crashes. */
export function deliveryCommands(fc: Fc): WeightedCommand[] {
  const command = commandMaker(fc)
  const account = fc.constantFrom('root', 'root', 'branch', 'branch', 'other')
  const hook = fc.constantFrom('channel_create', 'channel_create', 'channel_destroy')
  return [
    command(
      1,
      'create a webhook',
      { account, hook: fc.constantFrom('all', 'channel_create'), includeSubaccounts: fc.boolean() },
      ({ webhooks }, drawn, newName) =>
        webhooks.length >= 4 ? [] : [{ do: 'create', webhook: newName('w'), ...drawn }],
    ),
    command(
      3,
      'change a webhook',
      {
        which: fc.nat(3),
        to: fc.constantFrom('enabled', 'disabled', 'enabled', 'renamed', 'removed'),
        revision: fc.constantFrom('any', 'current', 'old'),
      },
      ({ webhooks }, { which, to, revision: condition }, newName) =>
        pick(webhooks, which).flatMap(({ id: webhook, revision: current }): ServiceStep[] => {
          const revision = condition === 'any' ? undefined : condition === 'current' ? current : current - 1
          if (to === 'removed') return [{ do: 'remove', webhook, revision }]
          const change = to === 'renamed' ? { name: newName('name ') } : { enabled: to === 'enabled' }
          return [{ do: 'patch', webhook, change, revision }]
        }),
    ),
    command(
      9,
      'publish',
      { account, call: fc.constantFrom('x', 'y'), hook, key: fc.option(fc.nat(2), { freq: 2 }) },
      (_, { key, ...drawn }, newName) => [
        { do: 'publish', ...drawn, key: key === null ? undefined : `k${key}`, event: newName('e') },
      ],
    ),
    command(
      4,
      'change a receiver',
      { which: fc.nat(3), behaviour: fc.constantFrom(...BEHAVIOURS) },
      ({ webhooks }, { which, behaviour }) =>
        pick(webhooks, which).map(({ id }) => ({ do: 'change receiver', webhook: id, behaviour })),
    ),
    command(5, 'time passes', { ms: fc.constantFrom(1, 500, 1_000, 2_000, 3_000, 5_000) }, (_, { ms }) => [
      { do: 'advance', ms },
    ]),
    command(1, 'list', { account }, (_, drawn) => [{ do: 'list', ...drawn }]),
    ...endCommands(fc),
  ]
}

/** Commands about accounts: logins, tokens and credentials. */
export function loginCommands(fc: Fc): WeightedCommand[] {
  const command = commandMaker(fc)
  const account = fc.constantFrom('root', 'branch')
  return [
    command(
      5,
      'sign in',
      {
        account,
        by: fc.constantFrom('key' as const, 'password' as const),
        isValid: fc.constantFrom(true, true, true, false),
      },
      (_, drawn) => [{ do: 'sign in', ...drawn }],
    ),
    command(5, 'use a token', { which: fc.nat(9) }, ({ tokens }, { which }) =>
      pick(tokens, which).map(({ name }) => ({ do: 'use', token: name })),
    ),
    command(2, 'sign out', { which: fc.nat(9) }, ({ tokens }, { which }) =>
      pick(tokens, which).map(({ name }) => ({ do: 'sign out', token: name })),
    ),
    command(1, 'rotate a key', { account }, (_, drawn) => [{ do: 'rotate the key', ...drawn }]),
    command(1, 'set a password', { account }, (_, drawn) => [{ do: 'set the password', ...drawn }]),
    command(2, 'enable', { account, enabled: fc.boolean() }, (_, drawn) => [{ do: 'enable', ...drawn }]),
    command(1, 'a long time passes', { ms: fc.constantFrom(1, 100_000, 300_000) }, (_, { ms }) => [
      { do: 'advance', ms },
    ]),
    command(
      2,
      'use a token when it expires',
      { which: fc.nat(9), isEarly: fc.boolean() },
      ({ tokens, nowMs }, { which, isEarly }) =>
        pick(tokens, which).flatMap(({ name, untilMs }): ServiceStep[] => {
          const ms = untilMs - nowMs - (isEarly ? 1 : 0)
          const use = { do: 'use', token: name } as const
          return ms > 0 ? [{ do: 'advance', ms }, use] : [use]
        }),
    ),
    ...endCommands(fc),
  ]
}

function endCommands(fc: Fc): WeightedCommand[] {
  return [
    { weight: 1, arbitrary: fc.constant({ name: 'restart', steps: () => [{ do: 'restart' }] }) },
    { weight: 1, arbitrary: fc.constant({ name: 'crash', steps: () => [{ do: 'crash' }] }) },
  ]
}

function commandMaker(fc: Fc) {
  return <T extends object>(
    weight: number,
    name: string,
    fields: { [K in keyof T]: FastCheck.Arbitrary<T[K]> },
    steps: (
      reference: ReferenceService,
      fields: T,
      newName: (kind: string) => string,
    ) => readonly ServiceStep[],
  ): WeightedCommand => ({
    weight,
    arbitrary: fc.record<T>(fields).map(
      (drawn): ServiceCommand => ({
        name,
        steps: (reference, newName) => steps(reference, drawn as T, newName),
      }),
    ),
  })
}
