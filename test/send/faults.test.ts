import { performance } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import type { Resolution } from '../../src/ports.js'
import {
  cleanUpAfterEach,
  fakeResolver,
  localSender,
  OK,
  post,
  type Script,
  sendTo,
  startReceiver,
  unanswered,
  unsent,
} from './harness.js'

cleanUpAfterEach()

/** Writes `text` repeatedly until the connection closes. */
const flood =
  (text: string, first = ''): Script =>
  (socket) => {
    socket.write(first)
    const many = text.repeat(Math.ceil(1_000 / text.length))
    const writeAll = () => {
      while (!socket.destroyed && socket.write(many));
    }
    socket.on('drain', writeAll)
    writeAll()
  }

/** Writes one character every few milliseconds. */
const drip =
  (text: string, first = ''): Script =>
  (socket) => {
    socket.write(first)
    let index = 0
    const timer = setInterval(() => socket.destroyed || socket.write(text[index++ % text.length]!), 5)
    socket.on('close', () => clearInterval(timer))
  }

describe('a faulty receiver', () => {
  const BAD: readonly (readonly [string, string, string])[] = [
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n', 'the server sent "SSH-2.0-OpenSSH_9.6"'],
    ['hidden characters', '\0\x1b[31m\u00ad\r\nx', 'the server sent "\\u{0}\\u{1B}[31m\\u{AD}"'],
    ['a long line', 'x'.repeat(100_000), `the server sent "${'x'.repeat(60)}…"`],
    ['HTML', '<html>\n', 'the server sent "<html>"'],
    ['a secret', 'authorization: Bearer topsecret', 'the server sent "authorization: Bearer [redacted]"'],
    ['the request', 'POST /hook?key=topsecret HTTP/1.1\r\n\r\n', 'the server sent the request back'],
    ['TLS', '\x15\x03\x01\0\x02\x02\x46', 'the server answered with TLS: it may expect https'],
    ['another protocol version', 'HTTP/3.7 200 OK\r\n\r\n', 'the server sent "HTTP/3.7 200 OK"'],
    ['status 099', 'HTTP/1.1 099 Low\r\nx: y\r\n\r\n', 'the server sent "HTTP/1.1 099 Low"'],
    ['status 000', 'HTTP/1.1 000 None\r\n\r\n', 'the server sent "HTTP/1.1 000 None"'],
    ['status 1000', 'HTTP/1.1 1000 Many\r\n\r\n', 'the server sent "HTTP/1.1 1000 Many"'],
    ['a non-numeric status', 'HTTP/1.1 2xx OK\r\n\r\n', 'the server sent "HTTP/1.1 2xx OK"'],
    ['no status', 'HTTP/1.1\r\n\r\n', 'the server sent "HTTP/1.1"'],
    [
      'garbage after an interim response',
      'HTTP/1.1 101 Up\r\n\r\n\x81\x05hello',
      'the server sent "\\u{81}\\u{5}hello"',
    ],
  ]

  it.each(BAD)('causes a protocol failure: %s', async (_, text, detail) => {
    expect(await sendTo((socket) => socket.end(text, 'latin1'))).toEqual(
      unanswered('protocol', 'not_http', detail),
    )
  })

  it.each(BAD)('does not affect the next request: %s', async (_, text) => {
    const { url } = await startReceiver((socket, __, index) =>
      index === 0 ? socket.end(text, 'latin1') : socket.write(OK),
    )
    const sender = localSender()
    await sender.send(post(url))
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })

  it.each([
    ['interim responses', 'HTTP/1.1 103 Early\r\nx: y\r\n\r\n'],
    ['empty lines', '\r\n'],
    ['a status line', 'x'],
  ])('causes a protocol failure with endless %s', async (_, part) => {
    expect(await sendTo(flood(part, part === 'x' ? 'HTTP/1.1 200 ' : ''))).toEqual(
      unanswered('protocol', 'head_too_large'),
    )
  })

  it('may send many interim responses, and end without another', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n'.repeat(500)
    expect(await sendTo((socket) => socket.write(interim + OK))).toMatchObject({ status: 200, body: 'ok' })
    expect(await sendTo((socket) => socket.end(interim))).toEqual(unanswered('connection', 'closed_early'))
  })

  it('may send its body in tiny chunks, up to the limit for framing', async () => {
    const chunks =
      (count: number): Script =>
      (socket) =>
        socket.write(
          `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`,
        )
    expect(await sendTo(chunks(3_000))).toMatchObject({ body: 'x'.repeat(3_000), bodyEnd: 'complete' })
    expect(await sendTo(chunks(5_000))).toMatchObject({ status: 200, bodyEnd: 'truncated' })
  })

  it('causes a connection failure when it closes without a byte', async () => {
    expect(await sendTo((socket) => socket.end())).toEqual(unanswered('connection', 'closed_early'))
    expect(await sendTo((socket) => socket.resetAndDestroy())).toEqual(
      unanswered('connection', expect.stringMatching(/^(reset|closed_early)$/)),
    )
  })

  it('causes a connection failure when the port is closed', async () => {
    const { url, port } = await startReceiver(() => {})
    expect(await localSender().send(post(url.replace(`${port}`, '1')))).toEqual(
      unsent('connection', 'refused', expect.stringContaining('ECONNREFUSED')),
    )
  })

  it('has responded even if its chunked body becomes invalid', async () => {
    const observation = await sendTo((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n'),
    )
    expect(observation).toMatchObject({ kind: 'response', status: 200, body: 'ab', bodyEnd: 'broken' })
  })

  it('is read up to 64 KiB when its body never ends', async () => {
    const { url, connections } = await startReceiver(flood('x'.repeat(1_000), 'HTTP/1.1 200 OK\r\n\r\n'))
    const observation = await localSender().send(post(url))
    expect(observation).toMatchObject({ kind: 'response', status: 200, bodyEnd: 'truncated' })
    const socket = connections[0]!
    if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
    expect(socket.destroyed).toBe(true)
  })
})

