import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AttemptResult,
  buildAttemptRecord,
  redactHeaders,
  type StoredAttempt,
  withCurrentReason,
} from '../../src/delivery/attempt-record.js'
import { outcomeOf } from '../../src/delivery/outcome.js'
import { constant } from '../../src/delivery/policy.js'
import { nextDelivery } from '../../src/delivery/retry.js'
import type { Observation } from '../../src/ports.js'
import { FAILURE_CAUSES, type FailureCause } from '../../src/values/failure-cause.js'
import { printableLine } from '../../src/values/printable.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { responseWith } from './harness.js'

const RULES = { policy: constant(1000), functions: {}, retries: 2 }

/** The record of an attempt with this observation. */
function recordOf(observation: Observation, changes: Partial<AttemptResult> = {}) {
  const request = {
    method: 'POST',
    url: 'https://hooks.example.com/in/calls?token=url-secret',
    headers: [],
    body: '{}',
    deadlineMs: 10_000,
    group: 'w1',
  } as const
  const outcome = outcomeOf(observation, 0)
  const next = nextDelivery(aDelivery(), outcome, RULES, 0, 0.5)
  const result = { request, observation, sentMs: 0, durationMs: 1, ...changes }
  return buildAttemptRecord('r', aDelivery(), aWebhook(), result, outcome, next, RULES)
}
const noAnswer = (cause: FailureCause | undefined, detail: string): Observation => ({
  kind: 'no_response',
  failure: 'connection',
  detail,
  ...(cause && { cause }),
})
const redirectTo = (location: string | undefined, status = 302) =>
  recordOf(responseWith(status, location === undefined ? [] : ['Location', location])).detail

