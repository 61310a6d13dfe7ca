import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSender, type SenderOptions } from '../../src/send/undici.js'
import { compilePolicy } from '../../src/values/address-policy.js'
import { parseProxy } from '../../src/values/way-out.js'
import { authority, good, selfSigned } from './certificates.js'
import { TUNNEL, testProxy } from './connect-proxy.js'
import { addresses, closeAfterEach, fakeResolver, later, localSender, OK, post, receiver } from './hostile.js'
import { secureReceiver } from './secure-receiver.js'

closeAfterEach()
afterEach(() => void vi.unstubAllEnvs())

const PUBLIC = '192.0.43.8'

/** A sender that may call public addresses only; names have the address that the test proxy takes to loopback. */
function proxied(proxy: SenderOptions['proxy'], more: Partial<SenderOptions> = {}) {
  const sender = createSender({
    policy: compilePolicy({ allowLocal: false, allow: [] }),
    resolver: fakeResolver(() => addresses(PUBLIC)),
    proxy,
    ...more,
  })
  later(() => sender.close())
  return sender
}

const own = (detail: string) => ({ kind: 'own_fault', detail })
const failed = (failure: string, detail: unknown = expect.any(String)) => ({
  kind: 'no_response',
  failure,
  detail,
})

describe('through a proxy', () => {
  it('http goes in a tunnel to the address that was approved, and the proxy sees nothing else', async () => {
    const { port, requests } = await receiver((socket) => socket.write(OK))
    const proxy = await testProxy()
    const sender = proxied(proxy.option())
    for (let n = 0; n < 3; n++) {
      expect(await sender.send(post(`http://name.test:${port}/hook?a=1`))).toMatchObject({ body: 'ok' })
    }
    expect(proxy.heads).toEqual([`CONNECT ${PUBLIC}:${port} HTTP/1.1\r\nHost: ${PUBLIC}:${port}\r\n\r\n`])
    expect(requests).toHaveLength(3)
    expect(requests[0]).toMatch(new RegExp(`^POST /hook\\?a=1 HTTP/1.1\r\nhost: name.test:${port}\r\n`))
  })

  it('https goes in such a tunnel too, verified under the name that was asked for', async () => {
    const { port, names } = await secureReceiver({ cert: good })
    const proxy = await testProxy()
    const sender = proxied(proxy.option(), { tls: { ca: authority } })
    expect(await sender.send(post(`https://good.test:${port}/`))).toMatchObject({ status: 200 })
    expect(await sender.send(post(`https://wrong.test:${port}/`))).toEqual(failed('tls'))
    expect([names[0], proxy.targets]).toEqual(['good.test', [`${PUBLIC}:${port}`, `${PUBLIC}:${port}`]])
  })

  it('that is spoken to over TLS, http and https go as well, and close leaves no socket', async () => {
    const plain = await receiver((socket) => socket.write(OK))
    const { port } = await secureReceiver({ cert: good })
    const proxy = await testProxy(() => undefined, true)
    const sender = proxied(proxy.option(), { tls: { ca: authority } })
    expect(await sender.send(post(`http://name.test:${plain.port}/`))).toMatchObject({ status: 200 })
    expect(await sender.send(post(`https://good.test:${port}/`))).toMatchObject({ status: 200 })
    await sender.close()
    await Promise.all(proxy.connections.map(async (socket) => socket.destroyed || once(socket, 'close')))
    expect(proxy.connections).toHaveLength(2)
  })

  it('IPv6 addresses are asked for in brackets', async () => {
    const proxy = await testProxy(() => 'HTTP/1.1 502 No\r\n\r\n')
    const sender = proxied(proxy.option())
    await sender.send(post('http://[2606:4700::1]:8080/'))
    expect(proxy.heads).toEqual(['CONNECT [2606:4700::1]:8080 HTTP/1.1\r\nHost: [2606:4700::1]:8080\r\n\r\n'])
  })

  it('credentials are shown to the proxy alone', async () => {
    const { port, requests } = await receiver((socket) => socket.write(OK))
    const proxy = await testProxy()
    const sender = proxied(proxy.option('us%65r:p%C3%A4ss%3A@'))
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ status: 200 })
    const expected = Buffer.from('user:päss:').toString('base64')
    expect(proxy.heads[0]).toContain(`\r\nProxy-Authorization: Basic ${expected}\r\n`)
    expect(requests[0]).not.toMatch(/proxy|basic/i)
  })

  it('the proxy may be a name of the inside, which the guard does not ask about', async () => {
    const { port } = await receiver((socket) => socket.write(OK))
    const proxy = await testProxy()
    const resolver = fakeResolver((name) => addresses(name === 'proxy.inside' ? '127.0.0.1' : PUBLIC))
    const sender = proxied({ ...proxy.option(), hostname: 'proxy.inside' }, { resolver })
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ status: 200 })
    expect(resolver.asked).toEqual(['name.test', 'proxy.inside'])
  })

  it('an answer of the proxy may come byte by byte, with headers', async () => {
    const { port } = await receiver((socket) => socket.write(OK))
    const proxy = await testProxy((_, socket) => {
      const answer = 'HTTP/1.0 200 \r\nVia: x\r\nX-Empty:\r\n\r\n'
      let at = 0
      const drip = () => {
        if (at < answer.length) socket.write(answer[at++]!, () => setImmediate(drip))
      }
      drip()
      socket.on('data', () => socket.write(OK))
      return ''
    })
    const sender = proxied(proxy.option())
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ body: 'ok' })
  })

  it('what comes in one piece with the answer of the proxy is read, and being unasked it ends the connection', async () => {
    const proxy = await testProxy(() => TUNNEL + OK)
    const sender = proxied(proxy.option())
    expect(await sender.send(post('http://name.test/'))).toEqual(failed('connection'))
    expect(await sender.send(post('https://name.test/'))).toEqual(failed('tls'))
  })
})

