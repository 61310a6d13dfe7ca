import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createSender } from '../../src/send/undici.js'
import { compilePolicy } from '../../src/values/address-policy.js'
import { authority, expired, good, key, selfSigned } from './certificates.js'
import { addresses, closeAfterEach, fakeResolver, localSender, post, receiver } from './hostile.js'
import { secureReceiver } from './secure-receiver.js'

closeAfterEach()

const trusting = () => localSender({ tls: { ca: authority } })
const tlsFailure = (detail: RegExp) => ({
  kind: 'no_response',
  failure: 'tls',
  detail: expect.stringMatching(detail),
})

describe('https', () => {
  it('reaches the approved address under the name that was asked for, over HTTP/1.1 only', async () => {
    const { port, names, requests, protocols } = await secureReceiver({ cert: good })
    const sender = trusting()
    expect(await sender.send(post(`https://good.test:${port}/x`))).toMatchObject({ status: 200, body: 'ok' })
    expect(await sender.send(post(`https://good.test:${port}/y`))).toMatchObject({ status: 200, body: 'ok' })
    expect([names, protocols]).toEqual([['good.test'], ['http/1.1']])
    expect(requests[0]).toContain(`POST /x HTTP/1.1\r\nhost: good.test:${port}\r\n`)
  })

  it('sends no server name for an address, and leaves the dot of the root out of it', async () => {
    const { port, names } = await secureReceiver({ cert: good })
    const sender = trusting()
    expect(await sender.send(post(`https://127.0.0.1:${port}/`))).toMatchObject({ status: 200 })
    expect(await sender.send(post(`https://good.test.:${port}/`))).toMatchObject({ status: 200 })
    expect(names).toEqual([false, 'good.test'])
  })

  it.each([
    ['expired', expired, 'good.test', /CERT_HAS_EXPIRED/],
    ['signed by itself', selfSigned, 'good.test', /SELF_SIGNED/],
    ['for another host', good, 'wrong.test', /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['for another address', good, '127.0.0.2', /ERR_TLS_CERT_ALTNAME_INVALID|ECONNREFUSED/],
  ])('is refused with a certificate that is %s, and nothing is sent', async (_, cert, host, detail) => {
    const { port, requests } = await secureReceiver({ cert })
    const sender = trusting()
    const seen = await sender.send(post(`https://${host}:${port}/`))
    expect(seen).toMatchObject({
      kind: 'no_response',
      failure: expect.stringMatching(/tls|connection/),
      detail: expect.stringMatching(detail),
    })
    if (!host.startsWith('127')) expect(seen).toEqual(tlsFailure(detail))
    expect(requests).toEqual([])
  })

  it('is refused where the authority is not trusted', async () => {
    const { port } = await secureReceiver({ cert: good })
    expect(await localSender().send(post(`https://good.test:${port}/`))).toEqual(
      tlsFailure(/UNABLE_TO_VERIFY_LEAF_SIGNATURE/),
    )
  })

  it('fails as tls against a receiver that speaks plain HTTP or too old a version', async () => {
    const plain = await receiver(
      () => {},
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    )
    expect(await trusting().send(post(plain.url.replace('http:', 'https:')))).toEqual(
      tlsFailure(/SSL|EPROTO/),
    )
    const old = await secureReceiver({ cert: good, maxVersion: 'TLSv1.2' })
    const modern = localSender({ tls: { ca: authority, minVersion: 'TLSv1.3' } })
    expect(await modern.send(post(`https://good.test:${old.port}/`))).toEqual(tlsFailure(/./))
  })

  it('fails as a connection when the receiver hangs up in the handshake, and as a timeout when it says nothing', async () => {
    const rude = await receiver(
      () => {},
      (socket) => socket.once('data', () => socket.destroy()),
    )
    expect(await trusting().send(post(rude.url.replace('http:', 'https:')))).toMatchObject({
      failure: 'connection',
    })
    const mute = await receiver(() => {})
    const seen = await trusting().send(post(mute.url.replace('http:', 'https:'), { deadlineMs: 100 }))
    expect(seen).toEqual({ kind: 'no_response', failure: 'timeout', detail: 'no connection within 100 ms' })
    const socket = mute.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('shows the client certificate that was given', async () => {
    const { port } = await secureReceiver({
      cert: good,
      ca: authority,
      requestCert: true,
      rejectUnauthorized: true,
    })
    expect(
      await localSender({ tls: { ca: authority, cert: good, key } }).send(post(`https://good.test:${port}/`)),
    ).toMatchObject({ status: 200 })
    expect(await trusting().send(post(`https://good.test:${port}/`))).toMatchObject({ kind: 'no_response' })
  })

  it('with certificates that are none throws when the sender is made', () => {
    const policy = compilePolicy({ allowLocal: false, allow: [] })
    const resolver = fakeResolver(() => addresses())
    expect(() => createSender({ policy, resolver, tls: { cert: 'nonsense' } })).toThrow()
  })
})
