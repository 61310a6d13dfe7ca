import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSender, type SenderOptions } from '../../src/send/sender.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { parseProxy } from '../../src/values/tls-and-proxy.js'
import { authority, good, selfSigned } from './certificates.js'
import { startProxy, TUNNEL } from './connect-proxy.js'
import {
  addresses,
  cleanUpAfterEach,
  fakeResolver,
  localSender,
  OK,
  onCleanup,
  post,
  startReceiver,
  unsent,
} from './harness.js'
import { startTlsReceiver } from './secure-receiver.js'

cleanUpAfterEach()
afterEach(() => void vi.unstubAllEnvs())

const PUBLIC = '192.0.43.8'

/** Creates a sender that may call public addresses only; names resolve to an address that the test proxy maps to loopback. */
function senderThrough(proxy: SenderOptions['proxy'], overrides: Partial<SenderOptions> = {}) {
  const sender = createSender({
    addressPolicy: compileAddressPolicy({ allowLocal: false, allow: [] }),
    resolver: fakeResolver(() => addresses(PUBLIC)),
    proxy,
    ...overrides,
  })
  onCleanup(() => sender.close())
  return sender
}

const ownFault = (detail: string) => ({ kind: 'own_fault', detail })

describe('through a proxy', () => {
  it('http uses a tunnel to the approved address, and the proxy sees nothing else', async () => {
    const { port, requests } = await startReceiver((socket) => socket.write(OK))
    const proxy = await startProxy()
    const sender = senderThrough(proxy.option())
    for (let n = 0; n < 3; n++) {
      expect(await sender.send(post(`http://name.test:${port}/hook?a=1`))).toMatchObject({ body: 'ok' })
    }
    expect(proxy.heads).toEqual([`CONNECT ${PUBLIC}:${port} HTTP/1.1\r\nHost: ${PUBLIC}:${port}\r\n\r\n`])
    expect(requests).toHaveLength(3)
    expect(requests[0]).toMatch(new RegExp(`^POST /hook\\?a=1 HTTP/1.1\r\nhost: name.test:${port}\r\n`))
  })

  it('https uses a tunnel too, verified for the name of the URL', async () => {
    const { port, names } = await startTlsReceiver({ cert: good })
    const proxy = await startProxy()
    const sender = senderThrough(proxy.option(), { tls: { ca: authority } })
    expect(await sender.send(post(`https://good.test:${port}/`))).toMatchObject({ status: 200 })
    expect(await sender.send(post(`https://wrong.test:${port}/`))).toEqual(unsent('tls', 'certificate_name'))
    expect([names[0], proxy.targets]).toEqual(['good.test', [`${PUBLIC}:${port}`, `${PUBLIC}:${port}`]])
  })

  it('http and https work over TLS to the proxy, and close leaves no socket', async () => {
    const plain = await startReceiver((socket) => socket.write(OK))
    const { port } = await startTlsReceiver({ cert: good })
    const proxy = await startProxy(() => undefined, true)
    const sender = senderThrough(proxy.option(), { tls: { ca: authority } })
    expect(await sender.send(post(`http://name.test:${plain.port}/`))).toMatchObject({ status: 200 })
    expect(await sender.send(post(`https://good.test:${port}/`))).toMatchObject({ status: 200 })
    await sender.close()
    await Promise.all(proxy.connections.map(async (socket) => socket.destroyed || once(socket, 'close')))
    expect(proxy.connections).toHaveLength(2)
  })

  it('IPv6 addresses are requested in brackets', async () => {
    const proxy = await startProxy(() => 'HTTP/1.1 502 No\r\n\r\n')
    const sender = senderThrough(proxy.option())
    await sender.send(post('http://[2606:4700::1]:8080/'))
    expect(proxy.heads).toEqual(['CONNECT [2606:4700::1]:8080 HTTP/1.1\r\nHost: [2606:4700::1]:8080\r\n\r\n'])
  })

  it('credentials are sent only to the proxy', async () => {
    const { port, requests } = await startReceiver((socket) => socket.write(OK))
    const proxy = await startProxy()
    const sender = senderThrough(proxy.option('us%65r:p%C3%A4ss%3A@'))
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ status: 200 })
    const expected = Buffer.from('user:päss:').toString('base64')
    expect(proxy.heads[0]).toContain(`\r\nProxy-Authorization: Basic ${expected}\r\n`)
    expect(requests[0]).not.toMatch(/proxy|basic/i)
  })

  it('the proxy may have a private address, which the address policy does not check', async () => {
    const { port } = await startReceiver((socket) => socket.write(OK))
    const proxy = await startProxy()
    const resolver = fakeResolver((name) => addresses(name === 'proxy.inside' ? '127.0.0.1' : PUBLIC))
    const sender = senderThrough({ ...proxy.option(), hostname: 'proxy.inside' }, { resolver })
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ status: 200 })
    expect(resolver.queries).toEqual(['name.test', 'proxy.inside'])
  })

  it('the response of the proxy may arrive byte by byte, with headers', async () => {
    const { port } = await startReceiver((socket) => socket.write(OK))
    const proxy = await startProxy((_, socket) => {
      const response = 'HTTP/1.0 200 \r\nVia: x\r\nX-Empty:\r\n\r\n'
      let index = 0
      const drip = () => {
        if (index < response.length) socket.write(response[index++]!, () => setImmediate(drip))
      }
      drip()
      socket.on('data', () => socket.write(OK))
      return ''
    })
    const sender = senderThrough(proxy.option())
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ body: 'ok' })
  })

  it('unsolicited data right after the response of the proxy is read and ends the connection', async () => {
    const proxy = await startProxy(() => TUNNEL + OK)
    const sender = senderThrough(proxy.option())
    expect(await sender.send(post('http://name.test/'))).toEqual(unsent('connection', 'reset'))
    expect(await sender.send(post('https://name.test/'))).toEqual(unsent('tls', 'not_tls'))
  })
})

