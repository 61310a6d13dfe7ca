import { performance } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { closeAfterEach, localSender, OK, post, receiver, type Script, tryOut } from './hostile.js'

closeAfterEach()

const failed = (failure: string, detail: unknown = expect.any(String)) => ({
  kind: 'no_response',
  failure,
  detail,
})

/** Writes `text` again and again until the other side is gone. */
const flood =
  (text: string, first = ''): Script =>
  (socket) => {
    socket.write(first)
    const pour = () => {
      while (!socket.destroyed && socket.write(text));
    }
    socket.on('drain', pour)
    pour()
  }

/** Writes one character every few milliseconds. */
const drip =
  (text: string, first = ''): Script =>
  (socket) => {
    socket.write(first)
    let at = 0
    const timer = setInterval(() => socket.destroyed || socket.write(text[at++ % text.length]!), 5)
    socket.on('close', () => clearInterval(timer))
  }

describe('a receiver that answers badly', () => {
  const BAD: readonly (readonly [string, string])[] = [
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['another protocol version', 'HTTP/3.7 200 OK\r\n\r\n'],
    ['status 099', 'HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n'],
    ['status 000', 'HTTP/1.1 000 None\r\n\r\n'],
    ['a status that is no number', 'HTTP/1.1 2xx OK\r\n\r\n'],
    ['a header that is none', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n'],
    ['NUL in a header', 'HTTP/1.1 200 OK\r\nx: \0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'a length beside chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['headers beyond 16 KiB', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`],
    [
      'an upgrade nobody asked for',
      'HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    ],
    ['a flood of interim answers, then the end', 'HTTP/1.1 103 Early\r\n\r\n'.repeat(50)],
  ]

  it.each(BAD)('is a protocol failure: %s', async (_, text) => {
    expect(await tryOut((socket) => socket.end(text, 'latin1'))).toEqual(failed('protocol'))
  })

  it.each(BAD)('does not disturb the next request: %s', async (_, text) => {
    const { url } = await receiver((socket, __, index) =>
      index === 0 ? socket.end(text, 'latin1') : socket.write(OK),
    )
    const sender = localSender()
    await sender.send(post(url))
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })

  it('is a protocol failure when interim answers never end', async () => {
    expect(await tryOut(flood('HTTP/1.1 103 Early\r\nx: y\r\n\r\n'))).toEqual(failed('protocol'))
  })

  it('is a protocol failure when it sends very many short headers, before they have all come', async () => {
    const many: Script = (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(5_000)}`)
    expect(await tryOut(many, { deadlineMs: 60_000 })).toEqual(failed('protocol'))
  })

  it('may send its body in tiny chunks, until these are more framing than an answer has a right to', async () => {
    const chunks =
      (count: number): Script =>
      (socket) =>
        socket.write(
          `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`,
        )
    expect(await tryOut(chunks(3_000))).toMatchObject({ body: 'x'.repeat(3_000), bodyEnd: 'complete' })
    expect(await tryOut(chunks(5_000))).toMatchObject({ status: 200, bodyEnd: 'truncated' })
  })

  it('is a connection failure when it hangs up without a byte', async () => {
    expect(await tryOut((socket) => socket.end())).toEqual(failed('connection'))
    expect(await tryOut((socket) => socket.resetAndDestroy())).toEqual(failed('connection'))
  })

  it('is a connection failure when nobody listens', async () => {
    const { url, port } = await receiver(() => {})
    expect(await localSender().send(post(url.replace(`${port}`, '1')))).toEqual(
      failed('connection', expect.stringContaining('ECONNREFUSED')),
    )
  })

  it.each(['end', 'resetAndDestroy'] as const)(
    'may hang up at any byte (%s) and each has its outcome',
    async (how) => {
      const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'
      const head = whole.length - 5
      const cut: Script = (socket, _, index) => {
        socket.write(whole.slice(0, index + 1), () =>
          setImmediate(() => (how === 'end' ? socket.end() : socket.resetAndDestroy())),
        )
      }
      const { url } = await receiver(cut)
      const sender = localSender()
      for (let length = 1; length < whole.length; length++) {
        const seen = await sender.send(post(url))
        if (length < head)
          expect([length, seen]).toEqual([
            length,
            { ...failed('connection'), failure: expect.stringMatching(/connection|protocol/) },
          ])
        // A reset may overtake what was sent before it; what was read counts.
        else if (how === 'end')
          expect([length, seen]).toMatchObject([
            length,
            { kind: 'response', status: 200, bodyEnd: 'broken', body: 'hello'.slice(0, length - head) },
          ])
        else expect(seen.kind === 'response' ? seen.bodyEnd : seen.kind).toMatch(/broken|no_response/)
      }
    },
  )

  it('still has answered when a chunked body turns to garbage', async () => {
    const seen = await tryOut((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n'),
    )
    expect(seen).toMatchObject({ kind: 'response', status: 200, body: 'ab', bodyEnd: 'broken' })
  })

  it('is read no further than 64 KiB when its body never ends', async () => {
    const { url, connections } = await receiver(flood('x'.repeat(1_000), 'HTTP/1.1 200 OK\r\n\r\n'))
    const seen = await localSender().send(post(url))
    expect(seen).toMatchObject({ kind: 'response', status: 200, bodyEnd: 'truncated' })
    const socket = connections[0]!
    if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
    expect(socket.destroyed).toBe(true)
  })
})

describe('the deadline', () => {
  const SLOW: readonly (readonly [string, Script, object])[] = [
    ['says nothing', () => {}, failed('timeout', 'no answer within 300 ms')],
    [
      'drips its headers',
      drip('x-drip: y\r\n', 'HTTP/1.1 200 OK\r\n'),
      failed('timeout', 'no answer within 300 ms'),
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
    ['answers in the middle of a status line', (socket) => socket.write('HTTP/1.1 2'), failed('timeout')],
    [
      'sends one interim answer and rests',
      (socket) => socket.write('HTTP/1.1 103 Early\r\n\r\n'),
      failed('timeout'),
    ],
  ]

  it.each(SLOW)('ends the attempt when the receiver %s', async (_, script, expected) => {
    const { url, connections } = await receiver(script)
    const started = performance.now()
    const seen = await localSender().send(post(url, { deadlineMs: 300 }))
    expect(seen).toMatchObject(expected)
    expect(performance.now() - started).toBeGreaterThanOrEqual(299)
    const socket = connections[0]!
    if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
  })

  it('ends an attempt whose look-up never ends', async () => {
    const sender = localSender({ resolver: { resolve: () => new Promise(() => {}), close: () => {} } })
    expect(await sender.send(post('http://slow.test/', { deadlineMs: 60 }))).toEqual(
      failed('timeout', 'no connection within 60 ms'),
    )
  })

  it('leaves other requests alone', async () => {
    const { url } = await receiver((socket, request) => request.includes('/slow') || socket.write(OK))
    const sender = localSender()
    const slow = sender.send(post(url.replace('hook', 'slow'), { deadlineMs: 200 }))
    for (let n = 0; n < 20; n++) expect(await sender.send(post(url))).toMatchObject({ status: 200 })
    expect(await slow).toEqual(failed('timeout'))
    expect(await sender.send(post(url))).toMatchObject({ status: 200 })
  })
})

describe('what is our own doing', () => {
  it('a header that cannot be sent comes to an end as a protocol failure', async () => {
    const { url, requests } = await receiver((socket) => socket.write(OK))
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
    'an unusable URL is refused: "%s"',
    async (url) => {
      expect(await localSender().send(post(url))).toEqual(failed('blocked_address'))
    },
  )

  it('a resolver that does not answer is not the fault of the receiver', async () => {
    const sender = localSender({
      resolver: { resolve: async () => ({ kind: 'unreachable', detail: 'silent' }), close: () => {} },
    })
    expect(await sender.send(post('http://a.test/'))).toEqual({ kind: 'own_fault', detail: 'DNS: silent' })
  })

  it('a resolver that rejects against its promise is neither', async () => {
    const sender = localSender({
      resolver: { resolve: async () => Promise.reject(new Error('broken')), close: () => {} },
    })
    expect(await sender.send(post('http://a.test/'))).toMatchObject({ kind: 'own_fault' })
  })
})
