import type { HttpService } from 'hookswitch'
import { createServer, type ServerOptions } from 'hookswitch/node'
import { describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { connect, sendRaw } from './raw.js'
import { envelope, GET, put, serving } from './serving.js'

/** A promise and what resolves it. */
function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const start = serving()
const named: HttpService = { ...echoService(true), node: 'n1' }
const serve = (options: ServerOptions = {}, service = named) => start(createServer(service, options))

describe('what the HTTP parser refuses is answered in our envelope, and the connection closed', () => {
  const BAD_REQUEST = { status: 400, message: 'bad_request', data: { message: 'bad request' } }
  const cases: readonly [string, string | Buffer, object][] = [
    ['a request line that is none', 'hello\r\n\r\n', BAD_REQUEST],
    ['an unknown method', 'BREW /v2/x HTTP/1.1\r\nHost: a\r\n\r\n', BAD_REQUEST],
    ['a method in lower case', 'get /v2/x HTTP/1.1\r\nHost: a\r\n\r\n', BAD_REQUEST],
    ['an unknown version', 'GET /v2/x HTTP/9.9\r\nHost: a\r\n\r\n', BAD_REQUEST],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', BAD_REQUEST],
    ['a TLS hello', Buffer.from('16030100a5010000a10303', 'hex'), BAD_REQUEST],
    [
      'bytes beyond ASCII in the path',
      Buffer.from('GET /v2/\u00e9 HTTP/1.1\r\nHost: a\r\n\r\n', 'latin1'),
      BAD_REQUEST,
    ],
    ['a blank in a header name', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nx y: 1\r\n\r\n', BAD_REQUEST],
    ['a folded header', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nx: 1\r\n 2\r\n\r\n', BAD_REQUEST],
    ['a NUL in a header', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nx: 1\u00002\r\n\r\n', BAD_REQUEST],
    ['two content lengths', `${put('Content-Length: 2', 'Content-Length: 3')}{}`, BAD_REQUEST],
    ['a content length that is no number', `${put('Content-Length: two')}{}`, BAD_REQUEST],
    ['a negative content length', put('Content-Length: -1'), BAD_REQUEST],
    [
      'a length and chunks at once',
      `${put('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      BAD_REQUEST,
    ],
    ['an encoding that is not chunked', `${put('Transfer-Encoding: gzip')}{}`, BAD_REQUEST],
    ['a chunk size that is none', `${put('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`, BAD_REQUEST],
    ['no Host', 'GET /v2/x HTTP/1.1\r\n\r\n', BAD_REQUEST],
    ['two Hosts', 'GET /v2/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', BAD_REQUEST],
    [
      'an expectation that we cannot meet',
      put('Content-Length: 2', 'Expect: 200-maybe'),
      { status: 417, message: 'expectation_failed', data: { message: 'expectation failed' } },
    ],
    [
      'a header too large',
      `GET /v2/x HTTP/1.1\r\nHost: a\r\nx: ${'v'.repeat(20_000)}\r\n\r\n`,
      {
        status: 431,
        message: 'request_header_fields_too_large',
        data: { message: 'request header fields too large' },
      },
    ],
    [
      'many small headers too large',
      `GET /v2/x HTTP/1.1\r\nHost: a\r\n${'name: value\r\n'.repeat(2_500)}\r\n`,
      {
        status: 431,
        message: 'request_header_fields_too_large',
        data: { message: 'request header fields too large' },
      },
    ],
    [
      'a target too long',
      `GET /v2/x?${'q'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      { status: 414, message: 'uri_too_long', data: { message: 'the request target is too long' } },
    ],
    [
      'a target without end',
      `GET /v2/x?${'q'.repeat(20_000)}`,
      { status: 414, message: 'uri_too_long', data: { message: 'the request target is too long' } },
    ],
    [
      'chunk extensions too large',
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
    expect(envelope(response)).toEqual(expected)
    expect(response.headers.connection).toBe('close')
    connection.socket.end()
    await connection.closed
    expect((await sendRaw(port, GET)).status).toBe(200)
  })

  it('CONNECT is answered 405 and closed', async () => {
    const port = await serve()
    const response = await sendRaw(port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')
    expect(envelope(response)).toMatchObject({ status: 405, message: 'invalid_method' })
    expect(response.headers.allow).toContain('PATCH')
  })

  it('leaves node out where the service has none', async () => {
    const port = await serve({}, echoService(true))
    expect(JSON.parse((await sendRaw(port, 'nonsense\r\n\r\n')).body)).not.toHaveProperty('node')
  })

  it('says why, however small the limit was set', async () => {
    const port = await serve({ maxHeaderBytes: 2_048 })
    const request = `GET /v2/x HTTP/1.1\r\nHost: a\r\nx: ${'v'.repeat(3_000)}\r\n\r\n`
    expect((await sendRaw(port, request)).status).toBe(431)
    expect((await sendRaw(port, `GET /v2/${'v'.repeat(3_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)).status).toBe(414)
  })

  it('a client that keeps sending after the refusal is not reset before it can read', async () => {
    const server = createServer(named)
    const read = new Promise<number>((resolve) => {
      server.on('connection', (socket) => socket.on('close', () => resolve(socket.bytesRead)))
    })
    const connection = await connect(await start(server))
    const broken: Error[] = []
    connection.socket.on('error', (error) => broken.push(error))
    connection.write('nonsense\r\n\r\n')
    connection.socket.end('x'.repeat(7_000_000))
    expect((await connection.next()).status).toBe(400)
    expect(await read).toBeGreaterThan(7_000_000)
    expect(broken).toEqual([])
  })
})

describe('a refusal waits for its turn', () => {
  it('behind a request that is still being answered on the same connection', async () => {
    const echo = echoService(true)
    const refused = gate()
    const started = gate()
    const server = createServer({
      ...named,
      handle: async (request) => {
        started.resolve()
        await refused.promise
        return echo.handle(request)
      },
    })
    server.on('clientError', () => refused.resolve())
    const connection = await connect(await start(server))
    connection.write(GET)
    await started.promise
    connection.write('nonsense\r\n\r\n')
    expect((await connection.next()).status).toBe(200)
    expect(envelope(await connection.next())).toMatchObject({ status: 400 })
    connection.end()
  })

  it('two requests in one packet are both answered, in order', async () => {
    const connection = await connect(await serve())
    connection.write(GET + GET.replace('/v2/x', '/v2/y'))
    expect(JSON.parse((await connection.next()).body).url).toBe('/v2/x')
    expect(JSON.parse((await connection.next()).body).url).toBe('/v2/y')
    connection.end()
  })
})
