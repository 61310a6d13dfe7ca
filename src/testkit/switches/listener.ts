import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

/** All fakes listen here: they are for this machine alone. */
export const HOST = '127.0.0.1'

/** The connections of a fake. */
export interface Listener {
  /** Listens; resolves to the port. On the same port again after `refuse`. */
  listen(): Promise<number>
  /** @throws before the first `listen` */
  readonly port: number
  readonly sockets: ReadonlySet<Socket>
  /** New connections are refused; those that are open stay. */
  refuse(): void
  /** Destroys those that are open. */
  cut(): void
  /** Both; resolves when nothing is left. */
  close(): Promise<void>
}

/** What a listener tells of. */
export interface ListenerEvents {
  readonly onConnection: (socket: Socket) => void
  readonly onGone: (socket: Socket) => void
}

/**
 * @param server makes one that does not listen yet
 * @param wanted a port, 0: a free one
 */
export function listener(server: () => Server, wanted: number, events: ListenerEvents): Listener {
  const sockets = new Set<Socket>()
  let listening: Server | undefined
  let port = wanted

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const refuse = () => {
    listening?.close()
    listening = undefined
  }
  const take = (socket: Socket) => {
    sockets.add(socket)
    // What comes of an error is the close.
    socket.on('error', () => {})
    socket.once('close', () => {
      sockets.delete(socket)
      events.onGone(socket)
    })
    events.onConnection(socket)
  }

  return {
    async listen() {
      if (listening) return port
      const made = server()
      made.on('connection', take)
      made.listen(port, HOST)
      await once(made, 'listening')
      listening = made
      port = (made.address() as AddressInfo).port
      return port
    },
    get port() {
      if (port === 0) throw new Error('the fake has no port before start()')
      return port
    },
    sockets,
    refuse,
    cut,
    async close() {
      refuse()
      const gone = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
      cut()
      await Promise.all(gone)
    },
  }
}

/** Resolves when what was written has left for the client, or the client is gone. */
export function drained(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain || socket.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
