import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAmiChannel, parseAmiEvent } from '../../../adapters/telephony/asterisk/ami-event.js'
import { createAmiFrameReader } from '../../../adapters/telephony/asterisk/ami-frames.js'
import { createAmiMessage, eventNameOf } from '../../../adapters/telephony/asterisk/ami-message.js'
import { parseAriChannels, parseAriEvent } from '../../../adapters/telephony/asterisk/ari-event.js'
import { amiBytes } from './asterisk-recorded.js'
import { amiEvents, createTracer, TRACES, traceOf } from './asterisk-scenarios.js'

const BANNER = 'Asterisk Call Manager/11.0.0\r\n'

function framed(chunks: Iterable<Buffer>) {
  const messages: string[] = []
  const skipped: string[] = []
  let banners = 0
  const frames = createAmiFrameReader(
    () => {
      banners += 1
    },
    (bytes) => void messages.push(bytes.toString('utf8')),
    (reason, bytes) => void skipped.push(`${reason}: ${bytes}`),
  )
  for (const chunk of chunks) frames.receive(chunk)
  return { messages, banners, skipped }
}

function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('the AMI frame reader', () => {
  it('finds the same messages however the stream is split, at every offset of the first 9,000 bytes', () => {
    const bytes = amiBytes.subarray(0, 9_000)
    const whole = framed([bytes])
    expect(whole.messages.length).toBeGreaterThan(15)
    for (let at = 0; at <= bytes.length; at += 1) {
      const cut = framed([bytes.subarray(0, at), bytes.subarray(at)])
      if (cut.messages.join() !== whole.messages.join()) expect(cut, `cut at ${at}`).toEqual(whole)
    }
    expect(framed(pieces(bytes, 1))).toEqual(whole)
  })

  it.each([3, 61, 1_021, 65_536])('yields the same events in chunks of %i bytes', (size) => {
    const trace = traceOf(amiEvents(pieces(amiBytes, size)), { customVariables: ['SIPCALLID'] })
    expect(trace.events).toEqual(TRACES[0][1].events)
  })

  it('rejects a peer without the banner', () => {
    for (const other of [
      'HTTP/1.1 400 Bad Request\r\n\r\n',
      'SSH-2.0-OpenSSH_9.2\r\n',
      'Content-Type: auth/request\n\n',
    ]) {
      expect(() => framed([Buffer.from(other)])).toThrow(/does not speak AMI/)
      expect(() => framed(pieces(Buffer.from(other), 1))).toThrow(/does not speak AMI/)
    }
    expect(framed([Buffer.from('Asterisk Call M')]).banners).toBe(0)
    expect(framed([Buffer.from(BANNER)]).banners).toBe(1)
  })

  it('a banner above its limit ends the connection', () => {
    const texts = ['Asterisk Call Manager/11.0.0', 'x'.repeat(70_000)]
    expect(() => framed(texts.map((text) => Buffer.from(text)))).toThrow(/line above 64 KiB/)
    expect(() => framed(pieces(Buffer.from(texts.join('')), 16_384))).toThrow(/line above 64 KiB/)
  })

  it('accepts messages with a variable of a mebibyte', () => {
    const message = `Event: VarSet\r\nValue: ${'x'.repeat(1_048_576)}\r\n`
    expect(framed(pieces(Buffer.from(`${BANNER}${message}\r\n`), 65_536)).messages).toEqual([message])
  })

  it.each([
    ['one piece', 20_000_000],
    ['pieces', 65_536],
  ])('skips a message above 8 MiB in %s, and reads the next', (_, size) => {
    const long = `Event: x\r\nA: ${'x'.repeat(9_000_000)}\r\n\r\n`
    const next = 'Event: y\r\n'
    const { messages, skipped } = framed(pieces(Buffer.from(`${BANNER}${long}${next}\r\n${next}\r\n`), size))
    expect(messages).toEqual([next, next])
    expect(skipped).toEqual([`a message above 8 MiB: ${long.length - 2}`])
  })

  const event = (n: number, eol = '\r\n') => `Event: e${n}${eol}Uniqueid: ${n}${eol}`

  it('reads on after any number of empty lines, after LF alone, and where the end of a message is missing', () => {
    const stream = [
      ...[BANNER, '\r\n\r\n', event(1), '\r\n\r\n\r\n', event(2), '\n', event(3, '\n'), '\n\n\r\n'],
      ...[
        event(4),
        event(5),
        '\r\n',
        event(6, '\n'),
        event(7),
        '\r\n',
        'Response: Success\r\n',
        event(8),
        '\r\n',
      ],
    ].join('')
    const messages = [1, 2, 3, 4, 5, 6, 7].map((n) => event(n))
    messages.push('Response: Success\r\n', event(8))
    for (const size of [1, 2, 3, 7, 50, 10_000])
      expect(framed(pieces(Buffer.from(stream), size))).toEqual({ messages, banners: 1, skipped: [] })
  })

  it('counts what belongs to no message', () => {
    const stream = `${BANNER}Uniqueid: 1\r\n\r\n${event(1)}\r\nrest\nof\n\n${event(2)}\r\n`
    const { messages, skipped } = framed([Buffer.from(stream)])
    expect(messages).toEqual([event(1), event(2)])
    expect(skipped).toEqual(['bytes that belong to no message: 13', 'bytes that belong to no message: 10'])
  })

  it('a bare LF in a value ends neither its line nor its message', () => {
    const value = 'Event: x\r\nValue: a\n\nb\nEvent: y\n\r\nUniqueid: 1\r\n'
    expect(framed([Buffer.from(`${BANNER}${value}\r\n`)]).messages).toEqual([value])
  })

  it('finds each message of any stream, however its lines and messages end and it is split', () => {
    const message = fc.record({
      key: fc.constantFrom('Event', 'Response'),
      eol: fc.constantFrom('\r\n', '\n'),
      lines: fc.array(fc.stringMatching(/^[ -~]{0,20}$/), { maxLength: 4 }),
      end: fc.constantFrom('', '\r\n', '\n', '\r\n\r\n', '\n\r\n\n'),
    })
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        (all, size) => {
          const text = ({ key, lines }: (typeof all)[number], eol: string) =>
            [`${key}: x`, ...lines.map((line) => `Key: ${line}`)].map((line) => line + eol).join('')
          const stream = all.map((sent, index) => {
            // Lines of LF alone and of CRLF are told apart by the first line, which must not be preceded by the other kind.
            const isCut = sent.end === '' && all[index + 1]?.eol !== sent.eol
            return text(sent, sent.eol) + (isCut || index === all.length - 1 ? '\r\n' : sent.end)
          })
          const { messages, skipped } = framed(pieces(Buffer.from(BANNER + stream.join('')), size))
          expect(messages).toEqual(all.map((sent) => text(sent, '\r\n')))
          expect(skipped).toEqual([])
        },
      ),
    )
  })

  it('a message that does not end ends the connection', () => {
    const endless = function* () {
      yield Buffer.from(`${BANNER}Event: x\r\n`)
      const line = Buffer.from('A: b\r\n'.repeat(200_000))
      for (let sent = 0; sent < 80_000_000; sent += line.length) yield line
    }
    expect(() => framed(endless())).toThrow('a message above 64 MiB')
  })

  it('handles hostile bytes without hanging, and independently of the chunks', () => {
    const part = fc.constantFrom(
      '\r\n',
      '\r',
      '\n',
      '\r\n\r\n',
      'Event: ',
      'Newchannel',
      ': ',
      'Uniqueid: ',
      '\0',
      'ü',
    )
    const text = fc.array(fc.oneof(part, fc.string({ maxLength: 5 })), { maxLength: 60 })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (parts, size) => {
        const bytes = Buffer.from(BANNER + parts.join(''))
        expect(framed(pieces(bytes, size))).toEqual(framed([bytes]))
      }),
    )
  })
})

