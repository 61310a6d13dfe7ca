/** Responses whose head is not as it should be: the status line decides, and what was wrong is noted. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InterimFilter } from '../../src/send/interim-filter.js'
import { readHead } from '../../src/send/lenient-head.js'
import { cleanUpAfterEach, localSender, OK, post, sendTo, startReceiver, unanswered } from './harness.js'

cleanUpAfterEach()

const RIGHT = ['x-a', '1', 'Content-Length', '2']

/** The head after the status, what is wrong with it, the headers that can be read, and the body. */
const HEADS: readonly (readonly [string, string, string, readonly string[], string])[] = [
  [
    'bare line feeds',
    ' OK\nx-a: 1\nContent-Length: 2\n\nok',
    'a line ends with a line feed alone',
    RIGHT,
    'ok',
  ],
  [
    'one bare line feed',
    ' OK\r\nx-a: 1\nContent-Length: 2\r\n\r\nok',
    'a line ends with a line feed alone',
    RIGHT,
    'ok',
  ],
  [
    'bare carriage returns',
    ' OK\rx-a: 1\rContent-Length: 2\r\rok',
    'a line ends with a carriage return alone',
    RIGHT,
    'ok',
  ],
  [
    'a folded header',
    ' OK\r\nx-a: b\r\n  c\r\n\td\r\ny: z\r\n\r\nok',
    'a header is folded over several lines',
    ['x-a', 'b c d', 'y', 'z'],
    'ok',
  ],
  [
    'a fold after the status line',
    ' OK\r\n x: y\r\nx-a: 1\r\nContent-Length: 2\r\n\r\nok',
    'a header is folded over several lines',
    RIGHT,
    'ok',
  ],
  [
    'no colon',
    ' OK\r\nx-a: 1\r\nnonsense\r\n of two lines\r\nContent-Length: 2\r\n\r\nok',
    'a header line has no colon',
    RIGHT,
    'ok',
  ],
  [
    'no name',
    ' OK\r\n: x\r\nx-a: 1\r\nContent-Length: 2\r\n\r\nok',
    'the name of a header is not valid',
    RIGHT,
    'ok',
  ],
  [
    'an invalid name',
    ' OK\r\nx(y): x\r\nx-a: 1\r\nContent-Length: 2\r\n\r\nok',
    'the name of a header is not valid',
    RIGHT,
    'ok',
  ],
  [
    'a space before the colon',
    ' OK\r\nx-a : 1\r\nContent-Length: 2\r\n\r\nok',
    'there is a space before the colon of a header',
    RIGHT,
    'ok',
  ],
  [
    'a control character',
    ' OK\r\nx-a: 1\0\x1b2\r\n\r\nok',
    'a header has a control character',
    ['x-a', '1  2'],
    'ok',
  ],
  [
    'equal lengths',
    ' OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
    'there is more than one content-length',
    ['Content-Length', '2', 'Content-Length', '2'],
    'ok',
  ],
  [
    'a list of lengths',
    ' OK\r\nContent-Length: 2, 2\r\n\r\nok',
    'the content-length is not a number',
    ['Content-Length', '2, 2'],
    'ok',
  ],
  [
    'a negative length',
    ' OK\r\ncontent-length: -1\r\n\r\n',
    'the content-length is not a number',
    ['content-length', '-1'],
    '',
  ],
  [
    'length and chunks',
    ' OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    'there are both a content-length and a transfer-encoding',
    ['Content-Length', '2', 'Transfer-Encoding', 'chunked'],
    '2\r\nok\r\n0\r\n\r\n',
  ],
  ['no reason and a bare line feed', '\nx-a: 1\n\n', 'a line ends with a line feed alone', ['x-a', '1'], ''],
  [
    'a large head',
    ` OK\r\nx-a: 1\r\nx-b: ${'x'.repeat(20_000)}\r\n\r\nok`,
    'the head is too large',
    ['x-a', '1'],
    '',
  ],
  [
    'many headers',
    ` OK\r\n${'a:\r\n'.repeat(20_000)}\r\n`,
    'the head is too large',
    expect.arrayContaining(['a', '']),
    '',
  ],
]