describe('the address policy in front of a proxy', () => {
  it('never requests a blocked address from the proxy', async () => {
    const proxy = await startProxy()
    const sender = senderThrough(proxy.option(), {
      resolver: fakeResolver((name) =>
        name === 'mixed.test' ? addresses(PUBLIC, '10.0.0.1') : addresses('::1'),
      ),
    })
    for (const host of ['127.0.0.1', '169.254.169.254', 'localhost', '[::1]', 'mixed.test', 'inner.test']) {
      expect([host, await sender.send(post(`http://${host}:${proxy.port}/`))]).toEqual([
        host,
        unsent('blocked_address', 'blocked_address'),
      ])
    }
    expect(proxy.connections).toHaveLength(0)
  })

  it('applies to names resolved locally; the proxy is not contacted for a name without an address', async () => {
    const proxy = await startProxy()
    const resolver = fakeResolver(() => ({ kind: 'missing', detail: 'no such host name' }))
    expect(await senderThrough(proxy.option(), { resolver }).send(post('http://none.test/'))).toEqual(
      unsent('dns', 'name_unknown'),
    )
    expect(proxy.connections).toHaveLength(0)
  })

  it('is not bypassed by proxy environment variables', async () => {
    const { url } = await startReceiver((socket) => socket.write(OK))
    const proxy = await startProxy()
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    expect(await localSender().send(post(url))).toMatchObject({ status: 200 })
    expect(proxy.connections).toHaveLength(0)
  })
})

describe('a proxy that rejects the request', () => {
  it.each([400, 407, 408, 429, 302, 101, 199])('with %i is an internal fault', async (status) => {
    const proxy = await startProxy(() => `HTTP/1.1 ${status} Refused by proxy.inside\r\nx: y\r\n\r\n`)
    const sender = senderThrough(proxy.option('user:hunter2@'))
    expect(await sender.send(post('http://name.test/'))).toEqual(
      ownFault(`the proxy responded with ${status}`),
    )
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it.each([500, 502, 503, 504, 403, 404])(
    'with %i is a connection failure of the receiver',
    async (status) => {
      const proxy = await startProxy(() => `HTTP/1.1 ${status}\r\n\r\n`)
      expect(await senderThrough(proxy.option()).send(post('http://name.test/'))).toEqual(
        unsent('connection', 'proxy_failed', `the proxy responded with ${status}`),
      )
    },
  )

  it('one approved address is asked for the next one, until one succeeds', async () => {
    const { port } = await startReceiver((socket) => socket.write(OK))
    const proxy = await startProxy((target) =>
      target.startsWith('1.1.1.1') ? undefined : 'HTTP/1.1 502 No\r\n\r\n',
    )
    const resolver = fakeResolver(() => addresses('8.8.8.8', '2606:4700::1', '1.1.1.1', '9.9.9.9'))
    const sender = senderThrough(proxy.option(), { resolver })
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ status: 200 })
    expect(proxy.targets).toEqual([`8.8.8.8:${port}`, `[2606:4700::1]:${port}`, `1.1.1.1:${port}`])
  })
})

