/** A server for every adapter and framework, mounted at the root or under a prefix. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import express5 from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { HttpService } from 'hookswitch/adapter'
import { expressMiddleware } from 'hookswitch/express'
import { fastifyPlugin } from 'hookswitch/fastify'
import { fetchHandler } from 'hookswitch/fetch'
import { createServer, nodeHandler } from 'hookswitch/node'
import { HOST_RESPONSE } from './echo.js'

/** A header name (RFC 9110, section 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

export interface RunningServer {
  readonly port: number
  close(): Promise<void>
}

export type StartServer = (service: HttpService, prefix: string) => Promise<RunningServer>

export type ServerName = keyof typeof SERVERS

export const SERVERS = {
  node: (service, prefix) => listen(http.createServer(mountedListener(service, prefix))),
  express4: (service, prefix) => listen(http.createServer(expressApp(express4(), service, prefix))),
  express5: (service, prefix) => listen(http.createServer(expressApp(express5(), service, prefix))),
  express4AfterJson: (service, prefix) =>
    listen(http.createServer(expressApp(express4().use(express4.json()), service, prefix))),
  express5AfterJson: (service, prefix) =>
    listen(http.createServer(expressApp(express5().use(express5.json()), service, prefix))),
  fastify: startFastify,
  fetch: (service, prefix) => listen(http.createServer(nodeListener(honoApp(service, prefix)))),
} satisfies Record<string, StartServer>

/** The server of `createServer`. Without a host application, the service also handles paths outside the API. */
export const startStandaloneServer: StartServer = (service) => listen(createServer(service))

/** Removes the mount point from `url` as connect does. */
function mountedListener(service: HttpService, prefix: string): http.RequestListener {
  const handler = nodeHandler(service)
  return (req, res) => {
    const originalUrl = req.url ?? '/'
    const url = originalUrl.replace(prefix, '')
    handler(Object.assign(req, { originalUrl, url }), res, () => respondAsHost(req, res))
  }
}

function expressApp(
  app: ReturnType<typeof express5>,
  service: HttpService,
  prefix: string,
): http.RequestListener {
  app.use(prefix === '' ? '/' : prefix, expressMiddleware(service))
  app.use(respondAsHost)
  // The default error handler logs to the console.
  app.use((error: { status?: number }, _req: IncomingMessage, res: ServerResponse, _next: () => void) => {
    res
      .writeHead(error.status ?? 500, { 'content-type': 'text/plain' })
      .end('rejected by an earlier body parser')
  })
  return app
}

async function startFastify(service: HttpService, prefix: string): Promise<RunningServer> {
  const app = fastify({ routerOptions: { maxParamLength: 64 } })
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).type('text/plain').send(Buffer.from(HOST_RESPONSE)),
  )
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

/** A minimal bridge from `node:http` to a fetch application. */
function nodeListener(app: ReturnType<typeof honoApp>): http.RequestListener {
  return async (req, res) => {
    const headers = new Headers()
    for (let index = 0; index < req.rawHeaders.length; index += 2) {
      const name = req.rawHeaders[index]!
      // The parser of Node 20.18 accepts some invalid names, which a Request cannot have.
      if (HEADER_NAME.test(name)) headers.append(name, req.rawHeaders[index + 1]!)
    }
    const { method = 'GET', url = '/' } = req
    const hasNoBody =
      method === 'GET' ||
      method === 'HEAD' ||
      !(headers.has('content-length') || headers.has('transfer-encoding'))
    let request: Request
    try {
      request = new Request(url.startsWith('/') ? `http://host${url}` : url, {
        method,
        headers,
        ...(hasNoBody ? {} : { body: Readable.toWeb(req) as ReadableStream, duplex: 'half' }),
      })
    } catch {
      return void res.writeHead(400, { 'content-type': 'text/plain' }).end('cannot be converted to a Request')
    }
    const response = await app.fetch(request, { remote: req.socket.remoteAddress })
    if (response.headers.get('content-type') === 'text/event-stream' && response.body) {
      res.writeHead(response.status, Object.fromEntries(response.headers))
      // Cancels the body when the client has gone.
      return pipeline(Readable.fromWeb(response.body as WebStream), res, () => {})
    }
    const body = Buffer.from(await response.arrayBuffer())
    res.writeHead(response.status, Object.fromEntries(response.headers)).write(body)
    // Reads the rest of a rejected body; otherwise the client is reset before it reads the response.
    if (!req.readableEnded && !req.destroyed)
      await new Promise((resolve) => req.on('close', resolve).resume())
    res.end()
  }
}

function respondAsHost(_req: IncomingMessage, res: ServerResponse): void {
  res
    .writeHead(404, { 'content-type': 'text/plain', 'content-length': String(HOST_RESPONSE.length) })
    .end(HOST_RESPONSE)
}

export async function listen(server: http.Server): Promise<RunningServer> {
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
