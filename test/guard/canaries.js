// @ts-check
/** Who answers at every address: notes which one a connection was made to, and answers as the case wants it. */
import { once } from 'node:events'
import { createServer } from 'node:http'

export const PORTS = [80, 443, 8080]

/** Where a redirect would like to lead. */
const TEMPTING = 'http://169.254.169.254/latest/meta-data/'

/** @typedef {'stay' | 'close' | 'redirect' | 'redirect and close'} Manner */

/** @type {Readonly<Record<Manner, { status: number, headers: Record<string, string> }>>} */
const ANSWERS = {
  stay: { status: 200, headers: {} },
  close: { status: 200, headers: { connection: 'close' } },
  redirect: {
    status: 307,
    headers: { location: TEMPTING, refresh: `0; url=${TEMPTING}`, 'alt-svc': 'h2="10.0.0.1:443"; ma=60' },
  },
  'redirect and close': { status: 302, headers: { location: '//127.0.0.1/', connection: 'close' } },
}

/**
 * @param {object} doors
 * @param {(address: string) => void} doors.connected a connection was made to that address
 * @param {(address: string, path: string) => Manner} doors.requested what to answer
 */
export async function openCanaries({ connected, requested }) {
  const plain = (/** @type {string} */ address) => address.replace(/^::ffff:(?=\d+\.)/, '')
  const servers = PORTS.map((port) => {
    const server = createServer((request, response) => {
      const { status, headers } =
        ANSWERS[requested(plain(String(request.socket.localAddress)), String(request.url))]
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
