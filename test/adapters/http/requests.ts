/** A table of raw requests; every adapter must build the same request record from each. */
import { gzipSync } from 'node:zlib'
import { MAX_BODY_BYTES } from 'hookswitch/adapter'

export interface TableRequest {
  readonly name: string
  /** Default GET. */
  readonly method?: string
  /** Request target, before the mount prefix is added to its path. */
  readonly target: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string | Uint8Array
  /** Size of chunks in bytes. Default: not chunked, with Content-Length. */
  readonly chunkBytes?: number
  /** Default 1.1. */
  readonly version?: '1.0' | '1.1'
}

const JSON_TYPE = ['content-type', 'application/json'] as const
const DOCUMENT = '{"data":{"name":"calls","uri":"http://example.com/hook","hook":"all"}}'
const WEBHOOKS = '/v2/accounts/a1/webhooks'

/** A PUT with the content type of JSON. */
const put = (name: string, body: string | Uint8Array, more: Partial<TableRequest> = {}): TableRequest => ({
  name,
  method: 'PUT',
  target: WEBHOOKS,
  headers: [JSON_TYPE],
  body,
  ...more,
})

const typed = (name: string, type: string, body: string | Uint8Array = DOCUMENT): TableRequest =>
  put(name, body, { headers: [['content-type', type]] })

const get = (name: string, target: string): TableRequest => ({ name, target })

const METHODS: readonly TableRequest[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].map((method) => ({
    name: `${method} without a body`,
    method,
    target: WEBHOOKS,
  })),
  ...['PROPFIND', 'PURGE', 'LINK', 'REPORT', 'M-SEARCH'].map((method) => ({
    name: `${method}, an unusual method`,
    method,
    target: WEBHOOKS,
  })),
  { name: 'HEAD of a host path', method: 'HEAD', target: '/elsewhere' },
  { name: 'PROPFIND of a host path', method: 'PROPFIND', target: '/elsewhere' },
]

const BODIES: readonly TableRequest[] = [
  put('a JSON document', DOCUMENT),
  put('a document with unusual JSON formatting', '{ "data" : {"a":1.0,"b":"\\u00e9é"}}\n'),
  put('a POST with a verb', '{"data":{},"verb":"PUT"}', { method: 'POST' }),
  put('a PATCH', '{"data":{"re-enable":true}}', { method: 'PATCH' }),
  put('a DELETE with a document', '{"data":{"ui_metadata":{}}}', { method: 'DELETE' }),
  put('a DELETE with a body and no type', '{"data":{}}', { method: 'DELETE', headers: [] }),
  put('OPTIONS with a body', '{"data":{}}', { method: 'OPTIONS' }),
  put('GET with a body', '{"auth_token":"t"}', { method: 'GET' }),
  put('HEAD with a body', '{"auth_token":"t"}', { method: 'HEAD' }),
  put('PROPFIND with a body', '{"data":{}}', { method: 'PROPFIND' }),
  put('an empty body with Content-Length', ''),
  put('an empty chunked body', '', { chunkBytes: 1 }),
  put('a chunked document', DOCUMENT, { chunkBytes: 16 }),
  put('a document in one-byte chunks', DOCUMENT, { chunkBytes: 1 }),
  put('an empty object', '{}'),
  put('a list', '[{"data":1}]'),
  put('null', 'null'),
  put('a string', '"text"'),
  put('a truncated document', '{"data":{"name":"ca'),
  put('text instead of JSON', 'data=1'),
  put('white space only', ' \n'),
  put('a repeated key', '{"data":{"a":1},"data":{"a":2}}'),
  put('the key __proto__', '{"data":{"__proto__":{"admin":true}},"__proto__":{"data":1}}'),
  put('a lone surrogate', '{"data":{"name":"\\ud800"}}'),
  put('a NUL in a string', '{"data":{"name":"a\u0000b"}}'),
  put('an escaped NUL', '{"data":{"name":"a\\u0000b"}}'),
  put('invalid UTF-8', Buffer.from([...Buffer.from('{"data":{"name":"'), 0xff, 0xfe, ...Buffer.from('"}}')])),
  put('a byte order mark', `\ufeff${DOCUMENT}`),
  put('numbers in every notation', '{"data":[1e400,-0,1E+2,0.1e-7,9007199254740993,1.10]}'),
  put('a deep document', `{"data":${'['.repeat(2_000)}${']'.repeat(2_000)}}`),
  put(
    'an object with too many members',
    JSON.stringify({
      data: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1])),
    }),
  ),
  put('90 KB', JSON.stringify({ data: { pad: 'x'.repeat(90_000) } })),
  put('110 KB', JSON.stringify({ data: { pad: 'x'.repeat(110_000) } })),
  put('110 KB without a content type', 'x'.repeat(110_000), { headers: [] }),
  put('a body of the maximum size', 'x'.repeat(MAX_BODY_BYTES), { headers: [] }),
  put('a body one byte too large', 'x'.repeat(MAX_BODY_BYTES + 1), { headers: [] }),
  put('a chunked body one byte too large', 'x'.repeat(MAX_BODY_BYTES + 1), {
    headers: [],
    chunkBytes: 65_536,
  }),
  put('a body three times too large', 'x'.repeat(3 * MAX_BODY_BYTES), { headers: [] }),
]