describe('what was observed of an attempt', () => {
  it('is the cause with its sentence, and what the sender saw', () => {
    for (const [cause, sentence] of Object.entries(FAILURE_CAUSES)) {
      expect(recordOf(noAnswer(cause as FailureCause, ''))).toMatchObject({ cause, detail: sentence })
      expect(recordOf(noAnswer(cause as FailureCause, 'E_CODE: 1.5'))).toMatchObject({
        cause,
        detail: `${sentence.slice(0, -1)} (E_CODE: 1.5).`,
      })
    }
  })

  it('is what the sender saw where the cause is unknown, and nothing for an answer or an internal fault', () => {
    expect(recordOf(noAnswer(undefined, 'other side closed'))).toMatchObject({ detail: 'other side closed' })
    for (const observation of [
      noAnswer(undefined, ''),
      responseWith(200),
      responseWith(500),
      { kind: 'own_fault', detail: 'EMFILE' },
      { kind: 'cancelled' },
    ] as const) {
      const record = recordOf(observation)
      expect(['cause', 'detail', 'outOfOrder', 'late'].filter((name) => name in record)).toEqual([])
    }
  })

  it.each([
    ['connect ECONNREFUSED 10.1.2.3:443', 'connect ECONNREFUSED [address]'],
    ['connect ECONNREFUSED ::1:9000', 'connect ECONNREFUSED [address]'],
    ['connect ECONNREFUSED fd00:1:2::3:443', 'connect ECONNREFUSED [address]'],
    ['to [2001:db8::1]:443 failed', 'to [address] failed'],
    ['to fe80::1%eth0 failed', 'to [address] failed'],
    ['to ::ffff:10.0.0.1, failed', 'to [address], failed'],
    ['EHOSTUNREACH 10.0.0.1:80 - Local (10.0.0.9:51234)', 'EHOSTUNREACH [address] - Local ([address])'],
    ["altnames: Host: localhost. is not in the cert's altnames: DNS:other.example", undefined],
    [
      'std::bad_alloc, error:0A00010B:SSL routines::wrong version number, HTTP/1.1, 1.2.3, 220 mx.example',
      undefined,
    ],
  ])('names no address inside the network of the host: %s', (seen, shown = seen) => {
    expect(recordOf(noAnswer(undefined, seen)).detail).toBe(shown)
  })

  it('is whatever a sender of the host returns, if it is text', () => {
    const observed = (detail: unknown) => recordOf({ ...noAnswer('reset', ''), detail } as Observation).detail
    for (const detail of [undefined, null, 7, {}, ['a'], Object.create(null)])
      expect(observed(detail)).toBe(FAILURE_CAUSES.reset)
    const response = { ...responseWith(200), note: { toString: () => 'x' } } as unknown as Observation
    expect(recordOf(response)).not.toHaveProperty('detail')
  })

  it('says what was wrong with an accepted response', () => {
    const accepted = (changes: object) => recordOf({ ...responseWith(204), ...changes } as Observation)
    expect(accepted({ note: 'A header is folded.' })).toMatchObject({
      result: 'success',
      detail: 'A header is folded.',
    })
    expect(accepted({ bodyEnd: 'broken' }).detail).toBe(
      'The connection ended within the body of the response.',
    )
    expect(accepted({ note: 'Two lengths.', bodyEnd: 'timeout' }).detail).toBe(
      'Two lengths. The body of the response did not end in time.',
    )
    for (const bodyEnd of ['complete', 'truncated', 'constructor'])
      expect(accepted({ bodyEnd })).not.toHaveProperty('detail')
  })

  it.each<[string, string]>([
    ['https://new.example.com/', 'https://new.example.com/'],
    ['https://new.example.com:8443/a/b', 'https://new.example.com:8443/a/b'],
    ['/login', 'https://hooks.example.com/login'],
    ['other', 'https://hooks.example.com/in/other'],
    ['//elsewhere.example.com/x', 'https://elsewhere.example.com/x'],
    ['http://[2001:db8::1]:8080/x', 'http://[2001:db8::1]:8080/x'],
    ['https://m\u00fcnchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['/a\u202eb c\t', 'https://hooks.example.com/in/a%E2%80%AEb%20c'],
    ['?next=1', 'https://hooks.example.com/in/calls'],
    ['mailto:someone', 'mailto:someone'],
    [`/${'a'.repeat(400)}`, `https://hooks.example.com/${'a'.repeat(174)}…`],
  ])('names the target of a redirect to %s', (location, target) => {
    const wanted = `The server redirects to ${target}, and redirects are not followed.`
    expect(redirectTo(location)).toBe(location.startsWith('/a\u202e') ? wanted.replace('/in/', '/') : wanted)
  })

  it.each([
    'https://new.example.com/hook?token=hidden',
    'https://new.example.com/hook#hidden',
    'https://user:hidden@new.example.com/hook',
    'https://hidden@new.example.com/hook',
    'https:\\\\user:hidden@new.example.com/hook',
    'https:user:hidden@new.example.com/hook',
    'ftp:user:hidden@new.example.com/hook',
    '//user:hidden@new.example.com/hook?hidden',
    'https://user:hi/d@den@new.example.com/hook?hidden',
    '/hook?sig=hidden&a=b#hidden',
    '/hook/whsec_hidden',
    'https://user:hidden:@:@/',
    `https://user:hidden${'n'.repeat(3_000)}@new.example.com/`,
    `/hook?${'a'.repeat(190)}&hidden`,
  ])('names no secret of the target of a redirect: %s', (location) => {
    const detail = redirectTo(location)!
    expect(detail).toMatch(/^The server redirects to /)
    expect(detail).not.toContain('hidden')
    expect(detail).not.toContain('url-secret')
  })

  it('names no target where there is none, and none of a status that is no redirect', () => {
    expect(redirectTo(undefined, 304)).toBeUndefined()
    expect(redirectTo('http://[', 301)).toBe('The server redirects to an invalid URL.')
    expect(redirectTo('https://new.example.com/', 500)).toBeUndefined()
    expect(redirectTo('https://new.example.com/', 201)).toBeUndefined()
    for (const status of [300, 301, 302, 303, 307, 308, 399])
      expect(redirectTo('/x', status)).toContain('https://hooks.example.com/x,')
  })

  it('is one short printable line without secrets, whatever was seen', () => {
    const text = fc.string({ unit: 'binary', maxLength: 2_000 })
    const isLine = (detail: string) => {
      expect(printableLine(detail)).toBe(detail)
      expect(detail.length).toBeLessThanOrEqual(401)
    }
    fc.assert(
      fc.property(text, fc.constantFrom('reset' as const, undefined), (seen, cause) => {
        isLine(recordOf(noAnswer(cause, seen)).detail ?? '')
        isLine(recordOf({ ...responseWith(200), note: seen } as Observation).detail ?? '')
        isLine(redirectTo(seen) ?? '')
      }),
    )
    isLine(recordOf(noAnswer('reset', '\u{1F4DE}'.repeat(500))).detail!)
    const seen = 'GET https://u:hidden@example.com/?key=hidden Authorization: Bearer hidden1 whsec_hidden'
    expect(recordOf(noAnswer('not_http', seen)).detail).not.toContain('hidden')
  })

  it('takes linear time', () => {
    for (const part of ['://', 'https://a@', 'whsec_', 'bearer ', '\t', '\u202e', '@:', '%'])
      for (const seen of [part.repeat(200_000), `https://${part.repeat(200_000)}`]) {
        const began = performance.now()
        recordOf(noAnswer('not_http', seen))
        redirectTo(seen)
        // Anything but linear time would take minutes.
        expect(performance.now() - began).toBeLessThan(5_000)
      }
  })

  it('tells that it was sent out of order, and that the answer came late', () => {
    expect(recordOf(responseWith(200), { isOutOfOrder: true, isLate: true })).toMatchObject({
      outOfOrder: true,
      late: true,
    })
    const neither = recordOf(responseWith(200), { isOutOfOrder: false, isLate: false })
    expect('outOfOrder' in neither || 'late' in neither).toBe(false)
  })
})

describe('withCurrentReason', () => {
  it.each([
    [{ reason: 'bad response code', status: 500 }, 'bad status'],
    [{ reason: 'kazoo http client error', clientError: 'timeout' }, 'no answer'],
    [{ reason: 'kazoo http client error', clientError: 'own_fault' }, 'own fault'],
    [{ reason: 'expired' }, 'expired'],
    [{ reason: 'constructor' }, 'constructor'],
    [{}, undefined],
  ])('reads %j, as version 0.1 may have stored it, as %j', (stored, reason) => {
    expect(withCurrentReason(stored as StoredAttempt)).toMatchObject({ ...stored, ...(reason && { reason }) })
  })
})

describe('redactHeaders', () => {
  it.each([
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'Set-Cookie',
    'X-Api-Key',
    'x-auth',
    'X-Token',
    'my-secret',
    'password',
    'webhook-signature',
    'X-Jwt',
    'X-Credential',
    'X-Pwd',
    'X-Session-Id',
    'X-Api-Pass',
  ])('replaces the value of %s', (name) => {
    expect(redactHeaders(['a', 'b', name, 'hidden'])).toEqual(['a', 'b', name, '[redacted]'])
  })

  it('returns the same list when there is nothing to redact', () => {
    const headers = ['content-type', 'a secret', 'webhook-id', 'token']
    expect(redactHeaders(headers)).toBe(headers)
    expect(headers).toEqual(['content-type', 'a secret', 'webhook-id', 'token'])
  })
})
