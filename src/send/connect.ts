/**
 * The guarded way from a host name to a connection.
 *
 * The three gates in order: the host as the URL spells it (a look-up hook would never hear of a literal), every address
 * of the answer (one blocked refuses them all: whoever mixes means harm), and the dialler, which gets the approved list
 * and knows no other way to an address. One resolution for each connection, never cached: what was judged is dialled.
 * A proxy comes after the gates, in the place of the dialler.
 */
import type { Socket } from 'node:net'
import type { Resolver } from '../ports.js'
import { parseAddress } from '../values/address.js'
import type { CompiledPolicy } from '../values/address-policy.js'
import type { ForwardProxy, TlsOptions } from '../values/way-out.js'
import { type Dialled, dial, race } from './dial.js'
import { connectError, judgeError, type NoAnswer, noResponse, ownFault } from './failure.js'
import { throughProxy } from './proxy.js'
import { resolved } from './resolution.js'
import { createSecure } from './secure.js'

/** How long a proxy may say nothing until it is asked for the next address as well; it dials on its own. */
const NEXT_OF_PROXY_MS = 1_000

/** Whom to connect to. */
export interface Target {
  /** As in `URL.hostname`. */
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
}

export interface ConnectDoors {
  readonly policy: CompiledPolicy
  readonly resolver: Resolver
  readonly tls?: TlsOptions | undefined
  readonly proxy?: ForwardProxy | undefined
  /** Hears of every socket as soon as it exists. */
  opened(socket: Socket): void
}

/** Connects once; calls `done` once with a socket or an error of `connectError`. Returns what stops it. */
export type Connect = (
  target: Target,
  timeoutMs: number,
  done: (error: Error | null, socket: Socket | null) => void,
) => () => void

/** Makes the connector. Throws what `node:tls` says of bad TLS options. */
export function createConnect(doors: ConnectDoors): Connect {
  const { opened, proxy, resolver } = doors
  const secure = createSecure(doors.tls, opened)

  function reach(
    approved: readonly string[],
    port: number,
    dueMs: number,
    done: (result: Dialled) => void,
  ): () => void {
    if (!proxy) return dial(approved, port, opened, done)
    return race(
      approved,
      throughProxy({ resolver, secure, opened }, proxy, port, dueMs),
      NEXT_OF_PROXY_MS,
      done,
    )
  }

  return (target, timeoutMs, done) => {
    const dueMs = performance.now() + timeoutMs
    let isOver = false
    let stop = () => {}

    function finish(result: Socket | NoAnswer): void {
      if (isOver) return
      isOver = true
      if ('kind' in result) done(connectError(result), null)
      else done(null, result)
    }

    async function run(): Promise<void> {
      const approved = await approve(doors, target.hostname, timeoutMs)
      if (isOver) return
      if ('kind' in approved) finish(approved)
      else stop = reach(approved, target.port, dueMs, dialled)
    }

    function dialled(result: Dialled): void {
      if ('failed' in result) {
        finish(result.failed)
        return
      }
      stop = () => result.socket.destroy()
      if (target.secure) secure(target.hostname, result.socket, secured)
      else finish(result.socket)
    }

    function secured(result: Dialled): void {
      if ('failed' in result) stop()
      finish('failed' in result ? result.failed : result.socket)
    }

    run().catch((error) => finish(judgeError(error)))

    return () => {
      if (!isOver) stop()
      isOver = true
    }
  }
}

/** The addresses that may be dialled for a host, each of them judged, or why there is none. */
export async function approve(
  doors: Pick<ConnectDoors, 'policy' | 'resolver'>,
  hostname: string,
  timeoutMs: number,
): Promise<readonly string[] | NoAnswer> {
  const host = doors.policy.judgeHost(hostname)
  if (host.blocked) return noResponse('blocked_address', `the host is ${host.reason}`)
  if (host.address !== undefined) return [host.address]
  const resolution = await resolved(doors.resolver, hostname, timeoutMs)
  if (resolution.kind === 'unreachable') return ownFault(`DNS: ${resolution.detail}`)
  if (resolution.kind === 'missing') return noResponse('dns', resolution.detail)
  if (resolution.addresses.length === 0) return noResponse('dns', 'the host name has no address')
  for (const ip of resolution.addresses) {
    const verdict = host.trusted && parseAddress(ip) ? { blocked: false as const } : doors.policy.judgeIp(ip)
    // The address itself is not told: what a name means inside the host's network is not the tenant's to know.
    if (verdict.blocked) return noResponse('blocked_address', `the host name has ${verdict.reason}`)
  }
  return resolution.addresses
}
