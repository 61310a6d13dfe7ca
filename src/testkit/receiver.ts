import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { systemClock } from '../clock.js'
import type { Clock } from '../ports.js'
import { type ReceivedRequest, type RequestLog, requestLog } from './receiver-log.js'
import { headerOf, requestReader, type WireRequest } from './receiver-request.js'
import { answerBytes, type Exchange, type Step, status } from './receiver-script.js'

/** Steps that answer one after the other, the last one for ever; or a function that chooses. */
export type Script = readonly Step[] | ((request: WireRequest & { readonly path: string }) => Step)

/** A real HTTP server on this machine that answers, or fails to, as its scripts say. */
export interface ScriptedReceiver {
  /** Listens; resolves to `url()`. After a `close` it listens on the same port again. */
  start(): Promise<string>
  /** The URL of a path (default `/`) on it. */
  url(path?: string): string
  /** Destroys every connection and stops listening; resolves when nothing is left. Whoever waits is rejected. */
  close(): Promise<void>
  /** Answers requests for this path (`*`: for every path without a script of its own) by this script from its start. */
  on(path: string, script: Script): void
  /** Every request seen, oldest first. */
  readonly requests: readonly ReceivedRequest[]
  /** Connections accepted since it was made, whether or not a request came. */
  readonly connections: number
  /** Connections that are open now. */
  readonly openConnections: number
  /** The next request, or the next `count`, that no `next` before has given out; waits until they were seen. */
  readonly next: RequestLog['next']
  /** The first request, seen already or not, that fits. */
  readonly received: RequestLog['received']
}

/** Options of `scriptedReceiver`. */
export interface ReceiverOptions {
  /** The script of every path that `on` does not name; default: 200 for ever. */
  readonly script?: Script
  /** An address of this machine to listen on, default 127.0.0.1. */
  readonly host?: string
  /** Default 0: a free one. */
  readonly port?: number
  /** For the times in the log and the pauses of steps; default the machine's. */
  readonly clock?: Clock
  /** Real milliseconds that `next` and `received` wait before they reject, default 10,000. */
  readonly patienceMs?: number
}

/**
 * A receiver for tests that use real sockets. It is made of plain TCP, so it can do what no HTTP library lets a
 * server do: reset, drip, flood, lie about lengths.
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
  const { host = '127.0.0.1', clock = systemClock(), patienceMs = 10_000 } = options
  const scripts = new Map<string, (request: WireRequest & { readonly path: string }) => Step>()
  const log = requestLog(patienceMs, () => `${connections} connections`)
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
      log.giveUp('the receiver was closed')
      if (!server) return
      const listening = server
      server = undefined
      // The server is closed a moment before the last of its sockets is.
      const closed = [listening.close(), ...sockets].map(
        (closing) => new Promise((resolve) => closing.once('close', resolve)),
      )
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
    },
    on: (path, script) => void scripts.set(path, chooser(script)),
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
    const gone = new AbortController()
    const read = requestReader()
    let answered: Promise<void> = Promise.resolve()

    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      gone.abort()
    })
    socket.on('data', (chunk) => {
      try {
        for (const request of read(chunk)) {
          // Pipelined requests are answered one after the other.
          const [entry, step] = enter(request, connection)
          answered = answered.then(() => answer(entry, step, socket, gone.signal))
        }
      } catch (thrown) {
        socket.end(refusal(400, thrown))
      }
    })
  }

  function enter(wire: WireRequest, connection: number): [ReceivedRequest, Step] {
    const [path = '', query = ''] = wire.target.split(/\?(.*)/s)
    const choose = scripts.get(path) ?? scripts.get('*')!
    const step = choose({ ...wire, path })
    const names = wire.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
    const entry: ReceivedRequest = {
      number: log.requests.length + 1,
      method: wire.method,
      path,
      query,
      headers: Object.fromEntries(names.map((name) => [name, headerOf(wire.rawHeaders, name)!])),
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

  async function answer(request: ReceivedRequest, step: Step, socket: Socket, gone: AbortSignal) {
    const exchange: Exchange = {
      request,
      gone,
      // Not before the event loop has turned: a step that writes in a loop would starve everybody else.
      write: (bytes) => new Promise((resolve) => void socket.write(bytes, () => setImmediate(resolve))),
      pause: (ms) => clock.sleep(ms, gone),
      end: () => void socket.end(),
      reset: () => void socket.resetAndDestroy(),
    }
    if (gone.aborted || !socket.writable) return
    try {
      await step.play(exchange)
      if (request.headers.connection?.toLowerCase() === 'close') socket.end()
    } catch (thrown) {
      socket.end(refusal(500, thrown))
    }
  }
}

/** What is said to no HTTP, and when a test's own step throws. */
function refusal(code: number, thrown: unknown): Buffer {
  return answerBytes(code, { headers: { connection: 'close' }, body: String(thrown) })
}

function chooser(script: Script): (request: WireRequest & { readonly path: string }) => Step {
  if (typeof script === 'function') return script
  if (script.length === 0) throw new RangeError('a script has at least one step')
  let played = 0
  return () => script[Math.min(played++, script.length - 1)]!
}