describe('the deadline', () => {
  const SLOW: readonly (readonly [string, Script, object])[] = [
    ['sends nothing', () => {}, unanswered('timeout', 'timeout_answer', 'no response within 300 ms')],
    [
      'drips its headers',
      drip('x-drip: y\r\n', 'HTTP/1.1 200 OK\r\n'),
      {
        kind: 'response',
        status: 200,
        bodyEnd: 'timeout',
        body: '',
        note: 'the head was not complete in time',
      },
    ],
    [
      'drips its body',
      drip('z', 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n'),
      { kind: 'response', status: 200, bodyEnd: 'timeout', body: expect.stringMatching(/^z+$/) },
    ],
    [
      'stops within its body',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
      { kind: 'response', status: 200, bodyEnd: 'timeout', body: 'half' },
    ],
    [
      'stops within the status line',
      (socket) => socket.write('HTTP/1.1 2'),
      unanswered('timeout', 'timeout_answer'),
    ],
    [
      'sends only an interim response',
      (socket) => socket.write('HTTP/1.1 103 Early\r\n\r\n'),
      unanswered('timeout', 'timeout_answer'),
    ],
  ]

  it.each(SLOW)('ends the attempt when the receiver %s', async (_, script, expected) => {
    const { url, connections } = await startReceiver(script)
    const started = performance.now()
    const observation = await localSender().send(post(url, { deadlineMs: 300 }))
    expect(observation).toMatchObject(expected)
    expect(performance.now() - started).toBeGreaterThanOrEqual(299)
    const socket = connections[0]!
    if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
  })

  it('ends an attempt whose DNS lookup never ends', async () => {
    const sender = localSender({ resolver: { resolve: () => new Promise(() => {}), close: () => {} } })
    expect(await sender.send(post('http://slow.test/', { deadlineMs: 60 }))).toEqual(
      unsent('timeout', 'timeout_name', 'the name was not resolved within 60 ms'),
    )
  })

  it('does not affect other requests', async () => {
    const { url } = await startReceiver((socket, request) => request.includes('/slow') || socket.write(OK))
    const sender = localSender()
    const slow = sender.send(post(url.replace('hook', 'slow'), { deadlineMs: 200 }))
    for (let n = 0; n < 20; n++) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(await slow).toEqual(unanswered('timeout', 'timeout_answer'))
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })
})

describe('invalid input and internal faults', () => {
  it('a header that cannot be sent is a protocol failure', async () => {
    const { url, requests } = await startReceiver((socket) => socket.write(OK))
    const sender = localSender()
    expect(await sender.send(post(url, { headers: ['x-bad', 'a\r\nb: c'] }))).toEqual(
      unsent('protocol', 'request_invalid'),
    )
    expect(await sender.send(post(url, { headers: ['bad name', 'a'] }))).toEqual(
      unsent('protocol', 'request_invalid'),
    )
    expect(await sender.send(post(url, { headers: ['transfer-encoding', 'chunked'] }))).toEqual(
      unsent('protocol', 'request_invalid'),
    )
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(requests).toHaveLength(1)
  })

  it.each(['', 'x', 'ftp://example.com/', 'http://', 'file:///etc/passwd'])(
    'an unusable URL is blocked: "%s"',
    async (url) => {
      expect(await localSender().send(post(url))).toEqual(unsent('blocked_address', 'blocked_address'))
    },
  )

  it('an unreachable resolver is an internal fault', async () => {
    const sender = localSender({
      resolver: { resolve: async () => ({ kind: 'unreachable', detail: 'silent' }), close: () => {} },
    })
    expect(await sender.send(post('http://a.test/'))).toEqual({ kind: 'own_fault', detail: 'DNS: silent' })
  })

  it.each([
    [undefined, 'name_unknown'],
    ['name_server', 'name_server'],
    ['nonsense', 'name_unknown'],
  ])('a name without addresses has the cause that the resolver gives: %s', async (given, cause) => {
    const resolution = { kind: 'missing', detail: 'none', cause: given } as Resolution
    const sender = localSender({ resolver: fakeResolver(() => resolution) })
    expect(await sender.send(post('http://a.test/'))).toEqual(unsent('dns', cause, 'none'))
  })

  it('a resolver that rejects is an internal fault', async () => {
    const sender = localSender({
      resolver: { resolve: async () => Promise.reject(new Error('broken')), close: () => {} },
    })
    expect(await sender.send(post('http://a.test/'))).toMatchObject({ kind: 'own_fault' })
  })
})
