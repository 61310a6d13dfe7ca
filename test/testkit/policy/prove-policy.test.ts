import fc from 'fast-check'
import { constant, custom, exponential, type PolicyFunction, schedule } from 'hookswitch'
import { POLICY_PRESETS } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'
import { type AnyPolicy, type PolicyGuarantees, provePolicy } from '../../../src/testkit/policy/index.js'

/** Failure messages by test title; '' if the test passed. */
function outcomes(policy: AnyPolicy, guarantees: PolicyGuarantees = {}): Record<string, string> {
  const messages: Record<string, string> = {}
  const runner = {
    describe: (name: string, body: () => void) => {
      messages.suite = name
      body()
    },
    it: (name: string, body: () => void) => {
      try {
        body()
        messages[name] = ''
      } catch (thrown) {
        messages[name] = (thrown as Error).message + String((thrown as Error).cause ?? '')
      }
    },
  }
  provePolicy(runner, fc, policy, guarantees)
  return messages
}
const failed = (policy: AnyPolicy, guarantees?: PolicyGuarantees) =>
  Object.entries(outcomes(policy, guarantees))
    .filter(([name, message]) => name !== 'suite' && message !== '')
    .map(([name]) => name)

const NUMBER = 'returns a number of milliseconds of at least 0, or null'
const SAME = 'returns the same for the same context, whatever calls came between'
const GROWS = 'never waits shorter than after the previous failure'
const BOUNDS = 'stays within its bounds'

const growing: PolicyFunction = ({ tries, random, status, failure }) => {
  if (failure === 'connection' || status === 503) return 60_000
  if (status === 401 || status === 403) return null
  return tries > 5 ? null : 5_000 * tries * (1 + random)
}

