import { Writable } from 'node:stream'
import { format } from '@cfworker/json-schema'
import { describe, it } from 'vitest'
import { parseRequest } from '../../adapters/blackhole/frames.js'
import { parseHeaders } from '../../adapters/cli/commands/verify-command.js'
import { parseJson } from '../../adapters/cli/json-places.js'
import { redactUrl } from '../../adapters/cli/redact-url.js'
import { createEventParser } from '../../adapters/client/event-stream.js'
import { nodeHandler } from '../../adapters/http/node.js'
import { headerRecord, requestPath } from '../../adapters/http/request-record.js'
import { indentJson } from '../../adapters/portal/app/text/json-tokens.js'
import { chooseEncoding, matchesTag } from '../../adapters/portal/headers.js'
import { createAmiFrameReader } from '../../adapters/telephony/asterisk/ami-frames.js'
import { createAmiMessage, unescapeC } from '../../adapters/telephony/asterisk/ami-message.js'
import { parseAriEvent } from '../../adapters/telephony/asterisk/ari-event.js'
import { parseChannelName } from '../../adapters/telephony/asterisk/channel-name.js'
import { dialledNumber } from '../../adapters/telephony/asterisk/dial-string.js'
import { readReports } from '../../adapters/telephony/freeswitch/call-report.js'
import { parseEvent } from '../../adapters/telephony/freeswitch/event.js'
import { createFrameReader } from '../../adapters/telephony/freeswitch/frames.js'
import { parseHttpLines } from '../../adapters/telephony/kamailio/http-lines.js'
import { parseLine } from '../../adapters/telephony/kamailio/line.js'
import { splitLines } from '../../adapters/telephony/kamailio/line-stream.js'
import { createNetstringReader } from '../../adapters/telephony/kamailio/netstrings.js'
import { causeOfHangup } from '../../adapters/telephony/source/hangup-cause.js'
import { sanitizeText } from '../../adapters/telephony/source/sanitize.js'
import { displayName, sipAddress } from '../../adapters/telephony/source/sip-address.js'
import { formEncode } from '../../src/delivery/form-encoding.js'
import { outcomeOf } from '../../src/delivery/outcome.js'
import { verify } from '../../src/delivery/signature.js'
import { parseTrustedProxies, resolveClientAddress } from '../../src/http/client-address.js'
import { classifyError } from '../../src/send/error-classifier.js'
import { parseHostsFile } from '../../src/send/hosts-file.js'
import { InterimFilter } from '../../src/send/interim-filter.js'
import { readHead } from '../../src/send/lenient-head.js'
import { parseResolvConf } from '../../src/send/search-domains.js'
import { isMentioned } from '../../src/store/effective-state.js'
import { printable, printableLine, textParts } from '../../src/values/printable.js'
import { redactFields, redactText } from '../../src/values/redact.js'
import { isSecretHeader, isSecretName } from '../../src/values/secret-names.js'
import { parseTraceparent } from '../../src/values/traceparent.js'
import { canonicalizeUri } from '../../src/values/uri.js'
import { acceptsJson, isJsonContentType } from '../../src/wire/content-type.js'
import { decodeReplayPlace, decodeSortKey } from '../../src/wire/cursor.js'
import { allowedRevisions } from '../../src/wire/precondition.js'
import { parseQuery } from '../../src/wire/query.js'
import { clientRequestId, findToken } from '../../src/wire/request-head.js'
import { matchRoute, parseTarget } from '../../src/wire/router.js'
import { parseIsoTime } from '../../src/wire/time.js'
import { expectLinear, LARGEST_OF_SHORT, LARGEST_OF_STREAM } from '../support/growth.js'

/** Texts of one size: one part again and again, between a beginning and an end. */
const repeated =
  (part: string, before = '', after = '') =>
  (size: number): string =>
    // Joined, so that V8 has one flat string.
    [before, part.repeat(Math.max(1, Math.ceil(size / part.length))), after].join('')

type Input = (size: number) => string

/** Patterns without a fixed beginning try each of these from every place; the end prevents the match. */
const RUNS: readonly Input[] = [
  ...[
    ' ',
    '\t',
    '/',
    ':',
    '::',
    '%',
    '\\',
    '"',
    '\\"',
    '"\\',
    '[',
    '<',
    '.',
    '-',
    ',',
    ';',
    '=',
    '&',
    '?',
    '#',
    '@',
  ],
  ...[
    '0',
    'a',
    'A+',
    'é',
    '\n',
    '\r',
    '\r\n',
    ', ',
    '; ',
    'a.',
    '0.',
    '1:',
    '%2',
    '://',
    'key=',
    'a:b',
    '{"a":',
    '*/*,',
  ],
].flatMap((part) => [
  repeated(part),
  repeated(part, '', '\0'),
  repeated(part, 'x', '\0\n!'),
  repeated(part, '', 'b'),
])

