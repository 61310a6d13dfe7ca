import { describe, expect, it } from 'vitest'
import { ERROR_NAMES, errorResponse } from '../../src/http/error-response.js'

describe('errorResponse', () => {
  it('builds the envelope with the status as a string and data as an object', () => {
    const { status, headers, body } = errorResponse(414, 'uri_too_long', {
      requestId: 'r1',
      timestamp: '2026-01-02T03:04:05.000Z',
      node: 'n1',
    })
    expect(status).toBe(414)
    expect(JSON.parse(body)).toEqual({
      data: { message: 'the request target is too long' },
      error: '414',
      message: 'uri_too_long',
      status: 'error',
      request_id: 'r1',
      timestamp: '2026-01-02T03:04:05.000Z',
      node: 'n1',
    })
    expect(headers).toEqual({
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-request-id': 'r1',
    })
  })

  it('omits absent fields instead of setting null', () => {
    expect(JSON.parse(errorResponse(400, 'bad_request').body)).toEqual({
      data: { message: 'bad request' },
      error: '400',
      message: 'bad_request',
      status: 'error',
    })
  })

  it('accepts a message, data and headers, but no other content type', () => {
    const named = errorResponse(408, 'request_timeout', {
      message: 'too slow',
      headers: { allow: 'GET', 'content-type': 'text/html' },
    })
    expect(JSON.parse(named.body).data).toEqual({ message: 'too slow' })
    expect(named.headers).toMatchObject({ allow: 'GET', 'content-type': 'application/json' })
    const data = { body: { maxSize: { message: 'too large', target: 1 } } }
    expect(JSON.parse(errorResponse(413, 'validation error', { data }).body).data).toEqual(data)
  })

  it('sets content-length in bytes', () => {
    const { headers, body } = errorResponse(400, 'bad_request', { message: 'zu groß €' })
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
    expect(Buffer.byteLength(body)).toBeGreaterThan(body.length)
  })

  it('uses snake_case names for errors of the transport', () => {
    for (const name of Object.values(ERROR_NAMES)) expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/)
    expect(Object.isFrozen(ERROR_NAMES)).toBe(true)
  })
})
