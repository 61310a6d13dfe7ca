/** Every way to mount us, as a running server: at the root, or under a prefix. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import express5 from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { HttpService } from 'hookswitch'
import { expressMiddleware } from 'hookswitch/express'
import { fastifyPlugin } from 'hookswitch/fastify'
import { fetchHandler } from 'hookswitch/fetch'
import { createServer, nodeHandler } from 'hookswitch/node'
import { FOREIGN } from './echo.js'

/** A header name (RFC 9110 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

export interface RunningFace {
  readonly port: number
  close(): Promise<void>
}

export type Face = (service: HttpService, prefix: string) => Promise<RunningFace>

export type FaceName = keyof typeof FACES

export const FACES = {
  node: (service, prefix) => listening(http.createServer(mounted(service, prefix))),
  express4: (service, prefix) => listening(http.createServer(expressApp(express4(), service, prefix))),
  express5: (service, prefix) => listening(http.createServer(expressApp(express5(), service, prefix))),
  express4AfterJson: (service, prefix) =>
    listening(http.createServer(expressApp(express4().use(express4.json()), service, prefix))),
  express5AfterJson: (service, prefix) =>
    listening(http.createServer(expressApp(express5().use(express5.json()), service, prefix))),
  fastify: fastifyFace,
  fetch: (service, prefix) => listening(http.createServer(bridge(honoApp(service, prefix)))),
} satisfies Record<string, Face>

/** The whole server of ours; it has no host to go on to, so foreign paths are answered by the service. */
export const serverFace: Face = (service) => listening(createServer(service))

/** A mount point as connect cuts it off. */
function mounted(service: HttpService, prefix: string): http.RequestListener {
  const handler = nodeHandler(service)
  return (req, res) => {
    const originalUrl = req.url ?? '/'
    const url = originalUrl.replace(prefix, '')
    handler(Object.assign(req, { originalUrl, url }), res, () => foreign(req, res))
  }
}

function expressApp(
  app: ReturnType<typeof express5>,
  service: HttpService,
  prefix: string,
): http.RequestListener {
  app.use(prefix === '' ? '/' : prefix, expressMiddleware(service))
  app.use(foreign)
  // a quiet error handler: the default one prints
  app.use((error: { status?: number }, _req: IncomingMessage, res: ServerResponse, _next: () => void) => {
    res
      .writeHead(error.status ?? 500, { 'content-type': 'text/plain' })
      .end('refused by a body parser before us')
  })
  return app
}

async function fastifyFace(service: HttpService, prefix: string): Promise<RunningFace> {
  const app = fastify({ routerOptions: { maxParamLength: 64 } })
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send(Buffer.from(FOREIGN)))
  await app.register(fastifyPlugin(service), prefix === '' ? {} : { prefix })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
}

function honoApp(service: HttpService, prefix: string): Hono<{ Bindings: { remote?: string } }> {
  const handler = fetchHandler(service)
  return new Hono<{ Bindings: { remote?: string } }>().all('*', (c) =>
    handler(c.req.raw, {
      mountPrefix: prefix,
      ...(c.env.remote === undefined ? {} : { remoteAddress: c.env.remote }),
    }),
  )
}

/** As little as lets an app of fetch answer on Node. */
function bridge(app: ReturnType<typeof honoApp>): http.RequestListener {
  return async (req, res) => {
    const headers = new Headers()
    for (let at = 0; at < req.rawHeaders.length; at += 2) {
      const name = req.rawHeaders[at]!
      // The parser of Node 20.18 lets names through that are none; a Request cannot have them.
      if (TOKEN.test(name)) headers.append(name, req.rawHeaders[at + 1]!)
    }
    const { method = 'GET', url = '/' } = req
    const bodiless =
      method === 'GET' ||
      method === 'HEAD' ||
      !(headers.has('content-length') || headers.has('transfer-encoding'))
    let request: Request
    try {
      request = new Request(url.startsWith('/') ? `http://host${url}` : url, {
        method,
        headers,
        ...(bodiless ? {} : { body: Readable.toWeb(req) as ReadableStream, duplex: 'half' }),
      })
    } catch {
      return void res.writeHead(400, { 'content-type': 'text/plain' }).end('no Request can be made of this')
    }
    const response = await app.fetch(request, { remote: req.socket.remoteAddress })
    const body = Buffer.from(await response.arrayBuffer())
    res.writeHead(response.status, Object.fromEntries(response.headers)).write(body)
    // the rest of a refused body is read, or the client would be reset before it reads the answer
    if (!req.readableEnded && !req.destroyed)
      await new Promise((resolve) => req.on('close', resolve).resume())
    res.end()
  }
}

function foreign(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(404, { 'content-type': 'text/plain', 'content-length': String(FOREIGN.length) }).end(FOREIGN)
}

export async function listening(server: http.Server): Promise<RunningFace> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
