import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { errorResponse, type HttpService, type RequestRecord } from 'hookswitch'
import { type NodeHandlerOptions, nodeHandler } from 'hookswitch/node'
import { describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { connect, sendRaw } from './raw.js'
import { serving } from './serving.js'

const start = serving()
const serve = (listener: http.RequestListener) => start(http.createServer(listener))

const request = (target: string, ...lines: string[]) =>
  ['GET '.concat(target, ' HTTP/1.1'), 'Host: a', ...lines, '', ''].join('\r\n')

/** A service that keeps the records it was handed. */
function recording(): { service: HttpService; seen: RequestRecord[] } {
  const seen: RequestRecord[] = []
  const echo = echoService(true)
  return {
    seen,
    service: {
      ...echo,
      handle: (record) => {
        seen.push(record)
        return echo.handle(record)
      },
    },
  }
}

describe('a listener of node:http', () => {
  it('answers foreign paths through the service where there is nobody to go on to', async () => {
    const { service, seen } = recording()
    expect((await sendRaw(await serve(nodeHandler(service)), request('/elsewhere'))).status).toBe(404)
    expect(seen.map(({ url }) => url)).toEqual(['/elsewhere'])
  })

  it('hands foreign paths to next, untouched and unread', async () => {
    const { service, seen } = recording()
    const handler = nodeHandler(service)
    const port = await serve((req, res) =>
      handler(req, res, () => {
        expect(req.readableDidRead).toBe(false)
        res.end('mine')
      }),
    )
    expect((await sendRaw(port, request('/elsewhere'))).body).toBe('mine')
    expect(seen).toEqual([])
  })

  it.each([
    ['', '/v2/x', '/v2/x', ''],
    ['connect', '/telephony/v2/x?y=1', '/v2/x?y=1', '/telephony'],
    ['connect, nested', '/a/b/v2/x', '/v2/x', '/a/b'],
    ['connect, absolute', 'http://h/a/v2/x', 'http://h/v2/x', '/a'],
    ['a rewrite that is no mount point', '/old', '/v2/x', ''],
  ])('tells where it is mounted (%s)', async (_how, originalUrl, url, mountPrefix) => {
    const { service, seen } = recording()
    const handler = nodeHandler(service)
    const port = await serve((req, res) => handler(Object.assign(req, { originalUrl, url }), res))
    await sendRaw(port, request('/ignored'))
    expect(seen[0]).toMatchObject({ url: url.replace('http://h', ''), mountPrefix })
  })

  it('a service that throws or rejects is a 500 that tells nothing', async () => {
    const secret = new Error('SELECT * FROM tokens at /srv/host')
    const failing = [
      () => Promise.reject(secret),
      () => {
        throw secret
      },
    ]
    for (const handle of failing) {
      const port = await serve(nodeHandler({ owns: () => true, handle }))
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

  it('an answer that cannot be written ends the connection instead of the process', async () => {
    const answer = { status: 200, headers: { 'x-bad': 'a\r\nb' }, body: '' }
    const port = await serve(nodeHandler({ owns: () => true, handle: async () => answer }))
    const connection = await connect(port)
    connection.write(request('/v2/x'))
    await connection.closed
    await expect(connection.next()).rejects.toThrow('connection ended')
  })

  it('says nothing where the host has answered meanwhile', async () => {
    const handler = nodeHandler(echoService(true))
    const port = await serve((req, res) => {
      handler(req, res)
      res.writeHead(503).end('too late')
    })
    expect((await sendRaw(port, request('/v2/x'))).body).toBe('too late')
  })

  it('answers 204 and 304 without a body', async () => {
    for (const status of [204, 304]) {
      const answer = { status, headers: { etag: '"1"' }, body: '' }
      const port = await serve(nodeHandler({ owns: () => true, handle: async () => answer }))
      expect(await sendRaw(port, request('/v2/x'))).toMatchObject({ status, body: '' })
    }
  })

  it('a body that somebody else has read to its end is none, instead of waiting for ever', async () => {
    const { service, seen } = recording()
    const handler = nodeHandler(service)
    const port = await serve((req, res) => req.on('end', () => handler(req, res)).resume())
    expect(
      (await sendRaw(port, request('/v2/x', 'Content-Length: 2').replace('GET', 'PUT').concat('{}'))).status,
    ).toBe(200)
    expect(seen[0]).not.toHaveProperty('body')
  })

  it('a body slower than bodyTimeoutMs is a bodyProblem, and the connection is closed', async () => {
    const { service, seen } = recording()
    const port = await serve(nodeHandler(service, { bodyTimeoutMs: 20 }))
    const connection = await connect(port)
    connection.write(request('/v2/x', 'Content-Length: 10').concat('{"d'))
    const response = await connection.next()
    expect(response).toMatchObject({ status: 408, headers: { connection: 'close' } })
    expect(seen[0]).toMatchObject({ bodyProblem: 'too_slow' })
    connection.end()
  })

  it('a client that goes away while it is answered hurts nobody', async () => {
    let release = () => {}
    let seen = () => {}
    const asked = new Promise<void>((resolve) => {
      seen = resolve
    })
    const service: HttpService = {
      owns: () => true,
      handle: async ({ url }) => {
        if (url === '/v2/slow') {
          await new Promise<void>((resolve) => {
            release = resolve
            seen()
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
    await asked
    connection.socket.resetAndDestroy()
    await closed
    release()
    expect((await sendRaw(port, request('/v2/x'))).status).toBe(404)
  })

  it('answers over HTTP/2 as well', async () => {
    const { service, seen } = recording()
    const server = http2.createServer(nodeHandler(service) as never)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const ask = (headers: http2.OutgoingHttpHeaders, body?: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const stream = session.request(headers, { endStream: body === undefined })
        let status: number | undefined
        stream.on('response', (answer) => {
          status = answer[':status']
        })
        stream.on('end', () => resolve(status)).on('error', reject)
        stream.resume()
        if (body !== undefined) stream.end(body)
      })
    try {
      expect(await ask({ ':path': '/v2/x?y=1', 'x-auth-token': 't' })).toBe(200)
      expect(await ask({ ':path': '/v2/x', ':method': 'PUT' }, '{"data":{}}')).toBe(200)
      expect(
        await ask({ ':path': '/v2/x', ':method': 'PUT', 'content-length': 2_000_000 }, 'x'.repeat(2_000_000)),
      ).toBe(413)
    } finally {
      session.close()
      server.close()
    }
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/v2/x?y=1', headers: { 'x-auth-token': 't' } })
    expect(Object.keys(seen[0]!.headers).some((name) => name.startsWith(':'))).toBe(false)
    expect(Buffer.from(seen[1]!.body!).toString()).toBe('{"data":{}}')
    expect(seen[2]).toMatchObject({ bodyProblem: 'too_large' })
  })

  it.each([
    ['bodyTimeout', { bodyTimeout: 1 }],
    ['bodyTimeoutMs', { bodyTimeoutMs: -1 }],
  ])('refuses a bad option by its name: %s', (name, options) => {
    expect(() => nodeHandler(echoService(true), options as NodeHandlerOptions)).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field: name }),
    )
  })
})
