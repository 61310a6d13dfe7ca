import { MAX_BODY_BYTES } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'
import {
  headerRecord,
  isDeclaredTooLarge,
  requestPath,
  withBody,
} from '../../../adapters/http/request-record.js'

describe('the path of a request', () => {
  it.each([
    ['/v2/x?y=1', '/v2/x?y=1'],
    ['//v2/x', '//v2/x'],
    ['http://host:80/v2/x?y=1', '/v2/x?y=1'],
    ['HTTPS://user@host/v2', '/v2'],
    ['http://host', '/'],
    ['http://host?y=1', '/?y=1'],
    ['*', '*'],
    ['host:443', 'host:443'],
  ])('of %s is %s', (target, path) => {
    expect(requestPath(target)).toBe(path)
  })
})

describe('the headers of a request', () => {
  it('have lower-case names; repeated ones are joined, and two tokens are a list', () => {
    const raw = ['Accept', 'a', 'ACCEPT', 'b', 'X-Auth-Token', 'one', 'x-auth-token', 'two']
    expect({ ...headerRecord(raw) }).toEqual({ accept: 'a, b', 'x-auth-token': ['one', 'two'] })
    expect({ ...headerRecord(['X-Auth-Token', 'one']) }).toEqual({ 'x-auth-token': 'one' })
  })

  it('may have any name except those of HTTP/2 itself', () => {
    const headers = headerRecord([':path', '/', '__proto__', 'a', 'constructor', 'b'])
    expect(Object.entries(headers)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
  })

  it('declare a body that is too large', () => {
    const isTooLarge = (length?: string) =>
      isDeclaredTooLarge(length ? { 'content-length': length } : {}, MAX_BODY_BYTES)
    expect([isTooLarge(), isTooLarge(`${MAX_BODY_BYTES}`), isTooLarge(`${MAX_BODY_BYTES + 1}`)]).toEqual([
      false,
      false,
      true,
    ])
  })
})

it('a request is the only one that refers to its body, and can drop it', () => {
  const head = { method: 'PUT', url: '/v2', headers: {} }
  const body = { body: new Uint8Array(1) }
  const request = withBody(head, body)
  expect(request).toBe(body)
  expect(head).not.toHaveProperty('body')
  request.dropBody?.()
  expect(request).toMatchObject(head)
  expect(request).not.toHaveProperty('body')
})
