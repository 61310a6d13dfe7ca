import { describe, expect, it } from 'vitest'
import { acceptsJson, isJsonContentType } from '../../src/wire/content-type.js'

describe('isJsonContentType', () => {
  it.each([
    [undefined, true],
    ['', true],
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/json;charset=ISO-8859-1', true],
    ['application/x-json', true],
    ['text/plain', false],
    ['application/xml', false],
    ['application/jsonp', false],
    ['application/json-patch+json', false],
    ['nonsense', false],
  ])('classifies Content-Type: %s', (type, expected) => {
    expect(isJsonContentType(type, true)).toBe(expected)
  })

  it('accepts a form type only if the body is JSON', () => {
    expect(isJsonContentType('application/x-www-form-urlencoded', true)).toBe(true)
    expect(isJsonContentType('application/x-www-form-urlencoded', false)).toBe(false)
    expect(isJsonContentType('application/json', false)).toBe(true)
  })
})

describe('acceptsJson', () => {
  it.each([
    [undefined, true],
    ['', true],
    ['*/*', true],
    ['application/json', true],
    ['application/*', true],
    ['application/x-json', true],
    ['text/html, application/xhtml+xml, */*;q=0.8', true],
    ['application/json, text/javascript, */*; q=0.01', true],
    ['text/html', false],
    ['text/html, image/*', false],
    ['application/json;q=0', false],
    ['*/*, application/json;q=0', false],
    ['*/*;q=0', false],
    ['*/*;q=0.000, application/json', true],
    ['application/*;q=0, application/json;q=0.1', true],
    ['APPLICATION/JSON', true],
    [';;,', false],
  ])('evaluates Accept: %s', (accept, expected) => {
    expect(acceptsJson(accept)).toBe(expected)
  })
})