const TYPES: readonly TableRequest[] = [
  put('no content type', DOCUMENT, { headers: [] }),
  typed('JSON with a charset', 'application/json; charset=utf-8'),
  typed('JSON in capitals', 'Application/JSON;Charset="UTF-8"'),
  typed('JSON with another charset', 'application/json; charset=utf-16le', Buffer.from(DOCUMENT, 'utf16le')),
  typed('JSON with an unknown charset', 'application/json; charset=klingon'),
  typed('x-json', 'application/x-json'),
  typed('a JSON dialect', 'application/vnd.api+json'),
  typed('JSON with a form content type, as curl sends it', 'application/x-www-form-urlencoded'),
  typed('a form', 'application/x-www-form-urlencoded', 'a=1&b=2'),
  typed('text', 'text/plain'),
  typed('multipart', 'multipart/form-data; boundary=x', '--x--'),
  typed('an invalid content type', 'json'),
  typed('an empty content type', ''),
  typed('a content type with a trailing semicolon', 'application/json;'),
  put('gzip', gzipSync(DOCUMENT), { headers: [JSON_TYPE, ['content-encoding', 'gzip']] }),
  put('an unknown content encoding', DOCUMENT, { headers: [JSON_TYPE, ['content-encoding', 'rot13']] }),
]

const withHeaders = (name: string, ...headers: [string, string][]): TableRequest => ({
  name,
  target: WEBHOOKS,
  headers,
})

const HEADERS: readonly TableRequest[] = [
  withHeaders('a token', ['X-Auth-Token', 'aaaa']),
  withHeaders('two different tokens', ['X-Auth-Token', 'aaaa'], ['x-auth-token', 'bbbb']),
  withHeaders('the same token twice', ['x-auth-token', 'aaaa'], ['x-auth-token', 'aaaa']),
  withHeaders('an empty token and another', ['x-auth-token', ''], ['x-auth-token', 'aaaa']),
  withHeaders('two tokens in one header', ['x-auth-token', 'aaaa, bbbb']),
  withHeaders('an empty token', ['x-auth-token', '']),
  withHeaders('two bearer headers', ['authorization', 'Bearer aaaa'], ['authorization', 'Bearer bbbb']),
  withHeaders('two request ids', ['x-request-id', 'one'], ['x-request-id', 'two']),
  withHeaders('two content types', ['content-type', 'application/json'], ['content-type', 'text/plain']),
  withHeaders('a list in two headers', ['if-none-match', '"a"'], ['if-none-match', '"b"']),
  withHeaders('two user agents', ['user-agent', 'a'], ['user-agent', 'b']),
  withHeaders('the header __proto__', ['__proto__', 'x'], ['constructor', 'y'], ['toString', 'z']),
  withHeaders('latin-1 in a value', ['x-request-id', 'caf\u00e9']),
  withHeaders('whitespace around a value', ['x-request-id', ' \t one \t ']),
  withHeaders('a long value', ['x-long', 'v'.repeat(8_000)]),
  withHeaders(
    'many headers',
    ...Array.from({ length: 300 }, (_, n): [string, string] => [`x-many-${n}`, `${n}`]),
  ),
  withHeaders('an upgrade to WebSocket', ['upgrade', 'websocket'], ['sec-websocket-key', 'x']),
  withHeaders('an upgrade to HTTP/2', ['upgrade', 'h2c'], ['http2-settings', 'AAMAAABkAAQAAP__']),
  withHeaders('a forwarded address', ['x-forwarded-for', '203.0.113.9'], ['forwarded', 'for=203.0.113.9']),
  withHeaders('a method override', ['x-http-method-override', 'DELETE']),
  put('Expect: 100-continue', DOCUMENT, { headers: [JSON_TYPE, ['expect', '100-continue']] }),
  { name: 'HTTP/1.0', target: WEBHOOKS, version: '1.0' },
]

