import { once } from 'node:events'
import type { TlsOptions as ServerOptions } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { Sender } from '../../src/ports.js'
import { createSender } from '../../src/send/sender.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import type { TlsOptions } from '../../src/values/tls-and-proxy.js'
import { authority, expired, future, good, key, selfSigned, unknownChain } from './certificates.js'
import { startProxy } from './connect-proxy.js'
import {
  addresses,
  cleanUpAfterEach,
  fakeResolver,
  localSender,
  post,
  startReceiver,
  unanswered,
  unsent,
} from './harness.js'
import { startTlsReceiver } from './secure-receiver.js'

cleanUpAfterEach()

const trustingSender = () => localSender({ tls: { ca: authority } })
/** A receiver that the `https` URL of a test names. */
type Server = () => Promise<{ readonly port: number }>

/** A server of another protocol, which sends this as soon as it is called, or where it has read something. */
const speaks =
  (text: string, isFirst = false): Server =>
  () =>
    startReceiver(
      () => {},
      (socket) => (isFirst ? socket.write(text) : socket.once('data', () => socket.end(text))),
    )
const secured =
  (options: ServerOptions): Server =>
  () =>
    startTlsReceiver(options)

/** Each fault: the server, the host of the URL, TLS options of the sender, cause and detail. */
const FAULTS: readonly (readonly [string, Server, string, TlsOptions, string, RegExp])[] = [
  [
    'expired certificate',
    secured({ cert: expired }),
    'good.test',
    {},
    'certificate_expired',
    /^CERT_HAS_EXPIRED: /,
  ],
  [
    'certificate of the future',
    secured({ cert: future }),
    'good.test',
    { ca: future },
    'certificate_not_yet_valid',
    /^CERT_NOT_YET_VALID: /,
  ],
  [
    'self-signed certificate',
    secured({ cert: selfSigned }),
    'good.test',
    {},
    'certificate_self_signed',
    /^DEPTH_ZERO_SELF_SIGNED_CERT: /,
  ],
  [
    'certificate for another name',
    secured({ cert: good }),
    'wrong.test',
    {},
    'certificate_name',
    /^ERR_TLS_CERT_ALTNAME_INVALID: /,
  ],
  [
    'certificate for another address',
    () => startTlsReceiver({ cert: good }, '0.0.0.0'),
    '127.0.0.2',
    {},
    'certificate_name',
    /^ERR_TLS_CERT_ALTNAME_INVALID: /,
  ],
  [
    'certificate without its issuer',
    secured({ cert: good }),
    'good.test',
    { ca: selfSigned },
    'certificate_issuer',
    /^UNABLE_TO_VERIFY_LEAF_SIGNATURE: /,
  ],
  [
    'certificate of an unknown issuer',
    secured({ cert: unknownChain }),
    'good.test',
    {},
    'certificate_issuer',
    /^SELF_SIGNED_CERT_IN_CHAIN: /,
  ],
  [
    'TLS 1.2 only',
    secured({ cert: good, maxVersion: 'TLSv1.2' }),
    'good.test',
    { minVersion: 'TLSv1.3' },
    'tls_version',
    /: tlsv1 alert protocol version$/,
  ],
  [
    'TLS 1.3 only',
    secured({ cert: good, minVersion: 'TLSv1.3' }),
    'good.test',
    { maxVersion: 'TLSv1.2' },
    'tls_version',
    /: tlsv1 alert protocol version$/,
  ],
  [
    'another cipher',
    secured({ cert: good, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }),
    'good.test',
    {},
    'tls_version',
    /handshake failure$/,
  ],
  [
    'HTTP/2 only',
    secured({ cert: good, ALPNProtocols: ['h2'] }),
    'good.test',
    {},
    'tls_failed',
    /no application protocol$/,
  ],
  [
    'plain HTTP',
    speaks('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'good.test',
    {},
    'not_tls',
    /: wrong version number$/,
  ],
  [
    'another protocol',
    speaks('220 mail.test ESMTP Postfix\r\n', true),
    'good.test',
    {},
    'not_tls',
    /: wrong version number$/,
  ],
]

describe.each(['directly', 'through a proxy'])(
  'a fault of a TLS server has a cause of its own, %s',
  (way) => {
    async function trustingSenderFor(tls: TlsOptions): Promise<Sender> {
      return localSender({
        tls: { ca: authority, ...tls },
        ...(way === 'directly' ? {} : { proxy: (await startProxy()).option() }),
      })
    }

    it.each(FAULTS)('%s', async (_, server, host, tls, cause, detail) => {
      const { port } = await server()
      const sender = await trustingSenderFor(tls)
      expect(await sender.send(post(`https://${host}:${port}/`))).toEqual(
        unsent('tls', cause, expect.stringMatching(detail)),
      )
    })

    it('an end of the connection, and silence', async () => {
      const sender = await trustingSenderFor({})
      const closing = await speaks('')()
      expect(await sender.send(post(`https://good.test:${closing.port}/`))).toEqual(
        unsent('connection', 'closed_early'),
      )
      const silent = await startReceiver(() => {})
      expect(await sender.send(post(`https://good.test:${silent.port}/`, { deadlineMs: 200 }))).toEqual(
        unsent('timeout', 'timeout_tls', 'no TLS handshake within 200 ms'),
      )
      const socket = silent.connections[0]!
      if (!socket.destroyed) await once(socket, 'close')
    })
  },
)

describe('https', () => {
  it('connects to the approved address with the name of the URL, over HTTP/1.1 only', async () => {
    const { port, names, requests, protocols } = await startTlsReceiver({ cert: good })
    const sender = trustingSender()
    expect(await sender.send(post(`https://good.test:${port}/x`))).toMatchObject({ status: 200, body: 'ok' })
    expect(await sender.send(post(`https://good.test:${port}/y`))).toMatchObject({ status: 200, body: 'ok' })
    expect([names, protocols]).toEqual([['good.test'], ['http/1.1']])
    expect(requests[0]).toContain(`POST /x HTTP/1.1\r\nhost: good.test:${port}\r\n`)
  })

  it('sends no server name for an address, and omits the trailing dot of a name', async () => {
    const { port, names } = await startTlsReceiver({ cert: good })
    const sender = trustingSender()
    expect(await sender.send(post(`https://127.0.0.1:${port}/`))).toMatchObject({ status: 200 })
    expect(await sender.send(post(`https://good.test.:${port}/`))).toMatchObject({ status: 200 })
    expect(names).toEqual([false, 'good.test'])
  })

  it('sends no byte of the request before the certificate is verified', async () => {
    const { port, requests } = await startTlsReceiver({ cert: selfSigned })
    await trustingSender().send(post(`https://good.test:${port}/`))
    expect(requests).toEqual([])
  })

  it('presents the configured client certificate', async () => {
    const { port } = await startTlsReceiver({
      cert: good,
      ca: authority,
      requestCert: true,
      rejectUnauthorized: true,
    })
    expect(
      await localSender({ tls: { ca: authority, cert: good, key } }).send(post(`https://good.test:${port}/`)),
    ).toMatchObject({ status: 200 })
    // With TLS 1.3 the receiver refuses after the handshake, when the request is written already.
    expect(await trustingSender().send(post(`https://good.test:${port}/`))).toEqual(
      unanswered('tls', 'certificate_required'),
    )
  })

  it('rejects invalid certificates when the sender is created', () => {
    const policy = compileAddressPolicy({ allowLocal: false, allow: [] })
    const resolver = fakeResolver(() => addresses())
    expect(() => createSender({ addressPolicy: policy, resolver, tls: { cert: 'nonsense' } })).toThrow()
  })
})
