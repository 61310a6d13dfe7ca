/** Property tests of a host's retry policy. */
import assert from 'node:assert/strict'
import type { PolicyFunction } from 'hookswitch'
import { MAX_DELAY_MS, type RetryContext } from '../../delivery/policy.js'
import {
  boolean,
  invalidOption,
  objectWithMethods,
  stringList,
  type Validator,
  wholeNumber,
} from '../../options/validators.js'
import { catalogueOf } from '../../webhooks/catalogue.js'
import { aFunction, checkOptions, nonEmptyText } from '../check-options.js'
import type { PropertyChecker } from './property-checker.js'
import { contextFields, MAX_TRIES, mixedFailures, mixedSequence, uniformSequences } from './retry-contexts.js'
import { type AnyPolicy, checkAnyPolicy, toFunction } from './retry-policy.js'

/** Properties that the policy guarantees in addition to those that every policy must have. */
export interface PolicyGuarantees {
  /** Name of the suite. Default is the function's name. */
  readonly name?: string | undefined
  /** The longest delay, milliseconds. Default is one week, to which hookswitch caps longer delays. */
  readonly capMs?: number | undefined
  /** For the same failure and random number, no delay is shorter than the previous one. Default is true. */
  readonly grows?: boolean | undefined
  /** Returns the shortest and the longest delay for a context, milliseconds. Default is no bounds. */
  readonly bounds?:
    | ((context: Parameters<PolicyFunction>[0]) => readonly [minMs: number, maxMs: number])
    | undefined
  /** The policy returns null after this many tries, 1 to 30. If absent, the webhook's `retries` are the only limit. */
  readonly maxTries?: number | undefined
  /** Longest time from the first attempt to the last, whatever fails, milliseconds. Default is no limit. */
  readonly withinMs?: number | undefined
  /** Event kinds with which the policy is called. Default is the catalogue. */
  readonly hooks?: readonly string[] | undefined
  /** Random cases per property. Default is 100. */
  readonly numRuns?: number | undefined
}

/** `describe` and `it` of any test runner. */
export interface PolicyRunner {
  /** Registers a suite. */
  readonly describe: (name: string, body: () => void) => unknown
  /** Registers a test, which fails if `body` throws. */
  readonly it: (name: string, body: () => void) => unknown
}

const VALIDATORS: Readonly<Record<keyof PolicyGuarantees, Validator>> = {
  name: nonEmptyText,
  capMs: wholeNumber(0, MAX_DELAY_MS),
  grows: boolean,
  bounds: aFunction,
  maxTries: wholeNumber(1, MAX_TRIES),
  withinMs: wholeNumber(0, MAX_TRIES * MAX_DELAY_MS),
  hooks: (field, value) => {
    stringList(field, value)
    if ((value as readonly string[]).length === 0) throw invalidOption(field, 'must not be empty')
  },
  numRuns: wholeNumber(1, 1_000_000),
}

/**
 * Registers one test for each property of a retry policy.
 *
 * @param runner the test runner's `describe` and `it`
 * @param fc fast-check: `import fc from 'fast-check'`
 * @throws `InvalidOption` naming the argument or the guarantee
 * @example
 * provePolicy({ describe, it }, fc, ({ tries }) => 5_000 * tries, { capMs: 60_000 })
 */
