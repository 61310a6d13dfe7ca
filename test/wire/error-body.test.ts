import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, HookswitchError } from '../../src/errors.js'
import { invalid, refusalOf } from '../../src/wire/error-body.js'

const CODES: readonly (readonly [ErrorCode, number, string])[] = [
  ['InvalidInput', 400, 'validation error'],
  ['InvalidCredentials', 401, 'invalid_credentials'],
  ['Forbidden', 403, 'forbidden'],
  ['NotFound', 404, 'bad_identifier'],
  ['Conflict', 409, 'datastore_conflict'],
  ['RevisionConflict', 412, 'precondition_failed'],
  ['AccountLocked', 423, 'locked'],
  ['TooManyLogins', 429, 'too_many_requests'],
  ['QueueFull', 429, 'too_many_requests'],
  ['StoreUnavailable', 503, 'datastore_unreachable'],
  ['Closing', 503, 'datastore_unreachable'],
  ['StoreCorrupt', 503, 'datastore_unreachable'],
  ['InvalidOption', 500, 'internal_error'],
  ['Internal', 500, 'internal_error'],
]

describe('refusalOf', () => {
  it.each(CODES)('answers %s with %d %s', (code, status, message) => {
    const refusal = refusalOf(new HookswitchError(code, 'SECRET text', { id: 'x', retryAfterSeconds: 2.2 }))
    expect(refusal).toMatchObject({ status, message })
    expect(refusal.fault ?? false).toBe(status === 500)
    if (status === 429 || status === 503) expect(refusal.headers).toEqual({ 'retry-after': '3' })
    if (code !== 'InvalidInput') expect(JSON.stringify(refusal)).not.toContain('SECRET')
  })

  it('tells errors of another build of this package by their code', () => {
    expect(refusalOf({ name: 'HookswitchError', code: 'NotFound', id: 'i' }).data).toEqual({
      cause: 'i',
      message: 'bad identifier',
    })
  })

  it('says nothing of anything else that is thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(refusalOf(thrown)).toMatchObject({ status: 500, data: { message: 'internal error' } })
      }),
    )
    for (const error of [new Error('SECRET'), new TypeError('SECRET'), 'SECRET', null, undefined]) {
      expect(JSON.stringify(refusalOf(error))).not.toContain('SECRET')
    }
  })

  it('waits at least a second where the core names no time', () => {
    for (const details of [{}, { retryAfterSeconds: 0 }, { retryAfterSeconds: Number.NaN }]) {
      expect(refusalOf(new HookswitchError('QueueFull', '', details)).headers).toEqual({ 'retry-after': '1' })
    }
  })

  it('spells the fields of a webhook as on the wire', () => {
    const failures = [
      { path: 'httpVerb', rule: 'enum', message: 'm', target: ['post'], value: 'x' },
      { path: 'customData.aB', rule: 'type', message: 'm', target: 'string' },
    ]
    expect(refusalOf(new HookswitchError('InvalidInput', '', { failures })).data).toEqual({
      http_verb: { enum: { message: 'm', target: ['post'], value: 'x' } },
      'custom_data.aB': { type: { message: 'm', target: 'string' } },
    })
    expect(refusalOf(new HookswitchError('InvalidInput', 'text', { field: 'httpVerb' })).data).toMatchObject({
      http_verb: { error: { message: 'text' } },
    })
  })
})

describe('invalid', () => {
  it('tells all rules of all fields', () => {
    const failures = [
      { path: 'a', rule: 'type', message: '1', target: 'string' },
      { path: 'a', rule: 'enum', message: '2', target: [] },
      { path: '', rule: 'maxSize', message: '3' },
      { path: '__proto__', rule: 'error', message: '4' },
    ]
    const text = JSON.stringify(invalid(failures).data)
    expect(text).toBe(
      '{"a":{"type":{"message":"1","target":"string"},"enum":{"message":"2","target":[]}},' +
        '"data":{"maxSize":{"message":"3"}},"__proto__":{"error":{"message":"4"}}}',
    )
  })
})