const PATHS: readonly TableRequest[] = [
  get('a trailing slash', `${WEBHOOKS}/`),
  get('an encoded slash', '/v2/accounts/a1/calls/x%2Fy/attempts'),
  get('an encoded space', '/v2/accounts/a1/calls/x%20y/attempts'),
  get('encoded UTF-8', '/v2/accounts/a1/calls/%E2%82%AC/attempts'),
  get('lower-case escapes', '/v2/accounts/a1/calls/%e2%82%ac/attempts'),
  get('a doubly encoded slash', '/v2/accounts/a1/calls/x%252Fy/attempts'),
  get('an encoded version', '/%76%32/accounts/a1/webhooks'),
  get('a SIP call id', '/v2/accounts/a1/calls/1-2345@192.0.2.1:5060;x=y,z!$&()*+/attempts'),
  get('a long segment', `/v2/accounts/a1/calls/${'c'.repeat(255)}/attempts`),
  get('a lone percent sign', '/v2/accounts/a%/webhooks'),
  get('an invalid escape', '/v2/accounts/%zz/webhooks'),
  get('an escape of invalid UTF-8', '/v2/accounts/%C3/webhooks'),
  get('an encoded NUL', '/v2/accounts/a%00/webhooks'),
  get('a double slash', '/v2//accounts/a1/webhooks'),
  get('a leading double slash', '//v2/accounts/a1/webhooks'),
  get('a dot segment', '/v2/./accounts/a1/webhooks'),
  get('a double dot segment', '/v2/accounts/a1/../a2/webhooks'),
  get('dot segments that leave the API', '/v2/../elsewhere'),
  get('dot segments that reach the API', '/elsewhere/../v2/accounts/a1/webhooks'),
  get('encoded dots', '/v2/accounts/a1/%2e%2e/a2/webhooks'),
  get('a backslash', '/v2\\accounts\\a1'),
  get('quotes, brackets and bars', '/v2/accounts/"a"<b>{c}|d^`/webhooks'),
  get('a version in capitals', '/V2/accounts/a1/webhooks'),
  get('the bare version', '/v2'),
  get('the bare version with a query', '/v1?x=1'),
  get('the version with a slash', '/v1/'),
  get('another version', '/v3/accounts'),
  get('a longer version', '/v10/accounts'),
  get('the root', '/'),
  get('a host path', '/elsewhere?x=1'),
  get('a semicolon after the version', '/v2;x=1/accounts'),
  get('a fragment', `${WEBHOOKS}#part`),
  get('an absolute target', `http://other.example${WEBHOOKS}?x=1`),
  get('an absolute target in capitals', `HTTP://other.example:80${WEBHOOKS}`),
  get('an absolute target without path', 'http://other.example'),
]

const QUERIES: readonly TableRequest[] = [
  get('a query', `${WEBHOOKS}?page_size=5&start_key=abc`),
  get('an empty query', `${WEBHOOKS}?`),
  get('two question marks', `${WEBHOOKS}??a=b?c`),
  get('a repeated key in the query', `${WEBHOOKS}?page_size=1&page_size=2`),
  get('a plus and an encoded space', `${WEBHOOKS}?filter_name=a+b%20c`),
  get('a malformed query', `${WEBHOOKS}?filter_name=%zz&x=%`),
  get('a URL in the query', `${WEBHOOKS}?filter_uri=http://x/y?z=1`),
  get('brackets and quotes in the query', `${WEBHOOKS}?filter[a]="b"&c='d'<e>`),
  get('only ampersands', `${WEBHOOKS}?&&=&a`),
  get('dots in the query', `${WEBHOOKS}?x=/../..`),
  get('a long query', `${WEBHOOKS}?x=${'q'.repeat(8_000)}`),
]

export const REQUESTS: readonly TableRequest[] = [
  ...METHODS,
  ...BODIES,
  ...TYPES,
  ...HEADERS,
  ...PATHS,
  ...QUERIES,
]

/** Returns the bytes of a request with `Connection: close`. */
export function requestBytes(request: TableRequest, prefix: string): Uint8Array {
  const { method = 'GET', target, headers = [], body, chunkBytes, version = '1.1' } = request
  const content = Buffer.from(body ?? '')
  const length: readonly (readonly [string, string])[] =
    body === undefined
      ? []
      : chunkBytes === undefined
        ? [['content-length', String(content.length)]]
        : [['transfer-encoding', 'chunked']]
  const lines = [['host', 'api.example.com'], ['connection', 'close'], ...length, ...headers]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const head = Buffer.from(`${method} ${addPrefix(target, prefix)} HTTP/${version}\r\n${lines}\r\n`, 'latin1')
  return Buffer.concat([head, chunkBytes === undefined ? content : chunked(content, chunkBytes)])
}

function addPrefix(target: string, prefix: string): string {
  const authority = /^[a-z]+:\/\/[^/]+/i.exec(target)?.[0] ?? ''
  return authority + prefix + target.slice(authority.length)
}

function chunked(content: Buffer, chunkBytes: number): Buffer {
  const parts: Buffer[] = []
  for (let offset = 0; offset < content.length; offset += chunkBytes) {
    const part = content.subarray(offset, offset + chunkBytes)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}
