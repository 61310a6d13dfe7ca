/** The connections of all origins: which is free, who waits, which must go. */
import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { Connect, Target } from './connect.js'
import type { Exchange, Holder } from './exchange.js'
import { connectError, noResponse, ownFault } from './failure.js'
import type { Place } from './places.js'

/** An idle connection is never kept longer, whatever the receiver's `keep-alive` header proposes. */
const MAX_KEEP_ALIVE_MS = 10_000
/** The parser's own timeouts, undici's coarse ones, fire this long after the deadline should have: a second net. */
const SECOND_NET_MS = 2_000
/** A request may find its kept connection gone before a byte is written; a second dial then is no retry. */
const MAX_DIALS = 2

/** The connections of one origin, and as a holder the queue for them. */
interface Origin extends Holder {
  readonly key: string
  readonly target: Target
  /** Whose request opened it, and whether others came since. */
  readonly group: string
  isShared: boolean
  /** The most recently used last. */
  readonly idle: Connection[]
  readonly busy: Set<Connection>
  readonly waiting: Set<Exchange>
}

interface Connection extends Holder {
  readonly origin: Origin
  readonly client: Client
  exchange: Exchange | undefined
  served: number
  dials: number
  stopDial: () => void
}

export interface PoolOptions {
  readonly connect: Connect
  readonly keepAliveMs?: number
  readonly maxPools?: number
  readonly maxPerOrigin?: number
  readonly maxIdle?: number
}

export interface Pools {
  /** Sends on a free connection, a new one, or as soon as one is free. */
  run(place: Place, exchange: Exchange): void
  /** Ends what a group has waiting or connecting; what is being written goes on. */
  withdraw(group: string): void
  /** Closes idle connections to origins that no other group has used. */
  rest(group: string): void
  close(): void
}

