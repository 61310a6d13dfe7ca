/** A scripted HTTP receiver on a real socket. The steps of its scripts decide how it responds. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Clock } from 'hookswitch'
import { systemClock } from '../runtime/clock.js'
import { createRequestLog, type ReceivedRequest } from './receiver-log.js'
import { createRequestParser, headerValue, type WireRequest } from './receiver-request.js'
import { type Exchange, formatResponse, type Step, status } from './receiver-script.js'

/** How requests are answered: one step per request, of which the last repeats; or a function that returns a step. */
export type Script = readonly Step[] | ((request: WireRequest & { readonly path: string }) => Step)

/** A real HTTP server on this machine that responds, or fails to respond, according to its scripts. */
export interface ScriptedReceiver {
  /** Starts listening; resolves to `url()`. After `close` it listens on the same port again. */
  start(): Promise<string>
  /**
   * The URL of a path. Default path is `/`.
   *
   * @throws Error before the first `start`, unless `port` is given
   */
  url(path?: string): string
  /** Stops listening and destroys every connection; resolves when all are closed. Rejects pending waits. */
  close(): Promise<void>
  /**
   * Sets the script of a path, starting at its first step. `*`: of every path without a script.
   *
   * @throws RangeError for an empty array
   */
  on(path: string, script: Script): void
  /** Every request that was received, oldest first. */
  readonly requests: readonly ReceivedRequest[]
  /** Number of connections accepted since the receiver was created, with or without requests. */
  readonly connections: number
  /** Number of open connections. */
  readonly openConnections: number
  /** The next request that no earlier `next` has returned; waits until it arrives. Rejects after `timeoutMs`. */
  next(): Promise<ReceivedRequest>
  /** The next `count` requests, once all have arrived. Rejects after `timeoutMs`. */
  next(count: number): Promise<readonly ReceivedRequest[]>
  /** The first request, past or future, that matches. Rejects after `timeoutMs`. */
  received(matches: (request: ReceivedRequest) => boolean): Promise<ReceivedRequest>
}

/** Options of `scriptedReceiver`. */
export interface ReceiverOptions {
  /** Script of every path without one from `on`. Default is status 200 for every request. */
  readonly script?: Script | undefined
  /** Address to listen on. Default is 127.0.0.1. */
  readonly host?: string | undefined
  /** Port to listen on. Default is 0: a free port. */
  readonly port?: number | undefined
  /** Clock of the log's times and of the pauses of steps. Default is the system clock. */
  readonly clock?: Clock | undefined
  /** Real milliseconds after which `next` and `received` reject. Default is 10,000. */
  readonly timeoutMs?: number | undefined
}

/**
 * Creates a receiver for tests that use real sockets. It uses plain TCP, because HTTP libraries do not let a server
 * reset, drip, flood, or declare a wrong length.
 *
 * @example
 * const receiver = scriptedReceiver()
 * await receiver.start()
 * receiver.on('/hook', [status(500), status(200)])
 * // … a webhook with uri: receiver.url('/hook') …
 * const [first, second] = await receiver.next(2)
 * await receiver.close()
 */
export function scriptedReceiver(options: ReceiverOptions = {}): ScriptedReceiver {
  const { host = '127.0.0.1', clock = systemClock(), timeoutMs = 10_000 } = options
  const scripts = new Map<string, (request: WireRequest & { readonly path: string }) => Step>()
  const log = createRequestLog(timeoutMs, () => `${connections} connections`)
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let port = options.port ?? 0
  let connections = 0

  const receiver: ScriptedReceiver = {
    async start() {
      if (server) return receiver.url()
      const listening = createServer({ noDelay: true }, serve)
      listening.listen(port, host)
      await once(listening, 'listening')
      server = listening
      port = (listening.address() as AddressInfo).port
      return receiver.url()
    },
    url(path = '/') {
      if (port === 0) throw new Error('the receiver has no URL before start()')
      return `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
    },
    async close() {
      log.rejectWaiting('the receiver was closed')
      if (!server) return
      const listening = server
      server = undefined
      // The server emits 'close' before its last socket does.
      const closed = [listening.close(), ...sockets].map(
        (emitter) => new Promise((resolve) => emitter.once('close', resolve)),
      )
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
    },
    on: (path, script) => void scripts.set(path, stepChooser(script)),
    requests: log.requests,
    get connections() {
      return connections
    },
    get openConnections() {
      return sockets.size
    },
    next: log.next,
    received: log.received,
  }
  receiver.on('*', options.script ?? [status(200)])
  return receiver

  function serve(socket: Socket): void {
    connections += 1
    const connection = connections
    const closed = new AbortController()
    const parse = createRequestParser()
    let responded: Promise<void> = Promise.resolve()

    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      closed.abort()
    })
    socket.on('data', (chunk) => {
      try {
        for (const request of parse(chunk)) {
          // Pipelined requests are answered one at a time.
          const [entry, step] = record(request, connection)
          responded = responded.then(() => respond(entry, step, socket, closed.signal))
        }
      } catch (thrown) {
        socket.end(errorResponse(400, thrown))
      }
    })
  }

  function record(wire: WireRequest, connection: number): [ReceivedRequest, Step] {
    const [path = '', query = ''] = wire.target.split(/\?(.*)/s)
    const choose = scripts.get(path) ?? scripts.get('*')!
    const step = choose({ ...wire, path })
    const names = wire.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    const entry: ReceivedRequest = {
      number: log.requests.length + 1,
      method: wire.method,
      path,
      query,
      headers: Object.fromEntries(names.map((name) => [name, headerValue(wire.rawHeaders, name)!])),
      rawHeaders: wire.rawHeaders,
      body: wire.body.toString('utf8'),
      bodyBytes: wire.body,
      atMs: clock.now(),
      monotonicMs: clock.monotonic(),
      connection,
      step: step.name,
    }
    log.add(entry)
    return [entry, step]
  }

  async function respond(request: ReceivedRequest, step: Step, socket: Socket, signal: AbortSignal) {
    const exchange: Exchange = {
      request,
      signal,
      // Resolves after a turn of the event loop, so that a step that writes in a loop does not starve other work.
      write: (bytes) => new Promise((resolve) => void socket.write(bytes, () => setImmediate(resolve))),
      pause: (ms) => clock.sleep(ms, signal),
      end: () => void socket.end(),
      reset: () => void socket.resetAndDestroy(),
    }
    if (signal.aborted || !socket.writable) return
    try {
      await step.play(exchange)
      if (request.headers.connection?.toLowerCase() === 'close') socket.end()
    } catch (thrown) {
      socket.end(errorResponse(500, thrown))
    }
  }
}

/** The response to bytes that are not HTTP, and when a step throws. */
function errorResponse(code: number, thrown: unknown): Buffer {
  return formatResponse(code, { headers: { connection: 'close' }, body: String(thrown) })
}

function stepChooser(script: Script): (request: WireRequest & { readonly path: string }) => Step {
  if (typeof script === 'function') return script
  if (script.length === 0) throw new RangeError('a script needs at least one step')
  let played = 0
  return () => script[Math.min(played++, script.length - 1)]!
}
