import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventParser, type ServerEvent } from '../../../adapters/client/event-stream.js'

function parseAll(parts: readonly string[], maxLength = 10_000) {
  const parser = createEventParser(maxLength)
  const events: ServerEvent[] = []
  let retryMs: number | undefined
  let isTooLong = false
  for (const part of parts) {
    const parsed = parser(part)
    events.push(...parsed.events)
    retryMs = parsed.retryMs ?? retryMs
    isTooLong ||= parsed.isTooLong === true
  }
  return { events, retryMs, isTooLong }
}

describe('the parser of events', () => {
  it.each([
    ['fields with and without a space', 'id:1\nevent: a\ndata:x\n\n', [{ type: 'a', data: 'x', id: '1' }]],
    ['several lines of data', 'data: x\ndata:\ndata:  y\n\n', [{ type: 'message', data: 'x\n\n y' }]],
    ['comments and unknown fields', ':\n: c\nfoo: 1\nbar\ndata: x\n\n', [{ type: 'message', data: 'x' }]],
    [
      'an event without data, which is none',
      'id: 1\nevent: a\n\ndata: x\n\n',
      [{ type: 'message', data: 'x' }],
    ],
    [
      'CRLF and CR',
      'data: x\r\n\r\ndata: y\r\rdata: z\n\n',
      ['x', 'y', 'z'].map((data) => ({ type: 'message', data })),
    ],
    ['a byte order mark', '\ufeffdata: x\n\n', [{ type: 'message', data: 'x' }]],
    ['an id with NUL, which is ignored', 'id: a\0b\ndata: x\n\n', [{ type: 'message', data: 'x' }]],
    ['an event that has not ended', 'data: x\n\ndata: y\n', [{ type: 'message', data: 'x' }]],
  ])('reads %s', (_, text, expected) => {
    expect(parseAll([text]).events).toEqual(expected)
  })

  it('reads the time to wait, if it is a number', () => {
    expect(parseAll(['retry: 2000\n\n']).retryMs).toBe(2_000)
    expect(parseAll(['retry: soon\nretry: -1\n\n']).retryMs).toBeUndefined()
  })

  it('reads the same events, however the text is cut', () => {
    const line = fc.constantFrom('data: ä', 'data', 'id: 1', 'event: e', ': c', '', '', 'retry: 5')
    const end = fc.constantFrom('\n', '\r\n', '\r')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, end), { maxLength: 30 }),
        fc.array(fc.nat(200), { maxLength: 10 }),
        (lines, cuts) => {
          // The end of the text is no half of a line end.
          const text = `${lines.flat().join('')}data: end\n\n`
          const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
          const parts = places.slice(1).map((place, index) => text.slice(places[index], place))
          expect(parts.join('')).toBe(text)
          expect(parseAll(parts).events).toEqual(parseAll([text]).events)
        },
      ),
    )
  })

  it('reports an event that is too long, complete or not', () => {
    expect(parseAll([`data: ${'x'.repeat(50)}`], 40).isTooLong).toBe(true)
    expect(parseAll([`data: ${'x'.repeat(30)}\n`, `data: ${'x'.repeat(30)}\n`], 40).isTooLong).toBe(true)
    expect(parseAll([`data: ${'x'.repeat(20)}\n\n`.repeat(9)], 40).isTooLong).toBe(false)
  })
})
