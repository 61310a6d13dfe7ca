import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import type { HttpService, RequestRecord } from 'hookswitch/adapter'
import { fastifyPlugin } from 'hookswitch/fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { connect, sendRaw } from './raw.js'

const apps: FastifyInstance[] = []
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()))
})

const records: RequestRecord[] = []
const service: HttpService = {
  ...echoService(true),
  handle: (record) => {
    records.push(record)
    return echoService(true).handle(record)
  },
}

async function createApp(hs: HttpService, options: { bodyLimit?: number } = {}): Promise<FastifyInstance> {
  const app = fastify(options)
  await app.register(fastifyPlugin(hs))
  return app
}

async function listen(app: FastifyInstance): Promise<number> {
  apps.push(app)
  records.length = 0
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

const DOCUMENT = '{"data":{"a":1}}'
const put = (target: string, type = 'application/json', body = DOCUMENT) =>
  `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

describe('fastifyPlugin', () => {
  it("keeps the host's parsers, wildcard route and 404 handler", async () => {
    const app = fastify()
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('mine is not there'))
    await app.register(fastifyPlugin(service))
    app.put('/mine', (request) => ({ mine: request.body }))
    app.get('/files/*', () => 'file')
    const port = await listen(app)
    expect(JSON.parse((await sendRaw(port, put('/mine'))).body)).toEqual({ mine: JSON.parse(DOCUMENT) })
    expect((await sendRaw(port, put('/mine', 'application/x-json'))).status).toBe(415)
    expect((await sendRaw(port, put('/elsewhere'))).body).toBe('mine is not there')
    expect((await sendRaw(port, 'GET /files/v2/x HTTP/1.1\r\nHost: a\r\n\r\n')).body).toBe('file')
    expect(records).toEqual([])
  })

  it('rejects headers above 16 KiB on a server that accepts them', async () => {
    const app = fastify({ http: { maxHeaderSize: 65_536 } })
    await app.register(fastifyPlugin(service))
    const port = await listen(app)
    const request = (bytes: number) =>
      put('/v1/x').replace('\r\n\r\n', `\r\nX-Big: ${'x'.repeat(bytes)}\r\n\r\n`)
    const { status, body } = await sendRaw(port, request(17_000))
    expect([status, JSON.parse(body).error]).toEqual([431, '431'])
    expect(records).toEqual([])
    expect((await sendRaw(port, request(16_000))).status).toBe(200)
  })

  it('works beside a wildcard route of the host at the root', async () => {
    const app = fastify()
    app.all('/*', () => 'wildcard')
    await app.register(fastifyPlugin(service))
    const port = await listen(app)
    expect((await sendRaw(port, put('/elsewhere'))).body).toBe('wildcard')
    expect((await sendRaw(port, put('/v2/x'))).body).not.toBe('wildcard')
  })

  it('can be mounted more than once, at nested prefixes', async () => {
    const app = fastify()
    await app.register(
      async (outer) => {
        await outer.register(fastifyPlugin(service), { prefix: '/inner' })
      },
      { prefix: '/outer' },
    )
    await app.register(fastifyPlugin(service), { prefix: '/other/' })
    const port = await listen(app)
    await sendRaw(port, put('/outer/inner/v1/x?y=1'))
    await sendRaw(port, put('/other/v1/x'))
    expect(records).toMatchObject([
      { url: '/v1/x?y=1', mountPrefix: '/outer/inner' },
      { url: '/v1/x', mountPrefix: '/other' },
    ])
  })

  it("applies its own body limit instead of the host's", async () => {
    const port = await listen(await createApp(service, { bodyLimit: 10 }))
    expect((await sendRaw(port, put('/v2/x', 'application/json', 'x'.repeat(1_048_576)))).status).toBe(200)
    const rejected = await sendRaw(port, put('/v2/x', 'application/json', 'x'.repeat(3_000_000)))
    expect(rejected).toMatchObject({ status: 413, headers: { connection: 'close' } })
  })

  it("runs the host's hooks, which may reject requests and add headers", async () => {
    const app = fastify()
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-host', 'yes')
      if (request.headers['x-stop'] !== undefined) throw new Error('stopped by the host')
    })
    await app.register(fastifyPlugin(service))
    const port = await listen(app)
    expect((await sendRaw(port, put('/v2/x'))).headers).toMatchObject({
      'x-host': 'yes',
      'content-type': 'application/json',
    })
    const stopped = await sendRaw(port, put('/v2/x').replace('Host', 'X-Stop: 1\r\nHost'))
    expect(stopped.status).toBe(500)
    expect(stopped.body).toContain('stopped by the host')
    expect(records).toHaveLength(1)
  })

  it('responds with 500 and no details if the service rejects', async () => {
    const failing: HttpService = {
      handlesPath: () => true,
      handle: () => Promise.reject(new Error('secret')),
    }
    const port = await listen(await createApp(failing))
    const { status, body } = await sendRaw(port, put('/v2/x'))
    expect(JSON.parse(body)).toMatchObject({ error: '500', message: 'internal_error' })
    expect({ status, secret: body.includes('secret') }).toEqual({ status: 500, secret: false })
  })

  it('survives a client that disconnects during its body', async () => {
    const port = await listen(await createApp(service))
    const connection = await connect(port)
    connection.write(put('/v2/x').slice(0, -5))
    connection.socket.resetAndDestroy()
    await connection.closed
    expect((await sendRaw(port, put('/v2/y'))).status).toBe(200)
    expect(records.map(({ url }) => url)).toEqual(['/v2/y'])
  })

  it('supports inject, without a socket', async () => {
    const app = await createApp(service)
    apps.push(app)
    const response = await app.inject({ method: 'PUT', url: '/v2/x', payload: { data: {} } })
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('application/json')
  })
})
