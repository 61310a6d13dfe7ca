/**
 * The way through a proxy: a tunnel (CONNECT, RFC 9110, 9.3.6) to one address, for http and https alike.
 *
 * The proxy is told the address that was judged here, never a name that it would resolve by itself. It is the host's
 * choice, so the address guard does not ask about it; what goes wrong between us and it is no receiver's fault, and the
 * words for it name neither its address nor its password: owners of webhooks read them.
 */
import type { Socket } from 'node:net'
import type { Resolver } from '../ports.js'
import { parseAddress } from '../values/address.js'
import type { ForwardProxy } from '../values/way-out.js'
import { type Dialled, dial, type Try } from './dial.js'
import { type NoAnswer, noResponse, ownFault } from './failure.js'
import { resolved } from './resolution.js'
import type { Secure } from './secure.js'

/** As much of the proxy's answer as is read, in bytes. */
const MAX_HEAD_BYTES = 16 * 1024

/** RFC 9112, sections 4 and 5: a status line and header lines, no folding. */
const HEAD =
  /^HTTP\/1\.[01] ([1-5]\d\d)(?: [^\r\n\0]*)?(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*)*\r\n\r\n$/

export interface ProxyDoors {
  readonly resolver: Resolver
  readonly secure: Secure
  /** Hears of every socket as soon as it exists. */
  opened(socket: Socket): void
}

/**
 * Tries an address through the proxy. Getting to the proxy may take half of the time that is left until `dueMs`
 * (monotonic), so that a dead one is told from a receiver that does not answer it.
 */
export function throughProxy(doors: ProxyDoors, proxy: ForwardProxy, port: number, dueMs: number): Try {
  return (ip, done) => {
    let isOver = false
    let stop = () => {}
    const timer = setTimeout(
      () => failed(ownFault('the proxy was not reached in time')),
      Math.max(1, (dueMs - performance.now()) / 2),
    )

    function end(): void {
      isOver = true
      clearTimeout(timer)
      stop()
    }

    function failed(seen: NoAnswer): void {
      if (isOver) return
      end()
      done({ failed: seen })
    }

    async function reach(): Promise<void> {
      const addresses = await proxyAddresses(doors.resolver, proxy, dueMs - performance.now())
      if (isOver) return
      if ('kind' in addresses) failed(addresses)
      else stop = dial(addresses, proxy.port, doors.opened, dialled)
    }

    function dialled(result: Dialled): void {
      if ('failed' in result) {
        failed(unreached(result.failed))
        return
      }
      stop = () => result.socket.destroy()
      if (proxy.secure) doors.secure(proxy.hostname, result.socket, reached)
      else reached(result)
    }

    function reached(result: Dialled): void {
      if (isOver) return
      if ('failed' in result) {
        failed(unreached(result.failed))
        return
      }
      clearTimeout(timer)
      stop = () => result.socket.destroy()
      tunnel(result.socket, connectRequest(ip, port, proxy.authorization), (seen) => {
        if (isOver) return
        if (seen) failed(seen)
        else {
          isOver = true
          done(result)
        }
      })
    }

    reach().catch(() => failed(ownFault('the proxy cannot be reached')))
    return () => isOver || end()
  }
}

async function proxyAddresses(
  resolver: Resolver,
  proxy: ForwardProxy,
  timeoutMs: number,
): Promise<readonly string[] | NoAnswer> {
  const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1')
  if (parseAddress(host)) return [host]
  const resolution = await resolved(resolver, proxy.hostname, Math.max(1, timeoutMs))
  if (resolution.kind === 'addresses' && resolution.addresses.length > 0) return resolution.addresses
  return ownFault('the proxy cannot be reached: its name has no address')
}

/** The code alone: messages of the system tell the address. */
function unreached(seen: NoAnswer): NoAnswer {
  const code = /\b[A-Z][A-Z0-9_]{3,}\b/.exec(seen.detail)?.[0]
  return ownFault(`the proxy cannot be reached${code ? `: ${code}` : ''}`)
}

function connectRequest(ip: string, port: number, authorization: string | undefined): string {
  const authority = `${ip.includes(':') ? `[${ip}]` : ip}:${port}`
  const credentials = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`
}

/** Asks for the tunnel; `done` hears why there is none, or nothing. What follows the answer stays in the socket. */
function tunnel(socket: Socket, request: string, done: (failed?: NoAnswer) => void): void {
  let seen = Buffer.alloc(0)

  function finish(failed?: NoAnswer): void {
    socket.off('readable', read)
    socket.off('end', hungUp)
    socket.off('close', hungUp)
    done(failed)
  }

  function hungUp(): void {
    finish(ownFault('the proxy hung up'))
  }

  function read(): void {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    seen = Buffer.concat([seen, chunk])
    const end = seen.indexOf('\r\n\r\n')
    const length = end < 0 ? seen.length : end + 4
    if (length > MAX_HEAD_BYTES) finish(ownFault('the answer of the proxy is too long'))
    else if (end >= 0) {
      const failed = judgeAnswer(seen.toString('latin1', 0, length))
      if (!failed && seen.length > length) socket.unshift(seen.subarray(length))
      finish(failed)
    }
  }

  socket.on('readable', read)
  socket.on('end', hungUp)
  socket.on('close', hungUp)
  socket.write(request, 'latin1')
}

/**
 * What the proxy's answer means: nothing for a tunnel (2xx). It wants other credentials of us (407), is out of patience
 * (408, 429), or is no proxy (400, what is no answer to CONNECT): our trouble. All else is about the target: forbidden
 * (403, a port that it lets nobody use) or not to be reached (5xx).
 */
function judgeAnswer(head: string): NoAnswer | undefined {
  const status = HEAD.exec(head)?.[1]
  if (status === undefined) return ownFault('the proxy answered no HTTP')
  if (status.startsWith('2')) return undefined
  const detail = `the proxy answered ${status}`
  const isOurs = /^(?:[13]..|400|407|408|429)$/.test(status)
  return isOurs ? ownFault(detail) : noResponse('connection', detail)
}
