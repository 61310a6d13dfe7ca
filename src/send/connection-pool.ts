/**
 * The connection pool for all origins: assigns requests to connections, queues requests above the limit per origin, and
 * closes idle connections above the limits. Each connection is one undici `Client`: undici's `Pool` and `Agent` neither cancel a
 * queued request nor bound idle sockets over all origins. The limit counts idle connections only, so those of receivers that
 * answer survive while thousands of dead receivers are dialled.
 */
import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { Connector, ConnectProgress, Target } from './connect.js'
import { noResponse, ownFault, wrapSendFailure } from './error-classifier.js'
import type { Exchange, ExchangeOwner } from './exchange.js'
import { ResponseHeadDecoder } from './response-head.js'
import type { ParsedTarget } from './target-cache.js'

/** Limit for keeping an idle connection, whatever the receiver's `keep-alive` header proposes. */
const MAX_KEEP_ALIVE_MS = 10_000
/** The parser's own, coarse timeouts fire this long after the deadline: a second safety net. */
const SAFETY_NET_MS = 2_000
/** A request may find its kept connection closed before a byte is written; connecting again then is not a retry. */
const MAX_CONNECTS = 2

/** The connections of one origin. As an exchange owner, it is the queue of requests that wait for a connection. */
interface Origin extends ExchangeOwner {
  readonly key: string
  readonly target: Target
  /** The group of the first request. */
  readonly group: string
  /** Whether another group has used the origin since. */
  isShared: boolean
  /** The most recently used last. */
  readonly idle: Connection[]
  readonly busy: Set<Connection>
  readonly waiting: Set<Exchange>
}

interface Connection extends ExchangeOwner, ConnectProgress {
  readonly origin: Origin
  readonly client: Client
  exchange: Exchange | undefined
  /** Requests that the present connection has served. */
  served: number
  /** Connects for the current exchange. */
  connects: number
  phase: ConnectProgress['phase']
  socketError: unknown
  dialled: ConnectProgress['dialled']
  abortConnect: () => void
}

interface ConnectionPoolOptions {
  readonly connect: Connector
  readonly keepAliveMs?: number
  readonly maxPools?: number
  readonly maxPerOrigin?: number
  readonly maxIdle?: number
}

interface ConnectionPool {
  /** Sends on an idle connection, on a new one, or as soon as one is free. */
  dispatch(target: ParsedTarget, exchange: Exchange): void
  /** Cancels a group's requests that are waiting or connecting; requests being written continue. */
  cancel(group: string): void
  /** Closes idle connections to origins that no other group has used. */
  releaseIdle(group: string): void
  close(): void
}

