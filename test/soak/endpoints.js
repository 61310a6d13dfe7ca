// @ts-check
/** The receivers of a soak run, in their own process: healthy, silent and failing servers, and a closed port. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'

const healthy = createServer((request, response) => {
  request.resume().on('end', () => response.end('ok'))
})
healthy.keepAliveTimeout = 60_000
// Accepts connections and never responds.
const silent = createTcpServer((socket) => void socket.on('error', () => {}).resume())
const failing = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(500).end('no'))
})
/** @type {Record<string, number>} */
const ports = {}
for (const [name, server] of Object.entries({ healthy, silent, failing })) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ports[name] = /** @type {import('node:net').AddressInfo} */ (server.address()).port
}
// A port on which no server listens any more.
const closed = createTcpServer()
closed.listen(0, '127.0.0.1')
await once(closed, 'listening')
ports.closed = /** @type {import('node:net').AddressInfo} */ (closed.address()).port
closed.close()

process.on('disconnect', () => process.exit(0))
process.send?.(ports)
