/** The WebSocket service: handshakes and their limits, the session of each socket, and the end of all. */
import { randomBytes } from 'node:crypto'
import http from 'node:http'
import type { Duplex } from 'node:stream'
import type { Hookswitch, PublishedEvent } from 'hookswitch'
import { limitLog, rateLimitSource, safeLog } from 'hookswitch/adapter'
import type { WebSocket } from 'ws'
import { createEventWatches } from './event-watches.js'
import { refusal, refuse } from './handshake.js'
import type { ServerConstructor } from './load-ws.js'
import { createOpenSockets } from './open-sockets.js'
import type { BlackholeSettings } from './options.js'
import { CLOSE, Session } from './session.js'

/** The part of a hookswitch instance that the service uses. */
export interface BlackholeSource {
  /** Checks tokens. */
  readonly auth: Pick<Hookswitch['auth'], 'authenticate' | 'authorize'>
  /** Calls back with the accepted events of an account. Returns a function that ends it. */
  watchEvents(accountId: string, listener: (event: PublishedEvent) => unknown): () => void
  /** Opaque id of this process, sent as `node`. */
  readonly node?: string
}

/** A WebSocket service. */
export interface Blackhole {
  /**
   * Takes over the WebSocket handshakes of a server, on every path. Servers with further WebSockets pass on handshakes by
   * `handleUpgrade` instead. `close` ends this.
   */
  attach(server: http.Server): void
  /**
   * Creates a server, not yet listening, that serves WebSockets on every path and nothing else. `close` closes it. KAZOO's port
   * is 5555.
   */
  createServer(): http.Server
  /** Responds to one handshake: the arguments of a server's event `upgrade`. */
  handleUpgrade(request: http.IncomingMessage, socket: Duplex, head: Buffer): void
  /** Open sockets. */
  readonly socketCount: number
  /**
   * Closes the sockets with code 1001, and cuts those that do not respond within 2 s. Further handshakes get 503. Further calls
   * resolve with the first. To be called before `close` of the hookswitch instance.
   */
  close(): Promise<void>
}

/** Longest wait for a client to close its side, ms. */
const CLOSE_MS = 2_000
/** Connections of `createServer` that are no sockets: handshakes, and those that are refused. */
const SPARE_CONNECTIONS = 64
/** Limits for the request that begins a socket, as in `createServer` of hookswitch/node. */
const SERVER_LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 }
/** Silence after which the operating system probes a connection, so that a client that vanished is noticed, ms. */
const KEEP_ALIVE_MS = 60_000

export function createBlackholeService(
  hs: BlackholeSource,
  settings: BlackholeSettings,
  WebSocketServer: ServerConstructor,
): Blackhole {
  const { clock, maxSockets, maxSocketsPerAddress } = settings
  const { auth, node = '' } = hs
  const log = limitLog(safeLog(settings.log), clock)
  const handshakes = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: settings.maxFrameBytes,
  })
  const open = createOpenSockets(clock)
  const watches = createEventWatches(hs, node)
  const attached = new Set<http.Server>()
  const own = new Set<http.Server>()
  let closing: Promise<void> | undefined

  const refuseWith = (socket: Duplex, status: number) => refuse(socket, refusal(status, node, clock.now()))
  handshakes.on('wsClientError', (_error, socket) => refuseWith(socket, 400))

  function addressOf(request: http.IncomingMessage): string {
    const forwarded = request.headers['x-forwarded-for']
    const header = Array.isArray(forwarded) ? forwarded.join(', ') : forwarded
    return settings.addressOf(request.socket.remoteAddress, header) ?? ''
  }

  function refusalStatus({ headers }: http.IncomingMessage, source: string): number | undefined {
    if (closing || open.size >= maxSockets) return 503
    // KAZOO serves no sub-protocol.
    if (headers['sec-websocket-protocol'] !== undefined) return 400
    return open.countOf(source) >= maxSocketsPerAddress ? 429 : undefined
  }

  function handleUpgrade(request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = addressOf(request)
    const status = refusalStatus(request, rateLimitSource(address))
    if (status !== undefined) {
      refuseWith(socket, status)
      return
    }
    handshakes.handleUpgrade(request, socket, head, (webSocket) => {
      request.socket.setKeepAlive(true, KEEP_ALIVE_MS)
      openSession(webSocket, address)
    })
  }

  function openSession(socket: WebSocket, address: string): void {
    const closed = new AbortController()
    const session = new Session({
      auth,
      clock,
      settings,
      address,
      socket: {
        get bufferedAmount() {
          return socket.bufferedAmount
        },
        send: (text) => socket.send(text),
        close(code, reason) {
          socket.close(code, reason)
          void clock.sleep(CLOSE_MS, closed.signal).then(() => socket.terminate())
        },
      },
      newRequestId: () => randomBytes(16).toString('hex'),
      onAccount: (accountId, isBound) =>
        isBound ? watches.bind(session, accountId) : watches.unbind(session, accountId),
      onEnd(code, reason) {
        if (code === CLOSE.slow[0]) log.warn({ address, code, reason }, 'a WebSocket was closed')
      },
    })
    const remove = open.add(session, rateLimitSource(address))
    socket.on('message', (data, isBinary) => session.receive(isBinary ? undefined : data.toString()))
    socket.on('ping', () => session.touch())
    socket.on('pong', () => session.touch())
    // The close event follows, with the code: 1009 for a frame above the limit, 1002 or 1007 for a broken one.
    socket.on('error', () => {})
    socket.on('close', () => {
      closed.abort()
      session.closed()
      remove()
    })
  }

  async function shutDown(): Promise<void> {
    await open.endAll()
    for (const server of attached) server.off('upgrade', handleUpgrade)
    await Promise.all([...own].map(closeServer))
    log.close()
  }

  return {
    attach(server) {
      if (attached.has(server)) return
      attached.add(server)
      server.on('upgrade', handleUpgrade)
    },
    createServer() {
      const server = http.createServer(SERVER_LIMITS, (_request, response) => {
        const { status, headers, body } = refusal(426, node, clock.now(), { upgrade: 'websocket' })
        response.writeHead(status, { ...headers, connection: 'Upgrade, close' }).end(body)
      })
      server.maxConnections = maxSockets + SPARE_CONNECTIONS
      server.on('upgrade', handleUpgrade)
      own.add(server)
      return server
    },
    handleUpgrade,
    get socketCount() {
      return open.size
    },
    close() {
      closing ??= shutDown()
      return closing
    },
  }
}

function closeServer(server: http.Server): Promise<void> {
  if (!server.listening) return Promise.resolve()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
