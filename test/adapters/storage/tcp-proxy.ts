/** A TCP proxy in this process that cuts, stalls and delays connections. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** When a connection is cut: before the server receives the text, or when it has executed it and answers. */
export type Cut = 'before' | 'answering'

export interface TcpProxy {
  readonly port: number
  /** Number of open connections. */
  readonly connections: number
  /**
   * Cuts the next connection whose client sends this text; resolves when it has done so.
   *
   * @param after a text that the client must have sent before, on the same connection and since this call
   */
  cutAt(text: string, when: Cut, after?: string): Promise<void>
  /** Cuts every connection. */
  cutAll(): void
  /** Silently drops all data of open and new connections in both directions, like a host that vanished. */
  stall(): void
  /** New connections work again. Stalled ones stay dead. */
  heal(): void
  /** Delays all data in both directions by `ms`. 0: no delay. */
  delay(ms: number): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  isStalled: boolean
  /** Set when the client has sent the text of `cutAt`: the connection is cut at the server's next data. */
  cutAnswer: (() => void) | undefined
  /** The client has sent the text `after`. */
  hasSentAfter: boolean
}

export async function tcpProxy(target: { readonly host?: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  let cutting: { text: string; when: Cut; after: string | undefined; done: () => void } | undefined
  let stalled = false
  let delayMs = 0

  const cut = (pair: Pair) => {
    pairs.delete(pair)
    pair.client.resetAndDestroy()
    pair.server.destroy()
  }
  const pass = (pair: Pair, to: Socket, bytes: Buffer) => {
    if (pair.isStalled) return
    if (delayMs === 0) to.write(bytes)
    else setTimeout(() => !pair.isStalled && to.write(bytes), delayMs)
  }

  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const pair: Pair = {
      client,
      server: connect({ port: target.port, host: target.host ?? '127.0.0.1', allowHalfOpen: true }),
      isStalled: stalled,
      cutAnswer: undefined,
      hasSentAfter: false,
    }
    pairs.add(pair)
    client.setNoDelay(true)
    pair.server.setNoDelay(true)

    client.on('data', (bytes) => {
      if (cutting?.after !== undefined && bytes.includes(cutting.after)) pair.hasSentAfter = true
      const isCandidate = cutting && !pair.isStalled && (cutting.after === undefined || pair.hasSentAfter)
      if (cutting && isCandidate && bytes.includes(cutting.text)) {
        const { when, done } = cutting
        cutting = undefined
        if (when === 'before') {
          cut(pair)
          done()
          return
        }
        pair.cutAnswer = done
      }
      pass(pair, pair.server, bytes)
    })
    pair.server.on('data', (bytes) => {
      if (!pair.cutAnswer) {
        pass(pair, client, bytes)
        return
      }
      cut(pair)
      pair.cutAnswer()
    })
    for (const [first, second] of [
      [client, pair.server],
      [pair.server, client],
    ] as const) {
      first.on('error', () => {})
      // A FIN is passed on, unless the connection is stalled.
      first.on('end', () => !pair.isStalled && second.end())
      first.on('close', () => {
        // The other side of a stalled connection does not notice the close.
        if (pair.isStalled) return
        pairs.delete(pair)
        second.destroy()
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  return {
    port: (listener.address() as AddressInfo).port,
    get connections() {
      return pairs.size
    },
    cutAt(text, when, after) {
      for (const pair of pairs) pair.hasSentAfter = false
      return new Promise((done) => {
        cutting = { text, when, after, done }
      })
    },
    cutAll() {
      for (const pair of pairs) cut(pair)
    },
    stall() {
      stalled = true
      for (const pair of pairs) pair.isStalled = true
    },
    heal() {
      stalled = false
    },
    delay(ms) {
      delayMs = ms
    },
    async close() {
      const closed = once(listener, 'close')
      listener.close()
      for (const pair of pairs) cut(pair)
      await closed
    },
  }
}