export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { connect, maxPools = 256, maxPerOrigin = 100, maxIdle = 512 } = options
  const keepAliveMs = Math.min(options.keepAliveMs ?? 4_000, MAX_KEEP_ALIVE_MS)
  const origins = new Map<string, Origin>()
  /** Origins that have only idle connections, the least recently used first. */
  const idleOrigins = new Set<Origin>()
  /** The longest idle first. */
  const idleConnections = new Set<Connection>()

  function getOrCreateOrigin({ origin: key, target }: ParsedTarget, group: string): Origin {
    const existing = origins.get(key)
    if (existing) {
      if (existing.group !== group) existing.isShared = true
      return existing
    }
    const origin: Origin = {
      key,
      target,
      group,
      isShared: false,
      idle: [],
      busy: new Set(),
      waiting: new Set(),
      served: undefined,
      phase: undefined,
      socketError: undefined,
      dialled: undefined,
      headDecoder: new ResponseHeadDecoder(),
      onEnd: (exchange) => origin.waiting.delete(exchange),
    }
    origins.set(key, origin)
    return origin
  }

  /** Marks an origin as idle, and evicts the least recently used idle origin above the limit. */
  function markIdle(origin: Origin): void {
    idleOrigins.add(origin)
    if (idleOrigins.size <= maxPools) return
    const [oldest] = idleOrigins
    closeIdleConnections(oldest!)
  }

  function closeIdleConnections(origin: Origin): void {
    for (const connection of [...origin.idle]) closeConnection(connection)
  }

  function openConnection(origin: Origin): Connection {
    const client = new Client(origin.key, {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: 1_000,
      maxHeaderSize: 16 * 1024,
      connect(_, callback) {
        const { exchange } = connection
        connection.served = 0
        connection.socketError = undefined
        if (!exchange || ++connection.connects > MAX_CONNECTS) {
          const failure = noResponse('connection', 'reset', 'the connection was lost before it was used')
          callback(wrapSendFailure(failure), null)
          return
        }
        const leftMs = Math.max(1, exchange.dueMs - performance.now())
        connection.abortConnect = connect(origin.target, leftMs, connection, (error, socket) => {
          if (error) callback(error, null)
          else callback(null, watch(socket!, connection))
        })
      },
    })
    const connection: Connection = {
      origin,
      client,
      headDecoder: origin.headDecoder,
      exchange: undefined,
      served: 0,
      connects: 0,
      phase: 'name',
      socketError: undefined,
      dialled: 'unresolved',
      abortConnect: () => {},
      onEnd: (_, isReusable) => release(connection, isReusable),
    }
    client.on('disconnect', () => connection.exchange === undefined && closeConnection(connection))
    // undici emits what a handler threw as 'error', which its types omit. Without a listener it would end the process.
    ;(client as EventEmitter).on('error', (error) => connection.exchange?.onError(error))
    return connection
  }

  function start(connection: Connection, exchange: Exchange): void {
    connection.origin.busy.add(connection)
    connection.exchange = exchange
    connection.connects = 0
    exchange.owner = connection
    const { method, headers, body, deadlineMs } = exchange.request
    const request = {
      method,
      path: exchange.path,
      headers: headers as string[],
      body: body ?? null,
      idempotent: false,
      headersTimeout: deadlineMs + SAFETY_NET_MS,
      bodyTimeout: deadlineMs + SAFETY_NET_MS,
    }
    connection.client.dispatch(request, exchange as unknown as Dispatcher.DispatchHandler)
  }

  /** After an exchange: keeps a reusable connection, closes any other. */
  function release(connection: Connection, isReusable: boolean): void {
    const { origin } = connection
    connection.exchange = undefined
    connection.served += 1
    origin.busy.delete(connection)
    if (!isReusable) {
      startNextWaiting(origin)
      closeConnection(connection)
      return
    }
    origin.idle.push(connection)
    idleConnections.add(connection)
    if (origin.waiting.size > 0) startNextWaiting(origin)
    if (origin.busy.size === 0) markIdle(origin)
    if (idleConnections.size <= maxIdle) return
    const [oldest] = idleConnections
    closeConnection(oldest!)
  }

  /** Starts the longest-waiting request, if a connection is available for it. */
  function startNextWaiting(origin: Origin): void {
    const [next] = origin.waiting
    if (!next) return
    const connection = acquire(origin, next)
    if (!connection) return
    origin.waiting.delete(next)
    start(connection, next)
  }

  /** An idle connection, or a new one below the limit. */
  function acquire(origin: Origin, { repeats }: Exchange): Connection | undefined {
    idleOrigins.delete(origin)
    const connection = repeats ? undefined : origin.idle.pop()
    if (!connection) return origin.busy.size < maxPerOrigin ? openConnection(origin) : undefined
    idleConnections.delete(connection)
    return connection
  }

  /** Closes a connection that has no exchange, and forgets its origin with the last one. */
  function closeConnection(connection: Connection): void {
    const { origin } = connection
    if (idleConnections.delete(connection)) origin.idle.splice(origin.idle.indexOf(connection), 1)
    connection.abortConnect()
    if (!connection.client.destroyed) void connection.client.destroy()
    if (origin.busy.size > 0 || origin.idle.length > 0 || origin.waiting.size > 0) return
    idleOrigins.delete(origin)
    if (origins.get(origin.key) === origin) origins.delete(origin.key)
  }

  return {
    dispatch(target, exchange) {
      const origin = getOrCreateOrigin(target, exchange.request.group)
      const connection = acquire(origin, exchange)
      if (connection) start(connection, exchange)
      else {
        exchange.owner = origin
        origin.waiting.add(exchange)
      }
    },
    cancel(group) {
      const isOf = (exchange: Exchange | undefined) => exchange?.request.group === group
      for (const { waiting, busy } of [...origins.values()]) {
        // Waiting requests first: they must not take over the connection of a cancelled one.
        for (const exchange of [...waiting]) if (isOf(exchange)) exchange.cancel()
        for (const { exchange } of [...busy]) if (isOf(exchange)) exchange?.cancel()
      }
    },
    releaseIdle(group) {
      for (const origin of [...origins.values()]) {
        if (!origin.isShared && origin.group === group) closeIdleConnections(origin)
      }
    },
    close() {
      const closing = ownFault('the sender is closing')
      for (const { waiting, busy } of [...origins.values()]) {
        for (const exchange of [...waiting]) exchange.abandon(closing)
        for (const { exchange } of [...busy]) exchange?.abandon(closing)
      }
      for (const connection of [...idleConnections]) closeConnection(connection)
    },
  }
}

/** Makes the parser read from the socket what the exchange gives it, and keeps the first error of the socket. */
function watch(socket: Socket, connection: Connection): Socket {
  const { read } = socket
  socket.once('error', (error) => {
    connection.socketError = error
  })
  socket.read = (size?: number) =>
    // Calls with a size come from Node itself.
    connection.exchange && size === undefined
      ? connection.exchange.read(socket, read)
      : read.call(socket, size)
  return socket
}
