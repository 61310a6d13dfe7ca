/** Starts and stops listening, as promises. */
import type { Server } from 'node:http'
import { HookswitchError } from 'hookswitch'
import { wrongFlag } from './read-flags.js'

/** How errors name the settings of an address: `--port` and `--host`. */
interface AddressLabels {
  readonly port: string
  readonly host: string
}

/**
 * Listens and resolves to the URL of the server.
 *
 * @throws `Conflict` when the port is taken, `InvalidOption` when the port or host cannot be used
 */
export function listen(server: Server, port: number, host: string, labels: AddressLabels): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenProblem(error, port, host, labels))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`)
    })
  })
}

/** How often connections are closed whose last response has ended, ms. */
const IDLE_MS = 20

/** Closes the server: no new connections, requests in progress may end, the rest is cut after `limitMs`. */
export function stopListening(server: Server, limitMs: number): Promise<void> {
  if (!server.listening) return Promise.resolve()
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), limitMs)
    // A connection that becomes idle later would be kept for another request.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS)
    server.close(() => {
      clearTimeout(cut)
      clearInterval(idle)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** Describes why a server cannot listen. */
export function listenProblem(
  error: NodeJS.ErrnoException,
  port: number,
  host: string,
  { port: flag, host: hostFlag }: AddressLabels,
): HookswitchError {
  switch (error.code) {
    case 'EADDRINUSE':
      return new HookswitchError('Conflict', `${flag}: port ${port} of ${host} is in use, choose another`, {
        field: flag,
      })
    case 'EACCES':
      return wrongFlag(flag, `port ${port} of ${host} cannot be opened by this user`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return wrongFlag(hostFlag, `'${host}' is not an address of this machine`)
    default:
      return wrongFlag(flag, `cannot listen on port ${port} of ${host} (${error.code ?? error.message})`)
  }
}
