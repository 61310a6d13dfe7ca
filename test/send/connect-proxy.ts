/** A small proxy for CONNECT on loopback, which reaches every address at 127.0.0.1. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { parseProxy } from '../../src/values/way-out.js'
import { good, key } from './certificates.js'
import { later } from './hostile.js'

export const TUNNEL = 'HTTP/1.1 200 Connection established\r\n\r\n'

/** What it says to a CONNECT for `target` in place of a tunnel; `undefined`: a tunnel. */
export type Refusal = (target: string, socket: Socket, index: number) => string | undefined

export interface TestProxy {
  readonly port: number
  /** Heads of the requests to it. */
  readonly heads: string[]
  /** What it was asked to connect to. */
  readonly targets: string[]
  readonly connections: Socket[]
  /** For `SenderOptions.proxy`. */
  option(credentials?: string): NonNullable<ReturnType<typeof parseProxy>>
}

export async function testProxy(refuse: Refusal = () => undefined, secure = false): Promise<TestProxy> {
  const heads: string[] = []
  const targets: string[] = []
  const connections: Socket[] = []

  function serve(socket: Socket): void {
    connections.push(socket)
    socket.on('error', () => {})
    let head = ''
    socket.on('data', function hear(chunk) {
      head += chunk.toString('latin1')
      if (!head.endsWith('\r\n\r\n')) return
      socket.off('data', hear)
      heads.push(head)
      const target = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head)?.[1] ?? 'none'
      targets.push(target)
      const refusal = refuse(target, socket, targets.length - 1)
      if (refusal === undefined) tunnel(socket, Number(target.split(':').at(-1)))
      else socket.write(refusal, 'latin1')
    })
  }

  const server = secure ? createSecureServer({ cert: good, key }, serve) : createServer(serve)
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  later(async () => {
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
  const onward = connect(port, '127.0.0.1', () => {
    socket.write(TUNNEL)
    socket.pipe(onward).pipe(socket)
  })
  onward.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'))
  onward.on('close', () => socket.destroy())
  socket.on('close', () => onward.destroy())
}
