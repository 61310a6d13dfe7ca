/** Concurrent calls of the store model, in an order that fast-check's scheduler draws, and the search for a linearization. */

import type * as FastCheck from 'fast-check'
import { type CommandTrace, isEqual } from './command-trace.js'
import type { StoreCall } from './store-calls.js'
import { formatCall } from './store-format.js'
import { expectedResult, type ReferenceStore } from './store-reference.js'

export interface Interleaved {
  /** Whether the maximum number of calls is in progress. */
  isFull(): boolean
  /** Starts a call. The scheduler draws when it is executed and when its result arrives. */
  begin(call: StoreCall): void
  /** Resolves when all results have arrived. */
  drain(): Promise<void>
  /** Adds a call that ran alone, with its result. */
  add(call: StoreCall, result: unknown): void
  /** Fails unless the reference gives these results in some order of the calls. */
  check(reference: ReferenceStore): void
}

/** A call and its result. Overlapping calls may have been executed in either order. */
interface CompletedCall {
  readonly call: StoreCall
  readonly name: string
  readonly beganAt: number
  endedAt: number
  result: unknown
}

/** Three calls find races that two do not, and few enough orders to try them all. */
const MAX_CONCURRENT = 3

export function interleave(
  scheduler: FastCheck.Scheduler,
  trace: CommandTrace,
  execute: (call: StoreCall) => Promise<unknown>,
  onResult: (call: StoreCall, result: unknown) => void,
): Interleaved {
  const calls: CompletedCall[] = []
  const inProgress = new Set<Promise<void>>()
  let failure: unknown
  let moments = 0
  const moment = () => {
    moments += 1
    return moments
  }
  const newCall = (call: StoreCall): CompletedCall => {
    const name = `call ${calls.length + 1}`
    const created = { call, name, beganAt: moment(), endedAt: Number.POSITIVE_INFINITY, result: undefined }
    calls.push(created)
    return created
  }

  async function run(started: CompletedCall): Promise<void> {
    await scheduler.schedule(Promise.resolve(), `${started.name} is executed`)
    const result = await execute(started.call)
    await scheduler.schedule(Promise.resolve(), `the result of ${started.name} arrives`)
    Object.assign(started, { result, endedAt: moment() })
    trace.step(`result of ${started.name}`, result)
    onResult(started.call, result)
  }

  return {
    isFull: () => inProgress.size >= MAX_CONCURRENT,
    begin(call) {
      const started = newCall(call)
      trace.step(`${started.name}: ${formatCall(call)}`)
      const running = run(started)
        .catch((thrown: unknown) => {
          failure ??= thrown
        })
        .finally(() => inProgress.delete(running))
      inProgress.add(running)
    },
    async drain() {
      while (inProgress.size > 0) {
        await Promise.race([scheduler.waitIdle(), ...inProgress])
        // Calls that wait for real I/O return to the scheduler later.
        if (scheduler.count() === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      if (failure !== undefined) throw failure
    },
    add(call, result) {
      Object.assign(newCall(call), { result, endedAt: moment() })
    },
    check(reference) {
      const { longest, isComplete } = findOrder(calls, reference)
      if (isComplete) return
      const names = longest.map(({ name }) => name).join(', ')
      trace.note(`longest order that explains the results: ${names || 'none'}`)
      const next = calls.find((call) => !longest.includes(call))!
      const state = structuredClone(reference)
      for (const { call, result } of longest) expectedResult(state, call, result)
      const expected = expectedResult(state, next.call, next.result)
      trace.fail(`after these, ${next.name} fails: ${formatCall(next.call)}`, expected, next.result)
    },
  }
}

/**
 * Searches an order of the calls that explains every result, in which no call precedes one that ended before it began.
 * Tries every order, but each set of remaining calls only once per state.
 */
function findOrder(calls: readonly CompletedCall[], reference: ReferenceStore) {
  const tried = new Set<string>()
  let longest: readonly CompletedCall[] = []
  const isComplete = extend([], reference)
  return { isComplete, longest }

  function extend(order: readonly CompletedCall[], state: ReferenceStore): boolean {
    if (order.length > longest.length) longest = order
    if (order.length === calls.length) return true
    const left = calls.filter((call) => !order.includes(call))
    const key = `${left.map(({ name }) => name)} ${JSON.stringify(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    const firstEnd = Math.min(...left.map(({ endedAt }) => endedAt))
    return left.some((call) => {
      if (call.beganAt > firstEnd) return false
      const next = structuredClone(state)
      return (
        isEqual(expectedResult(next, call.call, call.result), call.result) && extend([...order, call], next)
      )
    })
  }
}
