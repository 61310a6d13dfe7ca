/** The connections of all origins: which is free, who waits, which must go. */
import type { EventEmitter } from 'node:events'
import { Client, type Dispatcher } from 'undici'
import type { CompiledPolicy } from '../values/address-policy.js'
import { parseUrl } from '../values/parse-url.js'
import { MAX_URI_LENGTH } from '../values/uri.js'
import type { Connect, Target } from './connect.js'
import type { Exchange, Holder } from './exchange.js'
import { connectError, type NoAnswer, noResponse, ownFault } from './failure.js'

/** An idle connection is never kept longer, whatever the receiver's `keep-alive` header proposes. */
const MAX_KEEP_ALIVE_MS = 10_000
/** The parser's own timeouts, undici's coarse ones, fire this long after the deadline should have: a second net. */
const SECOND_NET_MS = 2_000
/** A request may find its kept connection gone before a byte is written; a second dial then is no retry. */
const MAX_DIALS = 2

/** URLs whose parts are remembered: the same few endpoints are called over and over. */
const MAX_PLACES = 1_000

/** Where a URL leads, parsed and judged. */
export interface Place {
  readonly origin: string
  readonly path: string
  readonly target: Target
}

/** The connections of one origin, and as a holder the queue for them. */
interface Origin extends Holder {
  readonly key: string
  readonly target: Target
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
  readonly policy: CompiledPolicy
  readonly connect: Connect
  readonly keepAliveMs?: number
  readonly maxPools?: number
  readonly maxPerOrigin?: number
  readonly maxIdle?: number
}

export interface Pools {
  /** Where a URL leads, or why it is not to be called: the first gate. */
  locate(url: string): Place | NoAnswer
  /** Sends on a free connection, a new one, or as soon as one is free. */
  run(place: Place, exchange: Exchange): void
  close(): void
}

export function createPools(options: PoolOptions): Pools {
  const { connect, policy, maxPools = 256, maxPerOrigin = 100, maxIdle = 512 } = options
  const keepAliveMs = Math.min(options.keepAliveMs ?? 4_000, MAX_KEEP_ALIVE_MS)
  const places = new Map<string, Place | NoAnswer>()
  /** Least recently used first. */
  const origins = new Map<string, Origin>()
  /** Idle longest first. */
  const idle = new Set<Connection>()

  function originOf(place: Place): Origin {
    const known = origins.get(place.origin)
    if (known && origins.size === 1) return known
    const origin: Origin = known ?? {
      key: place.origin,
      target: place.target,
      idle: [],
      busy: new Set(),
      waiting: new Set(),
      served: undefined,
      released: (exchange) => origin.waiting.delete(exchange),
    }
    origins.delete(origin.key)
    origins.set(origin.key, origin)
    if (origins.size > maxPools) evict()
    return origin
  }

  function evict(): void {
    for (const origin of origins.values()) {
      if (origin.busy.size > 0 || origin.waiting.size > 0 || origin.idle.length === 0) continue
      for (const connection of [...origin.idle]) drop(connection)
      return
    }
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
          else callback(null, socket!)
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

  /** After an exchange: the one that waits longest is next, on this connection or a new one in its place. */
  function free(connection: Connection, isReusable: boolean): void {
    const { origin } = connection
    connection.exchange = undefined
    connection.served += 1
    origin.busy.delete(connection)
    const [next] = origin.waiting
    if (next) {
      origin.waiting.delete(next)
      start(isReusable ? connection : open(origin), next)
    } else if (isReusable) {
      origin.idle.push(connection)
      idle.add(connection)
    }
    const [oldest] = idle
    if (!isReusable) drop(connection)
    else if (idle.size > maxIdle && oldest) drop(oldest)
  }

  /** Closes a connection that serves nobody. */
  function drop(connection: Connection): void {
    const { origin } = connection
    if (idle.delete(connection)) origin.idle.splice(origin.idle.indexOf(connection), 1)
    connection.stopDial()
    if (!connection.client.destroyed) void connection.client.destroy()
    const isEmpty = origin.busy.size === 0 && origin.idle.length === 0 && origin.waiting.size === 0
    if (isEmpty && origins.get(origin.key) === origin) origins.delete(origin.key)
  }

  return {
    locate(url) {
      const known = places.get(url)
      if (known) return known
      const place = parsePlace(url, policy)
      if (places.size >= MAX_PLACES) places.clear()
      // A longer one carries a payload as its query and will not come again.
      if (url.length <= MAX_URI_LENGTH) places.set(url, place)
      return place
    },
    run(place, exchange) {
      const origin = originOf(place)
      const connection = origin.idle.pop()
      if (connection) {
        idle.delete(connection)
        start(connection, exchange)
      } else if (origin.busy.size < maxPerOrigin) start(open(origin), exchange)
      else {
        exchange.holder = origin
        origin.waiting.add(exchange)
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

function parsePlace(text: string, policy: CompiledPolicy): Place | NoAnswer {
  const url = parseUrl(text)
  const secure = url?.protocol === 'https:'
  if (!url || (!secure && url.protocol !== 'http:'))
    return noResponse('blocked_address', 'not an http or https URL')
  const verdict = policy.judgeHost(url.hostname)
  if (verdict.blocked) return noResponse('blocked_address', `the host is ${verdict.reason}`)
  const port = Number(url.port) || (secure ? 443 : 80)
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    target: { hostname: url.hostname, port, secure },
  }
}
