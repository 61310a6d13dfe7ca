import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyError, noResponse, wrapSendFailure } from '../../src/send/error-classifier.js'
import { FAILURE_CAUSES } from '../../src/values/failure-cause.js'

const error = (code: string, message = 'something', more = {}) =>
  Object.assign(new Error(message), { code, ...more })
const classOf = (thrown: unknown, context = {}) => {
  const observation = classifyError(thrown, context)
  return observation.kind === 'own_fault' ? observation.kind : observation.failure
}

describe('classifyError', () => {
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
    expect(classOf(error(code))).toBe(expected)
  })

  it.each([
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['ENETUNREACH', 'unreachable'],
    ['EHOSTUNREACH', 'unreachable'],
    ['UND_ERR_SOCKET', 'closed_early'],
    ['ETIMEDOUT', 'timeout_answer'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout_answer'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout_connect'],
    ['UND_ERR_HEADERS_OVERFLOW', 'head_too_large'],
    ['HPE_INVALID_CONSTANT', 'not_http'],
    ['UND_ERR_INVALID_ARG', 'request_invalid'],
    ['ERR_INVALID_CHAR', 'request_invalid'],
    ['CERT_HAS_EXPIRED', 'certificate_expired'],
    ['CERT_NOT_YET_VALID', 'certificate_not_yet_valid'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate_self_signed'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate_issuer'],
    ['UNABLE_TO_GET_ISSUER_CERT', 'certificate_issuer'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate_issuer'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate_issuer'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_name'],
    ['HOSTNAME_MISMATCH', 'certificate_name'],
    ['CERT_REVOKED', 'certificate_invalid'],
    ['INVALID_PURPOSE', 'certificate_invalid'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'not_tls'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls_version'],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'tls_version'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'tls_version'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'certificate_required'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'tls_failed'],
    ['EPROTO', 'tls_failed'],
    ['SOMETHING_NEW', 'connection_failed'],
    ['', 'connection_failed'],
  ])('%s has the cause %s', (code, cause) => {
    expect(classifyError(error(code))).toMatchObject({ cause, isSent: false })
  })

  it('finds the cause and the words in an error of OpenSSL', () => {
    const message =
      'write EPROTO 40C7A1:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl3_record.c:350:\n'
    expect(classifyError(error('EPROTO', message))).toMatchObject({
      cause: 'not_tls',
      detail: 'EPROTO: wrong version number',
    })
  })

  it('treats EADDRNOTAVAIL as an internal fault for IPv4 only: without IPv6 every IPv6 address fails with it', () => {
    expect(classOf(error('EADDRNOTAVAIL'), { ip: '8.8.8.8' })).toBe('own_fault')
    expect(classOf(error('EADDRNOTAVAIL'), { ip: '2606:4700::1' })).toBe('connection')
  })

  it('treats no error of connect(2) as one of TLS', () => {
    expect(classOf(error('EPROTO', 'connect EPROTO', { syscall: 'connect' }))).toBe('connection')
    expect(classOf(error('EPROTO', 'write EPROTO', { syscall: 'write' }))).toBe('tls')
  })

  it("recognises invalid responses by undici's messages", () => {
    expect(classOf(error('UND_ERR_SOCKET', 'bad response'))).toBe('protocol')
    expect(classOf(error('UND_ERR_SOCKET', 'bad upgrade'))).toBe('protocol')
    expect(classOf(error('UND_ERR_SOCKET', 'other side closed'))).toBe('connection')
    expect(classOf(Object.assign(new Error('x'), { name: 'HTTPParserError' }))).toBe('protocol')
  })

  it('returns the wrapped failure of the connector', () => {
    const observation = noResponse('blocked_address', 'blocked_address', 'the host is a private address')
    expect(classifyError(wrapSendFailure(observation))).toBe(observation)
  })

  it('returns a short single-line failure for any thrown value', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({ code: fc.anything(), message: fc.anything(), name: fc.anything() }),
          fc.string({ maxLength: 2_000 }),
        ),
        (thrown) => {
          const observation = classifyError(thrown)
          expect(['no_response', 'own_fault']).toContain(observation.kind)
          expect(observation.detail).not.toMatch(/[\r\n\0]/)
          expect(observation.detail.length).toBeLessThan(600)
          if (observation.kind === 'no_response') expect(FAILURE_CAUSES).toHaveProperty(observation.cause!)
        },
      ),
    )
  })
})