describe('a faulty proxy', () => {
  it.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'the proxy did not respond with HTTP'],
    ['another version', 'HTTP/2 200\r\n\r\n', 'the proxy did not respond with HTTP'],
    [
      'a line that is not a header',
      'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
      'the proxy did not respond with HTTP',
    ],
    ['a folded header', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n', 'the proxy did not respond with HTTP'],
    ['NUL in a header', 'HTTP/1.1 200 OK\r\na: \0\r\n\r\n', 'the proxy did not respond with HTTP'],
    ['bare line feeds', 'HTTP/1.1 200 OK\na: b\r\n\r\n', 'the proxy did not respond with HTTP'],
    ['status 099', 'HTTP/1.1 099 Low\r\n\r\n', 'the proxy did not respond with HTTP'],
    [
      'an oversized header',
      `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(4_000)}\r\n`,
      "the proxy's response header is too long",
    ],
    [
      'an endless header',
      `HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}`,
      "the proxy's response header is too long",
    ],
  ])('is an internal fault: %s', async (_, response, detail) => {
    const proxy = await startProxy(() => response)
    expect(await senderThrough(proxy.option()).send(post('http://name.test/'))).toEqual(ownFault(detail))
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it.each(['', 'HTTP/1.1 200 OK\r\n'])('is an internal fault when it closes after "%s"', async (response) => {
    const proxy = await startProxy((_, socket) => {
      socket.end(response)
      return ''
    })
    expect(await senderThrough(proxy.option()).send(post('http://name.test/'))).toEqual(
      ownFault('the proxy closed the connection'),
    )
  })

  it('is an internal fault when its port is closed, and its address is not revealed', async () => {
    const sender = senderThrough(parseProxy('http://user:hunter2@127.0.0.1:1')!)
    expect(await sender.send(post('http://name.test/'))).toEqual(
      ownFault('the proxy cannot be reached: ECONNREFUSED'),
    )
  })

  it('is an internal fault when its name has no address or is not resolved in time', async () => {
    const withResolver = (resolver: SenderOptions['resolver']) =>
      senderThrough(parseProxy('http://proxy.inside:1')!, { resolver })
    const none = fakeResolver((name) =>
      name === 'name.test' ? addresses(PUBLIC) : { kind: 'missing', detail: 'no such host name' },
    )
    expect(await withResolver(none).send(post('http://name.test/'))).toEqual(
      ownFault('the proxy cannot be reached: its name has no address'),
    )
    const never = fakeResolver((name) => (name === 'name.test' ? addresses(PUBLIC) : new Promise(() => {})))
    expect(await withResolver(never).send(post('http://name.test/', { deadlineMs: 200 }))).toEqual(
      ownFault('the proxy was not reached in time'),
    )
  })

  it('is an internal fault when TLS with it fails', async () => {
    const untrusted = await startProxy(() => undefined, true)
    expect(await senderThrough(untrusted.option()).send(post('http://name.test/'))).toEqual(
      ownFault('the proxy cannot be reached: UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    )
    const plain = await startReceiver(
      () => {},
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    )
    const observation = await senderThrough(parseProxy(`https://127.0.0.1:${plain.port}`)!).send(
      post('http://name.test/'),
    )
    expect(observation).toEqual(ownFault(expect.stringMatching(/^the proxy cannot be reached: [A-Z_]+$/)))
  })

  it('has half of the time to be reached, so that a dead one ends before the deadline', async () => {
    const silent = await startReceiver(() => {})
    const ends: string[] = []
    const deadProxy = senderThrough(parseProxy(`https://127.0.0.1:${silent.port}`)!)
    await Promise.all([
      deadProxy.send(post('http://name.test/', { deadlineMs: 600 })).then((observation) => {
        ends.push('proxy')
        expect(observation).toEqual(ownFault('the proxy was not reached in time'))
      }),
      localSender()
        .send(post(silent.url, { deadlineMs: 450 }))
        .then(() => ends.push('deadline of a shorter request')),
    ])
    expect(ends).toEqual(['proxy', 'deadline of a shorter request'])
  })

  it('is a timeout when it does not respond: it may be waiting for the receiver', async () => {
    const proxy = await startProxy(() => '')
    const sender = senderThrough(proxy.option())
    expect(await sender.send(post('http://name.test/', { deadlineMs: 150 }))).toEqual(
      unsent('timeout', 'timeout_connect', 'no connection within 150 ms'),
    )
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('does not keep a cancelled request', async () => {
    const proxy = await startProxy(() => '')
    const sender = senderThrough(proxy.option())
    const pending = sender.send(post('http://name.test/', { deadlineMs: 60_000 }))
    while (proxy.targets.length === 0) await new Promise(setImmediate)
    sender.cancel('hook')
    expect(await pending).toEqual({ kind: 'cancelled' })
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('does not hide failures of a receiver', async () => {
    const { port } = await startTlsReceiver({ cert: selfSigned })
    const proxy = await startProxy()
    expect(
      await senderThrough(proxy.option(), { tls: { ca: authority } }).send(
        post(`https://good.test:${port}/`),
      ),
    ).toEqual(unsent('tls', 'certificate_self_signed', expect.stringMatching(/SELF_SIGNED/)))
  })
})
