import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSchedule, type Schedule } from '../../src/delivery/fairness.js'

const WEBHOOK = 'w'
const ENDPOINT = { webhookId: WEBHOOK, accountId: 'acc', origin: 'https://a.example', failing: false }

/** A call to the store: begun, then carried out there, then answered. */
interface Call {
  readonly kind: 'claim' | 'settle'
  readonly since: number
  /** The request that a settlement ends. */
  readonly flight?: ReturnType<Schedule['started']>
  /** What the store said when it carried it out. */
  said?: { readonly dueMs: number | undefined }
}

const step = fc.record({
  what: fc.constantFrom('claim', 'settle', 'carry out', 'answer', 'accept', 'wake late'),
  which: fc.nat(20),
  // The store's due time after the call: none, or a moment.
  dueMs: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
})

/**
 * Plays a history against a store with one endpoint. Its due time is set by claims and settlements when they are
 * carried out, which the node hears with the answer, in any order; and lowered by acceptances, of which the node is
 * told at once or later.
 */
function play(history: readonly { what: string; which: number; dueMs: number | undefined }[]) {
  const schedule = createSchedule({ perEndpoint: 99, perAccount: 99, perOrigin: 99, inAll: 99 })
  const calls: Call[] = []
  const untold: number[] = []
  let due: number | undefined
  const take = <T>(list: T[], which: number, fits: (one: T) => boolean): T | undefined => {
    const fitting = list.filter(fits)
    return fitting[which % Math.max(1, fitting.length)]
  }
  const tell = (dueMs: number) => schedule.learn({ ...ENDPOINT, dueMs })
  const answer = (call: Call) => {
    calls.splice(calls.indexOf(call), 1)
    schedule.learn({ ...ENDPOINT, dueMs: call.said!.dueMs }, call.since)
    if (call.flight) schedule.ended(call.flight)
    if (call.kind === 'settle') return
    const flight = schedule.started(ENDPOINT, false, 0)
    calls.push({ kind: 'settle', since: schedule.tick(), flight })
  }

  for (const { what, which, dueMs } of history) {
    if (what === 'claim' && !calls.some(({ kind }) => kind === 'claim')) {
      schedule.pick(9, 99)
      calls.push({ kind: 'claim', since: schedule.tick() })
    } else if (what === 'carry out') {
      const call = take(calls, which, ({ said }) => said === undefined)
      if (call) {
        due = dueMs
        call.said = { dueMs }
      }
    } else if (what === 'answer') {
      const call = take(calls, which, ({ said }) => said !== undefined)
      if (call) answer(call)
    } else if (what === 'accept' && dueMs !== undefined && dueMs < (due ?? 10)) {
      due = dueMs
      if (which % 2 === 0) tell(dueMs)
      else untold.push(dueMs)
    } else if (what === 'wake late') {
      const late = untold.shift()
      if (late !== undefined) tell(late)
    }
  }
  for (const late of untold) tell(late)
  for (let call = calls[0]; call; call = calls[0]) {
    call.said ??= { dueMs: due }
    answer(call)
  }
  return { schedule, due }
}

describe('answers of the store that arrive late and in any order', () => {
  it('never lose a wake-up: what is due in the store is picked when it is due', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (history) => {
        const { schedule, due } = play(history)
        if (due === undefined) return
        expect(schedule.pick(due, 99).map(({ webhookId }) => webhookId)).toEqual([WEBHOOK])
      }),
      { numRuns: 2000 },
    )
  })

  it('leave nothing behind when the store has nothing more, once a claim has asked', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (history) => {
        const { schedule } = play(history)
        const since = schedule.tick()
        schedule.learn({ ...ENDPOINT, dueMs: undefined }, since)
        expect(schedule.pick(9, 99)).toEqual([])
        expect(schedule.nextDueMs()).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })
})
