import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connectError, judgeError, noResponse } from '../../src/send/failure.js'

const error = (code: string, message = 'something', more = {}) =>
  Object.assign(new Error(message), { code, ...more })
const told = (thrown: unknown, context = {}) => {
  const seen = judgeError(thrown, context)
  return seen.kind === 'own_fault' ? seen.kind : seen.failure
}

describe('judgeError', () => {
  it.each([
    ['EMFILE', 'own_fault'],
    ['ENFILE', 'own_fault'],
    ['ENOBUFS', 'own_fault'],
    ['ENOMEM', 'own_fault'],
    ['EADDRNOTAVAIL', 'own_fault'],
    ['ECONNREFUSED', 'connection'],
    ['ECONNRESET', 'connection'],
    ['EPIPE', 'connection'],
    ['ENETUNREACH', 'connection'],
    ['EHOSTUNREACH', 'connection'],
    ['UND_ERR_SOCKET', 'connection'],
    ['UND_ERR_DESTROYED', 'connection'],
    ['UND_ERR_ABORTED', 'connection'],
    ['', 'connection'],
    ['SOMETHING_NEW', 'connection'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['HPE_INVALID_CONSTANT', 'protocol'],
    ['UND_ERR_HEADERS_OVERFLOW', 'protocol'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'protocol'],
    ['UND_ERR_REQ_CONTENT_LENGTH_MISMATCH', 'protocol'],
    ['ERR_ASSERTION', 'protocol'],
    ['UND_ERR_INVALID_ARG', 'protocol'],
    ['ERR_INVALID_CHAR', 'protocol'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['EPROTO', 'tls'],
    ['CRL_HAS_EXPIRED', 'tls'],
  ])('%s is %s', (code, expected) => {
    expect(told(error(code))).toBe(expected)
  })

  it('blames the port shortage on us for IPv4 only: without IPv6 every such address fails like that', () => {
    expect(told(error('EADDRNOTAVAIL'), { ip: '8.8.8.8' })).toBe('own_fault')
    expect(told(error('EADDRNOTAVAIL'), { ip: '2606:4700::1' })).toBe('connection')
  })

  it('knows answers that are none by what undici says of them', () => {
    expect(told(error('UND_ERR_SOCKET', 'bad response'))).toBe('protocol')
    expect(told(error('UND_ERR_SOCKET', 'bad upgrade'))).toBe('protocol')
    expect(told(error('UND_ERR_SOCKET', 'other side closed'))).toBe('connection')
    expect(told(Object.assign(new Error('x'), { name: 'HTTPParserError' }))).toBe('protocol')
  })

  it('hands on what the connector has judged', () => {
    const seen = noResponse('blocked_address', 'the host is a private address')
    expect(judgeError(connectError(seen))).toBe(seen)
  })

  it('has a short outcome in one line for anything that can be thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({ code: fc.anything(), message: fc.anything(), name: fc.anything() }),
          fc.string({ maxLength: 2_000 }),
        ),
        (thrown) => {
          const seen = judgeError(thrown)
          expect(['no_response', 'own_fault']).toContain(seen.kind)
          expect(seen.detail).not.toMatch(/[\r\n\0]/)
          expect(seen.detail.length).toBeLessThan(600)
        },
      ),
    )
  })
})