/** Small chunks, as a slow or hostile peer sends them. */
const DROP_BYTES = 4
const drip = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / DROP_BYTES) }, (_, index) =>
    bytes.subarray(index * DROP_BYTES, (index + 1) * DROP_BYTES),
  )

/** Swallows what a parser throws: it refuses most of these inputs. */
const quietly = (work: () => unknown) => () => {
  try {
    work()
  } catch {}
}

const answer = (headers: readonly string[], status = 503) =>
  outcomeOf({ kind: 'response', status, headers, body: Buffer.alloc(0), reusedConnection: false } as never, 0)

const PROXIES = parseTrustedProxies(['127.0.0.0/8'])
const leg = (name: string, value: string) =>
  parseEvent('plain', Buffer.from(`Event-Name: CUSTOM\n${name}: ${value}\n\n`, 'latin1'))

/** V8 of Node 26.10 fails (`unreachable code`) when it optimises a function that discards what `JSON.parse` returns. */
const ENDS_THE_PROCESS = Number(process.versions.node.split('.')[0]) >= 26

/** Each reads one text from outside. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  'Retry-After of an answer': (text) => answer(['Retry-After', text]),
  'Retry-After of an answer, within a date': (text) => answer(['Retry-After', `Mon, 01 Jan${text}`]),
  'SIP Reason': (text) => causeOfHangup(text),
  'SIP Reason behind the name of the protocol': (text) => causeOfHangup(`Q.850;${text}`),
  'message for the log': (text) => redactText(text),
  'message for the log, within a URL': (text) => redactText(`http://u${text}`),
  'fields for the log': (text) =>
    redactFields({ [text.slice(0, 100)]: [text, text], cause: new Error(text) }),
  'name of a field or header': (text) => [isSecretName(text), isSecretHeader(text)],
  'error of a connection': (text) => classifyError({ code: text, message: text }, {}),
  'target of a request': (text) => [
    requestPath(text),
    parseTarget(`/v1/accounts/${text}`),
    parseTarget(text),
  ],
  'segments of a path': (text) => matchRoute(text.split('/')),
  'query of a request': (text) => parseQuery(`/v1/?${text}`),
  'repeated headers': (text) => headerRecord(text.match(/.{1,4}/gs)!.flatMap((part) => ['x-a', part])),
  'X-Auth-Token and Authorization': (text) => [
    findToken({ 'x-auth-token': text }, [], {}),
    findToken({ authorization: `bearer ${text}` }, [], {}),
  ],
  'X-Request-ID': (text) => clientRequestId({ 'x-request-id': text }),
  'Content-Type and Accept': (text) => [isJsonContentType(text, true), acceptsJson(text)],
  'X-Forwarded-For': (text) => [
    resolveClientAddress('127.0.0.1', text, PROXIES),
    resolveClientAddress(`::1%${text}`, text, PROXIES),
    resolveClientAddress(`::${text}`, `[::${text}]:1`, PROXIES),
  ],
  'If-Match': (text) => allowedRevisions(`"${text}"`),
  'Accept-Encoding and If-None-Match of the page': (text) => [chooseEncoding(text), matchesTag(text, '"a"')],
  'text on a screen': (text) => [printable(text), printableLine(text), textParts(text)],
  cursors: (text) => [decodeReplayPlace(text), decodeSortKey(text)],
  'time in a query': (text) => [parseIsoTime(text), parseIsoTime(`2026-01-01${text}`)],
  'uri of a webhook': (text) => canonicalizeUri(`http://a${text}`),
  traceparent: (text) => parseTraceparent(`00-${text}`),
  'body of an event': (text) => formEncode({ a: text }),
  'erased number in a body': (text) => isMentioned(text, text.slice(0, 64)),
  'signature of a request': (text) =>
    verify(
      { headers: { 'webhook-id': 'a', 'webhook-timestamp': '0', 'webhook-signature': text }, body: text },
      'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      { nowSeconds: 0 },
    ),
  'formats in the schema of a host': (text) => {
    // `url` is refused in schemas.
    const { url: _url, regex: _regex, ...formats } = format
    for (const name of Object.keys(formats)) format[name]!(text)
    for (const start of ['a://', 'a@', '2026-01-01T', '::']) {
      for (const name of Object.keys(formats)) format[name]!(start + text)
    }
  },
  'hosts file': parseHostsFile,
  'resolv.conf': parseResolvConf,
  'response head': (text) => readHead(Buffer.from(`HTTP/1.1 200 OK\r\n${text}`, 'latin1')),
  'status line': (text) => readHead(Buffer.from(`${text}\r\n`, 'latin1')),
  'interim responses': (text) =>
    new InterimFilter().filter(Buffer.from(`HTTP/1.1 100 Continue\r\n${text}`, 'latin1')),
  'frame of the WebSocket': parseRequest,
  'headers on the command line': (text) => parseHeaders(`a:${text}`),
  'URL in the configuration': (text) => [redactUrl(text), redactUrl(`postgres://a/b?${text}`)],
  'accounts file': (text) => quietly(() => parseJson(text))(),
  ...(ENDS_THE_PROCESS ? {} : { 'JSON on the page': indentJson }),
  'SIP address': (text) => [sipAddress(`sip:${text}`), sipAddress(`tel:${text}`), sipAddress(text)],
  'display name': displayName,
  'error of a switch': (text) => sanitizeText(text, 'secret'),
  'channel and dial string of Asterisk': (text) => [
    parseChannelName(`Local/${text}`),
    dialledNumber({ ...parseChannelName('PJSIP/a-1'), ownNumber: '1' }, `a/${text}`, '2'),
    dialledNumber({ ...parseChannelName('SIP/a-1'), ownNumber: text }, text, text),
  ],
  'message of AMI': (text) => {
    const message = createAmiMessage(Buffer.from(`Event: Newchannel\r\nChanVariable: ${text}\r\n`))
    return [message.get('Uniqueid'), message.get('Channel'), message.variables('')('ACCOUNT')]
  },
  'escapes of AMI': unescapeC,
  'frame of ARI': (text) => parseAriEvent(text, 0),
  'event of FreeSWITCH': (text) => {
    const event = leg('variable_a', text)
    event?.forEach('variable_', () => {})
    return [event?.header('variable_a'), parseEvent('json', Buffer.from(text, 'latin1'))]
  },
  'file of a voice message in FreeSWITCH': (text) => {
    const headers = `Event-Subclass: vm%3A%3Amaintenance\nVM-Action: leave-message\nVM-File-Path: ${encodeURIComponent(text)}`
    return readReports(leg('a', `\n${headers}`)!, () => undefined)
  },
  'line of Kamailio': (text) => [quietly(() => parseLine(text))(), parseHttpLines(text)],
}

/** Inputs that only the parser with this name finds hard. */
const OWN_INPUTS: Readonly<Record<string, readonly Input[]>> = {
  'SIP Reason': [repeated('"\\'), repeated(',Q.850;'), repeated('cause = ', 'Q.850;'), repeated('"a"')],
  'SIP Reason behind the name of the protocol': [repeated('cause ='), repeated('cause'), repeated('cause=1')],
  'message for the log': [
    repeated('http://a:'),
    repeated('bearer '),
    repeated('whsec_'),
    repeated('basic a'),
  ],
  'message for the log, within a URL': [repeated(':1'), repeated(':a'), repeated('@:')],
  'name of a field or header': [repeated('passs'), repeated('_auth'), repeated('api_'), repeated('sha')],
  'text on a screen': [(size) => '\u{1F469}\u200d'.repeat(size / 3) + '\u200d'.repeat(size / 3)],
  'URL in the configuration': [repeated('?key'), repeated('?pass&'), repeated('token'), repeated('&pass=&')],
  'frame of ARI': [
    repeated('"type":"ChannelVarset",'),
    repeated('"type":"ChannelVarset"', '', '"channel":{"id":"'),
  ],
  'event of FreeSWITCH': [
    repeated('\nvariable_a', '', ': a'),
    repeated(',"variable_a":["b"', '{"a":"b"', '}'),
    repeated(',"variable_a":"\\"', '{"a":"b"', '}'),
  ],
  'file of a voice message in FreeSWITCH': [
    repeated('msg_'),
    repeated('msg_a.'),
    repeated('.a', 'msg_', '!'),
  ],
  'message of AMI': [repeated('\r\nChanVariable: '), repeated('\r\nChanVariable(a): ')],
  'headers on the command line': [repeated(' ', '', 'a\r'), repeated('a: b\n')],
  'JSON on the page': [
    repeated('[1,"\\"",', '', `0${']'.repeat(3)}`),
    (size) => JSON.stringify('\\"'.repeat(size / 4)),
    (size) => JSON.stringify(Array(Math.ceil(size / 4)).fill('"')),
  ],
}

