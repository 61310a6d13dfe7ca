/** The listening socket of a fake and its open connections. */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

/** All fakes listen on loopback only. */
export const HOST = '127.0.0.1'

/** The listening socket and the connections of a fake. */
interface Listener {
  /** Listens; resolves to the port. After `refuse` it listens on the same port again. */
  listen(): Promise<number>
  /** @throws before the first `listen` */
  readonly port: number
  readonly sockets: ReadonlySet<Socket>
  /** Stops listening; open connections stay. */
  refuse(): void
  /** Stops listening and ends the connections; resolves when the other ends have read everything and closed theirs. */
  end(): Promise<void>
  /** Destroys the open connections. */
  cut(): void
  /** Stops listening and destroys the connections; resolves when all are closed. */
  close(): Promise<void>
}

/** Callbacks of a listener. */
interface ListenerEvents {
  readonly onConnection: (socket: Socket) => void
  readonly onClosed: (socket: Socket) => void
}

/**
 * @param createServer creates a server that does not listen yet
 * @param requestedPort 0: any free port
 */
export function createListener(
  createServer: () => Server,
  requestedPort: number,
  events: ListenerEvents,
): Listener {
  const sockets = new Set<Socket>()
  let listening: Server | undefined
  let port = requestedPort

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const whenAllClosed = () =>
    Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  const refuse = () => {
    listening?.close()
    listening = undefined
  }
  const accept = (socket: Socket) => {
    sockets.add(socket)
    // 'close' follows every error.
    socket.on('error', () => {})
    socket.once('close', () => {
      sockets.delete(socket)
      events.onClosed(socket)
    })
    events.onConnection(socket)
  }

  return {
    async listen() {
      if (listening) return port
      const server = createServer()
      server.on('connection', accept)
      server.listen(port, HOST)
      await once(server, 'listening')
      listening = server
      port = (server.address() as AddressInfo).port
      return port
    },
    get port() {
      if (port === 0) throw new Error('the fake has no port before start()')
      return port
    },
    sockets,
    refuse,
    async end() {
      refuse()
      const closed = whenAllClosed()
      for (const socket of sockets) socket.end()
      await closed
    },
    cut,
    async close() {
      refuse()
      const closed = whenAllClosed()
      cut()
      await closed
    },
  }
}

/** Resolves when the socket's write buffer is empty, or the socket is closed. */
export function waitForDrain(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain || socket.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
