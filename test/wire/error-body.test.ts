import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, HookswitchError } from '../../src/errors.js'
import { toHttpError, validationError } from '../../src/wire/error-body.js'

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

describe('toHttpError', () => {
  it.each(CODES)('maps %s to %d %s', (code, status, name) => {
    const error = toHttpError(new HookswitchError(code, 'SECRET text', { id: 'x', retryAfterSeconds: 2.2 }))
    expect(error).toMatchObject({ status, name })
    expect(error.isInternal ?? false).toBe(status === 500)
    if (status === 429 || status === 503) expect(error.headers).toEqual({ 'retry-after': '3' })
    if (code !== 'InvalidInput') expect(JSON.stringify(error)).not.toContain('SECRET')
  })

  it('recognizes errors of another build of this package by their code', () => {
    expect(toHttpError({ name: 'HookswitchError', code: 'NotFound', id: 'i' }).data).toEqual({
      cause: 'i',
      message: 'bad identifier',
    })
  })

  it('hides the details of any other thrown value', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(toHttpError(thrown)).toMatchObject({ status: 500, data: { message: 'internal error' } })
      }),
    )
    for (const error of [new Error('SECRET'), new TypeError('SECRET'), 'SECRET', null, undefined]) {
      expect(JSON.stringify(toHttpError(error))).not.toContain('SECRET')
    }
  })

  it('sets Retry-After to at least one second', () => {
    for (const details of [{}, { retryAfterSeconds: 0 }, { retryAfterSeconds: Number.NaN }]) {
      expect(toHttpError(new HookswitchError('QueueFull', '', details)).headers).toEqual({
        'retry-after': '1',
      })
    }
  })

  it('translates the fields of a webhook to wire names', () => {
    const failures = [
      { path: 'httpVerb', rule: 'enum', message: 'm', target: ['post'], value: 'x' },
      { path: 'customData.aB', rule: 'type', message: 'm', target: 'string' },
    ]
    expect(toHttpError(new HookswitchError('InvalidInput', '', { failures })).data).toEqual({
      http_verb: { enum: { message: 'm', target: ['post'], value: 'x' } },
      'custom_data.aB': { type: { message: 'm', target: 'string' } },
    })
    expect(
      toHttpError(new HookswitchError('InvalidInput', 'text', { field: 'httpVerb' })).data,
    ).toMatchObject({
      http_verb: { error: { message: 'text' } },
    })
  })
})

describe('validationError', () => {
  it('words undefined fields as KAZOO does', () => {
    const failures = [
      { path: 'data', rule: 'additionalProperties', message: 'is not an allowed field', target: false },
    ]
    expect(validationError(failures).data).toEqual({
      data: {
        additionalProperties: {
          message: 'Strict checking of data is enabled; only include schema-defined properties',
          target: false,
        },
      },
    })
  })

  it('contains all violated rules of all fields', () => {
    const failures = [
      { path: 'a', rule: 'type', message: '1', target: 'string' },
      { path: 'a', rule: 'enum', message: '2', target: [] },
      { path: '', rule: 'maxSize', message: '3' },
      { path: '__proto__', rule: 'error', message: '4' },
    ]
    const text = JSON.stringify(validationError(failures).data)
    expect(text).toBe(
      '{"a":{"type":{"message":"1","target":"string"},"enum":{"message":"2","target":[]}},' +
        '"data":{"maxSize":{"message":"3"}},"__proto__":{"error":{"message":"4"}}}',
    )
  })
})
