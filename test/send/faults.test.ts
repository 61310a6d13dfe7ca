import { performance } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { cleanUpAfterEach, localSender, OK, post, type Script, sendTo, startReceiver } from './harness.js'

cleanUpAfterEach()

const failed = (failure: string, detail: unknown = expect.any(String)) => ({
  kind: 'no_response',
  failure,
  detail,
})

/** Writes `text` repeatedly until the connection closes. */
const flood =
  (text: string, first = ''): Script =>
  (socket) => {
    socket.write(first)
    const writeAll = () => {
      while (!socket.destroyed && socket.write(text));
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
  const BAD: readonly (readonly [string, string])[] = [
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['another protocol version', 'HTTP/3.7 200 OK\r\n\r\n'],
    ['status 099', 'HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n'],
    ['status 000', 'HTTP/1.1 000 None\r\n\r\n'],
    ['a non-numeric status', 'HTTP/1.1 2xx OK\r\n\r\n'],
    ['a line that is not a header', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n'],
    ['NUL in a header', 'HTTP/1.1 200 OK\r\nx: \0\r\n\r\n'],
    ['two content-lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'a content-length with chunked encoding',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative content-length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['headers beyond 16 KiB', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`],
    ['an unrequested upgrade', 'HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
    ['a flood of interim responses, then the end', 'HTTP/1.1 103 Early\r\n\r\n'.repeat(50)],
  ]

  it.each(BAD)('causes a protocol failure: %s', async (_, text) => {
    expect(await sendTo((socket) => socket.end(text, 'latin1'))).toEqual(failed('protocol'))
  })

  it.each(BAD)('does not affect the next request: %s', async (_, text) => {
    const { url } = await startReceiver((socket, __, index) =>
      index === 0 ? socket.end(text, 'latin1') : socket.write(OK),
    )
    const sender = localSender()
    await sender.send(post(url))
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })

  it('causes a protocol failure with endless interim responses', async () => {
    expect(await sendTo(flood('HTTP/1.1 103 Early\r\nx: y\r\n\r\n'))).toEqual(failed('protocol'))
  })

  it('causes a protocol failure with too many short headers, before all of them have arrived', async () => {
    const many: Script = (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(5_000)}`)
    expect(await sendTo(many, { deadlineMs: 60_000 })).toEqual(failed('protocol'))
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
    expect(await sendTo((socket) => socket.end())).toEqual(failed('connection'))
    expect(await sendTo((socket) => socket.resetAndDestroy())).toEqual(failed('connection'))
  })

  it('causes a connection failure when the port is closed', async () => {
    const { url, port } = await startReceiver(() => {})
    expect(await localSender().send(post(url.replace(`${port}`, '1')))).toEqual(
      failed('connection', expect.stringContaining('ECONNREFUSED')),
    )
  })

  it.each(['end', 'resetAndDestroy'] as const)(
    'that disconnects at any byte (%s) has an observation for each',
    async (method) => {
      const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'
      const head = whole.length - 5
      const cut: Script = (socket, _, index) => {
        socket.write(whole.slice(0, index + 1), () =>
          setImmediate(() => (method === 'end' ? socket.end() : socket.resetAndDestroy())),
        )
      }
      const { url } = await startReceiver(cut)
      const sender = localSender()
      for (let length = 1; length < whole.length; length++) {
        const observation = await sender.send(post(url))
        if (length < head)
          expect([length, observation]).toEqual([
            length,
            { ...failed('connection'), failure: expect.stringMatching(/connection|protocol/) },
          ])
        // A reset may discard data sent before it; the observation depends on what was read.
        else if (method === 'end')
          expect([length, observation]).toMatchObject([
            length,
            { kind: 'response', status: 200, bodyEnd: 'broken', body: 'hello'.slice(0, length - head) },
          ])
        else
          expect(observation.kind === 'response' ? observation.bodyEnd : observation.kind).toMatch(
            /broken|no_response/,
          )
      }
    },
  )

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
    ['sends nothing', () => {}, failed('timeout', 'no response within 300 ms')],
    [
      'drips its headers',
      drip('x-drip: y\r\n', 'HTTP/1.1 200 OK\r\n'),
      failed('timeout', 'no response within 300 ms'),
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
    ['stops within the status line', (socket) => socket.write('HTTP/1.1 2'), failed('timeout')],
    [
      'sends only an interim response',
      (socket) => socket.write('HTTP/1.1 103 Early\r\n\r\n'),
      failed('timeout'),
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
      failed('timeout', 'no connection within 60 ms'),
    )
  })

  it('does not affect other requests', async () => {
    const { url } = await startReceiver((socket, request) => request.includes('/slow') || socket.write(OK))
    const sender = localSender()
    const slow = sender.send(post(url.replace('hook', 'slow'), { deadlineMs: 200 }))
    for (let n = 0; n < 20; n++) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(await slow).toEqual(failed('timeout'))
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })
})

describe('invalid input and internal faults', () => {
  it('a header that cannot be sent is a protocol failure', async () => {
    const { url, requests } = await startReceiver((socket) => socket.write(OK))
    const sender = localSender()
    expect(await sender.send(post(url, { headers: ['x-bad', 'a\r\nb: c'] }))).toEqual(failed('protocol'))
    expect(await sender.send(post(url, { headers: ['bad name', 'a'] }))).toEqual(failed('protocol'))
    expect(await sender.send(post(url, { headers: ['transfer-encoding', 'chunked'] }))).toEqual(
      failed('protocol'),
    )
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(requests).toHaveLength(1)
  })

  it.each(['', 'x', 'ftp://example.com/', 'http://', 'file:///etc/passwd'])(
    'an unusable URL is blocked: "%s"',
    async (url) => {
      expect(await localSender().send(post(url))).toEqual(failed('blocked_address'))
    },
  )

  it('an unreachable resolver is an internal fault', async () => {
    const sender = localSender({
      resolver: { resolve: async () => ({ kind: 'unreachable', detail: 'silent' }), close: () => {} },
    })
    expect(await sender.send(post('http://a.test/'))).toEqual({ kind: 'own_fault', detail: 'DNS: silent' })
  })

  it('a resolver that rejects is an internal fault', async () => {
    const sender = localSender({
      resolver: { resolve: async () => Promise.reject(new Error('broken')), close: () => {} },
    })
    expect(await sender.send(post('http://a.test/'))).toMatchObject({ kind: 'own_fault' })
  })
})
