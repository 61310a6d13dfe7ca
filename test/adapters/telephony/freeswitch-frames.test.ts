import fc from 'fast-check'
import { seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  createFrameReader,
  findHeader,
  MAX_BODY_BYTES,
  MAX_REPLY_BYTES,
} from '../../../adapters/telephony/freeswitch/frames.js'
import { propertyRuns } from '../../support/property-runs.js'
import { bytesOf, type Message, messagesOf } from './freeswitch-recorded.js'

/** The messages of a stream that arrives in these chunks. */
function readChunks(chunks: Iterable<Buffer>): Message[] {
  const messages: Message[] = []
  const reader = createFrameReader((type, head, body) =>
    messages.push({ type, head, body: Buffer.from(body) }),
  )
  for (const chunk of chunks) reader.push(chunk)
  return messages
}

function* cut(bytes: Buffer, sizeOf: () => number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const size = sizeOf()
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const expectSame = (actual: readonly Message[], expected: readonly Message[]) => {
  expect(actual.length).toBe(expected.length)
  for (const [index, { type, head, body }] of expected.entries()) {
    const other = actual[index] as Message
    if (other.type !== type || other.head !== head || !other.body.equals(body))
      expect({ index, ...other }).toEqual({ index, type, head, body })
  }
}

describe.each(['json', 'plain', 'plain-all'])('the recording %s', (name) => {
  const bytes = bytesOf(name)
  const expected = messagesOf(bytes)

  it('is read completely, from the auth request to the disconnect notice', () => {
    expect(expected[0]?.type).toBe('auth/request')
    expect(expected.at(-1)?.type).toBe('text/disconnect-notice')
    const read = expected.reduce((sum, { head, body }) => sum + head.length + 1 + body.length, 0)
    expect(read).toBe(bytes.length)
  })

  it('yields the same messages in chunks of random sizes', () => {
    const random = seededRandom(7)
    for (const most of [16, 1_500, 65_536])
      expectSame(readChunks(cut(bytes, () => 1 + Math.floor(random.fraction() * most))), expected)
  })

  it('yields the same messages byte by byte', () => {
    const start = bytes.subarray(0, 300_000)
    expectSame(readChunks(cut(start, () => 1)), messagesOf(start))
  })

  it('yields the same messages when cut at any offset', () => {
    const start = bytes.subarray(0, 8_000)
    const whole = messagesOf(start)
    for (let at = 0; at <= start.length; at += 1)
      expectSame(readChunks([start.subarray(0, at), start.subarray(at)]), whole)
  })
})

describe('a stream of another protocol', () => {
  const reading = (text: string | Buffer) => () => readChunks([Buffer.from(text)])

  it.each([
    ['an SSH server', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an HTTP server', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'],
    ['Asterisk’s manager', 'Asterisk Call Manager/5.0.2\r\n'],
    ['a mail server', '220 mail.acme.example ESMTP\r\n'],
    ['bytes', Buffer.from([0, 1, 2, 255, 10, 10])],
    ['lines that end with CRLF', 'Content-Type: auth/request\r\n\r\n'],
  ])('ends the connection: %s', (_, text) => {
    expect(reading(text)).toThrow('the peer does not speak the event socket protocol')
  })

  it('ends the connection when a line, a header block or a body is too long', () => {
    expect(reading(`Name: ${'x'.repeat(65_536)}`)).toThrow('a first header line above 64 KiB')
    expect(reading(`Name: ${'x'.repeat(65_536)}\n\n`)).toThrow('a first header line above 64 KiB')
    expect(reading(`Name: ${'x'.repeat(999)}\n`.repeat(17_000))).toThrow('a header block above 16 MiB')
    expect(reading(`Name: x\nNote: ${'x'.repeat(3_000_000)}\n\n`)).not.toThrow()
    const body = (type: string, length: number | string) =>
      `Content-Length: ${length}\nContent-Type: ${type}\n\n`
    expect(reading(body('text/event-json', MAX_BODY_BYTES + 1))).toThrow('a body above 16 MiB')
    expect(reading(body('api/response', MAX_REPLY_BYTES + 1))).toThrow('a body above 64 MiB')
    expect(reading(body('api/response', MAX_BODY_BYTES + 1))).not.toThrow()
    for (const length of ['-1', '1e9', 'x', '99999999999', ''])
      expect(reading(body('text/event-json', length))).toThrow('Content-Length is not a number')
  })

  it('never hangs, and is read the same in any chunks', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom(
          'Content-Length: 5\n',
          'Content-Type: text/event-json\n',
          '\n',
          '\n\n',
          'hello',
          'A: b\n',
          '\r\n',
        )
        .map((text) => Buffer.from(text)),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        const bytes = Buffer.concat(pieces)
        const outcome = (parts: Iterable<Buffer>) => {
          const read: string[] = []
          const reader = createFrameReader((type, head, body) =>
            read.push(`${type}|${head}|${body.toString('latin1')}`),
          )
          try {
            for (const part of parts) reader.push(part)
          } catch (thrown) {
            read.push(String(thrown))
          }
          return read
        }
        expect(outcome(cut(bytes, () => size))).toEqual(outcome([bytes]))
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})

describe('a header block', () => {
  it('may follow an extra newline', () => {
    const message = 'Content-Type: auth/request\n\n'
    expect(readChunks([Buffer.from(`\n${message}\n\n${message}`)]).map(({ type }) => type)).toEqual([
      'auth/request',
      'auth/request',
    ])
  })

  it('has headers by their complete names', () => {
    const head = 'X-Content-Type: a\nContent-Type: b\nLast: c'
    expect(findHeader(head, 'Content-Type')).toBe('b')
    expect(findHeader(head, 'X-Content-Type')).toBe('a')
    expect(findHeader(head, 'Last')).toBe('c')
    expect(findHeader(head, 'Type')).toBeUndefined()
  })
})
