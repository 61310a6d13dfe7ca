// @ts-check
/**
 * Bytes that are not a valid request, or only the start of one. After sending them, the client closes its side. The server
 * must end the connection in every case and keep serving others.
 */

/** @typedef {import('./operations.js').Random} Random */

const GET = 'GET /v2/webhooks HTTP/1.1\r\nhost: a\r\n'
const PUT = 'PUT /v2/accounts/parent/webhooks HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'

/** @type {Readonly<Record<string, (random: Random) => string | Buffer>>} */
export const MALFORMED_REQUESTS = {
  nothing: () => '',
  'only a line end': () => '\r\n\r\n',
  'a truncated head': (random) => GET.slice(0, random.integer(1, GET.length)),
  'a truncated body': (random) => `${PUT}content-length: ${random.integer(10, 1e6)}\r\n\r\n{"data":`,
  'truncated chunks': (random) =>
    `${PUT}transfer-encoding: chunked\r\n\r\n${random.pick(['5\r\n{"d', '5', 'ffff\r\n', '2\r\n{}\r\n'])}`,
  'an invalid chunk size': (random) =>
    `${PUT}transfer-encoding: chunked\r\n\r\n${random.pick(['x', '-1', '0x2', 'fffffffffffffffff', ' 2', '2;a="\n'])}\r\n{}\r\n0\r\n\r\n`,
  'very long chunk extensions': () =>
    `${PUT}transfer-encoding: chunked\r\n\r\n2;${'a=b;'.repeat(9_000)}\r\n{}\r\n0\r\n\r\n`,
  'an invalid content length': (random) =>
    `${PUT}content-length: ${random.pick(['-1', '1e3', '0x2', '2, 2', '', '+2', '9'.repeat(40), '2\r\ncontent-length: 3'])}\r\n\r\n{}`,
  'content length and chunked encoding': () =>
    `${PUT}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  'another transfer encoding': (random) =>
    `${PUT}transfer-encoding: ${random.pick(['gzip', 'chunked, gzip', 'xchunked', 'identity'])}\r\n\r\n{}`,
  'bare line feeds': () => GET.replaceAll('\r\n', '\n').concat('\n'),
  'a bare carriage return': () => `${GET}x-a: b\rx-c: d\r\n\r\n`,
  'a folded header': () => `${GET}x-a: b\r\n c\r\n\r\n`,
  'a header without a colon': () => `${GET}x-a\r\n\r\n`,
  'an invalid header name': (random) =>
    `${GET}${random.pick(['x a', '', '\u00e9', 'x\0', 'x(', ' x'])}: b\r\n\r\n`,
  'an invalid header value': (random) =>
    `${GET}x-a: ${random.pick(['\0', '\x01', '\x7f', 'a\x1b[31m'])}\r\n\r\n`,
  'a too large head': (random) => `${GET}x-a: ${'v'.repeat(random.pick([16_384, 70_000]))}\r\n\r\n`,
  'a too long target': (random) =>
    `GET /v2/${'a'.repeat(random.pick([16_384, 70_000]))} HTTP/1.1\r\nhost: a\r\n\r\n`,
  'too many headers': () => `${GET}${Array.from({ length: 4_000 }, (_, n) => `h${n}: v\r\n`).join('')}\r\n`,
  'another version': (random) =>
    GET.replace(
      'HTTP/1.1',
      random.pick(['HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/1', 'http/1.1', 'ICE/1.0']),
    ).concat('\r\n'),
  'an HTTP/0.9 request': () => 'GET /v2/webhooks\r\n\r\n',
  'no Host header': () => 'GET /v2/webhooks HTTP/1.1\r\n\r\n',
  'an invalid method': (random) =>
    GET.replace('GET', random.pick(['get', 'BREW', 'G ET', '', 'GET\0', 'X'.repeat(300)])).concat('\r\n'),
  'an invalid target': (random) =>
    GET.replace(
      '/v2/webhooks',
      random.pick(['', 'v2', '*', '/v2 /x', '/v2\0', '/v2\x7f', '?', 'host:80']),
    ).concat('\r\n'),
  CONNECT: () => 'CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: 127.0.0.1:80\r\n\r\nSSH-2.0-x\r\n',
  'a TLS hello': (random) => Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, ...random.bytes(64)]),
  'an HTTP/2 preface': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an upgrade': (random) =>
    `${GET}connection: upgrade\r\nupgrade: ${random.pick(['websocket', 'h2c', 'TLS/1.0'])}\r\n\r\n`,
  'random bytes': (random) => Buffer.from(random.bytes(random.integer(1, 400))),
  'a request with changed bytes': (random) => {
    const bytes = Buffer.from(`${GET}accept: */*\r\nx-request-id: a\r\n\r\n`)
    for (let n = random.integer(1, 5); n > 0; n -= 1)
      bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
    return bytes
  },
  'two requests, the second malformed': () => `${GET}\r\nGE T / HTTP/1.1\r\n\r\n`,
  'many requests at once': (random) => `${GET}\r\n`.repeat(random.integer(2, 40)),
}
