/**
 * The guarded way from a host name to a connection.
 *
 * The three gates in order: the host as the URL spells it (a look-up hook would never hear of a literal), every address
 * of the answer (one blocked refuses them all: whoever mixes means harm), and the dialler, which gets the approved list
 * and knows no other way to an address. One resolution for each connection, never cached: what was judged is dialled.
 */
import type { Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls'
import type { Resolution, Resolver } from '../ports.js'
import { parseAddress } from '../values/address.js'
import { bareHost, type CompiledPolicy } from '../values/address-policy.js'
import { type Dialled, dial } from './dial.js'
import { connectError, judgeError, type NoAnswer, noResponse, ownFault } from './failure.js'

/** Whom to connect to. */
export interface Target {
  /** As in `URL.hostname`. */
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
}

/** What a host may set of TLS: its own authorities, a client certificate, versions. The checks are never off. */
export type TlsOptions = Pick<
  SecureContextOptions,
  'ca' | 'cert' | 'key' | 'passphrase' | 'minVersion' | 'maxVersion'
>

export interface ConnectDoors {
  readonly policy: CompiledPolicy
  readonly resolver: Resolver
  readonly tls?: TlsOptions
  /** Hears of every socket as soon as it exists. */
  opened(socket: Socket): void
}

/** Connects once; calls `done` once with a socket or an error of `connectError`. Returns what stops it. */
export type Connect = (
  target: Target,
  timeoutMs: number,
  done: (error: Error | null, socket: Socket | null) => void,
) => () => void

export function createConnect(doors: ConnectDoors): Connect {
  // A bad certificate of the host's throws here, at construction; without one the default waits for the first https.
  let context: SecureContext | undefined = doors.tls && createSecureContext(doors.tls)

  function secure(target: Target, raw: Socket, finish: (result: Socket | NoAnswer) => void): void {
    context ??= createSecureContext()
    const host = bareHost(target.hostname.replace(/^\[(.*)\]$/, '$1'))
    const socket = connectTls({
      socket: raw,
      host,
      // A server name is a name (RFC 6066, section 3), without the root's dot.
      ...(parseAddress(host) ? {} : { servername: host }),
      secureContext: context,
      ALPNProtocols: ['http/1.1'],
    })
    doors.opened(socket)
    socket.on('error', (error) => finish(judgeError(error)))
    socket.once('secureConnect', () => finish(socket))
  }

  return (target, timeoutMs, done) => {
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
      else stop = dial(approved, target.port, doors.opened, dialled)
    }

    function dialled(result: Dialled): void {
      if ('failed' in result) {
        finish(result.failed)
        return
      }
      stop = () => result.socket.destroy()
      try {
        if (target.secure) secure(target, result.socket, finish)
        else finish(result.socket)
      } catch (error) {
        stop()
        finish(judgeError(error))
      }
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

async function resolved(resolver: Resolver, hostname: string, timeoutMs: number): Promise<Resolution> {
  try {
    const resolution = await resolver.resolve(hostname, timeoutMs)
    return isResolution(resolution)
      ? resolution
      : { kind: 'unreachable', detail: 'the resolver gave no valid answer' }
  } catch (error) {
    return { kind: 'unreachable', detail: `the resolver failed: ${String(error)}` }
  }
}

/** A resolver of the host's may answer anything; that is no fault of the receiver. */
function isResolution(answer: Resolution | undefined): answer is Resolution {
  if (answer?.kind !== 'addresses') return answer?.kind === 'missing' || answer?.kind === 'unreachable'
  return Array.isArray(answer.addresses) && answer.addresses.every((ip) => typeof ip === 'string')
}