describe('an AMI message', () => {
  it('is parsed without throwing, whatever it contains', () => {
    const key = fc.constantFrom(
      'Timestamp',
      'Uniqueid',
      'Channel',
      'ChannelState',
      'DestUniqueid',
      'BridgeUniqueid',
      'Cause',
    )
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('NaN', '1e400', '-1', 'Local/x@y;2', 'Local/;1', '__proto__'),
    )
    const event = fc.constantFrom(
      'Newchannel',
      'Newstate',
      'DialBegin',
      'DialEnd',
      'BridgeEnter',
      'Hold',
      'Hangup',
    )
    const { mapping, push, trace } = createTracer()
    fc.assert(
      fc.property(event, fc.array(fc.tuple(key, value), { maxLength: 9 }), (name, fields) => {
        const bytes = Buffer.from(`Event: ${name}\r\n${fields.map(([k, v]) => `${k}: ${v}\r\n`).join('')}`)
        expect(eventNameOf(bytes)).toBe(name)
        parseAmiChannel(createAmiMessage(bytes), new Map())
        const switchEvent = parseAmiEvent(createAmiMessage(bytes), 1)
        if (typeof switchEvent === 'object') push(mapping.map(switchEvent))
      }),
    )
    for (const { timestampMs } of trace().events) expect(Number.isFinite(timestampMs)).toBe(true)
  })

  it('names the missing field', () => {
    const of = (text: string) => parseAmiEvent(createAmiMessage(Buffer.from(text)), 5)
    expect(of('Event: Hangup\r\n')).toBe('no Uniqueid')
    expect(of('Event: DialBegin\r\nUniqueid: 1.1\r\nChannel: PJSIP/1-1\r\n')).toBe('no DestUniqueid')
    expect(of('Event: BridgeEnter\r\nUniqueid: 1.1\r\nChannel: PJSIP/1-1\r\n')).toBe('no BridgeUniqueid')
    expect(of('Event: Hold\r\nUniqueid: 1.1\r\nChannel: PJSIP/1-1\r\n')).toMatchObject({
      kind: 'held',
      atMs: 5,
    })
    // A global variable has no channel.
    expect(of('Event: VarSet\r\nVariable: x\r\n')).toBeUndefined()
    expect(of('Event: CEL\r\nUniqueid: 1.1\r\n')).toBeUndefined()
  })
})

