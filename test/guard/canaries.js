// @ts-check
/** HTTP servers on every address: record where connections arrive and respond as the case requires. */
import { once } from 'node:events'
import { createServer } from 'node:http'

export const PORTS = [80, 443, 8080]

/** A forbidden redirect target. */
const REDIRECT_TARGET = 'http://169.254.169.254/latest/meta-data/'

/** @typedef {'stay' | 'close' | 'redirect' | 'redirect and close'} ResponseKind */

/** @type {Readonly<Record<ResponseKind, { status: number, headers: Record<string, string> }>>} */
const RESPONSES = {
  stay: { status: 200, headers: {} },
  close: { status: 200, headers: { connection: 'close' } },
  redirect: {
    status: 307,
    headers: {
      location: REDIRECT_TARGET,
      refresh: `0; url=${REDIRECT_TARGET}`,
      'alt-svc': 'h2="10.0.0.1:443"; ma=60',
    },
  },
  'redirect and close': { status: 302, headers: { location: '//127.0.0.1/', connection: 'close' } },
}

/**
 * @param {object} deps
 * @param {(address: string) => void} deps.connected called with the address of each connection
 * @param {(address: string, path: string) => ResponseKind} deps.requested decides the response
 */
export async function openCanaries({ connected, requested }) {
  const plain = (/** @type {string} */ address) => address.replace(/^::ffff:(?=\d+\.)/, '')
  const servers = PORTS.map((port) => {
    const server = createServer((request, response) => {
      const { status, headers } =
        RESPONSES[requested(plain(String(request.socket.localAddress)), String(request.url))]
      request.resume()
      response.writeHead(status, headers).end()
    })
    server.on('connection', (socket) => connected(plain(String(socket.localAddress))))
    server.on('clientError', (_, socket) => socket.destroy())
    server.listen(port, '::')
    return server
  })
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return {
    close() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}