describe('the guard in front of a proxy', () => {
  it('never asks the proxy for a blocked address', async () => {
    const proxy = await testProxy()
    const sender = proxied(proxy.option(), {
      resolver: fakeResolver((name) =>
        name === 'mixed.test' ? addresses(PUBLIC, '10.0.0.1') : addresses('::1'),
      ),
    })
    for (const host of ['127.0.0.1', '169.254.169.254', 'localhost', '[::1]', 'mixed.test', 'inner.test']) {
      expect([host, await sender.send(post(`http://${host}:${proxy.port}/`))]).toEqual([
        host,
        failed('blocked_address'),
      ])
    }
    expect(proxy.connections).toHaveLength(0)
  })

  it('resolves here, and a name without an address is never the business of the proxy', async () => {
    const proxy = await testProxy()
    const resolver = fakeResolver(() => ({ kind: 'missing', detail: 'no such host name' }))
    expect(await proxied(proxy.option(), { resolver }).send(post('http://none.test/'))).toEqual(failed('dns'))
    expect(proxy.connections).toHaveLength(0)
  })

  it('variables of the environment choose no proxy', async () => {
    const { url } = await receiver((socket) => socket.write(OK))
    const proxy = await testProxy()
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    expect(await localSender().send(post(url))).toMatchObject({ status: 200 })
    expect(proxy.connections).toHaveLength(0)
  })
})

