import type * as FastCheck from 'fast-check'
import type { StoreCall } from './store-calls.js'
import { answer } from './store-naive.js'
import type { NaiveStore } from './store-naive-state.js'
import { words } from './store-words.js'
import { isSame, type Story } from './story.js'

/** Calls under way at once. */
export interface Interleaved {
  /** Three are enough to find what two do not, and few enough to try every order of them. */
  isFull(): boolean
  /** Sends a call; when it is carried out, and when its answer arrives, is drawn. */
  begin(call: StoreCall): void
  /** Resolves when every answer is there. */
  rest(): Promise<void>
  /** A call and its answer, with no other beside it. */
  alone(call: StoreCall, seen: unknown): void
  /** Throws the story when there is no order in which a naive store gives these answers. */
  judge(naive: NaiveStore): void
}

/** A call with its answer, and when each was: of two that overlap, either may have come first. */
interface Asked {
  readonly call: StoreCall
  readonly name: string
  readonly begunAt: number
  endedAt: number
  seen: unknown
}

const MOST_AT_ONCE = 3

export function interleaved(
  scheduler: FastCheck.Scheduler,
  story: Story,
  ask: (call: StoreCall) => Promise<unknown>,
  answered: (call: StoreCall, seen: unknown) => void,
): Interleaved {
  const asked: Asked[] = []
  const underWay = new Set<Promise<void>>()
  let failure: unknown
  let moments = 0
  const moment = () => {
    moments += 1
    return moments
  }
  const newOne = (call: StoreCall): Asked => {
    const name = `call ${asked.length + 1}`
    const one = { call, name, begunAt: moment(), endedAt: Number.POSITIVE_INFINITY, seen: undefined }
    asked.push(one)
    return one
  }

  async function carryOut(one: Asked): Promise<void> {
    await scheduler.schedule(Promise.resolve(), `${one.name} is carried out`)
    const seen = await ask(one.call)
    await scheduler.schedule(Promise.resolve(), `the answer of ${one.name} arrives`)
    Object.assign(one, { seen, endedAt: moment() })
    story.tell(`${one.name} is answered`, seen)
    answered(one.call, seen)
  }

  return {
    isFull: () => underWay.size >= MOST_AT_ONCE,
    begin(call) {
      const one = newOne(call)
      story.tell(`${one.name} is sent: ${words(call)}`)
      const carried = carryOut(one)
        .catch((thrown: unknown) => {
          failure ??= thrown
        })
        .finally(() => underWay.delete(carried))
      underWay.add(carried)
    },
    async rest() {
      while (underWay.size > 0) {
        await Promise.race([scheduler.waitIdle(), ...underWay])
        // What waits for real input and output comes back to the scheduler later.
        if (scheduler.count() === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      if (failure !== undefined) throw failure
    },
    alone(call, seen) {
      Object.assign(newOne(call), { seen, endedAt: moment() })
    },
    judge(naive) {
      const { furthest, isPossible } = findOrder(asked, naive)
      if (isPossible) return
      const placed = furthest.map(({ name }) => name).join(', ')
      story.aside(`an order that explains the most: ${placed || 'none'}`)
      const next = asked.find((one) => !furthest.includes(one))!
      const state = structuredClone(naive)
      for (const { call, seen } of furthest) answer(state, call, seen)
      const expected = answer(state, next.call, next.seen)
      story.fail(`after these, ${next.name} cannot have been: ${words(next.call)}`, expected, next.seen)
    },
  }
}

/**
 * Looks for an order of the calls that explains every answer, in which none comes before one that had ended when it
 * began: every order is tried, each set of calls once for each state that it leads to.
 */
function findOrder(asked: readonly Asked[], naive: NaiveStore) {
  const tried = new Set<string>()
  let furthest: readonly Asked[] = []
  const isPossible = place([], naive)
  return { isPossible, furthest }

  function place(order: readonly Asked[], state: NaiveStore): boolean {
    if (order.length > furthest.length) furthest = order
    if (order.length === asked.length) return true
    const left = asked.filter((one) => !order.includes(one))
    const key = `${left.map(({ name }) => name)} ${JSON.stringify(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    const firstEnd = Math.min(...left.map(({ endedAt }) => endedAt))
    return left.some((one) => {
      if (one.begunAt > firstEnd) return false
      const next = structuredClone(state)
      return isSame(answer(next, one.call, one.seen), one.seen) && place([...order, one], next)
    })
  }
}
