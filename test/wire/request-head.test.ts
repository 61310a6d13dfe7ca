import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../src/wire/query.js'
import { clientRequestId, findToken, resolveMethod, wantsIndent } from '../../src/wire/request-head.js'

const query = (text: string) => parseQuery(`/?${text}`)

describe('resolveMethod', () => {
  it.each([
    ['GET', '', {}, 'GET'],
    ['HEAD', '', {}, 'GET'],
    ['POST', '', { verb: 'PUT' }, 'PUT'],
    ['POST', '', { verb: 'put' }, 'PUT'],
    ['POST', 'verb=delete', {}, 'DELETE'],
    ['POST', 'verb=DELETE', { verb: 'PATCH' }, 'PATCH'],
    ['POST', '', { verb: 'POST' }, 'POST'],
    ['POST', '', { verb: null }, 'POST'],
    ['POST', 'verb=', { verb: '' }, 'POST'],
    ['PUT', '', { verb: 'PUT' }, 'PUT'],
    ['HEAD', 'verb=HEAD', {}, 'GET'],
    ['POST', '', { data: { verb: 'DELETE' } }, 'POST'],
    ['PUT', '', { verb: 'POST' }, undefined],
    ['GET', 'verb=PUT', {}, undefined],
    ['HEAD', 'verb=GET', {}, undefined],
    ['POST', '', { verb: 'BREW' }, undefined],
    ['POST', '', { verb: 'HEAD' }, undefined],
    ['POST', '', { verb: 7 }, undefined],
    ['TRACE', '', {}, undefined],
    ['get', '', {}, undefined],
    ['constructor', '', {}, undefined],
  ])('resolves %s with ?%s and body %j to %s', (method, text, envelope, expected) => {
    expect(resolveMethod(method, query(text), envelope)).toBe(expected)
  })
})

describe('findToken', () => {
  it('returns the token of the first source that has one', () => {
    const headers = { 'x-auth-token': 'h', authorization: 'Bearer b' }
    expect(findToken(headers, query('auth_token=q'), { auth_token: 'e' })).toEqual({ token: 'h' })
    const later = { ...headers, 'x-auth-token': '' }
    expect(findToken(later, query('auth_token=q'), { auth_token: 'e' })).toEqual({ token: 'q' })
    expect(findToken(later, query('auth_token='), { auth_token: 'e' })).toEqual({ token: 'e' })
    expect(findToken(later, query(''), { auth_token: '' })).toEqual({ token: 'b' })
    expect(findToken(later, query(''), { auth_token: 5 })).toEqual({ token: 'b' })
    expect(findToken({}, query(''), {})).toEqual({})
  })

  it.each([
    ['Bearer abc', 'abc'],
    ['bearer   abc ', 'abc'],
    ['Basic abc', undefined],
    ['Bearer', undefined],
    ['Bearer a b', undefined],
  ])('parses Authorization: %s', (authorization, token) => {
    expect(findToken({ authorization }, [], {}).hasConflict).toBeUndefined()
    expect(findToken({ authorization }, [], {})).toEqual(token === undefined ? {} : { token })
  })

  it.each([[['a', 'b']], ['a, b'], [['a', '', 'b']]])('finds two different headers in %j', (sent) => {
    expect(findToken({ 'x-auth-token': sent }, [], {})).toEqual({ hasConflict: true })
  })

  it.each([[['a', 'a']], ['a, a'], [['', 'a']], [' a '], ['a,']])('finds one token in %j', (sent) => {
    expect(findToken({ 'x-auth-token': sent }, [], {})).toEqual({ token: 'a' })
  })
})

describe('clientRequestId', () => {
  it.each([
    ['abc-123', 'abc-123'],
    ['a b~!', 'a b~!'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), undefined],
    ['', undefined],
    ['   ', undefined],
    [', ', ','],
    [' a ', 'a'],
    ['tab\there', undefined],
    ['ümlaut', undefined],
    ['a\r\nb', undefined],
    [['first', 'second'], 'first'],
    [undefined, undefined],
  ])('converts %j to %j', (sent, expected) => {
    expect(clientRequestId({ 'x-request-id': sent })).toBe(expected)
  })
})

describe('wantsIndent', () => {
  it('reads the header and the query', () => {
    expect(wantsIndent({ 'x-pretty-print': 'true' }, [])).toBe(true)
    expect(wantsIndent({}, query('pretty_print=true'))).toBe(true)
    expect(wantsIndent({ 'x-pretty-print': 'false' }, query('pretty_print=1'))).toBe(false)
  })
})
