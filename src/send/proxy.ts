/**
 * Connects through a forward proxy: a CONNECT tunnel (RFC 9110, 9.3.6) to one address, for http and https alike.
 *
 * The proxy receives the address that was checked here, never a name that it would resolve itself. The proxy is the
 * host's choice, so the address policy does not apply to it. Problems between this process and the proxy are
 * internal faults, and their details contain neither its address nor its password, since owners of webhooks can read them.
 */
import type { Socket } from 'node:net'
import type { Resolver } from '../ports.js'
import { parseAddress } from '../values/address.js'
import type { ForwardProxy } from '../values/tls-and-proxy.js'
import { noResponse, ownFault, type SendFailure } from './error-classifier.js'
import { type ConnectAttempt, type ConnectResult, connectHappyEyeballs } from './happy-eyeballs.js'
import { safeResolve } from './safe-resolve.js'
import type { TlsConnector } from './tls.js'

/** Maximum size of the proxy's response header, in bytes. */
const MAX_HEAD_BYTES = 16 * 1024

/** RFC 9112, sections 4 and 5: a status line and header lines, no folding. */
const HEAD =
  /^HTTP\/1\.[01] ([1-5]\d\d)(?: [^\r\n\0]*)?(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*)*\r\n\r\n$/

interface ProxyDeps {
  readonly resolver: Resolver
  readonly connectTls: TlsConnector
  /** Receives every socket as soon as it exists. */
  onSocket(socket: Socket): void
}

/**
 * Creates an attempt that connects to an address through the proxy. Connecting to the proxy may take half of the time
 * left until `dueMs` (monotonic), so that a dead proxy can be distinguished from an unresponsive receiver.
 */
export function connectThroughProxy(
  deps: ProxyDeps,
  proxy: ForwardProxy,
  port: number,
  dueMs: number,
): ConnectAttempt {
  return (ip, done) => {
    let isOver = false
    let abort = () => {}
    const timer = setTimeout(
      () => fail(ownFault('the proxy was not reached in time')),
      Math.max(1, (dueMs - performance.now()) / 2),
    )

    function end(): void {
      isOver = true
      clearTimeout(timer)
      abort()
    }

    function fail(failure: SendFailure): void {
      if (isOver) return
      end()
      done({ failure })
    }

    async function connectToProxy(): Promise<void> {
      const addresses = await proxyAddresses(deps.resolver, proxy, dueMs - performance.now())
      if (isOver) return
      if ('kind' in addresses) fail(addresses)
      else abort = connectHappyEyeballs(addresses, proxy.port, deps.onSocket, onConnected)
    }

    function onConnected(result: ConnectResult): void {
      if ('failure' in result) {
        fail(proxyUnreachable(result.failure))
        return
      }
      abort = () => result.socket.destroy()
      if (proxy.secure) deps.connectTls(proxy.hostname, result.socket, onReached)
      else onReached(result)
    }

    function onReached(result: ConnectResult): void {
      if (isOver) return
      if ('failure' in result) {
        fail(proxyUnreachable(result.failure))
        return
      }
      clearTimeout(timer)
      abort = () => result.socket.destroy()
      openTunnel(result.socket, connectRequest(ip, port, proxy.authorization), (failure) => {
        if (isOver) return
        if (failure) fail(failure)
        else {
          isOver = true
          done(result)
        }
      })
    }

    connectToProxy().catch(() => fail(ownFault('the proxy cannot be reached')))
    return () => isOver || end()
  }
}

async function proxyAddresses(
  resolver: Resolver,
  proxy: ForwardProxy,
  timeoutMs: number,
): Promise<readonly string[] | SendFailure> {
  const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1')
  if (parseAddress(host)) return [host]
  const resolution = await safeResolve(resolver, proxy.hostname, Math.max(1, timeoutMs))
  if (resolution.kind === 'addresses' && resolution.addresses.length > 0) return resolution.addresses
  return ownFault('the proxy cannot be reached: its name has no address')
}

/** Keeps only the error code: system error messages contain the address. */
function proxyUnreachable(failure: SendFailure): SendFailure {
  const code = /\b[A-Z][A-Z0-9_]{3,}\b/.exec(failure.detail)?.[0]
  return ownFault(`the proxy cannot be reached${code ? `: ${code}` : ''}`)
}

function connectRequest(ip: string, port: number, authorization: string | undefined): string {
  const authority = `${ip.includes(':') ? `[${ip}]` : ip}:${port}`
  const credentials = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`
}

/**
 * Requests the tunnel. Calls `done` without argument once the tunnel is open, else with the failure. Data after the
 * response header stays in the socket.
 */
function openTunnel(socket: Socket, request: string, done: (failure?: SendFailure) => void): void {
  let received = Buffer.alloc(0)

  function finish(failure?: SendFailure): void {
    socket.off('readable', read)
    socket.off('end', onClosed)
    socket.off('close', onClosed)
    done(failure)
  }

  function onClosed(): void {
    finish(ownFault('the proxy closed the connection'))
  }

  function read(): void {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    received = Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n')
    const length = end < 0 ? received.length : end + 4
    if (length > MAX_HEAD_BYTES) finish(ownFault("the proxy's response header is too long"))
    else if (end >= 0) {
      const failure = classifyProxyResponse(received.toString('latin1', 0, length))
      if (!failure && received.length > length) socket.unshift(received.subarray(length))
      finish(failure)
    }
  }

  socket.on('readable', read)
  socket.on('end', onClosed)
  socket.on('close', onClosed)
  socket.write(request, 'latin1')
}

/**
 * Classifies the proxy's response; `undefined` for an open tunnel (2xx). Internal faults: the proxy rejects our
 * credentials (407), limits us (408, 429), or is not a proxy (400, or a response that does not fit CONNECT). All other statuses
 * concern the target: forbidden (403, such as a disallowed port) or unreachable (5xx).
 */
function classifyProxyResponse(head: string): SendFailure | undefined {
  const status = HEAD.exec(head)?.[1]
  if (status === undefined) return ownFault('the proxy did not respond with HTTP')
  if (status.startsWith('2')) return undefined
  const detail = `the proxy responded with ${status}`
  const isOwnFault = /^(?:[13]..|400|407|408|429)$/.test(status)
  return isOwnFault ? ownFault(detail) : noResponse('connection', 'proxy_failed', detail)
}