describe('a response with a good status line, and then', () => {
  it.each(HEADS)('%s, is a response with a note', async (_, rest, note, headers, body) => {
    for (const status of [200, 204, 302, 410, 429, 500]) {
      const observation = await sendTo((socket) => socket.write(`HTTP/1.1 ${status}${rest}`, 'latin1'))
      const bodyEnd = expect.stringMatching(/^(broken|truncated)$/)
      expect(observation).toEqual({ kind: 'response', status, headers, body, bodyEnd, note })
    }
  })

  it.each(HEADS)('%s, ends its connection', async (_, rest) => {
    const { url, connections } = await startReceiver((socket, __, index) =>
      socket.write(index === 0 ? `HTTP/1.1 200${rest}` : OK, 'latin1'),
    )
    const sender = localSender()
    await sender.send(post(url))
    expect(await sender.send(post(url))).toMatchObject({ status: 200, body: 'ok' })
    expect(connections).toHaveLength(2)
  })

  it('a fault of its own kind, is a response with the words of the parser', async () => {
    const observation = await sendTo((socket) => socket.write('HTTP/1.1  200 OK\r\nx-a: 1\r\n\r\n'))
    expect(observation).toMatchObject({
      status: 200,
      headers: ['x-a', '1'],
      note: expect.stringMatching(/HTTP\/1.1 protocol/),
    })
  })

  it('nothing wrong, has no note', async () => {
    expect(await sendTo((socket) => socket.write(OK))).not.toHaveProperty('note')
  })
})

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
/** Responses, the length of what comes before the final one, and its headers. */
const WHOLE: readonly (readonly [string, string, string])[] = [
  ['a plain response', '', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'],
  ['one after an unasked 100', CONTINUE, 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'],
  [
    'one after several interim responses',
    `\r\n${CONTINUE}HTTP/1.0 103 Early\nlink: </x>\n\nHTTP/1.1 199\r\n\r\n\n`,
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  ],
]

describe.each(WHOLE)('%s, cut at any byte', (_, before, final) => {
  const whole = before + final
  const statusEnd = before.length + final.indexOf('\r') + 1
  const headEnd = whole.length - 5

  /** What is observed after so many bytes, with the cause for which it ended. */
  function expected(length: number, failure: string, cause: string, bodyEnd: string, note: string) {
    if (length < statusEnd) return { ...unanswered(failure, cause), detail: expect.any(String) }
    const response = { kind: 'response', status: 200, bodyEnd }
    return length < headEnd
      ? { ...response, body: '', note }
      : { ...response, body: whole.slice(headEnd, length) }
  }

  it('by an end of the connection', async () => {
    const { url } = await startReceiver((socket, __, index) => socket.end(whole.slice(0, index)))
    const sender = localSender()
    for (let length = 0; length < whole.length; length++) {
      const note = 'the connection was closed before the head was complete'
      expect([length, await sender.send(post(url))]).toMatchObject([
        length,
        expected(length, 'connection', 'closed_early', 'broken', note),
      ])
    }
  })

  it('by the deadline', async () => {
    const { url } = await startReceiver((socket, request) =>
      socket.write(whole.slice(0, Number(/\d+/.exec(request)![0]))),
    )
    const sender = localSender({ maxPerOrigin: 500 })
    const lengths = Array.from(whole, (__, length) => length)
    await Promise.all(
      lengths.map(async (length) => {
        const observation = await sender.send(post(url.replace('hook', `${length}`), { deadlineMs: 1_500 }))
        const note = 'the head was not complete in time'
        expect([length, observation]).toMatchObject([
          length,
          expected(length, 'timeout', 'timeout_answer', 'timeout', note),
        ])
      }),
    )
  })

  // Node ends a connection before it resets it, so either may be seen.
  it('by a reset, which may discard what was sent before it', async () => {
    const { url } = await startReceiver((socket, __, index) =>
      socket.write(whole.slice(0, index), () => setImmediate(() => socket.resetAndDestroy())),
    )
    const sender = localSender()
    for (let length = 0; length < whole.length; length++) {
      const observation = await sender.send(post(url))
      if (observation.kind === 'response') expect(length).toBeGreaterThanOrEqual(statusEnd)
      else
        expect([length, observation]).toEqual([
          length,
          unanswered('connection', expect.stringMatching(/^(reset|closed_early)$/)),
        ])
    }
  })

  it('and continued, is whole', async () => {
    const { url } = await startReceiver((socket, __, index) => {
      // Otherwise the second part waits until the first one is acknowledged, for 40 ms.
      socket.setNoDelay()
      socket.write(whole.slice(0, index))
      setImmediate(() => socket.write(whole.slice(index)))
    })
    const sender = localSender()
    for (let length = 0; length < whole.length; length++) {
      const observation = await sender.send(post(url))
      expect([length, observation]).toMatchObject([
        length,
        { status: 200, body: 'hello', bodyEnd: 'complete' },
      ])
      expect(observation).not.toHaveProperty('note')
    }
  })
})

describe('InterimFilter', () => {
  const filtered = (parts: readonly string[]) => {
    const filter = new InterimFilter()
    const passed = parts.map((part) => filter.filter(Buffer.from(part, 'latin1')))
    return Buffer.concat([...passed, filter.held]).toString('latin1')
  }
  /** The text in parts that end at these places. */
  const split = (text: string, places: readonly number[]) => {
    const sorted = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length]
    return sorted.slice(1).map((end, index) => text.slice(sorted[index]!, end))
  }
  /** The same by patterns, one response after the other. */
  function withoutInterim(text: string): string {
    const rest = text.replace(/^[\r\n]+/, '')
    if (!/^HTTP\/\d\.\d 1\d\d[ \r\n]/.test(rest)) return rest
    const end = /\n\r*\n/.exec(rest)
    return end ? withoutInterim(rest.slice(end.index + end[0].length)) : ''
  }
  const piece = fc.constantFrom(
    CONTINUE,
    '\r\n',
    '\n',
    'HTTP/1.1 1',
    'HTTP/1.1 102 x\ny: z\n\n',
    'HTTP/1.1 1000 x\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 99',
    'x',
    'http/1.1 100 x\r\n\r\n',
  )

  it('passes the same bytes, however they are split', () => {
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(500)), (pieces, places) => {
        const text = pieces.join('')
        expect(filtered(split(text, places))).toBe(filtered([text]))
      }),
    )
  })

  it('removes interim responses and empty lines, and nothing behind the first other byte', () => {
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        expect(filtered([text])).toBe(withoutInterim(text))
      }),
    )
  })
})