export function provePolicy(
  runner: PolicyRunner,
  fc: PropertyChecker,
  policy: AnyPolicy,
  guarantees: PolicyGuarantees = {},
): void {
  const tools = { runner: objectWithMethods('describe', 'it'), fc: objectWithMethods('assert', 'property') }
  checkOptions('provePolicy', { runner, fc }, tools, ['runner', 'fc'])
  checkOptions('provePolicy', guarantees, VALIDATORS)
  const policyFunction = toFunction(checkAnyPolicy('provePolicy', policy))
  const { capMs = MAX_DELAY_MS, grows = true, bounds, maxTries, withinMs, numRuns = 100 } = guarantees
  const name =
    guarantees.name ?? (typeof policy === 'function' && policy.name !== '' ? policy.name : 'the policy')
  const fields = contextFields(fc, guarantees.hooks ?? catalogueOf().map(({ id }) => id))
  const uniform = fc.record(fields)
  const delayFor = (context: RetryContext) => callPolicy(policyFunction, context)
  const property = (title: string, predicate: (drawn: unknown) => void, arbitrary = uniform) =>
    runner.it(title, () => void fc.assert(fc.property(arbitrary, predicate), { numRuns }))
  const forEachContext = (drawn: unknown, check: (context: RetryContext) => void) =>
    uniformSequences(drawn).flat().forEach(check)

  runner.describe(name, () => {
    property('returns a number of milliseconds of at least 0, or null', (drawn) =>
      forEachContext(drawn, (context) => void delayFor(context)),
    )
    property(`never waits longer than ${capMs} ms`, (drawn) =>
      forEachContext(drawn, (context) => assertBounds(context, [0, capMs])),
    )
    property('returns the same for the same context, whatever calls came between', (drawn) => {
      const contexts = uniformSequences(drawn).flat()
      const delays = contexts.map(delayFor)
      for (const [index, context] of [...contexts.entries()].reverse()) {
        const repeated = delayFor(context)
        if (repeated !== delays[index])
          assert.fail(`returns first ${delays[index]}, then ${repeated} for ${describeContext(context)}`)
      }
    })
    if (grows) {
      property('never waits shorter than after the previous failure', (drawn) => {
        for (const sequence of uniformSequences(drawn)) {
          forEachDelay(sequence, (delayMs, context, previous) => {
            if (delayMs < previous.delayMs)
              assert.fail(`${delayMs} ms after ${previous.delayMs} ms for ${describeContext(context)}`)
          })
        }
      })
    }
    if (bounds) {
      property('stays within its bounds', (drawn) =>
        forEachContext(drawn, (context) => assertBounds(context, bounds(context))),
      )
    }
    if (maxTries !== undefined) {
      property(`gives up after ${maxTries} tries`, (drawn) =>
        forEachContext(drawn, (context) => {
          if (context.tries === maxTries && delayFor(context) !== null)
            assert.fail(`retries after ${describeContext(context)}`)
        }),
      )
    }
    if (withinMs !== undefined) {
      property(
        `ends within ${withinMs} ms, whatever fails`,
        (drawn) => {
          for (const sequence of [...uniformSequences(drawn), mixedSequence(drawn)]) {
            forEachDelay(sequence, (delayMs, context, previous) => {
              const afterMs = previous.totalMs + delayMs
              if (afterMs > withinMs)
                assert.fail(
                  `try ${context.tries + 1} comes after ${afterMs} ms, for ${describeContext(context)}`,
                )
            })
          }
        },
        fc.record({ ...fields, mixed: mixedFailures(fc) }),
      )
    }
  })

  function assertBounds(context: RetryContext, [minMs, maxMs]: readonly [number, number]): void {
    const delayMs = delayFor(context)
    if (delayMs === null) return
    if (delayMs >= minMs && delayMs <= maxMs) return
    assert.fail(`${delayMs} ms is not from ${minMs} to ${maxMs}, for ${describeContext(context)}`)
  }

  /** Calls the policy for the attempts of one delivery until it gives up. */
  function forEachDelay(
    sequence: readonly RetryContext[],
    check: (
      delayMs: number,
      context: RetryContext,
      previous: { readonly delayMs: number; readonly totalMs: number },
    ) => void,
  ): void {
    let previous = { delayMs: 0, totalMs: 0 }
    for (const context of sequence) {
      const delayMs = delayFor(context)
      if (delayMs === null) return
      check(delayMs, context, previous)
      previous = { delayMs, totalMs: previous.totalMs + delayMs }
    }
  }
}

/** Calls the policy, and fails unless it returns a delay: for anything else hookswitch uses its default policy. */
function callPolicy(policy: (context: RetryContext) => unknown, context: RetryContext): number | null {
  const result = policy(context)
  if (result === null || (typeof result === 'number' && result >= 0 && result < Infinity)) return result
  const description = result instanceof Promise ? 'a promise' : String(result)
  if (result instanceof Promise) result.catch(() => {})
  return assert.fail(`returns ${description} for ${describeContext(context)}`)
}

function describeContext(context: RetryContext): string {
  return JSON.stringify(context)
}
