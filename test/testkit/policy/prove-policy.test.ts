import fc from 'fast-check'
import { constant, custom, exponential, POLICY_PRESETS, type PolicyFunction, schedule } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { type AnyPolicy, type PolicyPromises, provePolicy } from '../../../src/testkit/policy/index.js'

/** What each test of the suite said: '' where it held. */
function outcomes(policy: AnyPolicy, promises: PolicyPromises = {}): Record<string, string> {
  const said: Record<string, string> = {}
  const runner = {
    describe: (name: string, body: () => void) => {
      said.suite = name
      body()
    },
    it: (name: string, body: () => void) => {
      try {
        body()
        said[name] = ''
      } catch (thrown) {
        said[name] = (thrown as Error).message + String((thrown as Error).cause ?? '')
      }
    },
  }
  provePolicy(runner, fc, policy, promises)
  return said
}
const failed = (policy: AnyPolicy, promises?: PolicyPromises) =>
  Object.entries(outcomes(policy, promises))
    .filter(([name, message]) => name !== 'suite' && message !== '')
    .map(([name]) => name)

const NUMBER = 'answers a number of milliseconds from 0 up, or null'
const SAME = 'answers the same when it is told the same, whatever it was told in between'
const GROWS = 'never waits shorter than after the failure before'
const BOUNDS = 'stays within its own bounds'

const patient: PolicyFunction = ({ tries, roll, status, failure }) => {
  if (failure === 'connection' || status === 503) return 60_000
  if (status === 401 || status === 403) return null
  return tries > 5 ? null : 5_000 * tries * (1 + roll)
}

describe('provePolicy', () => {
  it('finds nothing wrong with good policies, functions and data', () => {
    expect(failed(patient, { capMs: 60_000, withinMs: 600_000 })).toEqual([])
    for (const policy of [...Object.values(POLICY_PRESETS), exponential({ jitter: 1 }), constant(5)]) {
      expect(failed(policy)).toEqual([])
    }
    expect(failed(schedule([3_000, 1_000]), { grows: false, capMs: 3_600 })).toEqual([])
  })

  it.each([
    ['NaN', () => Number.NaN, NUMBER],
    ['Infinity', () => Infinity, NUMBER],
    ['nothing', (() => undefined) as never, NUMBER],
    ['a text', (() => '5') as never, NUMBER],
    ['a promise', (async () => 5) as never, NUMBER],
    ['less than nothing, late', ({ tries }) => 5 - tries, NUMBER],
    ['an exception', () => JSON.parse('{'), NUMBER],
    ['a change of what it was told', (context) => Object.assign(context, { tries: 0 }).tries, NUMBER],
    ['NaN for one status', ({ status }) => (status === 504 ? Number.NaN : 5), NUMBER],
  ] satisfies [string, PolicyFunction, string][])('finds a policy that answers %s', (_, policy, expected) => {
    expect(failed(policy)).toContain(expected)
  })

  it('finds what exceeds its cap, a week where none is named', () => {
    expect(failed(exponential({ baseMs: 1_000, capMs: 60_000 }), { capMs: 59_999 })).toEqual([
      'never waits longer than 59999 ms',
    ])
    expect(failed(() => 604_800_001)).toEqual(['never waits longer than 604800000 ms'])
  })

  it('finds memory and chance', () => {
    let asked = 0
    expect(
      failed(
        () => {
          asked += 1
          return asked
        },
        { grows: false },
      ),
    ).toEqual([SAME])
    let previous = ''
    const remembers: PolicyFunction = ({ failure }) => {
      const same = previous === failure
      previous = failure
      return same ? 1_000 : 2_000
    }
    expect(failed(remembers, { grows: false })).toEqual([SAME])
  })

  it('finds delays that shrink, unless that is meant', () => {
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

  it('finds what leaves its own bounds, does not end, or ends too late', () => {
    const linear: PolicyFunction = ({ tries, roll }) => 1_000 * tries * (1 + roll / 2)
    const bounds = ({ tries }: { tries: number }) => [1_000 * tries, 1_500 * tries] as const
    expect(failed(linear, { bounds })).toEqual([])
    expect(failed(({ tries }) => 999 * tries, { bounds })).toEqual([BOUNDS])
    expect(failed((context) => (context.tries > 6 ? null : linear(context)), { mostTries: 6 })).toEqual([
      'gives up after 6 tries',
    ])
    expect(failed((context) => (context.tries < 6 ? linear(context) : null), { mostTries: 6 })).toEqual([])
    // 1 + 2 + … + 10 seconds, half as much again where every roll is high.
    expect(failed(linear, { withinMs: 82_500 })).toEqual([])
    expect(failed(linear, { withinMs: 60_000 })).toEqual(['ends within 60000 ms, whatever fails'])
  })

  it("asks data as a service does: KAZOO's policy gives up at any status", () => {
    const bounds = ({ status }: { status?: number }) => [0, status === undefined ? 2_000 : -1] as const
    expect(failed(POLICY_PRESETS.kazoo, { bounds })).toEqual([])
    expect(failed(constant(2_000, { jitter: 0 }), { bounds })).toEqual([BOUNDS])
  })

  it('says what the policy was told', () => {
    const { [NUMBER]: said } = outcomes(({ status }) => (status === 504 ? Number.NaN : 5))
    expect(said).toMatch(
      /answers NaN for \{"tries":\d+,"webhookId":"webhook-\d","hook":"\w+","failure":"http",.*"status":504/,
    )
  })

  it('names its suite', () => {
    expect(outcomes(patient).suite).toBe('patient')
    expect(outcomes(() => 5).suite).toBe('the policy')
    expect(outcomes(constant(5), { name: 'every 5 ms' }).suite).toBe('every 5 ms')
  })

  it.each([
    [[undefined, fc, patient], 'runner'],
    [[{ describe }, fc, patient], 'runner'],
    [[{ describe, it }, undefined, patient], 'fc'],
    [[{ describe, it }, fc, undefined], 'policy'],
    [[{ describe, it }, fc, { kind: 'constant', delayMs: -1 }], 'policy'],
    [[{ describe, it }, fc, custom('mine')], 'policy'],
    [[{ describe, it }, fc, patient, { capMs: -1 }], 'capMs'],
    [[{ describe, it }, fc, patient, { bounds: [1, 2] }], 'bounds'],
    [[{ describe, it }, fc, patient, { mostTries: 11 }], 'mostTries'],
    [[{ describe, it }, fc, patient, { withinMs: '1' }], 'withinMs'],
    [[{ describe, it }, fc, patient, { grows: 1 }], 'grows'],
    [[{ describe, it }, fc, patient, { hooks: [] }], 'hooks'],
    [[{ describe, it }, fc, patient, { numRuns: 0 }], 'numRuns'],
    [[{ describe, it }, fc, patient, { name: '' }], 'name'],
    [[{ describe, it }, fc, patient, { cap: 1 }], 'cap'],
    [[{ describe, it }, fc, patient, null], 'options'],
  ])('refuses what it was given, case %#, naming the argument', (given, field) => {
    const prove = () => provePolicy(...(given as unknown as Parameters<typeof provePolicy>))
    expect(prove).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(prove).toThrow(`provePolicy: ${field}`)
  })
})