describe('readHead', () => {
  it('reads a head as the parser does, where the parser accepts it', async () => {
    const head = 'HTTP/1.1 200 OK\r\nX-A:  caf\xe9\r\nx-b:\r\nX-C: a:b\r\nContent-Length: 2\r\n\r\n'
    const { url } = await startReceiver((socket) => socket.write(`${head}ok`, 'latin1'))
    const observation = await localSender().send(post(url))
    const read = readHead(Buffer.from(`${head}ok`, 'latin1'))!
    expect(observation).toMatchObject({ status: read.status, headers: read.headers })
    expect([read.fault, read.body?.toString()]).toEqual([undefined, 'ok'])
  })

  it('reads any bytes', () => {
    const text = fc.oneof(
      fc.constantFrom('HTTP/1.1 200 OK', '\r\n', '\n', '\r', ':', ' ', 'a: b', 'content-length: 1', '\0'),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(text), (parts) => {
        const head = readHead(Buffer.from(`HTTP/1.1 204\r\n${parts.join('')}`, 'latin1'))!
        expect(head.status).toBe(204)
        expect(head.headers.length % 2).toBe(0)
        for (const item of head.headers) expect(item).not.toMatch(/[\0-\x08\x0a-\x1f\x7f]/)
      }),
    )
  })
})
