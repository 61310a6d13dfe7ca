import fc from 'fast-check'
import { seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  frameReader,
  headerOf,
  MAX_ANSWER_BYTES,
  MAX_BODY_BYTES,
} from '../../../adapters/telephony/freeswitch/frames.js'
import { bytesOf, type Message, messagesOf } from './freeswitch-recorded.js'

/** The messages of bytes that come in these pieces. */
function inPieces(pieces: Iterable<Buffer>): Message[] {
  const messages: Message[] = []
  const reader = frameReader((type, head, body) => messages.push({ type, head, body: Buffer.from(body) }))
  for (const piece of pieces) reader.push(piece)
  return messages
}

function* cut(bytes: Buffer, sizeOf: () => number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const size = sizeOf()
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const same = (seen: readonly Message[], truth: readonly Message[]) => {
  expect(seen.length).toBe(truth.length)
  for (const [index, { type, head, body }] of truth.entries()) {
    const other = seen[index] as Message
    if (other.type !== type || other.head !== head || !other.body.equals(body))
      expect({ index, ...other }).toEqual({ index, type, head, body })
  }
}

describe.each(['json', 'plain', 'plain-all'])('the recording %s', (name) => {
  const bytes = bytesOf(name)
  const truth = messagesOf(bytes)

  it('is read whole, from the greeting to the goodbye', () => {
    expect(truth[0]?.type).toBe('auth/request')
    expect(truth.at(-1)?.type).toBe('text/disconnect-notice')
    const read = truth.reduce((sum, { head, body }) => sum + head.length + 1 + body.length, 0)
    expect(read).toBe(bytes.length)
  })

  it('is the same in reads of random sizes', () => {
    const random = seededRandom(7)
    for (const most of [16, 1_500, 65_536])
      same(inPieces(cut(bytes, () => 1 + Math.floor(random.fraction() * most))), truth)
  })

  it('is the same byte by byte', () => {
    const start = bytes.subarray(0, 300_000)
    same(inPieces(cut(start, () => 1)), messagesOf(start))
  })

  it('is the same cut at every offset', () => {
    const start = bytes.subarray(0, 8_000)
    const whole = messagesOf(start)
    for (let at = 0; at <= start.length; at += 1)
      same(inPieces([start.subarray(0, at), start.subarray(at)]), whole)
  })
})

describe('what is no event socket', () => {
  const reading = (text: string | Buffer) => () => inPieces([Buffer.from(text)])

  it.each([
    ['an SSH server', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an HTTP server', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'],
    ['Asterisk’s manager', 'Asterisk Call Manager/5.0.2\r\n'],
    ['a mail server', '220 mail.acme.example ESMTP\r\n'],
    ['bytes', Buffer.from([0, 1, 2, 255, 10, 10])],
    ['lines that end with CR LF', 'Content-Type: auth/request\r\n\r\n'],
  ])('ends the connection: %s', (_, text) => {
    expect(reading(text)).toThrow('it does not speak the event socket protocol')
  })

  it('ends the connection when a line, a block or a body has no end', () => {
    expect(reading(`Name: ${'x'.repeat(65_536)}`)).toThrow('a header line above 64 KiB')
    expect(reading(`Name: ${'x'.repeat(65_536)}\n\n`)).toThrow('a header line above 64 KiB')
    expect(reading(`Name: ${'x'.repeat(999)}\n`.repeat(300))).toThrow('a header block above 256 KiB')
    const body = (type: string, length: number | string) =>
      `Content-Length: ${length}\nContent-Type: ${type}\n\n`
    expect(reading(body('text/event-json', MAX_BODY_BYTES + 1))).toThrow('a body above 1 MiB')
    expect(reading(body('api/response', MAX_ANSWER_BYTES + 1))).toThrow('a body above 64 MiB')
    expect(reading(body('api/response', MAX_BODY_BYTES + 1))).not.toThrow()
    for (const length of ['-1', '1e9', 'x', '99999999999', ''])
      expect(reading(body('text/event-json', length))).toThrow('a Content-Length that is no number')
  })

  it('never hangs, holds no more than its bounds, and reads the same in any pieces', () => {
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
          const reader = frameReader((type, head, body) =>
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
      { numRuns: 500 },
    )
  })
})

describe('a header block', () => {
  it('may come after one newline too many', () => {
    const message = 'Content-Type: auth/request\n\n'
    expect(inPieces([Buffer.from(`\n${message}\n\n${message}`)]).map(({ type }) => type)).toEqual([
      'auth/request',
      'auth/request',
    ])
  })

  it('has headers by their whole names', () => {
    const head = 'X-Content-Type: a\nContent-Type: b\nLast: c'
    expect(headerOf(head, 'Content-Type')).toBe('b')
    expect(headerOf(head, 'X-Content-Type')).toBe('a')
    expect(headerOf(head, 'Last')).toBe('c')
    expect(headerOf(head, 'Type')).toBeUndefined()
  })
})
