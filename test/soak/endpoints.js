// @ts-check
/** Receivers of a soak run, in a process of their own: healthy ones at one port; what is dead needs nobody. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'

const healthy = createServer((request, response) => {
  request.resume().on('end', () => response.end('ok'))
})
healthy.keepAliveTimeout = 60_000
// Takes the connection and never says a word.
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
// A port at which nobody listens any more.
const gone = createTcpServer()
gone.listen(0, '127.0.0.1')
await once(gone, 'listening')
ports.gone = /** @type {import('node:net').AddressInfo} */ (gone.address()).port
gone.close()

process.on('disconnect', () => process.exit(0))
process.send?.(ports)
