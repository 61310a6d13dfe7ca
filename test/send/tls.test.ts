import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createSender } from '../../src/send/sender.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { authority, expired, good, key, selfSigned } from './certificates.js'
import { addresses, cleanUpAfterEach, fakeResolver, localSender, post, startReceiver } from './harness.js'
import { startTlsReceiver } from './secure-receiver.js'

cleanUpAfterEach()

const trustingSender = () => localSender({ tls: { ca: authority } })
const tlsFailure = (detail: RegExp) => ({
  kind: 'no_response',
  failure: 'tls',
  detail: expect.stringMatching(detail),
})

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

  it.each([
    ['expired', expired, 'good.test', /CERT_HAS_EXPIRED/],
    ['self-signed', selfSigned, 'good.test', /SELF_SIGNED/],
    ['for another host', good, 'wrong.test', /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['for another address', good, '127.0.0.2', /ERR_TLS_CERT_ALTNAME_INVALID|ECONNREFUSED/],
  ])('fails with a certificate that is %s, and sends nothing', async (_, cert, host, detail) => {
    const { port, requests } = await startTlsReceiver({ cert })
    const sender = trustingSender()
    const observation = await sender.send(post(`https://${host}:${port}/`))
    expect(observation).toMatchObject({
      kind: 'no_response',
      failure: expect.stringMatching(/tls|connection/),
      detail: expect.stringMatching(detail),
    })
    if (!host.startsWith('127')) expect(observation).toEqual(tlsFailure(detail))
    expect(requests).toEqual([])
  })

  it('fails when the certificate authority is not trusted', async () => {
    const { port } = await startTlsReceiver({ cert: good })
    expect(await localSender().send(post(`https://good.test:${port}/`))).toEqual(
      tlsFailure(/UNABLE_TO_VERIFY_LEAF_SIGNATURE/),
    )
  })

  it('fails as tls with a receiver that uses plain HTTP or an old TLS version', async () => {
    const plain = await startReceiver(
      () => {},
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    )
    expect(await trustingSender().send(post(plain.url.replace('http:', 'https:')))).toEqual(
      tlsFailure(/SSL|EPROTO/),
    )
    const old = await startTlsReceiver({ cert: good, maxVersion: 'TLSv1.2' })
    const modern = localSender({ tls: { ca: authority, minVersion: 'TLSv1.3' } })
    expect(await modern.send(post(`https://good.test:${old.port}/`))).toEqual(tlsFailure(/./))
  })

  it('fails as connection when the receiver closes during the handshake, and as timeout when it does not respond', async () => {
    const closing = await startReceiver(
      () => {},
      (socket) => socket.once('data', () => socket.destroy()),
    )
    expect(await trustingSender().send(post(closing.url.replace('http:', 'https:')))).toMatchObject({
      failure: 'connection',
    })
    const silent = await startReceiver(() => {})
    const observation = await trustingSender().send(
      post(silent.url.replace('http:', 'https:'), { deadlineMs: 100 }),
    )
    expect(observation).toEqual({
      kind: 'no_response',
      failure: 'timeout',
      detail: 'no connection within 100 ms',
    })
    const socket = silent.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
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
    expect(await trustingSender().send(post(`https://good.test:${port}/`))).toMatchObject({
      kind: 'no_response',
    })
  })

  it('rejects invalid certificates when the sender is created', () => {
    const policy = compileAddressPolicy({ allowLocal: false, allow: [] })
    const resolver = fakeResolver(() => addresses())
    expect(() => createSender({ addressPolicy: policy, resolver, tls: { cert: 'nonsense' } })).toThrow()
  })
})
