import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Outcome, outcomeOf, retryAfterMs } from '../../src/delivery/outcome.js'
import type { Observation, TransportFailure } from '../../src/ports.js'
import { FAILURE_CAUSES } from '../../src/values/failure-cause.js'

type Failure = Extract<Outcome, { kind: 'failed' }>

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
      isUnavailable: false,
      isThrottled: false,
      isSent: true,
      gone: false,
    })
  })

  /** The statuses from 100 to 999 whose outcome is a failure with this property. */
  const statusesWhere = (holds: (outcome: Failure) => boolean, headers: readonly string[] = []) =>
    Array.from({ length: 900 }, (_, index) => 100 + index).filter((status) => {
      const outcome = outcomeOf(response(status, { headers }), NOW)
      return outcome.kind === 'failed' && holds(outcome)
    })

  it('marks 410 as gone, and no other status', () => {
    expect(statusesWhere(({ gone }) => gone)).toEqual([410])
  })

  it('takes 429, 502, 503 and 504 as unavailable, and reads Retry-After of them alone', () => {
    const isUnavailable = (outcome: Failure) => outcome.isUnavailable
    expect(statusesWhere(isUnavailable)).toEqual([429, 502, 503, 504])
    expect(statusesWhere(isUnavailable, ['Retry-After', '7'])).toEqual([429, 502, 503, 504])
    const hasWait = ({ retryAfterMs }: Failure) => retryAfterMs === 7000
    expect(statusesWhere(hasWait, ['Retry-After', '7'])).toEqual([429, 502, 503, 504])
    expect(statusesWhere((outcome) => 'retryAfterMs' in outcome)).toEqual([])
  })

  it('takes 429, and 503 with a valid Retry-After, as a wish for fewer requests', () => {
    const isThrottled = (outcome: Failure) => outcome.isThrottled
    expect(statusesWhere(isThrottled)).toEqual([429])
    expect(statusesWhere(isThrottled, ['Retry-After', 'soon'])).toEqual([429])
    expect(statusesWhere(isThrottled, ['Retry-After', '0'])).toEqual([429, 503])
  })

  it('limits Retry-After to an hour for 429, and to five minutes for others', () => {
    const limits = [429, 502, 503, 504].map((status) =>
      outcomeOf(response(status, { headers: ['Retry-After', '99999999999999999999'] }), NOW),
    )
    expect(limits.map((outcome) => (outcome as Failure).retryAfterMs)).toEqual([
      3_600_000, 300_000, 300_000, 300_000,
    ])
  })

  it.each<[TransportFailure, boolean, boolean]>([
    ['timeout', true, true],
    ['connection', true, true],
    ['dns', true, false],
    ['tls', true, false],
    ['protocol', false, true],
    ['blocked_address', false, false],
  ])(
    'classifies %s: unavailable %s, sent where the sender does not say %s',
    (failure, isUnavailable, isSent) => {
      expect(outcomeOf({ kind: 'no_response', failure, detail: 'why' }, NOW)).toEqual({
        kind: 'failed',
        failure,
        isUnavailable,
        isThrottled: false,
        isSent,
        gone: false,
        detail: 'why',
      })
    },
  )

  it('knows from the sender whether the request was sent, but nothing is sent to a blocked address', () => {
    const isSent = (failure: TransportFailure, isSent: boolean) =>
      (outcomeOf({ kind: 'no_response', failure, detail: '', isSent }, NOW) as Failure).isSent
    for (const failure of ['timeout', 'connection', 'dns', 'tls', 'protocol'] as const)
      expect([isSent(failure, true), isSent(failure, false)]).toEqual([true, false])
    expect([isSent('blocked_address', true), isSent('blocked_address', false)]).toEqual([false, false])
  })

  it('takes over a cause of the closed list, and nothing else that a sender returns', () => {
    const cause = (cause: unknown) =>
      (
        outcomeOf(
          { kind: 'no_response', failure: 'connection', detail: '', cause } as Observation,
          NOW,
        ) as Failure
      ).cause
    for (const known of Object.keys(FAILURE_CAUSES)) expect(cause(known)).toBe(known)
    for (const foreign of ['Refused', '', 'constructor', '__proto__', 7, null, {}, undefined])
      expect(cause(foreign)).toBeUndefined()
  })

  it('classifies an internal fault as such', () => {
    expect(outcomeOf({ kind: 'own_fault', detail: 'EMFILE' }, NOW)).toEqual({
      kind: 'own_fault',
      detail: 'EMFILE',
    })
  })

  it('does not charge a request that was cancelled before it was sent', () => {
    expect(outcomeOf({ kind: 'cancelled' }, NOW).kind).toBe('own_fault')
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
          expect(outcome.retryAfterMs).toBeLessThanOrEqual(3_600_000)
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
    ['1.5', 2000],
    ['0.001', 1000],
    ['2.0', 2000],
    ['99999999999999999999', 1e23],
    ['Thu, 01 Jan 2026 12:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 12:01:00 GMT', 60_000],
    ['Thu Jan  1 12:01:00 2026', 60_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['Fri, 31 Dec 2099 23:59:59 GMT', Date.UTC(2099, 11, 31, 23, 59, 59) - NOW],
  ])('%j is %i ms', (value, ms) => {
    expect(retryAfterMs(value, NOW)).toBe(ms)
  })

  it.each([
    undefined,
    '',
    '-1',
    '+5',
    '.5',
    '5.',
    '1.5.5',
    '1,5',
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
