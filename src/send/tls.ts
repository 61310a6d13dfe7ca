/** TLS on a connection to a receiver or a proxy. Certificates are always verified. */
import type { Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls'
import { parseAddress } from '../values/address.js'
import { normalizeHostname } from '../values/address-policy.js'
import type { TlsOptions } from '../values/tls-and-proxy.js'
import { classifyError } from './error-classifier.js'
import type { ConnectResult } from './happy-eyeballs.js'

/** Starts TLS on `raw` with this host (as in `URL.hostname`); calls `done` once, possibly synchronously. */
export type TlsConnector = (hostname: string, raw: Socket, done: (result: ConnectResult) => void) => void

/**
 * Creates the connector. Throws for an invalid certificate in `tls`; without `tls` the default context is created for
 * the first https connection. `onSocket` receives every socket as soon as it exists.
 */
export function createTlsConnector(
  tls: TlsOptions | undefined,
  onSocket: (socket: Socket) => void,
): TlsConnector {
  let context: SecureContext | undefined = tls && createSecureContext(tls as SecureContextOptions)

  return (hostname, raw, done) => {
    let isOver = false
    function finish(result: ConnectResult): void {
      if (isOver) return
      isOver = true
      done(result)
    }
    try {
      context ??= createSecureContext()
      const host = normalizeHostname(hostname.replace(/^\[(.*)\]$/, '$1'))
      const socket = connectTls({
        socket: raw,
        host,
        // The server name is a DNS name (RFC 6066, section 3), without the trailing dot of the root.
        ...(parseAddress(host) ? {} : { servername: host }),
        secureContext: context,
        ALPNProtocols: ['http/1.1'],
      })
      onSocket(socket)
      socket.on('error', (error) => finish({ failure: classifyError(error) }))
      socket.once('secureConnect', () => finish({ socket }))
    } catch (error) {
      finish({ failure: classifyError(error) })
    }
  }
}
