/**
 * Connects to a host name, subject to the address policy.
 *
 * Three checks, in this order: the host as the URL spells it (a lookup hook would never see a literal address); every
 * address of the DNS answer (one blocked address rejects all of them, since a mixed answer suggests an attack); and the
 * connector, which receives only the approved addresses. A name is resolved for each connection and never cached, so
 * that the checked addresses are the ones connected to. A proxy comes after the checks, in place of the TCP connection.
 * At most `CONNECTIONS_PER_TURN` connections begin in one turn of the event loop, in the order of the requests.
 */
import type { Socket } from 'node:net'
import type { Dialled, Resolver } from '../ports.js'
import { networkOf, parseAddress } from '../values/address.js'
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import type { ForwardProxy, TlsOptions } from '../values/tls-and-proxy.js'
import { classifyError, noResponse, ownFault, type SendFailure, wrapSendFailure } from './error-classifier.js'
import { type ConnectResult, connectHappyEyeballs, raceAddresses } from './happy-eyeballs.js'
import { createPacedStarts } from './paced-starts.js'
import { connectThroughProxy } from './proxy.js'
import { safeResolve } from './safe-resolve.js'
import { createTlsConnector } from './tls.js'

/** Delay before the next address is requested from the proxy too; a proxy needs time to connect on its side. */
const PROXY_ATTEMPT_DELAY_MS = 1_000

/**
 * Connections that begin in one turn of the event loop: each costs about 0.3 ms until it can be used, and a burst of them would
 * hold up what has a connection.
 */
const CONNECTIONS_PER_TURN = 8

/** The host to connect to. */
export interface Target {
  /** As in `URL.hostname`. */
  readonly hostname: string
  readonly port: number
  /** Whether the connection uses TLS. */
  readonly secure: boolean
}

interface ConnectDeps {
  readonly addressPolicy: CompiledAddressPolicy
  readonly resolver: Resolver
  readonly tls?: TlsOptions | undefined
  readonly proxy?: ForwardProxy | undefined
  /** Receives every socket as soon as it exists. */
  onSocket(socket: Socket): void
}

/** What connecting waits for: the addresses of the name, a connection to one of them, or the TLS handshake. */
export type ConnectPhase = 'name' | 'connect' | 'tls'

/** How far connecting has come. */
export interface ConnectProgress {
  phase: ConnectPhase
  /** Where the target is, as far as is known; through a proxy too, the target and not the proxy. */
  dialled: Dialled
}

/**
 * Connects; calls `done` once, with a socket or an error of `wrapSendFailure`, and updates `progress` before that. Returns
 * a function that aborts the attempt, after which `done` is not called.
 */
export type Connector = (
  target: Target,
  timeoutMs: number,
  progress: ConnectProgress,
  done: (error: Error | null, socket: Socket | null) => void,
) => () => void

/** Creates the connector. Throws the error of `node:tls` for invalid TLS options. */
export function createConnector(deps: ConnectDeps): Connector {
  const { onSocket, proxy, resolver } = deps
  const connectTls = createTlsConnector(deps.tls, onSocket)
  const inTurn = createPacedStarts(CONNECTIONS_PER_TURN)

  function connectToAny(
    approved: readonly string[],
    port: number,
    dueMs: number,
    done: (result: ConnectResult, ip?: string) => void,
  ): () => void {
    if (!proxy) return connectHappyEyeballs(approved, port, onSocket, done)
    return raceAddresses(
      approved,
      connectThroughProxy({ resolver, connectTls, onSocket }, proxy, port, dueMs),
      PROXY_ATTEMPT_DELAY_MS,
      done,
    )
  }

  return (target, timeoutMs, progress, done) => {
    const dueMs = performance.now() + timeoutMs
    let isOver = false
    let abort = () => {}

    function finish(result: Socket | SendFailure): void {
      if (isOver) return
      isOver = true
      if ('kind' in result) done(wrapSendFailure(result), null)
      else done(null, result)
    }

    async function run(): Promise<void> {
      if (isOver) return
      const leftMs = Math.max(1, dueMs - performance.now())
      const approved = await resolveAllowedAddresses(deps, target.hostname, leftMs)
      if (isOver) return
      if ('kind' in approved) {
        finish(approved)
        return
      }
      const networks = new Set(approved.map(networkOf))
      progress.phase = 'connect'
      progress.dialled = networks.has('public') ? 'public' : networks.has('private') ? 'private' : 'loopback'
      abort = connectToAny(approved, target.port, dueMs, onConnected)
    }

    function onConnected(result: ConnectResult, ip?: string): void {
      if (ip !== undefined) progress.dialled = networkOf(ip)
      if ('failure' in result) {
        finish(result.failure)
        return
      }
      abort = () => result.socket.destroy()
      if (!target.secure) {
        finish(result.socket)
        return
      }
      progress.phase = 'tls'
      connectTls(target.hostname, result.socket, onSecured)
    }

    function onSecured(result: ConnectResult): void {
      if ('failure' in result) abort()
      finish('failure' in result ? result.failure : result.socket)
    }

    progress.phase = 'name'
    progress.dialled = 'unresolved'
    inTurn(() => run().catch((error) => finish(classifyError(error))))

    return () => {
      if (!isOver) abort()
      isOver = true
    }
  }
}

/** Resolves a host to addresses that the policy allows, or returns why there are none. */
export async function resolveAllowedAddresses(
  deps: Pick<ConnectDeps, 'addressPolicy' | 'resolver'>,
  hostname: string,
  timeoutMs: number,
): Promise<readonly string[] | SendFailure> {
  const host = deps.addressPolicy.checkHost(hostname)
  if (host.blocked) return noResponse('blocked_address', 'blocked_address', `the host is ${host.reason}`)
  if (host.address !== undefined) return [host.address]
  const resolution = await safeResolve(deps.resolver, hostname, timeoutMs)
  if (resolution.kind === 'unreachable') return ownFault(`DNS: ${resolution.detail}`)
  if (resolution.kind === 'missing') {
    const cause = resolution.cause === 'name_server' ? 'name_server' : 'name_unknown'
    return noResponse('dns', cause, resolution.detail)
  }
  if (resolution.addresses.length === 0)
    return noResponse('dns', 'name_unknown', 'the host name has no address')
  for (const ip of resolution.addresses) {
    const check =
      host.allowsAnyAddress && parseAddress(ip)
        ? { blocked: false as const }
        : deps.addressPolicy.checkAddress(ip)
    // The detail omits the address: tenants must not learn how names resolve inside the host's network.
    if (check.blocked)
      return noResponse('blocked_address', 'blocked_address', `the host name has ${check.reason}`)
  }
  return resolution.addresses
}