export function createPools(options: PoolOptions): Pools {
  const { connect, maxPools = 256, maxPerOrigin = 100, maxIdle = 512 } = options
  const keepAliveMs = Math.min(options.keepAliveMs ?? 4_000, MAX_KEEP_ALIVE_MS)
  const origins = new Map<string, Origin>()
  /** Origins of which nothing but idle connections is left, the least recently used first. */
  const resting = new Set<Origin>()
  /** Idle longest first. */
  const idle = new Set<Connection>()

  function originOf(place: Place, group: string): Origin {
    const known = origins.get(place.origin)
    if (known) {
      if (known.group !== group) known.isShared = true
      return known
    }
    const origin: Origin = {
      key: place.origin,
      target: place.target,
      group,
      isShared: false,
      idle: [],
      busy: new Set(),
      waiting: new Set(),
      served: undefined,
      released: (exchange) => origin.waiting.delete(exchange),
    }
    origins.set(origin.key, origin)
    return origin
  }

  /** An origin rests; the one that has rested longest goes where there are too many. One in use never does. */
  function rest(origin: Origin): void {
    resting.add(origin)
    const [longest] = resting
    if (resting.size > maxPools && longest) close(longest)
  }

  function close(origin: Origin): void {
    for (const connection of [...origin.idle]) drop(connection)
  }

  function open(origin: Origin): Connection {
    const client = new Client(origin.key, {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: 1_000,
      maxHeaderSize: 16 * 1024,
      connect(_, callback) {
        const { exchange } = connection
        if (!exchange || ++connection.dials > MAX_DIALS) {
          callback(connectError(noResponse('connection', 'the connection was lost before it was used')), null)
          return
        }
        const leftMs = Math.max(1, exchange.dueMs - performance.now())
        connection.stopDial = connect(origin.target, leftMs, (error, socket) => {
          if (error) callback(error, null)
          else callback(null, metered(socket!, connection))
        })
      },
    })
    const connection: Connection = {
      origin,
      client,
      exchange: undefined,
      served: 0,
      dials: 0,
      stopDial: () => {},
      released: (_, isReusable) => free(connection, isReusable),
    }
    client.on('disconnect', () => connection.exchange === undefined && drop(connection))
    // undici emits what a handler threw as 'error', which its types leave out; unheard, it would end the process.
    ;(client as EventEmitter).on('error', (error) => connection.exchange?.onError(error))
    return connection
  }

  function start(connection: Connection, exchange: Exchange): void {
    connection.origin.busy.add(connection)
    connection.exchange = exchange
    connection.dials = 0
    exchange.holder = connection
    const { method, headers, body, deadlineMs } = exchange.request
    const request = {
      method,
      path: exchange.path,
      headers: headers as string[],
      body: body ?? null,
      idempotent: false,
      headersTimeout: deadlineMs + SECOND_NET_MS,
      bodyTimeout: deadlineMs + SECOND_NET_MS,
    }
    connection.client.dispatch(request, exchange as unknown as Dispatcher.DispatchHandler)
  }

  /** After an exchange: a whole answer leaves the connection to others, all else ends it. */
  function free(connection: Connection, isReusable: boolean): void {
    const { origin } = connection
    connection.exchange = undefined
    connection.served += 1
    origin.busy.delete(connection)
    if (!isReusable) {
      serve(origin)
      drop(connection)
      return
    }
    origin.idle.push(connection)
    idle.add(connection)
    if (origin.waiting.size > 0) serve(origin)
    if (origin.busy.size === 0) rest(origin)
    const [oldest] = idle
    if (idle.size > maxIdle && oldest) drop(oldest)
  }

  /** Starts the request that waits longest, where there is a place for it. */
  function serve(origin: Origin): void {
    const [next] = origin.waiting
    if (!next) return
    const connection = take(origin)
    if (!connection) return
    origin.waiting.delete(next)
    start(connection, next)
  }

  /** A connection that is free, or a new one where there may be one more. */
  function take(origin: Origin): Connection | undefined {
    resting.delete(origin)
    const connection = origin.idle.pop()
    if (!connection) return origin.busy.size < maxPerOrigin ? open(origin) : undefined
    idle.delete(connection)
    return connection
  }

  /** Closes a connection that serves nobody. */
  function drop(connection: Connection): void {
    const { origin } = connection
    if (idle.delete(connection)) origin.idle.splice(origin.idle.indexOf(connection), 1)
    connection.stopDial()
    if (!connection.client.destroyed) void connection.client.destroy()
    if (origin.busy.size > 0 || origin.idle.length > 0 || origin.waiting.size > 0) return
    resting.delete(origin)
    if (origins.get(origin.key) === origin) origins.delete(origin.key)
  }

  return {
    run(place, exchange) {
      const origin = originOf(place, exchange.request.group)
      const connection = take(origin)
      if (connection) start(connection, exchange)
      else {
        exchange.holder = origin
        origin.waiting.add(exchange)
      }
    },
    withdraw(group) {
      const isOf = (exchange: Exchange | undefined) => exchange?.request.group === group
      for (const { waiting, busy } of [...origins.values()]) {
        // Those that wait first: they must not take the place of one that is ended.
        for (const exchange of [...waiting]) if (isOf(exchange)) exchange.withdraw()
        for (const { exchange } of [...busy]) if (isOf(exchange)) exchange?.withdraw()
      }
    },
    rest(group) {
      for (const origin of [...origins.values()]) {
        if (!origin.isShared && origin.group === group) close(origin)
      }
    },
    close() {
      const closing = ownFault('the sender is closing')
      for (const { waiting, busy } of [...origins.values()]) {
        for (const exchange of [...waiting]) exchange.abandon(closing)
        for (const { exchange } of [...busy]) exchange?.abandon(closing)
      }
      for (const connection of [...idle]) drop(connection)
    },
  }
}

/** The socket, of which the parser gets no more than the exchange may take. */
function metered(socket: Socket, connection: Connection): Socket {
  const { read } = socket
  socket.read = (size?: number) =>
    // With a size it is node itself that asks.
    connection.exchange && size === undefined
      ? connection.exchange.take(socket, read)
      : read.call(socket, size)
  return socket
}
