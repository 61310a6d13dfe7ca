import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { errorResponse, type HttpService, type RequestRecord } from 'hookswitch/adapter'
import { type NodeHandlerOptions, nodeHandler } from 'hookswitch/node'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { echoService } from './echo.js'
import { connect, sendRaw } from './raw.js'
import { useServers } from './server-setup.js'

const start = useServers()
const serve = (listener: http.RequestListener) => start(http.createServer(listener))

const request = (target: string, ...lines: string[]) =>
  ['GET '.concat(target, ' HTTP/1.1'), 'Host: a', ...lines, '', ''].join('\r\n')

/** Returns a service that stores the request records it receives. */
function createRecordingService(): { service: HttpService; records: RequestRecord[] } {
  const records: RequestRecord[] = []
  const echo = echoService(true)
  return {
    records,
    service: {
      ...echo,
      handle: (record) => {
        records.push(record)
        return echo.handle(record)
      },
    },
  }
}

describe('nodeHandler', () => {
  it('passes paths outside the API to the service if there is no next', async () => {
    const { service, records } = createRecordingService()
    expect((await sendRaw(await serve(nodeHandler(service)), request('/elsewhere'))).status).toBe(404)
    expect(records.map(({ url }) => url)).toEqual(['/elsewhere'])
  })

  it('rejects headers above 16 KiB on a server that accepts them', async () => {
    const { service, records } = createRecordingService()
    const port = await start(http.createServer({ maxHeaderSize: 65_536 }, nodeHandler(service)))
    const { status, body } = await sendRaw(port, request('/v1/x', `X-Big: ${'x'.repeat(17_000)}`))
    expect([status, JSON.parse(body).error]).toEqual([431, '431'])
    expect(records).toEqual([])
    expect((await sendRaw(port, request('/v1/x', `X-Big: ${'x'.repeat(16_000)}`))).status).not.toBe(431)
  })

  it('passes paths outside the API to next without reading the body', async () => {
    const { service, records } = createRecordingService()
    const handler = nodeHandler(service)
    const port = await serve((req, res) =>
      handler(req, res, () => {
        expect(req.readableDidRead).toBe(false)
        res.end('mine')
      }),
    )
    expect((await sendRaw(port, request('/elsewhere'))).body).toBe('mine')
    expect(records).toEqual([])
  })

  it.each([
    ['', '/v2/x', '/v2/x', ''],
    ['connect', '/telephony/v2/x?y=1', '/v2/x?y=1', '/telephony'],
    ['connect, nested', '/a/b/v2/x', '/v2/x', '/a/b'],
    ['connect, absolute', 'http://h/a/v2/x', 'http://h/v2/x', '/a'],
    ['a rewrite that is not a mount point', '/old', '/v2/x', ''],
  ])('determines its mount point (%s)', async (_how, originalUrl, url, mountPrefix) => {
    const { service, records } = createRecordingService()
    const handler = nodeHandler(service)
    const port = await serve((req, res) => handler(Object.assign(req, { originalUrl, url }), res))
    await sendRaw(port, request('/ignored'))
    expect(records[0]).toMatchObject({ url: url.replace('http://h', ''), mountPrefix })
  })

  it('responds with 500 and no details if the service throws or rejects', async () => {
    const secret = new Error('SELECT * FROM tokens at /srv/host')
    const failing = [
      () => Promise.reject(secret),
      () => {
        throw secret
      },
    ]
    for (const handle of failing) {
      const port = await serve(nodeHandler({ handlesPath: () => true, handle }))
      const { status, body } = await sendRaw(port, request('/v2/x'))
      expect(status).toBe(500)
      expect(JSON.parse(body)).toMatchObject({
        error: '500',
        message: 'internal_error',
        data: { message: 'internal error' },
      })
      expect(body).not.toMatch(/SELECT|srv/)
    }
  })

  it('closes the connection if the response cannot be written', async () => {
    const response = { status: 200, headers: { 'x-bad': 'a\r\nb' }, body: '' }
    const port = await serve(nodeHandler({ handlesPath: () => true, handle: async () => response }))
    const connection = await connect(port)
    connection.write(request('/v2/x'))
    await connection.closed
    await expect(connection.next()).rejects.toThrow('connection ended')
  })

  it('sends no response if the host has already responded', async () => {
    const handler = nodeHandler(echoService(true))
    const port = await serve((req, res) => {
      handler(req, res)
      res.writeHead(503).end('too late')
    })
    expect((await sendRaw(port, request('/v2/x'))).body).toBe('too late')
  })

  it('does not disturb a response that the host is sending', async () => {
    const service = echoService(true)
    const port = await serve((req, res) => {
      const { handle } = service
      const answered = async (record: RequestRecord) => {
        const response = await handle(record)
        // The handler writes its responses in the next immediate.
        setImmediate(() => setImmediate(() => res.end('later')))
        return response
      }
      nodeHandler({ ...service, handle: answered })(req, res)
      res.writeHead(503, { 'content-length': '9' }).write('now ')
    })
    expect(await sendRaw(port, request('/v2/x'))).toMatchObject({ status: 503, body: 'now later' })
  })

  it('sends 204 and 304 without a body', async () => {
    for (const status of [204, 304]) {
      const response = { status, headers: { etag: '"1"' }, body: '' }
      const port = await serve(nodeHandler({ handlesPath: () => true, handle: async () => response }))
      expect(await sendRaw(port, request('/v2/x'))).toMatchObject({ status, body: '' })
    }
  })

  it('treats a body that was already read to its end as absent', async () => {
    const { service, records } = createRecordingService()
    const handler = nodeHandler(service)
    const port = await serve((req, res) => req.on('end', () => handler(req, res)).resume())
    expect(
      (await sendRaw(port, request('/v2/x', 'Content-Length: 2').replace('GET', 'PUT').concat('{}'))).status,
    ).toBe(200)
    expect(records[0]).not.toHaveProperty('body')
  })

  it('responds with 408 to a body slower than bodyTimeoutMs and closes the connection', async () => {
    const { service, records } = createRecordingService()
    const port = await serve(nodeHandler(service, { bodyTimeoutMs: 20 }))
    const connection = await connect(port)
    connection.write(request('/v2/x', 'Content-Length: 10').concat('{"d'))
    const response = await connection.next()
    expect(response).toMatchObject({ status: 408, headers: { connection: 'close' } })
    expect(records[0]).toMatchObject({ bodyProblem: 'too_slow' })
    connection.end()
  })

  it('survives a client that disconnects before the response', async () => {
    let release = () => {}
    const { promise: started, resolve: markStarted } = deferred()
    const service: HttpService = {
      handlesPath: () => true,
      handle: async ({ url }) => {
        if (url === '/v2/slow') {
          await new Promise<void>((resolve) => {
            release = resolve
            markStarted()
          })
        }
        return errorResponse(404, 'not_found')
      },
    }
    const handler = nodeHandler(service)
    let closed: Promise<unknown> = Promise.resolve()
    const port = await serve((req, res) => {
      closed = new Promise((resolve) => res.on('close', resolve))
      handler(req, res)
    })
    const connection = await connect(port)
    connection.write(request('/v2/slow'))
    await started
    connection.socket.resetAndDestroy()
    await closed
    release()
    expect((await sendRaw(port, request('/v2/x'))).status).toBe(404)
  })

  it('supports HTTP/2', async () => {
    const { service, records } = createRecordingService()
    const server = http2.createServer(nodeHandler(service) as never)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const exchange = (headers: http2.OutgoingHttpHeaders, body?: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const stream = session.request(headers, { endStream: body === undefined })
        let status: number | undefined
        stream.on('response', (responseHeaders) => {
          status = responseHeaders[':status']
        })
        stream.on('end', () => resolve(status)).on('error', reject)
        stream.resume()
        if (body !== undefined) stream.end(body)
      })
    try {
      expect(await exchange({ ':path': '/v2/x?y=1', 'x-auth-token': 't' })).toBe(200)
      expect(await exchange({ ':path': '/v2/x', ':method': 'PUT' }, '{"data":{}}')).toBe(200)
      expect(
        await exchange(
          { ':path': '/v2/x', ':method': 'PUT', 'content-length': 2_000_000 },
          'x'.repeat(2_000_000),
        ),
      ).toBe(413)
    } finally {
      session.close()
      server.close()
    }
    expect(records[0]).toMatchObject({ method: 'GET', url: '/v2/x?y=1', headers: { 'x-auth-token': 't' } })
    expect(Object.keys(records[0]!.headers).some((name) => name.startsWith(':'))).toBe(false)
    expect(Buffer.from(records[1]!.body!).toString()).toBe('{"data":{}}')
    expect(records[2]).toMatchObject({ bodyProblem: 'too_large' })
  })

  it.each([
    ['bodyTimeout', { bodyTimeout: 1 }],
    ['bodyTimeoutMs', { bodyTimeoutMs: -1 }],
  ])('rejects an invalid option and names it: %s', (name, options) => {
    expect(() => nodeHandler(echoService(true), options as NodeHandlerOptions)).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field: name }),
    )
  })
})
