import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createScheduler, type Scheduler } from '../../../src/delivery/scheduler/scheduler.js'
import { propertyRuns } from '../../support/property-runs.js'

const WEBHOOK = 'w'
const ENDPOINT = { webhookId: WEBHOOK, accountId: 'acc', origin: 'https://a.example', failing: false }

/** A call to the store: started, then committed, then answered. */
interface Call {
  readonly kind: 'claim' | 'settle'
  readonly since: number
  /** The request that a settlement ends. */
  readonly request?: ReturnType<Scheduler['start']>
  /** The store's answer, fixed at the commit. */
  answer?: { readonly dueMs: number | undefined }
}

const step = fc.record({
  what: fc.constantFrom('claim', 'settle', 'commit', 'answer', 'accept', 'wake late'),
  which: fc.nat(20),
  // The store's due time after the call; undefined: idle.
  dueMs: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
})

/**
 * Runs a history against a store with one endpoint. Claims and settlements set its due time when they commit;
 * their answers arrive in any order. Accepted events lower it; their wake-ups arrive at once or later.
 */
function run(history: readonly { what: string; which: number; dueMs: number | undefined }[]) {
  const scheduler = createScheduler({ perEndpoint: 99, perAccount: 99, perOrigin: 99, total: 99 })
  const calls: Call[] = []
  const pendingWakeUps: number[] = []
  let due: number | undefined
  const take = <T>(list: T[], which: number, isCandidate: (one: T) => boolean): T | undefined => {
    const candidates = list.filter(isCandidate)
    return candidates[which % Math.max(1, candidates.length)]
  }
  const wakeUp = (dueMs: number) => scheduler.update({ ...ENDPOINT, dueMs })
  const deliverAnswer = (call: Call) => {
    calls.splice(calls.indexOf(call), 1)
    scheduler.update({ ...ENDPOINT, dueMs: call.answer!.dueMs }, call.since)
    if (call.request) scheduler.end(call.request)
    if (call.kind === 'settle') return
    const request = scheduler.start(ENDPOINT, false, 0)
    calls.push({ kind: 'settle', since: scheduler.version(), request })
  }

  for (const { what, which, dueMs } of history) {
    if (what === 'claim' && !calls.some(({ kind }) => kind === 'claim')) {
      scheduler.next(9, 99)
      calls.push({ kind: 'claim', since: scheduler.version() })
    } else if (what === 'commit') {
      const call = take(calls, which, ({ answer }) => answer === undefined)
      if (call) {
        due = dueMs
        call.answer = { dueMs }
      }
    } else if (what === 'answer') {
      const call = take(calls, which, ({ answer }) => answer !== undefined)
      if (call) deliverAnswer(call)
    } else if (what === 'accept' && dueMs !== undefined && dueMs < (due ?? 10)) {
      due = dueMs
      if (which % 2 === 0) wakeUp(dueMs)
      else pendingWakeUps.push(dueMs)
    } else if (what === 'wake late') {
      const late = pendingWakeUps.shift()
      if (late !== undefined) wakeUp(late)
    }
  }
  for (const late of pendingWakeUps) wakeUp(late)
  for (let call = calls[0]; call; call = calls[0]) {
    call.answer ??= { dueMs: due }
    deliverAnswer(call)
  }
  return { scheduler, due }
}

describe('store answers that arrive late and in any order', () => {
  it('never lose a wake-up: what is due in the store is selected when it is due', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (history) => {
        const { scheduler, due } = run(history)
        if (due === undefined) return
        expect(scheduler.next(due, 99).map(({ webhookId }) => webhookId)).toEqual([WEBHOOK])
      }),
      { numRuns: propertyRuns(2000) },
    )
  })

  it('leave no due time behind after an answer that the endpoint is idle', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (history) => {
        const { scheduler } = run(history)
        const since = scheduler.version()
        scheduler.update({ ...ENDPOINT, dueMs: undefined }, since)
        expect(scheduler.next(9, 99)).toEqual([])
        expect(scheduler.nextDueMs()).toBeUndefined()
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})