describe('a text from outside takes time in proportion to its length', () => {
  it.each(Object.keys(PARSERS))('%s', async (name) => {
    const parse = PARSERS[name]!
    for (const input of [...RUNS, ...(OWN_INPUTS[name] ?? [])]) {
      await expectLinear(
        (size) => {
          const text = input(size)
          return quietly(() => parse(text))
        },
        name.endsWith('for the log') || name.includes('for the log,') ? LARGEST_OF_SHORT : undefined,
      )
    }
  })

  it.each([
    ['a prefix of express', (text: string) => ({ url: '/v1/', baseUrl: text })],
    ['a prefix of connect', (text: string) => ({ url: '/v1/', originalUrl: `${text}/v1/` })],
  ])('%s', async (_name, requestOf) => {
    const responses: string[] = []
    const hs = {
      handlesPath: () => true,
      handle: async (request: { mountPrefix?: string }) => {
        responses.push(request.mountPrefix ?? '')
        return { status: 204, headers: {}, body: '' }
      },
    }
    const handler = nodeHandler(hs as never)
    for (const input of [repeated('/'), repeated('/', '', 'a'), repeated('/a')]) {
      await expectLinear((size) => {
        const request = { method: 'GET', rawHeaders: [], headers: {}, httpVersionMajor: 1 }
        const text = input(size)
        return () =>
          new Promise<void>((resolve) => {
            const response = Object.assign(new Writable(), { writeHead: () => ({ end: resolve }) })
            // Requests of one connection wait for each other.
            handler({ ...request, socket: {}, ...requestOf(text) } as never, response as never)
          })
      })
    }
  })
})

