/** A CONNECT proxy on loopback that connects to 127.0.0.1 for every target address. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { parseProxy } from '../../src/values/tls-and-proxy.js'
import { good, key } from './certificates.js'
import { onCleanup } from './harness.js'

export const TUNNEL = 'HTTP/1.1 200 Connection established\r\n\r\n'

/** The response to a CONNECT for `target`; `undefined` opens a tunnel. */
export type ProxyResponse = (target: string, socket: Socket, index: number) => string | undefined

export interface TestProxy {
  readonly port: number
  /** Heads of the received requests. */
  readonly heads: string[]
  /** Targets of the received requests. */
  readonly targets: string[]
  readonly connections: Socket[]
  /** For `SenderOptions.proxy`. */
  option(credentials?: string): NonNullable<ReturnType<typeof parseProxy>>
}

export async function startProxy(
  respond: ProxyResponse = () => undefined,
  secure = false,
): Promise<TestProxy> {
  const heads: string[] = []
  const targets: string[] = []
  const connections: Socket[] = []

  function serve(socket: Socket): void {
    connections.push(socket)
    socket.on('error', () => {})
    let head = ''
    socket.on('data', function onData(chunk) {
      head += chunk.toString('latin1')
      if (!head.endsWith('\r\n\r\n')) return
      socket.off('data', onData)
      heads.push(head)
      const target = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head)?.[1] ?? 'none'
      targets.push(target)
      const response = respond(target, socket, targets.length - 1)
      if (response === undefined) tunnel(socket, Number(target.split(':').at(-1)))
      else socket.write(response, 'latin1')
    })
  }

  const server = secure ? createSecureServer({ cert: good, key }, serve) : createServer(serve)
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onCleanup(async () => {
    for (const socket of connections) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const scheme = secure ? 'https' : 'http'
  return {
    port,
    heads,
    targets,
    connections,
    option: (credentials = '') => parseProxy(`${scheme}://${credentials}127.0.0.1:${port}`)!,
  }
}

function tunnel(socket: Socket, port: number): void {
  const upstream = connect(port, '127.0.0.1', () => {
    socket.write(TUNNEL)
    socket.pipe(upstream).pipe(socket)
  })
  upstream.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'))
  upstream.on('close', () => socket.destroy())
  socket.on('close', () => upstream.destroy())
}
