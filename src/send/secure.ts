/** TLS on a connection, verified always: of receivers, and of a proxy. */
import type { Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls'
import { parseAddress } from '../values/address.js'
import { bareHost } from '../values/address-policy.js'
import type { TlsOptions } from '../values/way-out.js'
import type { Dialled } from './dial.js'
import { judgeError } from './failure.js'

/** Speaks TLS on `raw` with the host of this name (as in `URL.hostname`); calls `done` once, perhaps at once. */
export type Secure = (hostname: string, raw: Socket, done: (result: Dialled) => void) => void

/** Makes it. A bad certificate of the host's throws here; without one the default waits for the first https. */
export function createSecure(tls: TlsOptions | undefined, opened: (socket: Socket) => void): Secure {
  let context: SecureContext | undefined = tls && createSecureContext(tls as SecureContextOptions)

  return (hostname, raw, done) => {
    let isOver = false
    function finish(result: Dialled): void {
      if (isOver) return
      isOver = true
      done(result)
    }
    try {
      context ??= createSecureContext()
      const host = bareHost(hostname.replace(/^\[(.*)\]$/, '$1'))
      const socket = connectTls({
        socket: raw,
        host,
        // A server name is a name (RFC 6066, section 3), without the root's dot.
        ...(parseAddress(host) ? {} : { servername: host }),
        secureContext: context,
        ALPNProtocols: ['http/1.1'],
      })
      opened(socket)
      socket.on('error', (error) => finish({ failed: judgeError(error) }))
      socket.once('secureConnect', () => finish({ socket }))
    } catch (error) {
      finish({ failed: judgeError(error) })
    }
  }
}