describe('a proxy that refuses', () => {
  it.each([400, 407, 408, 429, 302, 101, 199])('with %i is our own fault', async (status) => {
    const proxy = await testProxy(() => `HTTP/1.1 ${status} Refused by proxy.inside\r\nx: y\r\n\r\n`)
    const sender = proxied(proxy.option('user:hunter2@'))
    expect(await sender.send(post('http://name.test/'))).toEqual(own(`the proxy answered ${status}`))
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it.each([500, 502, 503, 504, 403, 404])(
    'with %i could not, or would not, reach the receiver',
    async (status) => {
      const proxy = await testProxy(() => `HTTP/1.1 ${status}\r\n\r\n`)
      expect(await proxied(proxy.option()).send(post('http://name.test/'))).toEqual(
        failed('connection', `the proxy answered ${status}`),
      )
    },
  )

  it('one approved address is asked for the next, and no further', async () => {
    const { port } = await receiver((socket) => socket.write(OK))
    const proxy = await testProxy((target) =>
      target.startsWith('1.1.1.1') ? undefined : 'HTTP/1.1 502 No\r\n\r\n',
    )
    const resolver = fakeResolver(() => addresses('8.8.8.8', '2606:4700::1', '1.1.1.1', '9.9.9.9'))
    const sender = proxied(proxy.option(), { resolver })
    expect(await sender.send(post(`http://name.test:${port}/`))).toMatchObject({ status: 200 })
    expect(proxy.targets).toEqual([`8.8.8.8:${port}`, `[2606:4700::1]:${port}`, `1.1.1.1:${port}`])
  })
})

describe('a proxy in trouble', () => {
  it.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'the proxy answered no HTTP'],
    ['another version', 'HTTP/2 200\r\n\r\n', 'the proxy answered no HTTP'],
    ['a header that is none', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n', 'the proxy answered no HTTP'],
    ['a folded header', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n', 'the proxy answered no HTTP'],
    ['NUL in a header', 'HTTP/1.1 200 OK\r\na: \0\r\n\r\n', 'the proxy answered no HTTP'],
    ['bare line feeds', 'HTTP/1.1 200 OK\na: b\r\n\r\n', 'the proxy answered no HTTP'],
    ['status 099', 'HTTP/1.1 099 Low\r\n\r\n', 'the proxy answered no HTTP'],
    [
      'too long a head',
      `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(4_000)}\r\n`,
      'the answer of the proxy is too long',
    ],
    [
      'a head without end',
      `HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}`,
      'the answer of the proxy is too long',
    ],
  ])('is our own fault: %s', async (_, answer, detail) => {
    const proxy = await testProxy(() => answer)
    expect(await proxied(proxy.option()).send(post('http://name.test/'))).toEqual(own(detail))
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it.each(['', 'HTTP/1.1 200 OK\r\n'])('is our own fault when it hangs up after "%s"', async (answer) => {
    const proxy = await testProxy((_, socket) => {
      socket.end(answer)
      return ''
    })
    expect(await proxied(proxy.option()).send(post('http://name.test/'))).toEqual(own('the proxy hung up'))
  })

  it('is our own fault when nobody listens there, and its address is not told', async () => {
    const sender = proxied(parseProxy('http://user:hunter2@127.0.0.1:1')!)
    expect(await sender.send(post('http://name.test/'))).toEqual(
      own('the proxy cannot be reached: ECONNREFUSED'),
    )
  })

  it('is our own fault when its name has no address, or is not found in time', async () => {
    const at = (resolver: SenderOptions['resolver']) =>
      proxied(parseProxy('http://proxy.inside:1')!, { resolver })
    const none = fakeResolver((name) =>
      name === 'name.test' ? addresses(PUBLIC) : { kind: 'missing', detail: 'no such host name' },
    )
    expect(await at(none).send(post('http://name.test/'))).toEqual(
      own('the proxy cannot be reached: its name has no address'),
    )
    const never = fakeResolver((name) => (name === 'name.test' ? addresses(PUBLIC) : new Promise(() => {})))
    expect(await at(never).send(post('http://name.test/', { deadlineMs: 200 }))).toEqual(
      own('the proxy was not reached in time'),
    )
  })

  it('is our own fault when TLS with it fails: not trusted, or not spoken', async () => {
    const untrusted = await testProxy(() => undefined, true)
    expect(await proxied(untrusted.option()).send(post('http://name.test/'))).toEqual(
      own('the proxy cannot be reached: UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    )
    const plain = await receiver(
      () => {},
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    )
    const seen = await proxied(parseProxy(`https://127.0.0.1:${plain.port}`)!).send(post('http://name.test/'))
    expect(seen).toEqual(own(expect.stringMatching(/^the proxy cannot be reached: [A-Z_]+$/)))
  })

  it('is a timeout when it says nothing: it may be waiting for the receiver', async () => {
    const proxy = await testProxy(() => '')
    const sender = proxied(proxy.option())
    expect(await sender.send(post('http://name.test/', { deadlineMs: 150 }))).toEqual(
      failed('timeout', 'no connection within 150 ms'),
    )
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('holds no request that is withdrawn', async () => {
    const proxy = await testProxy(() => '')
    const sender = proxied(proxy.option())
    const pending = sender.send(post('http://name.test/', { deadlineMs: 60_000 }))
    while (proxy.targets.length === 0) await new Promise(setImmediate)
    sender.withdraw('hook')
    expect(await pending).toEqual({ kind: 'withdrawn' })
    const socket = proxy.connections[0]!
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('does not hide what is wrong with a receiver behind it', async () => {
    const { port } = await secureReceiver({ cert: selfSigned })
    const proxy = await testProxy()
    expect(
      await proxied(proxy.option(), { tls: { ca: authority } }).send(post(`https://good.test:${port}/`)),
    ).toEqual(failed('tls', expect.stringMatching(/SELF_SIGNED/)))
  })
})
