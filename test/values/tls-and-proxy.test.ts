import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseProxy } from '../../src/values/tls-and-proxy.js'
import { hostileText } from '../support/hostile-text.js'

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

describe('parseProxy', () => {
  it('parses host, port and credentials', () => {
    const plain = { hostname: 'proxy.example', port: 80, secure: false, authorization: undefined }
    expect(parseProxy('http://proxy.example')).toEqual(plain)
    expect(parseProxy('http://proxy.example:3128/')).toEqual({ ...plain, port: 3128 })
    expect(parseProxy('https://Proxy.Example')).toEqual({ ...plain, port: 443, secure: true })
    expect(parseProxy('http://[fd00::1]:8080')).toEqual({ ...plain, hostname: '[fd00::1]', port: 8080 })
    expect(parseProxy('http://me:p%40ss%3Aword@proxy.example')).toEqual({
      ...plain,
      authorization: basic('me:p@ss:word'),
    })
    expect(parseProxy('http://me@proxy.example')?.authorization).toBe(basic('me:'))
    expect(parseProxy('http://:token@proxy.example')?.authorization).toBe(basic(':token'))
  })

  it.each([
    '',
    'proxy.example:3128',
    'socks5://proxy.example',
    'http://',
    'http://proxy.example/path',
    'http://proxy.example?x',
    'http://proxy.example/#x',
    'http://proxy.example:99999',
    'http://a%3Ab:c@proxy.example',
    'http://a:b%0d%0aX-Evil:%20c@proxy.example',
    'http://a:%ff@proxy.example',
  ])('rejects "%s"', (text) => {
    expect(parseProxy(text)).toBeUndefined()
  })

  it('never returns credentials with a line break', () => {
    fc.assert(
      fc.property(hostileText(), hostileText(), (user, password) => {
        const part = (text: string) => encodeURIComponent(text.toWellFormed())
        const proxy = parseProxy(`http://${part(user)}:${part(password)}@proxy.example:3128`)
        expect(proxy?.authorization ?? '').toMatch(/^(Basic [A-Za-z0-9+/]+=*)?$/)
      }),
    )
  })
})