describe('an ARI frame', () => {
  it('with a variable that has no channel concerns no leg', () => {
    expect(parseAriEvent(JSON.stringify({ variable: 'x', type: 'ChannelVarset' }), 0)).toBeUndefined()
  })

  it.each([
    ['{', 'a frame is not a JSON object'],
    ['null', 'a frame is not a JSON object'],
    ['[]', 'a frame is not a JSON object'],
    ['{"type":"Dial"}', 'Dial: no peer'],
    ['{"type":"ChannelHold","channel":{"id":"1.1"}}', 'ChannelHold: no channel'],
    [
      '{"type":"ChannelEnteredBridge","channel":{"id":"1.1","name":"PJSIP/1-1"}}',
      'ChannelEnteredBridge: no bridge',
    ],
  ])('%s is malformed', (frame, malformed) => {
    expect(parseAriEvent(frame, 0)).toEqual({ malformed })
  })

  it('is parsed without throwing, whatever it is', () => {
    const type = fc.constantFrom(
      'ChannelCreated',
      'Dial',
      'ChannelEnteredBridge',
      'ChannelDestroyed',
      'ChannelHangupRequest',
    )
    const thing = fc.oneof(
      fc.jsonValue(),
      fc.record({ id: fc.jsonValue(), name: fc.jsonValue(), state: fc.jsonValue() }),
    )
    const frame = fc.record({
      type,
      channel: thing,
      peer: thing,
      bridge: thing,
      timestamp: fc.jsonValue(),
      cause: fc.jsonValue(),
    })
    const { mapping, push } = createTracer()
    fc.assert(
      fc.property(frame, fc.string(), (value, text) => {
        parseAriEvent(text, 0)
        const read = parseAriEvent(JSON.stringify(value), 0)
        if (read && 'event' in read) push(mapping.map(read.event))
      }),
    )
  })

  it('a list that is not a JSON array is rejected', () => {
    expect(() => parseAriChannels('{"message":"no"}', '[]')).toThrow('the switch does not list its channels')
    expect(() => parseAriChannels('[]', 'oops')).toThrow('the switch does not list its bridges')
    expect(
      parseAriChannels('[null,{"id":"1.1","name":"PJSIP/1-1"}]', '[{"id":"b","channels":["1.1"]}]'),
    ).toMatchObject([{ channel: { id: '1.1' }, bridge: { id: 'b', kind: 'talk' } }])
  })
})
