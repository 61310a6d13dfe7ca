// @ts-check
/** A TCP relay between hookswitch and a switch, whose connections a test can cut. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * @param {{ address: string, port: number }} target
 */
export async function startRelay({ address, port }) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return client.destroy()
    const upstream = connect({ host: address, port })
    for (const [first, second] of [
      [client, upstream],
      [upstream, client],
    ]) {
      if (!first || !second) continue
      sockets.add(first)
      first
        .on('error', () => {})
        .once('close', () => {
          sockets.delete(first)
          second.destroy()
        })
      first.pipe(second)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    /** Ends all connections and accepts none until `restore`. */
    cut() {
      isCut = true
      drop()
    },
    restore() {
      isCut = false
    },
    async end() {
      server.close()
      drop()
      await once(server, 'close')
    },
  }
}
