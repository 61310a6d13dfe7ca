import { describe, expect, it } from 'vitest'
import { redactHeaders, type StoredAttempt, withCurrentReason } from '../../src/delivery/attempt-record.js'

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
