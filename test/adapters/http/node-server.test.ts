import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type http from 'node:http'
import type { Socket } from 'node:net'
import { errorCode } from 'hookswitch'
import type { HttpService } from 'hookswitch/adapter'
import { createServer, type ServerOptions } from 'hookswitch/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { echoService } from './echo.js'
import { connect, sendRaw } from './raw.js'
import { GET, parseErrorEnvelope, put, useServers } from './server-setup.js'

const start = useServers()
const namedService: HttpService = { ...echoService(true), node: 'n1' }
const serve = (options: ServerOptions = {}, service = namedService) => start(createServer(service, options))

describe('createServer with slow clients', () => {
  const limits = { headersTimeoutMs: 120, requestTimeoutMs: 240 }
  const TOO_SLOW = {
    status: 408,
    message: 'request_timeout',
    data: { message: 'the request did not arrive in time' },
  }

  it('responds with 408 to incomplete headers', async () => {
    const connection = await connect(await serve(limits))
    connection.write('GET /v2/x HTTP/1.1\r\nHost: a\r\nx-slow: ')
    expect(parseErrorEnvelope(await connection.next())).toEqual(TOO_SLOW)
    connection.socket.end()
    await connection.closed
  })

  it('responds with 408 to an incomplete body', async () => {
    const port = await serve(limits)
    const connection = await connect(port)
    connection.write(`${put('Content-Length: 10')}{"d`)
    const response = await connection.next()
    expect(response.status).toBe(408)
    expect(response.headers['content-type']).toBe('application/json')
    expect(response.headers.connection).toBe('close')
    connection.end()
    expect((await sendRaw(port, GET)).status).toBe(200)
  })

  it('survives a client that disconnects during its body', async () => {
    let handled = 0
    const service = echoService(true)
    const port = await serve(
      {},
      { ...service, handle: (request) => service.handle(request).finally(() => handled++) },
    )
    const connection = await connect(port)
    connection.write(`${put('Content-Length: 10')}{"d`)
    connection.socket.resetAndDestroy()
    await connection.closed
    expect((await sendRaw(port, GET)).status).toBe(200)
    expect(handled).toBe(1)
  })
})

describe('createServer with idle connections', () => {
  it('keeps them longer than the proxies in front do, and tells so', async () => {
    expect(createServer(namedService).keepAliveTimeout).toBe(65_000)
    expect((await sendRaw(await serve(), GET)).headers['keep-alive']).toBe('timeout=65')
  })

  it('reads what has arrived before it closes one', async () => {
    const server = createServer(namedService)
    const sockets: Socket[] = []
    server.on('connection', (socket) => sockets.push(socket))
    const connection = await connect(await start(server))
    connection.write(GET)
    await connection.next()
    // The request is in the buffer of the socket when the timer fires.
    setTimeout(() => {
      connection.write(GET)
      server.emit('timeout', sockets[0])
    })
    expect((await connection.next()).status).toBe(200)
    server.emit('timeout', sockets[0])
    await connection.closed
  })

  it('closes those that answer their last request after the server was closed', async () => {
    const { promise: answered, resolve: answer } = deferred()
    const service: HttpService = {
      ...namedService,
      handle: (request) => answered.then(() => namedService.handle(request)),
    }
    const server = createServer(service)
    const port = await start(server)
    const connection = await connect(port)
    // A client may connect ahead of its first request.
    const unused = await connect(port)
    connection.write(GET)
    await once(server, 'request')
    const closed = new Promise((resolve) => server.close(resolve))
    answer()
    expect((await connection.next()).status).toBe(200)
    await Promise.all([connection.closed, unused.closed])
    await closed
  })

  it('closes those with further requests after the response of the moment, and handles none of the others', async () => {
    const warnings: Error[] = []
    const record = (warning: Error) => warnings.push(warning)
    process.on('warning', record)
    onTestFinished(() => void process.off('warning', record))
    const { promise: answered, resolve: answer } = deferred()
    let handled = 0
    const service: HttpService = {
      ...namedService,
      handle(request) {
        handled += 1
        return answered.then(() => namedService.handle(request))
      },
    }
    const server = createServer(service)
    const connection = await connect(await start(server))
    connection.write(GET.repeat(20))
    await once(server, 'request')
    const closed = new Promise((resolve) => server.close(resolve))
    answer()
    expect((await connection.next()).status).toBe(200)
    await connection.closed
    await closed
    await new Promise(setImmediate)
    expect(handled).toBe(1)
    expect(warnings).toEqual([])
  })

  it('has at most 10,000, or half of the files that the process may open', () => {
    const { maxConnections } = createServer(namedService)
    const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'latin1') : ''
    const files = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
    expect(maxConnections).toBe(Math.min(10_000, Math.floor(files / 2)))
    expect(createServer(namedService, { maxConnections: 7 }).maxConnections).toBe(7)
  })
})

