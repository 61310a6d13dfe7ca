import { describe, expect, it } from 'vitest'
import {
  type AnswerHistory,
  CLASSES,
  createInFlightRequests,
  createSlotCounts,
  DOUBTFUL,
  FAST,
  FAST_ANSWER_MS,
  freeSlots,
  groupLimit,
  maxSlots,
  mayProbeOneMore,
  type PriorityClass,
  priorityOf,
  SILENT,
  SLOW,
  slotsHeld,
  TRUSTED,
  UNKNOWN,
} from '../../../src/delivery/scheduler/priority.js'
import {
  addFailure,
  addFastAnswer,
  createReputation,
  TRUST_MS,
} from '../../../src/delivery/scheduler/reputation.js'

const NEVER = Number.NEGATIVE_INFINITY
const NOW = 100_000

/** The class of an endpoint that has done nothing else than this. */
function classOf(
  history: Partial<AnswerHistory>,
  { account = createReputation(), zone = createReputation(), oldestOverdueMs = NEVER } = {},
): PriorityClass {
  const untried = { lastAnswer: undefined, lastFastMs: NEVER, isFailing: false, overdueCount: 0 }
  return priorityOf({ ...untried, ...history }, account, zone, oldestOverdueMs, NOW)
}

function reputationAfter(failures: number, fastAnswers = 0) {
  const reputation = createReputation()
  for (let n = 0; n < fastAnswers; n++) addFastAnswer(reputation, NOW)
  for (let n = 0; n < failures; n++) addFailure(reputation, NOW)
  return reputation
}

describe('the class of an endpoint', () => {
  it.each<[string, Partial<AnswerHistory>, PriorityClass]>([
    ['was never tried', {}, UNKNOWN],
    ['was never tried by this node and fails according to the store', { isFailing: true }, SILENT],
    ['answered fast', { lastAnswer: 'fast', lastFastMs: NOW - 5 }, FAST],
    ['answered fast with an error', { lastAnswer: 'fast', lastFastMs: NOW - 5, isFailing: true }, FAST],
    ['answered fast six hours ago', { lastAnswer: 'fast', lastFastMs: NOW - TRUST_MS }, FAST],
    ['answered fast longer ago', { lastAnswer: 'fast', lastFastMs: NOW - TRUST_MS - 1 }, UNKNOWN],
    ['answered late', { lastAnswer: 'slow', lastFastMs: NOW - 5 }, SLOW],
    ['did not answer', { lastAnswer: 'none', lastFastMs: NOW - 5 }, SILENT],
    ['answered fast and is overdue', { lastAnswer: 'fast', lastFastMs: NOW, overdueCount: 1 }, SLOW],
    ['answered late and is overdue', { lastAnswer: 'slow', overdueCount: 1 }, SLOW],
    ['did not answer and is overdue', { lastAnswer: 'none', overdueCount: 1 }, SILENT],
    ['was never tried and is overdue', { overdueCount: 1 }, SILENT],
  ])('that %s', (_, history, priority) => {
    expect(classOf(history)).toBe(priority)
  })

  it('is trusted while a request is overdue that was sent after its last fast answer', () => {
    const history = { lastAnswer: 'fast', lastFastMs: 500 } as const
    expect(classOf(history, { oldestOverdueMs: 500 })).toBe(FAST)
    expect(classOf(history, { oldestOverdueMs: 501 })).toBe(TRUSTED)
  })

  it('that was never tried follows from the reputation of its account and zone', () => {
    expect(classOf({}, { zone: reputationAfter(1) })).toBe(SILENT)
    expect(classOf({}, { account: reputationAfter(2) })).toBe(UNKNOWN)
    expect(classOf({}, { account: reputationAfter(3) })).toBe(DOUBTFUL)
    expect(classOf({}, { account: reputationAfter(3), zone: reputationAfter(0, 1) })).toBe(UNKNOWN)
    expect(classOf({}, { account: reputationAfter(3), zone: reputationAfter(1, 1) })).toBe(SILENT)
  })

  it('that was tried does not follow from the reputation of others', () => {
    const bad = { account: reputationAfter(9), zone: reputationAfter(9) }
    expect(classOf({ lastAnswer: 'fast', lastFastMs: NOW }, bad)).toBe(FAST)
    expect(classOf({ lastAnswer: 'slow' }, bad)).toBe(SLOW)
  })
})

