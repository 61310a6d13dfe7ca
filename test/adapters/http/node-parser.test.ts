import type { HttpService } from 'hookswitch/adapter'
import { createServer, type ServerOptions } from 'hookswitch/node'
import { describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { connect, sendRaw } from './raw.js'
import { GET, parseErrorEnvelope, put, useServers } from './server-setup.js'

/** Creates a promise with its resolve function. */
function createGate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const start = useServers()
const namedService: HttpService = { ...echoService(true), node: 'n1' }
const serve = (options: ServerOptions = {}, service = namedService) => start(createServer(service, options))

describe('requests that the HTTP parser rejects get an error envelope, and the connection is closed', () => {
  const BAD_REQUEST = { status: 400, message: 'bad_request', data: { message: 'bad request' } }
  const cases: readonly [string, string | Buffer, object][] = [
    ['an invalid request line', 'hello\r\n\r\n', BAD_REQUEST],
    ['an unknown method', 'BREW /v2/x HTTP/1.1\r\nHost: a\r\n\r\n', BAD_REQUEST],
    ['a method in lower case', 'get /v2/x HTTP/1.1\r\nHost: a\r\n\r\n', BAD_REQUEST],
    ['an unknown version', 'GET /v2/x HTTP/9.9\r\nHost: a\r\n\r\n', BAD_REQUEST],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', BAD_REQUEST],
    ['a TLS hello', Buffer.from('16030100a5010000a10303', 'hex'), BAD_REQUEST],
    [
      'non-ASCII bytes in the path',
      Buffer.from('GET /v2/\u00e9 HTTP/1.1\r\nHost: a\r\n\r\n', 'latin1'),
      BAD_REQUEST,
    ],
    ['a space in a header name', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nx y: 1\r\n\r\n', BAD_REQUEST],
    ['a folded header', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nx: 1\r\n 2\r\n\r\n', BAD_REQUEST],
    ['a NUL in a header', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nx: 1\u00002\r\n\r\n', BAD_REQUEST],
    ['two content lengths', `${put('Content-Length: 2', 'Content-Length: 3')}{}`, BAD_REQUEST],
    ['a non-numeric content length', `${put('Content-Length: two')}{}`, BAD_REQUEST],
    ['a negative content length', put('Content-Length: -1'), BAD_REQUEST],
    [
      'both a content length and chunked encoding',
      `${put('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      BAD_REQUEST,
    ],
    ['a transfer encoding other than chunked', `${put('Transfer-Encoding: gzip')}{}`, BAD_REQUEST],
    ['an invalid chunk size', `${put('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`, BAD_REQUEST],
    ['no Host', 'GET /v2/x HTTP/1.1\r\n\r\n', BAD_REQUEST],
    ['two Hosts', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', BAD_REQUEST],
    [
      'an unknown expectation',
      put('Content-Length: 2', 'Expect: 200-maybe'),
      { status: 417, message: 'expectation_failed', data: { message: 'expectation failed' } },
    ],
    [
      'a too large header',
      `GET /v2/x HTTP/1.1\r\nHost: a\r\nx: ${'v'.repeat(20_000)}\r\n\r\n`,
      {
        status: 431,
        message: 'request_header_fields_too_large',
        data: { message: 'request header fields too large' },
      },
    ],
    [
      'too many small headers',
      `GET /v2/x HTTP/1.1\r\nHost: a\r\n${'name: value\r\n'.repeat(2_500)}\r\n`,
      {
        status: 431,
        message: 'request_header_fields_too_large',
        data: { message: 'request header fields too large' },
      },
    ],
    [
      'a too long target',
      `GET /v2/x?${'q'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      { status: 414, message: 'uri_too_long', data: { message: 'the request target is too long' } },
    ],
    [
      'an endless target',
      `GET /v2/x?${'q'.repeat(20_000)}`,
      { status: 414, message: 'uri_too_long', data: { message: 'the request target is too long' } },
    ],
    [
      'too large chunk extensions',
      `${put('Transfer-Encoding: chunked')}2;x=${'e'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
      {
        status: 413,
        message: 'validation error',
        data: {
          body: { maxSize: { message: 'Chunk extensions must be at most 16384 bytes', target: 16_384 } },
        },
      },
    ],
  ]

  it.each(cases)('%s', async (_name, bytes, expected) => {
    const port = await serve()
    const connection = await connect(port)
    connection.write(bytes)
    const response = await connection.next()
    expect(parseErrorEnvelope(response)).toEqual(expected)
    expect(response.headers.connection).toBe('close')
    connection.socket.end()
    await connection.closed
    expect((await sendRaw(port, GET)).status).toBe(200)
  })

  it('responds with 405 to CONNECT and closes the connection', async () => {
    const port = await serve()
    const response = await sendRaw(port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')
    expect(parseErrorEnvelope(response)).toMatchObject({ status: 405, message: 'invalid_method' })
    expect(response.headers.allow).toContain('PATCH')
  })

  it('omits node if the service has none', async () => {
    const port = await serve({}, echoService(true))
    expect(JSON.parse((await sendRaw(port, 'nonsense\r\n\r\n')).body)).not.toHaveProperty('node')
  })

  it('distinguishes 414 and 431 also with a small limit', async () => {
    const port = await serve({ maxHeaderBytes: 2_048 })
    const request = `GET /v2/x HTTP/1.1\r\nHost: a\r\nx: ${'v'.repeat(3_000)}\r\n\r\n`
    expect((await sendRaw(port, request)).status).toBe(431)
    expect((await sendRaw(port, `GET /v2/${'v'.repeat(3_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)).status).toBe(414)
  })

  it('does not reset a client that keeps sending before it reads the error', async () => {
    const server = createServer(namedService)
    const read = new Promise<number>((resolve) => {
      server.on('connection', (socket) => socket.on('close', () => resolve(socket.bytesRead)))
    })
    const connection = await connect(await start(server))
    const errors: Error[] = []
    connection.socket.on('error', (error) => errors.push(error))
    connection.write('nonsense\r\n\r\n')
    connection.socket.end('x'.repeat(7_000_000))
    expect((await connection.next()).status).toBe(400)
    expect(await read).toBeGreaterThan(7_000_000)
    expect(errors).toEqual([])
  })
})

describe('responses on one connection', () => {
  it('sends a parser error after the pending response', async () => {
    const echo = echoService(true)
    const parserFailed = createGate()
    const started = createGate()
    const server = createServer({
      ...namedService,
      handle: async (request) => {
        started.resolve()
        await parserFailed.promise
        return echo.handle(request)
      },
    })
    server.on('clientError', () => parserFailed.resolve())
    const connection = await connect(await start(server))
    connection.write(GET)
    await started.promise
    connection.write('nonsense\r\n\r\n')
    expect((await connection.next()).status).toBe(200)
    expect(parseErrorEnvelope(await connection.next())).toMatchObject({ status: 400 })
    connection.end()
  })

  it('responds to two requests in one packet in order', async () => {
    const connection = await connect(await serve())
    connection.write(GET + GET.replace('/v2/x', '/v2/y'))
    expect(JSON.parse((await connection.next()).body).url).toBe('/v2/x')
    expect(JSON.parse((await connection.next()).body).url).toBe('/v2/y')
    connection.end()
  })
})
