/** A TLS receiver on loopback that responds to every request with 200. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TlsOptions } from 'node:tls'
import { key } from './certificates.js'
import { OK, onCleanup } from './harness.js'

/** `names` and `protocols`: server names and ALPN protocols of the connections. */
export async function startTlsReceiver(options: TlsOptions, address = '127.0.0.1') {
  const names: (string | false | null)[] = []
  const requests: string[] = []
  const protocols: (string | false | null)[] = []
  const server = createServer({ key, ALPNProtocols: ['h2', 'http/1.1'], ...options }, (socket) => {
    socket.on('error', () => {})
    names.push(socket.servername)
    protocols.push(socket.alpnProtocol)
    socket.on('data', (chunk) => {
      requests.push(chunk.toString('latin1'))
      socket.write(OK)
    })
  })
  server.on('tlsClientError', () => {})
  server.listen(0, address)
  await once(server, 'listening')
  onCleanup(() => void server.close())
  return { port: (server.address() as AddressInfo).port, names, requests, protocols }
}