describe('provePolicy', () => {
  it('passes valid policies, functions and data', () => {
    expect(failed(growing, { capMs: 60_000, withinMs: 1_800_000 })).toEqual([])
    for (const policy of [...Object.values(POLICY_PRESETS), exponential({ jitter: 1 }), constant(5)]) {
      expect(failed(policy)).toEqual([])
    }
    expect(failed(schedule([3_000, 1_000]), { grows: false, capMs: 3_600 })).toEqual([])
  })

  it.each([
    ['NaN', () => Number.NaN, NUMBER],
    ['Infinity', () => Infinity, NUMBER],
    ['undefined', (() => undefined) as never, NUMBER],
    ['a string', (() => '5') as never, NUMBER],
    ['a promise', (async () => 5) as never, NUMBER],
    ['a negative number at a late try', ({ tries }) => 5 - tries, NUMBER],
    ['nothing because it throws', () => JSON.parse('{'), NUMBER],
    ['after it modified its argument', (context) => Object.assign(context, { tries: 0 }).tries, NUMBER],
    ['NaN for one status', ({ status }) => (status === 504 ? Number.NaN : 5), NUMBER],
  ] satisfies [string, PolicyFunction, string][])('finds a policy that returns %s', (_, policy, expected) => {
    expect(failed(policy)).toContain(expected)
  })

  it('finds delays above the cap, which is one week by default', () => {
    expect(failed(exponential({ baseMs: 1_000, capMs: 60_000 }), { capMs: 59_999 })).toEqual([
      'never waits longer than 59999 ms',
    ])
    expect(failed(() => 604_800_001)).toEqual(['never waits longer than 604800000 ms'])
  })

  it('finds policies that depend on earlier calls', () => {
    let calls = 0
    expect(
      failed(
        () => {
          calls += 1
          return calls
        },
        { grows: false },
      ),
    ).toEqual([SAME])
    let previous = ''
    const stateful: PolicyFunction = ({ failure }) => {
      const same = previous === failure
      previous = failure
      return same ? 1_000 : 2_000
    }
    expect(failed(stateful, { grows: false })).toEqual([SAME])
  })

  it('finds delays that shrink, unless `grows` is false', () => {
    const shrinking: PolicyFunction = ({ tries }) => 10_000 / tries
    expect(failed(shrinking)).toEqual([GROWS])
    expect(failed(shrinking, { grows: false })).toEqual([])
    expect(failed(({ tries, hook }) => (hook === 'queue_left' ? 9 - tries : tries), { grows: true })).toEqual(
      [],
    )
    expect(
      failed(({ tries, hook }) => (hook === 'queue_left' ? 90 - tries : tries), { hooks: ['queue_left'] }),
    ).toEqual([GROWS])
  })

  it('finds delays outside the bounds, policies that do not give up, and those that end too late', () => {
    const linear: PolicyFunction = ({ tries, random }) => 1_000 * tries * (1 + random / 2)
    const bounds = ({ tries }: { tries: number }) => [1_000 * tries, 1_500 * tries] as const
    expect(failed(linear, { bounds })).toEqual([])
    expect(failed(({ tries }) => 999 * tries, { bounds })).toEqual([BOUNDS])
    expect(failed((context) => (context.tries > 6 ? null : linear(context)), { maxTries: 6 })).toEqual([
      'gives up after 6 tries',
    ])
    expect(failed((context) => (context.tries < 6 ? linear(context) : null), { maxTries: 6 })).toEqual([])
    // 1 + 2 + … + 30 seconds, times 1.5 if every random number is close to 1.
    expect(failed(linear, { withinMs: 697_500 })).toEqual([])
    expect(failed(linear, { withinMs: 600_000 })).toEqual(['ends within 600000 ms, whatever fails'])
  })

  it("evaluates policy data like a service: KAZOO's policy gives up at any status", () => {
    const bounds = ({ status }: { status?: number }) => [0, status === undefined ? 2_000 : -1] as const
    expect(failed(POLICY_PRESETS.kazoo, { bounds })).toEqual([])
    expect(failed(constant(2_000, { jitter: 0 }), { bounds })).toEqual([BOUNDS])
  })

  it('quotes the context in the message', () => {
    const { [NUMBER]: message } = outcomes(({ status }) => (status === 504 ? Number.NaN : 5))
    expect(message).toMatch(
      /returns NaN for \{"tries":\d+,"webhookId":"webhook-\d","hook":"\w+","failure":"http",.*"status":504/,
    )
  })

  it('names the suite after the policy', () => {
    expect(outcomes(growing).suite).toBe('growing')
    expect(outcomes(() => 5).suite).toBe('the policy')
    expect(outcomes(constant(5), { name: 'every 5 ms' }).suite).toBe('every 5 ms')
  })

  it.each([
    [[undefined, fc, growing], 'runner'],
    [[{ describe }, fc, growing], 'runner'],
    [[{ describe, it }, undefined, growing], 'fc'],
    [[{ describe, it }, fc, undefined], 'policy'],
    [[{ describe, it }, fc, { kind: 'constant', delayMs: -1 }], 'policy'],
    [[{ describe, it }, fc, custom('mine')], 'policy'],
    [[{ describe, it }, fc, growing, { capMs: -1 }], 'capMs'],
    [[{ describe, it }, fc, growing, { bounds: [1, 2] }], 'bounds'],
    [[{ describe, it }, fc, growing, { maxTries: 31 }], 'maxTries'],
    [[{ describe, it }, fc, growing, { withinMs: '1' }], 'withinMs'],
    [[{ describe, it }, fc, growing, { grows: 1 }], 'grows'],
    [[{ describe, it }, fc, growing, { hooks: [] }], 'hooks'],
    [[{ describe, it }, fc, growing, { numRuns: 0 }], 'numRuns'],
    [[{ describe, it }, fc, growing, { name: '' }], 'name'],
    [[{ describe, it }, fc, growing, { cap: 1 }], 'cap'],
    [[{ describe, it }, fc, growing, null], 'options'],
  ])('rejects invalid arguments and names them, case %#', (args, field) => {
    const prove = () => provePolicy(...(args as unknown as Parameters<typeof provePolicy>))
    expect(prove).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(prove).toThrow(`provePolicy: ${field}`)
  })
})
