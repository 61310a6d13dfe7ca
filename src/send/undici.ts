/**
 * The default sender, over undici's `Client`: one client is one connection, one connection carries one request.
 *
 * Used below its pools because those give no hold on a request that waits or connects (its deadline could not end it),
 * no bound over all origins, and no word on which connection serves whom. No HTTP/2, no proxy variables, no cookies, no
 * redirects, no inflating and no retries are there to be switched off at this level.
 */

import type { Socket } from 'node:net'
import type { Observation, Resolver, Sender, SendRequest } from '../ports.js'
import type { CompiledPolicy } from '../values/address-policy.js'
import type { ForwardProxy, TlsOptions } from '../values/way-out.js'
import { createConnect } from './connect.js'
import { createDeadlines } from './deadlines.js'
import { Exchange } from './exchange.js'
import { judgeError, noResponse, ownFault } from './failure.js'
import { createPlaces } from './places.js'
import { createPools } from './pools.js'

export interface SenderOptions {
  /** The address guard. */
  readonly policy: CompiledPolicy
  /** The DNS door. The sender does not close it. */
  readonly resolver: Resolver
  /** How long an idle connection is kept in ms where the receiver says nothing, default 4,000; never above 10,000. */
  readonly keepAliveMs?: number
  /** Origins with open connections, default 256. The least recently used goes first, never one in use. */
  readonly maxPools?: number
  /** Connections to one origin, default 100; further requests wait within their deadline. */
  readonly maxPerOrigin?: number
  /** Idle connections to all origins, default 512. */
  readonly maxIdle?: number
  /** For all receivers, and for a proxy that is spoken to over TLS. */
  readonly tls?: TlsOptions | undefined
  /** What every connection goes through. */
  readonly proxy?: ForwardProxy | undefined
}

/** Makes the sender. Opens nothing until the first `send`; `send` never rejects and never throws. Throws for bad `tls`. */
export function createSender(options: SenderOptions): Required<Sender> {
  const sockets = new Set<Socket>()
  const deadlines = createDeadlines()
  let emptied = () => {}
  let isClosed = false

  const connect = createConnect({
    policy: options.policy,
    resolver: options.resolver,
    tls: options.tls,
    proxy: options.proxy,
    opened(socket) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        if (sockets.size === 0) emptied()
      })
    },
  })
  const locate = createPlaces(options.policy)
  const pools = createPools({ ...options, connect })

  function start(request: SendRequest, resolve: (seen: Observation) => void): void {
    const place = isClosed ? ownFault('the sender is closed') : locate(request.url)
    if ('kind' in place) {
      resolve(place)
      return
    }
    const exchange = new Exchange(request, place.path, deadlines, resolve)
    try {
      pools.run(place, exchange)
    } catch (error) {
      exchange.abandon(judgeError(error))
    }
  }

  return {
    send: (request) =>
      new Promise((resolve) => {
        try {
          start(request, resolve)
        } catch (error) {
          resolve(noResponse('protocol', String(error)))
        }
      }),
    withdraw: pools.withdraw,
    rest: pools.rest,
    async close() {
      isClosed = true
      pools.close()
      deadlines.close()
      if (sockets.size > 0) {
        await new Promise<void>((resolve) => {
          emptied = resolve
        })
      }
    },
  }
}