describe('createServer with request bodies', () => {
  it('sends 100 Continue, then the response', async () => {
    const connection = await connect(await serve())
    connection.write(put('Content-Length: 2', 'Expect: 100-continue'))
    expect((await connection.next()).status).toBe(100)
    connection.write('{}')
    expect((await connection.next()).status).toBe(200)
    connection.end()
  })

  it('rejects a too large body before sending 100 Continue', async () => {
    const connection = await connect(await serve())
    connection.write(put('Content-Length: 1048577', 'Expect: 100-continue'))
    const response = await connection.next()
    expect(response.status).toBe(413)
    expect(response.headers.connection).toBe('close')
    connection.end()
  })

  it.each([
    ['with Content-Length', put('Content-Length: 7000000'), 'x'.repeat(7_000_000)],
    [
      'chunked',
      put('Transfer-Encoding: chunked'),
      `${(7_000_000).toString(16)}\r\n${'x'.repeat(7_000_000)}\r\n0\r\n\r\n`,
    ],
  ])(
    'lets a client that sends a whole too large body (%s) before it reads receive its 413',
    async (_how, head, body) => {
      const server = createServer(namedService)
      let read = () => 0
      server.on('connection', (socket) => {
        read = () => socket.bytesRead
      })
      const port = await start(server)
      const connection = await connect(port)
      await new Promise((resolve) => connection.socket.write(head + body, resolve))
      const response = await connection.next()
      expect(response.status).toBe(413)
      expect(response.headers.connection).toBe('close')
      await connection.closed
      expect(read()).toBeGreaterThan(7_000_000)
      expect((await sendRaw(port, GET)).status).toBe(200)
    },
  )

  it('closes the connection of an endless body', async () => {
    const connection = await connect(await serve())
    connection.write(put('Transfer-Encoding: chunked'))
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const writeChunks = () => {
      while (!connection.socket.destroyed && connection.socket.write(chunk)) {}
    }
    connection.socket.on('drain', writeChunks)
    writeChunks()
    expect((await connection.next()).status).toBe(413)
    await connection.closed
    connection.end()
  })

  it('keeps the connection open after a request with a body', async () => {
    const connection = await connect(await serve())
    for (const name of ['a', 'b', 'c']) {
      connection.write(`${put('Content-Length: 1')}${name}`)
      expect(JSON.parse((await connection.next()).body).payload.length).toBe(1)
    }
    connection.end()
  })
})

describe('options of createServer', () => {
  const service = echoService(true)
  it.each([
    ['headerTimeout', { headerTimeout: 5 }],
    ['headersTimeoutMs', { headersTimeoutMs: 0 }],
    ['headersTimeoutMs', { headersTimeoutMs: '10' }],
    ['headersTimeoutMs', { headersTimeoutMs: 40_000 }],
    ['requestTimeoutMs', { requestTimeoutMs: Number.NaN }],
    ['keepAliveTimeoutMs', { keepAliveTimeoutMs: 2 ** 31 }],
    ['maxHeaderBytes', { maxHeaderBytes: 10 }],
    ['maxConnections', { maxConnections: 1.5 }],
    ['maxConnections', { maxConnections: null }],
    ['__proto__', JSON.parse('{"__proto__":1}')],
    ['options', null],
  ])('rejects an invalid %s and names it: %j', (name, options) => {
    const create = () => createServer(service, options as ServerOptions)
    expect(create).toThrow(expect.objectContaining({ code: 'InvalidOption', field: name }))
    expect(create).toThrow(new RegExp(`^(?:createServer\\(\\): (?:unknown option '|the ))?${name}['\\s]`))
  })

  it('are applied to the server, with defaults for omitted ones', () => {
    const server: http.Server = createServer(service, {
      keepAliveTimeoutMs: 7,
      maxConnections: 3,
      headersTimeoutMs: undefined as never,
    })
    expect(server.headersTimeout).toBe(10_000)
    expect(server.requestTimeout).toBe(30_000)
    expect(server.keepAliveTimeout).toBe(7)
    expect(server.maxConnections).toBe(3)
    expect(server.listening).toBe(false)
  })

  it('throw errors with a code', () => {
    let code: string | undefined
    try {
      createServer(service, { nope: 1 } as ServerOptions)
    } catch (error) {
      code = errorCode(error)
    }
    expect(code).toBe('InvalidOption')
  })
})
