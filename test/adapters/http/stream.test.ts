/** Responses that are streams, through every adapter and framework. */
import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { createGzip, gunzipSync } from 'node:zlib'
import express5 from 'express'
import type { HttpService, ResponseStream } from 'hookswitch/adapter'
import { expressMiddleware } from 'hookswitch/express'
import { until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { listen, type RunningServer, SERVERS, type StartServer, startStandaloneServer } from './servers.js'

const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' }

/** A stream whose parts the test gives. */
function scriptedStream() {
  const parts: (string | undefined)[] = []
  const state = { closed: 0, abort: () => {} }
  let wake: (() => void) | undefined
  const stream: ResponseStream = {
    async next() {
      while (parts.length === 0 && state.closed === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return state.closed > 0 ? undefined : parts.shift()
    },
    close() {
      state.closed += 1
      wake?.()
    },
    onAbort(abort) {
      state.abort = abort
    },
  }
  const push = (part: string | undefined) => {
    parts.push(part)
    wake?.()
  }
  return { stream, state, push }
}

const serviceOf = (stream: ResponseStream, before: () => Promise<unknown> = async () => {}): HttpService => ({
  async handle() {
    await before()
    return { status: 200, headers: HEADERS, body: '', stream }
  },
  handlesPath: () => true,
})

async function start(startServer: StartServer, service: HttpService): Promise<RunningServer> {
  const server = await startServer(service, '')
  onTestFinished(() => server.close())
  return server
}

async function request({ port }: RunningServer): Promise<IncomingMessage> {
  const sent = http.get({ port, host: '127.0.0.1', path: '/v1/accounts/a/stream', agent: false })
  sent.on('error', () => {})
  onTestFinished(() => void sent.destroy())
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  return response
}

/** Resolves at the event `close`, also after an error. */
const untilClosed = (emitter: NodeJS.EventEmitter) => new Promise((resolve) => emitter.once('close', resolve))

const ALL: Readonly<Record<string, StartServer>> = { ...SERVERS, standalone: startStandaloneServer }

describe.each(Object.entries(ALL))('a stream through %s', (_, startServer) => {
  it('arrives part by part, and ends with its last one', async () => {
    const { stream, state, push } = scriptedStream()
    push('first')
    const response = await request(await start(startServer, serviceOf(stream)))
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject(HEADERS)
    expect(response.headers).not.toHaveProperty('content-length')
    const [first] = await once(response, 'data')
    expect(String(first)).toBe('first')
    push('seçond')
    const [second] = await once(response, 'data')
    expect(String(second)).toBe('seçond')
    push(undefined)
    response.resume()
    await once(response, 'end')
    await until(() => state.closed > 0)
  })

  it('is closed when its client goes', async () => {
    const { stream, state, push } = scriptedStream()
    push('first')
    const response = await request(await start(startServer, serviceOf(stream)))
    await once(response, 'data')
    expect(state.closed).toBe(0)
    response.destroy()
    await until(() => state.closed > 0)
  })

  it('is closed if its client goes while the request is handled', async () => {
    const { stream, state } = scriptedStream()
    let isHandling = false
    const { promise: held, resolve: release } = deferred()
    const service = serviceOf(stream, () => {
      isHandling = true
      return held
    })
    const { port } = await start(startServer, service)
    const sent = http.get({ port, host: '127.0.0.1', path: '/v1/accounts/a/stream', agent: false })
    sent.on('error', () => {})
    await until(() => isHandling)
    sent.destroy()
    await untilClosed(sent)
    release()
    await until(() => state.closed > 0)
  })

  it('is produced as fast as its client takes it', async () => {
    const part = 'x'.repeat(65_536)
    const total = 800
    let produced = 0
    let received = 0
    let peak = 0
    const stream: ResponseStream = {
      async next() {
        if (produced === total) return undefined
        produced += 1
        peak = Math.max(peak, produced - received / part.length)
        return part
      },
      close() {},
      onAbort() {},
    }
    const response = await request(await start(startServer, serviceOf(stream)))
    for await (const chunk of response) received += (chunk as Buffer).length
    expect(received).toBe(total * part.length)
    expect(peak).toBeLessThan(total / 2)
  })

  it('is cut when it is aborted, although its client takes nothing', async () => {
    const part = 'x'.repeat(65_536)
    let abort = () => {}
    let closed = 0
    let parts = 0
    const stream: ResponseStream = {
      async next() {
        if (closed > 0) return undefined
        parts += 1
        return part
      },
      close() {
        closed += 1
      },
      onAbort(given) {
        abort = given
      },
    }
    const response = await request(await start(startServer, serviceOf(stream)))
    response.pause()
    await until(() => parts > 1)
    abort()
    await until(() => closed > 0)
    response.resume()
    await untilClosed(response)
    expect(response.complete).toBe(false)
  })
})

/** Compresses every response as the usual middleware of Express does: parts wait for `flush` or for more. */
function compress(
  _req: IncomingMessage,
  res: ServerResponse & { flush?: () => void },
  next: () => void,
): void {
  const gzip = createGzip()
  const { write, end } = res
  gzip.on('data', (chunk: Buffer) => Reflect.apply(write, res, [chunk]))
  gzip.on('end', () => Reflect.apply(end, res, []))
  Object.assign(res, {
    write: (chunk: string) => gzip.write(chunk),
    end: () => gzip.end(),
    flush: () => gzip.flush(),
  })
  next()
}

it('a middleware that compresses is flushed after each part', async () => {
  const { stream, push } = scriptedStream()
  push('first')
  const app = express5()
    .use(compress)
    .use(expressMiddleware(serviceOf(stream)))
  const server = await listen(http.createServer(app))
  onTestFinished(() => server.close())
  const response = await request(server)
  const chunks: Buffer[] = []
  response.on('data', (chunk) => chunks.push(chunk))
  const text = () => gunzipSync(Buffer.concat(chunks), { finishFlush: 2 }).toString()
  await until(() => chunks.length > 0 && text() === 'first')
  push('second')
  await until(() => text() === 'firstsecond')
})
