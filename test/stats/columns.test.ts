import { describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../src/delivery/attempt-record.js'
import { ATTEMPT_OUTCOMES } from '../../src/metrics.js'
import {
  bucketIndex,
  COUNTS,
  causeOf,
  countAttempt,
  DURATION_BOUNDS_MS,
  newCounts,
  outcomeIndex,
  STATS_OUTCOMES,
} from '../../src/stats/columns.js'
import { newRecord } from './records.js'

const failure = { result: 'failure', reason: 'no answer' } as const
const outcomeOf = (record: Partial<AttemptRecord>) => STATS_OUTCOMES[outcomeIndex(newRecord(record))]

describe('a row of counts', () => {
  it('has 25 numbers', () => {
    expect(COUNTS).toBe(25)
    expect(newCounts()).toEqual(new Array(25).fill(0))
  })

  it('has the outcomes of the metric, with `http` split by the class of the status', () => {
    const split = ATTEMPT_OUTCOMES.flatMap((name) => (name === 'http' ? ['http_4xx', 'http_5xx'] : [name]))
    expect(STATS_OUTCOMES).toEqual(split)
  })

  it.each([
    ['delivered', {}],
    ['http_4xx', { ...failure, status: 404 }],
    ['http_4xx', { ...failure, status: 499 }],
    ['http_5xx', { ...failure, status: 500 }],
    ['http_5xx', { ...failure, status: 599 }],
    ['http_4xx', { ...failure, status: 100 }],
    ['redirect', { ...failure, status: 302, clientError: 'redirect' }],
    ['timeout', { ...failure, clientError: 'timeout' }],
    ['connection', { ...failure, clientError: 'connection' }],
    ['dns', { ...failure, clientError: 'dns' }],
    ['tls', { ...failure, clientError: 'tls' }],
    ['protocol', { ...failure, clientError: 'protocol' }],
    ['blocked_address', { ...failure, clientError: 'blocked_address' }],
    ['own_fault', { ...failure, reason: 'own fault', clientError: 'own_fault' }],
    ['interrupted', { ...failure, reason: 'interrupted' }],
  ] as const)('counts as %s the record %o', (outcome, record) => {
    expect(outcomeOf(record)).toBe(outcome)
  })

  it.each([
    ['503', { ...failure, status: 503, cause: 'refused' }],
    ['302', { ...failure, status: 302, clientError: 'redirect' }],
    ['404', { ...failure, status: 404 }],
    ['other', { ...failure, status: 460 }],
    ['other', { ...failure, status: 999 }],
    ['other', { ...failure, status: 100 }],
    ['timeout_answer', { ...failure, clientError: 'timeout', cause: 'timeout_answer' }],
    ['other', { ...failure, clientError: 'timeout' }],
    ['other', { ...failure, clientError: 'tls', cause: 'of a later version' }],
    ['own_fault', { ...failure, reason: 'own fault', clientError: 'own_fault' }],
    ['interrupted', { ...failure, reason: 'interrupted' }],
  ] as const)('has the cause %s for the record %o', (cause, { ...record }) => {
    const { status: _ok, ...unanswered } = newRecord()
    expect(causeOf({ ...unanswered, ...record })).toBe(cause)
  })

  it('puts a duration into the first bucket whose bound it does not exceed', () => {
    const buckets = [0, 5, 6, 10, 10_000, 10_001, 600_000].map((ms) => bucketIndex(ms) - 12)
    expect(buckets).toEqual([0, 0, 1, 1, 10, 11, 11])
    expect(DURATION_BOUNDS_MS).toHaveLength(11)
  })

  it('adds an attempt to one outcome, one bucket and the sum', () => {
    const counts = newCounts()
    countAttempt(counts, newRecord({ durationMs: 7 }))
    expect(counts.flatMap((count, index) => (count > 0 ? [[index, count]] : []))).toEqual([
      [0, 1],
      [13, 1],
      [24, 7],
    ])
  })

  it('has no duration of an interrupted attempt', () => {
    const counts = newCounts()
    const { durationMs: _unknown, ...record } = newRecord({ ...failure, reason: 'interrupted' })
    countAttempt(counts, record)
    expect(counts.flatMap((count, index) => (count > 0 ? [[index, count]] : []))).toEqual([[11, 1]])
  })
})
