// @ts-check
/** Mutations of a serialized request: target, headers, text and bytes of the body. Each changes the request in place. */
import { gzipSync } from 'node:zlib'

/**
 * @typedef {import('./operations.js').Random} Random
 * @typedef {(request: import('./request.js').Request, random: Random) => void} WireMutation
 */

/** @param {import('./request.js').Request} request @param {string} name @param {string} value */
function setHeader(request, name, value) {
  request.headers = [...request.headers.filter(([other]) => other !== name), [name, value]]
}

const TYPES = [
  'application/json; charset=utf-8',
  'Application/JSON;Charset="UTF-8"',
  'application/json; charset=utf-16le',
  'application/json; charset=klingon',
  'application/x-json',
  'application/vnd.api+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/html',
  'json',
  '',
  'application/json;',
  'application/json, text/plain',
]
const HEADERS = /** @type {readonly [string, readonly string[]][]} */ ([
  [
    'accept',
    ['*/*', 'text/html', 'application/json;q=0', 'application/*', '', ',', 'application/json;q=2', '*/*;q=0'],
  ],
  ['x-request-id', ['mine-1', 'a'.repeat(128), 'a'.repeat(129), '', 'caf\u00e9', 'a b', '"><script>']],
  ['x-pretty-print', ['true', 'TRUE', '1', '']],
  ['if-match', ['*', '"x"', 'W/"1"', '"', 'a, b', '']],
  ['if-none-match', ['*', '"x", "y"', 'W/"1"', '"']],
  ['origin', ['https://ui.example.com', 'null', 'https://evil.example', '']],
  ['access-control-request-method', ['PUT', 'x']],
  ['x-forwarded-for', ['10.0.0.1', '1.2.3.4, 5.6.7.8', 'x'.repeat(500), '']],
  ['authorization', ['Bearer', 'Bearer ', 'Bearer x y', 'Basic eHg=', 'bearer undefined', '']],
  ['x-auth-token', ['', 'undefined', 'a, b', 'x']],
  ['__proto__', ['x']],
  ['constructor', ['x']],
  ['expect', ['100-continue']],
  ['cookie', ['a=b; c', '=']],
  ['x-http-method-override', ['DELETE']],
  ['host', ['evil.example', '']],
  ['content-language', ['de']],
  ['range', ['bytes=0-1']],
  ['x-long', ['v'.repeat(8_000)]],
  ['te', ['trailers']],
])
const TEXT_MUTATIONS = /** @type {Readonly<Record<string, (text: string, random: Random) => string>>} */ ({
  truncated: (text, random) => text.slice(0, random.integer(0, text.length)),
  'text after the body': (text, random) => text + random.pick([' ', '\n', '}', ',', '\u0000', '{}', '//x']),
  'text before the body': (text, random) =>
    random.pick(['\ufeff', ' \t\n', '\u0000', ")]}',\n", '\u00a0']) + text,
  'a repeated key': (text) => text.replace('{', '{"data":{"name":"first"},'),
  'the key __proto__': (text) => text.replace('{', '{"__proto__":{"data":{}},'),
  'another number': (text, random) =>
    text.replace(/\d+/, () =>
      random.pick([
        '1e400',
        '-0',
        '01',
        '+1',
        '1.',
        '.5',
        '1E+2',
        '0x1',
        'NaN',
        '9007199254740993',
        '1'.repeat(400),
      ]),
    ),
  'a lone surrogate': (text) => text.replace(/"([^"]*)"(?=[,}\]])/, '"$1\\ud800"'),
  'an escaped NUL': (text) => text.replace(/"([^"]*)"(?=[,}\]])/, '"$1\\u0000"'),
  'a control character': (text) => text.replace(/"([^"]*)"(?=[,}\]])/, '"$1\u0001"'),
  'single quotes': (text) => text.replaceAll('"', "'"),
  'a trailing comma': (text) => text.replace(/\}$/, ',}'),
  'a comment': (text) => text.replace('{', '{/**/'),
  'a list around the body': (text) => `[${text}]`,
  'a scalar': (_, random) => random.pick(['null', 'true', '1', '"text"', '', ' ', '{}', '[]']),
  'many brackets': (_, random) => '['.repeat(random.pick([31, 32, 33, 50_000])),
  'many keys': () => `{"data":{${Array.from({ length: 3_000 }, (__, n) => `"k${n}":${n}`).join()}}}`,
  'a form': () => 'name=calls&uri=http%3A%2F%2Fexample.com',
})

/** @type {Readonly<Record<string, WireMutation>>} */
export const WIRE_MUTATIONS = {
  'another content type'(request, random) {
    if (random.chance(0.2)) request.headers = request.headers.filter(([name]) => name !== 'content-type')
    else setHeader(request, 'content-type', random.pick(TYPES))
  },
  'a header'(request, random) {
    const [name, values] = random.pick(HEADERS)
    request.headers.push([random.chance(0.1) ? name.toUpperCase() : name, random.pick(values)])
  },
  'a repeated header'(request, random) {
    if (request.headers.length > 0) request.headers.push(random.pick(request.headers))
  },
  'many headers'(request) {
    for (let n = 0; n < 200; n += 1) request.headers.push([`x-many-${n}`, `${n}`])
  },
  'text of the body'(request, random) {
    const mutate = TEXT_MUTATIONS[random.pick(Object.keys(TEXT_MUTATIONS))]
    request.body = Buffer.from(mutate?.(request.body?.toString() ?? '{"data":{}}', random) ?? '')
  },
  'bytes of the body'(request, random) {
    const body = Buffer.from(request.body ?? '{"data":{"name":"calls"}}')
    for (let n = random.integer(1, 4); n > 0 && body.length > 0; n -= 1)
      body[random.integer(0, body.length - 1)] = random.integer(0, 255)
    request.body = body
  },
  gzip(request) {
    request.body = gzipSync(request.body ?? '{"data":{}}')
    setHeader(request, 'content-encoding', 'gzip')
  },
  'a content encoding'(request, random) {
    setHeader(request, 'content-encoding', random.pick(['identity', 'rot13', '', 'br', 'gzip, gzip']))
  },
  'chunked encoding'(request, random) {
    request.body ??= Buffer.from('{"data":{}}')
    request.chunkBytes = random.pick([1, 7, 100, 5_000])
    if (request.body.length > 10_000) request.chunkBytes = 5_000
  },
  'a too large body'(request, random) {
    if (random.chance(0.9)) return
    request.body = Buffer.alloc(1_048_576 + random.pick([0, 1, 100_000]), 'x')
  },
  'an absolute target'(request, random) {
    request.target = `${random.pick(['http://elsewhere.example', 'HTTPS://x:1', 'ftp://x', 'http:/', 'http://'])}${request.target}`
  },
  'characters in the target'(request, random) {
    const index = random.integer(0, request.target.length)
    const text = random.pick([
      '//',
      '/./',
      '/../',
      '?',
      '&',
      '=',
      '#',
      '%',
      ';',
      '\\',
      '"',
      '[]',
      '\u00e9',
      '%00',
      '+',
      '|',
    ])
    request.target = request.target.slice(0, index) + text + request.target.slice(index)
  },
}
