/**
 * The default sender, over undici's `Client`: one client is one connection, and one connection carries one request at a
 * time.
 *
 * undici's own pools are not used, because they cannot cancel a request that waits or connects, have no limit over all
 * origins, and do not report which connection serves a request. At this level there
 * is no HTTP/2, and there are no proxy variables, cookies, redirects, decompression or retries to be disabled.
 */

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Connected, DefaultSender, Resolver, SendRequest } from '../ports.js'
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import type { ForwardProxy, TlsOptions } from '../values/tls-and-proxy.js'
import { type ConnectProgress, createConnector } from './connect.js'
import { createConnectionPool } from './connection-pool.js'
import { classifyError, noResponse, ownFault, type SendFailure } from './error-classifier.js'
import { Exchange, UNFINISHED } from './exchange.js'
import { createTargetCache, type ParsedTarget } from './target-cache.js'
import { createTimerBuckets } from './timer-buckets.js'

export interface SenderOptions {
  readonly addressPolicy: CompiledAddressPolicy
  /** Resolves host names. The sender does not close it. */
  readonly resolver: Resolver
  /** How long an idle connection is kept when the receiver sends no hint, in ms. Default 4,000; at most 10,000. */
  readonly keepAliveMs?: number
  /** Idle origins that keep connections. Default 256; the least recently used is closed first. */
  readonly maxPools?: number
  /** Connections per origin. Default 100; further requests wait within their deadline. */
  readonly maxPerOrigin?: number
  /** Idle connections in total. Default 512. */
  readonly maxIdle?: number
  /** TLS options for all receivers, and for an https proxy. */
  readonly tls?: TlsOptions | undefined
  /** The proxy that all connections use. */
  readonly proxy?: ForwardProxy | undefined
}

const connected = (certificateValidToMs: number | undefined): Connected => ({
  kind: 'connected',
  ...(certificateValidToMs !== undefined && { certificateValidToMs }),
})

function validToMsOf(socket: TLSSocket): number | undefined {
  const validToMs = Date.parse(socket.getPeerX509Certificate()?.validTo ?? '')
  return Number.isNaN(validToMs) ? undefined : validToMs
}

type OnEnd = Parameters<DefaultSender['sendWithCallback']>[1]

const REPEATED = 'the receiver closed the connection; sent again on a new one'

/** Says that the request was sent twice. `first` is what became of it before. */
const afterRepeat =
  (onEnd: OnEnd, ...first: Parameters<OnEnd>): OnEnd =>
  (observation, dialled) => {
    if (observation.kind === 'response') onEnd({ note: REPEATED, ...observation }, dialled)
    else if (observation.kind === 'no_response')
      onEnd({ ...observation, isSent: true, detail: `${REPEATED}: ${observation.detail}` }, dialled)
    // It was not sent again.
    else onEnd(...first)
  }

/**
 * Creates the sender. Opens nothing before the first request. `send` never rejects; neither it nor `sendWithCallback`
 * throws.
 *
 * @throws the error of `node:tls` for invalid `tls` options
 */
export function createSender(options: SenderOptions): DefaultSender {
  const sockets = new Set<Socket>()
  /** Each ends a connection that is made without a request. */
  const connecting = new Set<() => void>()
  const timerBuckets = createTimerBuckets()
  let onAllClosed = () => {}
  let isClosed = false

  const connector = createConnector({
    addressPolicy: options.addressPolicy,
    resolver: options.resolver,
    tls: options.tls,
    proxy: options.proxy,
    onSocket(socket) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        if (sockets.size === 0) onAllClosed()
      })
    },
  })
  const targetOf = createTargetCache(options.addressPolicy)
  const pool = createConnectionPool({ ...options, connect: connector })

  function start(request: SendRequest, onEnd: OnEnd): void {
    const target = isClosed ? ownFault('the sender is closed') : targetOf(request.url)
    if ('kind' in target) {
      onEnd(target)
      return
    }
    const exchange = new Exchange(request, target.path, timerBuckets, (observation, dialled) => {
      if (!exchange.isStale || !request.isRepeatable || isClosed) return onEnd(observation, dialled)
      const again = afterRepeat(onEnd, observation, dialled)
      dispatch(target, new Exchange(request, target.path, timerBuckets, again, exchange))
    })
    dispatch(target, exchange)
  }

  function dispatch(target: ParsedTarget, exchange: Exchange): void {
    try {
      pool.dispatch(target, exchange)
    } catch (error) {
      exchange.abandon(classifyError(error))
    }
  }

  function sendWithCallback(request: SendRequest, onEnd: OnEnd): void {
    try {
      start(request, onEnd)
    } catch (error) {
      onEnd(noResponse('protocol', 'request_invalid', String(error)))
    }
  }

  async function connect(url: string, timeoutMs: number): Promise<Connected | SendFailure> {
    const parsed = isClosed ? ownFault('the sender is closed') : targetOf(url)
    if ('kind' in parsed) return parsed
    const progress: ConnectProgress = { phase: 'name', dialled: 'unresolved' }
    return new Promise((resolve) => {
      const end = (result: Connected | SendFailure) => {
        clearTimeout(timer)
        connecting.delete(onClose)
        abort()
        resolve(result)
      }
      const onClose = () => end(ownFault('the sender is closing'))
      const timer = setTimeout(() => {
        const { phase } = progress
        end(noResponse('timeout', `timeout_${phase}`, `${UNFINISHED[phase]} within ${timeoutMs} ms`))
      }, timeoutMs)
      const abort = connector(parsed.target, timeoutMs, progress, (error, socket) => {
        const validToMs = parsed.target.secure && socket ? validToMsOf(socket as TLSSocket) : undefined
        socket?.destroy()
        end(error ? classifyError(error) : connected(validToMs))
      })
      connecting.add(onClose)
    })
  }

  return {
    sendWithCallback,
    connect,
    send: (request) => new Promise((resolve) => sendWithCallback(request, resolve)),
    cancel: pool.cancel,
    releaseIdle: pool.releaseIdle,
    async close() {
      isClosed = true
      for (const end of connecting) end()
      pool.close()
      timerBuckets.close()
      if (sockets.size > 0) {
        await new Promise<void>((resolve) => {
          onAllClosed = resolve
        })
      }
    },
  }
}
