import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outcomeOf, retryAfterMs } from '../../src/delivery/outcome.js'
import type { Observation, TransportFailure } from '../../src/ports.js'
import { FAILURE_CAUSES } from '../../src/values/failure-cause.js'

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0)
const response = (status: number, changes: object = {}): Observation => ({
  kind: 'response',
  status,
  headers: [],
  body: '',
  bodyEnd: 'complete',
  ...changes,
})

describe('outcomeOf', () => {
  it.each([200, 201, 202, 204, 206, 226, 299])('classifies %i as delivered', (status) => {
    expect(outcomeOf(response(status), NOW)).toEqual({ kind: 'delivered', status })
  })

  it.each(['truncated', 'broken', 'timeout'])(
    'classifies a 2xx as delivered even if its body is %s',
    (bodyEnd) => {
      expect(outcomeOf(response(200, { bodyEnd }), NOW).kind).toBe('delivered')
    },
  )

  it.each([300, 301, 302, 303, 304, 307, 308, 399])('classifies %i as a redirect failure', (status) => {
    const headers = ['location', 'https://elsewhere.example.com/']
    expect(outcomeOf(response(status, { headers }), NOW)).toEqual({
      kind: 'failed',
      failure: 'redirect',
      status,
      gone: false,
      throttled: false,
    })
  })

  it('marks 410 as gone, and no other status', () => {
    for (let status = 200; status < 600; status++) {
      const outcome = outcomeOf(response(status), NOW)
      expect(outcome.kind === 'failed' && outcome.gone).toBe(status === 410)
    }
  })

  it('marks 429, 502, 503 and 504 as throttled, and no other status', () => {
    const throttling = []
    for (let status = 100; status < 1000; status++) {
      const outcome = outcomeOf(response(status, { headers: ['Retry-After', '7'] }), NOW)
      if (outcome.kind === 'failed' && outcome.throttled) throttling.push(status)
      if (outcome.kind === 'failed') expect(outcome.retryAfterMs).toBe(outcome.throttled ? 7000 : undefined)
    }
    expect(throttling).toEqual([429, 502, 503, 504])
  })

  it.each<TransportFailure>(['timeout', 'connection', 'dns', 'tls', 'protocol', 'blocked_address'])(
    'classifies a missing answer by its transport failure: %s',
    (failure) => {
      expect(outcomeOf({ kind: 'no_response', failure, detail: 'why' }, NOW)).toEqual({
        kind: 'failed',
        failure,
        gone: false,
        throttled: false,
        detail: 'why',
      })
    },
  )

  it('keeps the cause, if it is one of the list', () => {
    const causeOf = (cause: unknown) => {
      const outcome = outcomeOf(
        { kind: 'no_response', failure: 'tls', detail: '', cause } as Observation,
        NOW,
      )
      return outcome.kind === 'failed' ? outcome.cause : 'not failed'
    }
    for (const cause of Object.keys(FAILURE_CAUSES)) expect(causeOf(cause)).toBe(cause)
    for (const cause of [undefined, null, '', 'constructor', 'REFUSED', 7, ['refused']])
      expect([cause, causeOf(cause)]).toEqual([cause, undefined])
  })

  it('classifies an internal fault as such', () => {
    expect(outcomeOf({ kind: 'own_fault', detail: 'EMFILE' }, NOW)).toEqual({
      kind: 'own_fault',
      detail: 'EMFILE',
    })
  })

  it('returns exactly one outcome for every observation', () => {
    const observations = fc.oneof(
      fc.record({
        kind: fc.constant('response' as const),
        status: fc.integer({ min: 0, max: 1000 }),
        headers: fc
          .array(fc.tuple(fc.constantFrom('Retry-After', 'retry-after', 'x', ''), fc.string()))
          .map((pairs) => pairs.flat()),
        body: fc.string(),
        bodyEnd: fc.constantFrom(
          'complete' as const,
          'truncated' as const,
          'broken' as const,
          'timeout' as const,
        ),
      }),
      fc.record({
        kind: fc.constant('no_response' as const),
        failure: fc.constantFrom<TransportFailure>(
          'timeout',
          'connection',
          'dns',
          'tls',
          'protocol',
          'blocked_address',
        ),
        detail: fc.string(),
      }),
      fc.record({ kind: fc.constant('own_fault' as const), detail: fc.string() }),
    )
    fc.assert(
      fc.property(observations, fc.integer({ min: 0, max: 4e12 }), (observation, now) => {
        const outcome = outcomeOf(observation, now)
        const is2xx =
          observation.kind === 'response' && observation.status >= 200 && observation.status <= 299
        const expected = is2xx ? 'delivered' : observation.kind === 'own_fault' ? 'own_fault' : 'failed'
        expect(outcome.kind).toBe(expected)
        if (outcome.kind === 'failed' && outcome.retryAfterMs !== undefined) {
          expect(outcome.retryAfterMs).toBeGreaterThanOrEqual(0)
          expect(outcome.retryAfterMs).toBeLessThanOrEqual(604_800_000)
        }
      }),
    )
  })
})

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 5\t', 5000],
    ['0005', 5000],
    ['99999999999999999999', 604_800_000],
    ['Thu, 01 Jan 2026 12:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 12:01:00 GMT', 60_000],
    ['Thu Jan  1 12:01:00 2026', 60_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['Fri, 31 Dec 2099 23:59:59 GMT', 604_800_000],
  ])('%j is %i ms', (value, ms) => {
    expect(retryAfterMs(value, NOW)).toBe(ms)
  })

  it.each([
    undefined,
    '',
    '-1',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '5 s',
    '5, 6',
    '\u00a05',
    '٥',
    'soon',
    'Thu, 1 Jan 2026 12:01:00 GMT',
    'Thu, 01 Jan 2026 12:01:00 UTC',
    'Thu, 01 Jan 2026 12:01:00 +0000',
    'thu, 01 jan 2026 12:01:00 gmt',
    'Thu, 01 Jan 2026 24:00:00 GMT',
    'Tue, 31 Feb 2026 12:00:00 GMT',
    '2026-01-01T12:01:00Z',
  ])('%j is neither seconds nor a date, and is ignored', (value) => {
    expect(retryAfterMs(value, NOW)).toBeUndefined()
  })

  it('is found in any case of its name', () => {
    for (const name of ['Retry-After', 'RETRY-AFTER', 'retry-after']) {
      expect(outcomeOf(response(503, { headers: ['x', 'y', name, '3'] }), NOW)).toMatchObject({
        retryAfterMs: 3000,
      })
    }
  })

  it('is not confused with the value of another header', () => {
    expect(outcomeOf(response(503, { headers: ['x', 'retry-after', 'y', '3'] }), NOW)).not.toHaveProperty(
      'retryAfterMs',
    )
  })
})
