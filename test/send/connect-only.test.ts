/** `connect`: a connection as for a request, without one. */
import { once } from 'node:events'
import type { TlsOptions as ServerOptions } from 'node:tls'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { authority, expired, good, selfSigned } from './certificates.js'
import { startProxy } from './connect-proxy.js'
import { cleanUpAfterEach, fakeResolver, localSender, startReceiver, unsent } from './harness.js'
import { startTlsReceiver } from './secure-receiver.js'

cleanUpAfterEach()

/** Longer than any test. */
const LONG_MS = 60_000
/** Short, for what never ends by itself. */
const SHORT_MS = 50

describe('connecting without a request', () => {
  it('succeeds over TCP and TLS, sends no byte of a request, and closes the connection', async () => {
    const plain = await startReceiver(() => {})
    expect(await localSender().connect(plain.url, LONG_MS)).toEqual({ kind: 'connected' })
    await once(plain.connections[0]!, 'close')
    expect(plain.requests).toEqual([])

    const secure = await startTlsReceiver({ cert: good })
    const sender = localSender({ tls: { ca: authority } })
    expect(await sender.connect(`https://good.test:${secure.port}/hook`, LONG_MS)).toEqual({
      kind: 'connected',
      certificateValidToMs: Date.UTC(2100, 0, 1),
    })
    expect(secure.requests).toEqual([])
  })

  it.each<[string, ServerOptions, string, string]>([
    ['an expired certificate', { cert: expired }, 'good.test', 'certificate_expired'],
    ['a self-signed certificate', { cert: selfSigned }, 'good.test', 'certificate_self_signed'],
    ['a certificate for another name', { cert: good }, 'wrong.test', 'certificate_name'],
    [
      'versions of TLS that are too old',
      { cert: good, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' },
      'good.test',
      'tls_version',
    ],
  ])('fails as an attempt does: %s', async (_, options, host, cause) => {
    const { port } = await startTlsReceiver(options)
    const sender = localSender({ tls: { ca: authority } })
    expect(await sender.connect(`https://${host}:${port}/`, LONG_MS)).toMatchObject(unsent('tls', cause))
  })

  it('fails as an attempt does: another protocol, a closed port, a name without an address', async () => {
    const plain = await startReceiver(
      () => {},
      (socket) => socket.write('220 mail.test ESMTP\r\n'),
    )
    const asTls = await localSender().connect(`https://good.test:${plain.port}/`, LONG_MS)
    expect(asTls).toMatchObject(unsent('tls', 'not_tls'))
    expect(JSON.stringify(asTls)).not.toContain('ESMTP')
    // Port 1 is open nowhere.
    expect(await localSender().connect('http://good.test:1/', LONG_MS)).toMatchObject(
      unsent('connection', 'refused'),
    )
    const resolver = fakeResolver(() => ({ kind: 'missing', detail: 'no such host name' }))
    expect(await localSender({ resolver }).connect('http://good.test/', LONG_MS)).toMatchObject(
      unsent('dns', 'name_unknown'),
    )
  })

  it('obeys the address policy, for literals and for what names resolve to', async () => {
    const addressPolicy = compileAddressPolicy({ allowLocal: false, allow: [] })
    const plain = await startReceiver(() => {})
    const sender = localSender({ addressPolicy })
    for (const host of ['127.0.0.1', '[::1]', 'localhost', 'inside.test', '2130706433']) {
      expect(await sender.connect(`http://${host}:${plain.port}/`, LONG_MS), host).toMatchObject(
        unsent('blocked_address', 'blocked_address'),
      )
    }
    expect(plain.connections).toEqual([])
  })

  it('ends in time in every phase, and leaves no connection behind', async () => {
    const silent = await startReceiver(() => {})
    expect(await localSender().connect(`https://good.test:${silent.port}/`, SHORT_MS)).toMatchObject(
      unsent('timeout', 'timeout_tls'),
    )
    await once(silent.connections[0]!, 'close')
    const resolver = fakeResolver(() => new Promise(() => {}))
    expect(await localSender({ resolver }).connect('https://good.test/', SHORT_MS)).toMatchObject(
      unsent('timeout', 'timeout_name'),
    )
  })

  it('ends when the sender closes, and fails afterwards', async () => {
    const silent = await startReceiver(() => {})
    const sender = localSender()
    const connecting = sender.connect(`https://good.test:${silent.port}/`, LONG_MS)
    await until(() => silent.connections[0], { description: 'the sender connects' })
    await sender.close()
    expect(await connecting).toMatchObject({ kind: 'own_fault' })
    expect(await sender.connect(silent.url, LONG_MS)).toMatchObject({ kind: 'own_fault' })
  })

  it('goes through the proxy, whose fault is an internal one', async () => {
    const plain = await startReceiver(() => {})
    const proxy = await startProxy()
    const target = `http://good.test:${plain.port}/`
    expect(await localSender({ proxy: proxy.option() }).connect(target, LONG_MS)).toEqual({
      kind: 'connected',
    })
    expect(plain.connections).toHaveLength(1)
    const broken = { ...proxy.option(), port: 1 }
    expect(await localSender({ proxy: broken }).connect(target, LONG_MS)).toMatchObject({ kind: 'own_fault' })
  })
})