describe('the slots of a class', () => {
  it('are a share of all, and at least one however few there are', () => {
    for (const priority of CLASSES) expect(maxSlots(priority, 1)).toBe(1)
    expect(CLASSES.map((priority) => maxSlots(priority, 400))).toEqual([400, 350, 300, 250, 200, 100])
  })

  /** Slots of a cap of 400 that each class may still take while these are in flight, by class. */
  const freeBeside = (...inFlight: number[]) => {
    const slots = createSlotCounts()
    inFlight.forEach((count, priority) => {
      slots[priority] = count
    })
    return CLASSES.map((priority) => freeSlots(slots, priority, 400))
  }

  it('are used by slower classes too', () => {
    expect(freeBeside()).toEqual([400, 350, 300, 250, 200, 100])
    expect(freeBeside(0, 0, 0, 0, 0, 100)).toEqual([300, 250, 200, 150, 100, 0])
    expect(freeBeside(0, 0, 300)).toEqual([100, 50, 0, 0, 0, 0])
    expect(freeBeside(400)).toEqual([0, 0, 0, 0, 0, 0])
    expect(freeBeside(390)).toEqual([10, 10, 10, 10, 10, 10])
  })

  it('include a reserve for slow endpoints that silent ones cannot use', () => {
    expect(freeBeside(0, 0, 0, 0, 0, 200)[SLOW]).toBe(50)
    expect(freeBeside(0, 0, 0, 0, 20, 220)[SLOW]).toBe(30)
    expect(freeBeside(0, 0, 0, 0, 20, 220)[DOUBTFUL]).toBe(10)
    // Not beyond the shares of faster classes.
    expect(freeBeside(0, 0, 70, 0, 0, 230)[SLOW]).toBe(0)
  })

  it('are counted with those of slower classes', () => {
    const slots = createSlotCounts()
    slots[SLOW] = 2
    slots[SILENT] = 3
    expect([slotsHeld(slots, FAST), slotsHeld(slots, SLOW), slotsHeld(slots, SILENT)]).toEqual([5, 5, 3])
    expect(freeSlots(slots, SILENT, 400)).toBe(97)
  })
})

describe('the limit of an account or a zone', () => {
  it('is a share of the free slots of the class', () => {
    expect(groupLimit(SILENT, 100, 100, true)).toBe(25)
    expect(groupLimit(SILENT, 100, 100, false)).toBe(25)
    expect(groupLimit(TRUSTED, 40, 400, true)).toBe(10)
    expect(groupLimit(SLOW, 40, 400, true)).toBe(20)
  })

  it('falls with the square of the free slots for never-tried endpoints', () => {
    expect(groupLimit(UNKNOWN, 300, 300, true)).toBe(75)
    expect(groupLimit(UNKNOWN, 150, 300, true)).toBe(18.75)
    expect(groupLimit(DOUBTFUL, 30, 300, true)).toBe(0.75)
  })

  it('is one or two probes for a zone in which nobody has answered', () => {
    expect(groupLimit(UNKNOWN, 375, 375, false)).toBeGreaterThan(1)
    expect(groupLimit(UNKNOWN, 375, 375, false)).toBeLessThan(2)
    expect(groupLimit(UNKNOWN, 200, 375, false)).toBeLessThan(1)
    expect(groupLimit(UNKNOWN, 1, 375, false)).toBeGreaterThan(0)
  })

  it('leaves slots to the next account, however many take all that they may', () => {
    const most = maxSlots(UNKNOWN, 500)
    let held = 0
    for (let account = 0; account < 60; account++) {
      expect(held).toBeLessThan(most)
      for (let own = 0; own < groupLimit(UNKNOWN, most - held, most, true); own++) held++
    }
  })

  it('may be exceeded by one probe at a time while an eighth of the slots is free', () => {
    expect(mayProbeOneMore(0, 41, 320)).toBe(true)
    expect(mayProbeOneMore(0, 40, 320)).toBe(false)
    expect(mayProbeOneMore(1, 300, 320)).toBe(false)
  })
})

describe('requests in flight', () => {
  it('are overdue after a second, until they end', () => {
    const requests = createInFlightRequests<string>()
    const overdue: string[] = []
    const scan = (now: number) => requests.scanOverdue(now, ({ endpoint }) => overdue.push(endpoint))
    const start = (endpoint: string, now: number) => {
      const request = requests.start(endpoint, UNKNOWN)
      requests.sent(request, now)
      return request
    }
    const [first, second, third] = [start('a', 0), start('b', 100), start('c', 2000)]
    second.hasEnded = true
    scan(999)
    expect([overdue, requests.oldestOverdueMs(), requests.nextOverdueMs()]).toEqual([[], NEVER, 1000])
    scan(1000)
    scan(2500)
    expect([overdue, requests.oldestOverdueMs(), requests.nextOverdueMs()]).toEqual([['a'], 0, 3000])
    scan(3000)
    first.hasEnded = true
    expect([overdue, requests.oldestOverdueMs(), requests.nextOverdueMs()]).toEqual([
      ['a', 'c'],
      2000,
      undefined,
    ])
    third.hasEnded = true
    expect(requests.oldestOverdueMs()).toBe(NEVER)
  })

  it('are not overdue while they wait to be sent', () => {
    const requests = createInFlightRequests<string>()
    const overdue: string[] = []
    const [first, second] = [requests.start('a', UNKNOWN), requests.start('b', UNKNOWN)]
    requests.sent(second, 0)
    requests.sent(first, 5000)
    expect(requests.nextOverdueMs()).toBe(1000)
    requests.scanOverdue(5999, ({ endpoint }) => overdue.push(endpoint))
    expect([overdue, requests.nextOverdueMs()]).toEqual([['b'], 6000])
  })

  it('remember the class in which they started', () => {
    expect(createInFlightRequests<string>().start('a', SLOW)).toEqual({
      endpoint: 'a',
      sentMs: Number.POSITIVE_INFINITY,
      priority: SLOW,
      isProbe: false,
      hasEnded: false,
      isOverdue: false,
    })
  })
})

it('an answer within two seconds is fast', () => {
  expect(FAST_ANSWER_MS).toBe(2000)
})
