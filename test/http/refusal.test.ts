import { describe, expect, it } from 'vitest'
import { errorResponse, REFUSAL_NAMES } from '../../src/http/refusal.js'

describe('an error answer', () => {
  it('has the envelope, with the status as a string and data as an object', () => {
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

  it('leaves out what it was not told, never null', () => {
    expect(JSON.parse(errorResponse(400, 'bad_request').body)).toEqual({
      data: { message: 'bad request' },
      error: '400',
      message: 'bad_request',
      status: 'error',
    })
  })

  it('takes a sentence or data of its own, and further headers, but no other content type', () => {
    const named = errorResponse(408, 'request_timeout', {
      message: 'too slow',
      headers: { allow: 'GET', 'content-type': 'text/html' },
    })
    expect(JSON.parse(named.body).data).toEqual({ message: 'too slow' })
    expect(named.headers).toMatchObject({ allow: 'GET', 'content-type': 'application/json' })
    const data = { body: { maxSize: { message: 'too large', target: 1 } } }
    expect(JSON.parse(errorResponse(413, 'validation error', { data }).body).data).toEqual(data)
  })

  it('counts its length in bytes', () => {
    const { headers, body } = errorResponse(400, 'bad_request', { message: 'zu groß €' })
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
    expect(Buffer.byteLength(body)).toBeGreaterThan(body.length)
  })

  it('has snake_case names for what only the transport raises', () => {
    for (const name of Object.values(REFUSAL_NAMES)) expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/)
    expect(Object.isFrozen(REFUSAL_NAMES)).toBe(true)
  })
})
