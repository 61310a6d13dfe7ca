import { describe, expect, it } from 'vitest'
import { readQuery } from '../../src/wire/query.js'
import { clientRequestId, effectiveMethod, tokenOf, wantsIndent } from '../../src/wire/request-head.js'

const query = (text: string) => readQuery(`/?${text}`)

describe('effectiveMethod', () => {
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
  ])('%s with ?%s and %j means %s', (method, text, envelope, expected) => {
    expect(effectiveMethod(method, query(text), envelope)).toBe(expected)
  })
})

describe('tokenOf', () => {
  it('takes the first place that has one', () => {
    const headers = { 'x-auth-token': 'h', authorization: 'Bearer b' }
    expect(tokenOf(headers, query('auth_token=q'), { auth_token: 'e' })).toEqual({ token: 'h' })
    const later = { ...headers, 'x-auth-token': '' }
    expect(tokenOf(later, query('auth_token=q'), { auth_token: 'e' })).toEqual({ token: 'q' })
    expect(tokenOf(later, query('auth_token='), { auth_token: 'e' })).toEqual({ token: 'e' })
    expect(tokenOf(later, query(''), { auth_token: '' })).toEqual({ token: 'b' })
    expect(tokenOf(later, query(''), { auth_token: 5 })).toEqual({ token: 'b' })
    expect(tokenOf({}, query(''), {})).toEqual({})
  })

  it.each([
    ['Bearer abc', 'abc'],
    ['bearer   abc ', 'abc'],
    ['Basic abc', undefined],
    ['Bearer', undefined],
    ['Bearer a b', undefined],
  ])('reads Authorization: %s', (authorization, token) => {
    expect(tokenOf({ authorization }, [], {}).conflict).toBeUndefined()
    expect(tokenOf({ authorization }, [], {})).toEqual(token === undefined ? {} : { token })
  })

  it.each([[['a', 'b']], ['a, b'], [['a', '', 'b']]])('finds two different headers in %j', (sent) => {
    expect(tokenOf({ 'x-auth-token': sent }, [], {})).toEqual({ conflict: true })
  })

  it.each([[['a', 'a']], ['a, a'], [['', 'a']], [' a '], ['a,']])('finds one token in %j', (sent) => {
    expect(tokenOf({ 'x-auth-token': sent }, [], {})).toEqual({ token: 'a' })
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
  ])('takes %j for %j', (sent, expected) => {
    expect(clientRequestId({ 'x-request-id': sent })).toBe(expected)
  })
})

describe('wantsIndent', () => {
  it('listens to the header and to the query', () => {
    expect(wantsIndent({ 'x-pretty-print': 'true' }, [])).toBe(true)
    expect(wantsIndent({}, query('pretty_print=true'))).toBe(true)
    expect(wantsIndent({ 'x-pretty-print': 'false' }, query('pretty_print=1'))).toBe(false)
  })
})