const AMI_BANNER = 'Asterisk Call Manager/9.0.0\r\n'

describe('a stream takes time in proportion to its length, in small chunks too', () => {
  const STREAMS: Readonly<
    Record<string, readonly [read: () => (chunk: Buffer) => void, inputs: readonly Input[]]>
  > = {
    'messages of AMI': [
      () => {
        const reader = createAmiFrameReader(
          () => {},
          () => {},
          () => {},
        )
        return (chunk) => reader.receive(chunk)
      },
      [
        repeated('a', AMI_BANNER),
        repeated('a', 'Asterisk Call Manager/'),
        repeated('\r\n\r', AMI_BANNER),
        repeated('a: b\r\n', AMI_BANNER),
        repeated('\r\n', AMI_BANNER),
        repeated('\nEvent: x', AMI_BANNER),
        repeated('\r\nEvent: x', AMI_BANNER),
        repeated('Event: x\n\n', AMI_BANNER),
        repeated('Event: x\r\n\n', AMI_BANNER),
      ],
    ],
    'messages of the event socket': [
      () => {
        const reader = createFrameReader(() => {})
        return (chunk) => reader.push(chunk)
      },
      [
        repeated('a'),
        repeated('a', 'Content-Type: a\na: '),
        repeated('a: b\n'),
        repeated('a', 'Content-Length: 99999\n\n'),
        repeated('\n'),
      ],
    ],
    netstrings: [
      () => {
        const reader = createNetstringReader(
          () => {},
          () => {},
        )
        return (chunk) => reader.receive(chunk)
      },
      [repeated('a', '65536:'), repeated('a', '99999:'), repeated('1:a,')],
    ],
    'event stream of the client and of the page': [
      () => {
        const parse = createEventParser(1_048_576)
        return (chunk) => parse(chunk.toString('latin1'))
      },
      [repeated('a'), repeated('data: a\n'), repeated('\r'), repeated(':\n')],
    ],
  }

  it.each(Object.keys(STREAMS))('%s', async (name) => {
    const [create, inputs] = STREAMS[name]!
    for (const input of inputs) {
      for (const cut of [drip, (bytes: Buffer) => [bytes]]) {
        await expectLinear(
          (size) => {
            const chunks = cut(Buffer.from(input(size), 'latin1'))
            return quietly(() => {
              const read = create()
              for (const chunk of chunks) read(chunk)
            })
          },
          name === 'netstrings' ? undefined : LARGEST_OF_STREAM,
        )
      }
    }
  })

  it('lines of Kamailio', async () => {
    // A longer line than 64 KiB is refused.
    for (const input of [repeated('a'), repeated('{}\n'), repeated('    '), repeated(' ', 'a')]) {
      await expectLinear((size) => {
        const chunks = drip(Buffer.from(input(size).slice(0, 65_000)))
        return async () => {
          for await (const _line of splitLines(stream(chunks)));
        }
      })
    }
  })
})

async function* stream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}
