import { describe, expect, it } from 'vitest'
import { handlesPath } from '../../src/http/handles-path.js'

describe('handlesPath', () => {
  it.each(['/v1', '/v2', '/v1/', '/v1?x', '/v1/x/y', '/v2/../x', 'http://host:80/v1/x', 'HTTP://host/v2'])(
    'accepts %s',
    (url) => {
      expect(handlesPath(url)).toBe(true)
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
  ])('rejects %j', (url) => {
    expect(handlesPath(url)).toBe(false)
  })
})
