import assert from 'node:assert/strict'
import { MAX_DELAY_MS, type RetryContext } from '../../delivery/policy.js'
import { type Check, door, flag, invalid, texts, whole } from '../../option-checks.js'
import { catalogueOf } from '../../webhooks/catalogue.js'
import { callable, checkGiven, text } from '../handler/given-options.js'
import type { PropertyChecker } from './property-checker.js'
import { MOST_ASKED, mixedCourse, mixedFailures, steadyCourses, surroundings } from './retry-contexts.js'
import { type AnyPolicy, askerOf, checkAnyPolicy } from './retry-policy.js'

/** What the policy promises beside what every policy must keep. */
export interface PolicyPromises {
  /** Names the suite; default the function's name. */
  readonly name?: string
  /** The longest delay, milliseconds; default a week, what hookswitch cuts longer ones to. */
  readonly capMs?: number
  /** For the same failure and the same roll, each delay is at least as long as the one before; default true. */
  readonly grows?: boolean
  /** Shortest and longest delay for what it is told, milliseconds. */
  readonly bounds?: (context: RetryContext) => readonly [leastMs: number, mostMs: number]
  /** After so many tries it gives up at the latest; absent: a webhook's `retries` end it. */
  readonly mostTries?: number
  /** The last try comes at most so long after the first, whatever fails in between, milliseconds. */
  readonly withinMs?: number
  /** Kinds of event that it is told of; default those of the catalogue. */
  readonly hooks?: readonly string[]
  /** Random cases for each property; default 100. */
  readonly numRuns?: number
}

/** `describe` and `it` of any test runner. */
export interface PolicyRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => void) => unknown
}

const CHECKS: Readonly<Record<keyof PolicyPromises, Check>> = {
  name: text,
  capMs: whole(0, MAX_DELAY_MS),
  grows: flag,
  bounds: callable,
  mostTries: whole(1, MOST_ASKED),
  withinMs: whole(0, MOST_ASKED * MAX_DELAY_MS),
  hooks: (field, value) => {
    texts(field, value)
    if ((value as readonly string[]).length === 0) throw invalid(field, 'must not be empty')
  },
  numRuns: whole(1, 1_000_000),
}

/**
 * Registers one test for each property of a retry policy.
 *
 * @param runner the test runner, as two functions
 * @param fc fast-check: `import fc from 'fast-check'`
 * @throws `InvalidOption` naming the argument or the promise
 * @example
 * provePolicy({ describe, it }, fc, ({ tries }) => 5_000 * tries, { capMs: 60_000 })
 */
export function provePolicy(
  runner: PolicyRunner,
  fc: PropertyChecker,
  policy: AnyPolicy,
  promises: PolicyPromises = {},
): void {
  const tools = { runner: door('describe', 'it'), fc: door('assert', 'property') }
  checkGiven('provePolicy', { runner, fc }, tools, ['runner', 'fc'])
  checkGiven('provePolicy', promises, CHECKS)
  const asked = askerOf(checkAnyPolicy('provePolicy', policy))
  const { capMs = MAX_DELAY_MS, grows = true, bounds, mostTries, withinMs, numRuns = 100 } = promises
  const name =
    promises.name ?? (typeof policy === 'function' && policy.name !== '' ? policy.name : 'the policy')
  const around = surroundings(fc, promises.hooks ?? catalogueOf().map(({ id }) => id))
  const steady = fc.record(around)
  const ask = (context: RetryContext) => delayOf(asked, context)
  const property = (sentence: string, holds: (drawn: unknown) => void, drawn = steady) =>
    runner.it(sentence, () => void fc.assert(fc.property(drawn, holds), { numRuns }))
  const each = (drawn: unknown, holds: (context: RetryContext) => void) =>
    steadyCourses(drawn).flat().forEach(holds)

  runner.describe(name, () => {
    property('answers a number of milliseconds from 0 up, or null', (drawn) =>
      each(drawn, (told) => void ask(told)),
    )
    property(`never waits longer than ${capMs} ms`, (drawn) =>
      each(drawn, (told) => inside(told, [0, capMs])),
    )
    property('answers the same when it is told the same, whatever it was told in between', (drawn) => {
      const contexts = steadyCourses(drawn).flat()
      const answers = contexts.map(ask)
      for (const [index, told] of [...contexts.entries()].reverse()) {
        const again = ask(told)
        if (again !== answers[index])
          assert.fail(`first ${answers[index]}, then ${again} for ${inWords(told)}`)
      }
    })
    if (grows) {
      property('never waits shorter than after the failure before', (drawn) => {
        for (const course of steadyCourses(drawn)) {
          follow(course, (delayMs, told, before) => {
            if (delayMs < before.delayMs)
              assert.fail(`${delayMs} ms after ${before.delayMs} ms for ${inWords(told)}`)
          })
        }
      })
    }
    if (bounds) {
      property('stays within its own bounds', (drawn) => each(drawn, (told) => inside(told, bounds(told))))
    }
    if (mostTries !== undefined) {
      property(`gives up after ${mostTries} tries`, (drawn) =>
        each(drawn, (told) => {
          if (told.tries === mostTries && ask(told) !== null) assert.fail(`goes on after ${inWords(told)}`)
        }),
      )
    }
    if (withinMs !== undefined) {
      property(
        `ends within ${withinMs} ms, whatever fails`,
        (drawn) => {
          for (const course of [...steadyCourses(drawn), mixedCourse(drawn)]) {
            follow(course, (delayMs, told, before) => {
              const afterMs = before.spentMs + delayMs
              if (afterMs > withinMs)
                assert.fail(`try ${told.tries + 1} comes after ${afterMs} ms, for ${inWords(told)}`)
            })
          }
        },
        fc.record({ ...around, mixed: mixedFailures(fc) }),
      )
    }
  })

  function inside(told: RetryContext, [leastMs, mostMs]: readonly [number, number]): void {
    const delayMs = ask(told)
    if (delayMs === null) return
    if (delayMs >= leastMs && delayMs <= mostMs) return
    assert.fail(`${delayMs} ms is not from ${leastMs} to ${mostMs}, for ${inWords(told)}`)
  }

  /** One delivery until the policy gives up. */
  function follow(
    course: readonly RetryContext[],
    check: (
      delayMs: number,
      told: RetryContext,
      before: { readonly delayMs: number; readonly spentMs: number },
    ) => void,
  ): void {
    let before = { delayMs: 0, spentMs: 0 }
    for (const told of course) {
      const delayMs = ask(told)
      if (delayMs === null) return
      check(delayMs, told, before)
      before = { delayMs, spentMs: before.spentMs + delayMs }
    }
  }
}

/** What a policy answered, which must be a delay: hookswitch would take its own policy in the place of another answer. */
function delayOf(asked: (context: RetryContext) => unknown, context: RetryContext): number | null {
  const answer = asked(context)
  if (answer === null || (typeof answer === 'number' && answer >= 0 && answer < Infinity)) return answer
  const what = answer instanceof Promise ? 'a promise' : String(answer)
  if (answer instanceof Promise) answer.catch(() => {})
  return assert.fail(`answers ${what} for ${inWords(context)}`)
}

function inWords(context: RetryContext): string {
  return JSON.stringify(context)
}
