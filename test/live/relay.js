// @ts-check
/** A TCP relay between hookswitch and a switch, whose connections a test can cut. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { connect, createServer } from 'node:net'

/**
 * @param {{ address: string, port: number }} target
 * @param {string} [recording] a file for all that the switch sends
 */
export async function startRelay({ address, port }, recording) {
  const record = recording === undefined ? undefined : createWriteStream(recording)
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return client.destroy()
    const upstream = connect({ host: address, port })
    if (record) upstream.on('data', (chunk) => record.write(chunk))
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
      record?.end()
    },
  }
}
