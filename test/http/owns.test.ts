import { describe, expect, it } from 'vitest'
import { owns } from '../../src/http/owns.js'

describe('owns', () => {
  it.each(['/v1', '/v2', '/v1/', '/v1?x', '/v1/x/y', '/v2/../x', 'http://host:80/v1/x', 'HTTP://host/v2'])(
    'takes %s',
    (url) => {
      expect(owns(url)).toBe(true)
    },
  )

  it.each([
    '/',
    '',
    '/v3',
    '/v11',
    '/v1x',
    '/V1',
    '//v1',
    '/x/v1',
    '/%761',
    '*',
    'v1',
    'http://host/x?/v1',
    '/?/v1',
  ])('leaves %j to the host', (url) => {
    expect(owns(url)).toBe(false)
  })
})
