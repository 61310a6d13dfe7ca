import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { zoneOf } from '../../src/values/zone.js'

describe('the zone of an origin', () => {
  it.each([
    ['https://example.com', 'example.com:443'],
    ['http://example.com', 'example.com:80'],
    ['https://a.b.c.example.com:8443', 'example.com:8443'],
    ['http://a.example.com:443', 'example.com:443'],
    ['https://hooks.example.co.uk', 'example.co.uk:443'],
    ['https://example.co.uk', 'example.co.uk:443'],
    ['https://www.example.de', 'example.de:443'],
    ['https://www.bbc.com.', 'bbc.com:443'],
    ['https://HOOKS.Example.COM', 'example.com:443'],
    ['https://intranet', 'intranet:443'],
    ['http://localhost:9000', 'localhost:9000'],
    ['http://a.b.localhost:9000', 'localhost:9000'],
    ['http://203.0.113.7:81', '203.0.113.7:81'],
    ['https://203.0.113.7', '203.0.113.7:443'],
    ['https://[2001:db8::1]', '[2001:db8::1]:443'],
    ['https://[2001:db8::1]:8443', '[2001:db8::1]:8443'],
  ])('%s is %s', (origin, zone) => {
    expect(zoneOf(origin)).toBe(zone)
  })

  it('is the same for both schemes on one port', () => {
    expect(zoneOf('http://example.com:443')).toBe(zoneOf('https://example.com'))
  })

  it('is a text for any text, and contains a host name whole or without its first labels', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof zoneOf(text)).toBe('string')
      }),
    )
    fc.assert(
      fc.property(fc.domain(), (host) => {
        const zone = zoneOf(`https://${host}`).replace(/:443$/, '')
        expect(`.${host.toLowerCase()}`.endsWith(`.${zone}`)).toBe(true)
      }),
    )
  })
})
