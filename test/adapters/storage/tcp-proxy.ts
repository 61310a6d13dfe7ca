import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Where a connection is cut: before the server hears of it, or when it has carried it out and answers. */
export type Cut = 'before' | 'answering'

/** A TCP proxy in this process, which does to connections what networks do. */
export interface TcpProxy {
  readonly port: number
  /** Connections open through it now. */
  readonly connections: number
  /**
   * Cuts the next connection whose client says something with this text in it; resolves when it did.
   *
   * @param after what the client must have said before, on the same connection, since this was asked for
   */
  cutAt(text: string, when: Cut, after?: string): Promise<void>
  /** Cuts every connection. */
  cutAll(): void
  /** Lets every connection, old or new, hang without a word, both ways: a host that vanished. */
  stall(): void
  /** New connections work again. Those that hung hear nothing any more. */
  heal(): void
  /** Holds back everything for so long, both ways. 0: nothing. */
  delay(ms: number): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  hangs: boolean
  /** Set when the client said what its connection is to be cut at: the server's next word is the last. */
  cutAnswer: (() => void) | undefined
  /** It has said what must come before. */
  saidBefore: boolean
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
    if (pair.hangs) return
    if (delayMs === 0) to.write(bytes)
    else setTimeout(() => !pair.hangs && to.write(bytes), delayMs)
  }

  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const pair: Pair = {
      client,
      server: connect({ port: target.port, host: target.host ?? '127.0.0.1', allowHalfOpen: true }),
      hangs: stalled,
      cutAnswer: undefined,
      saidBefore: false,
    }
    pairs.add(pair)
    client.setNoDelay(true)
    pair.server.setNoDelay(true)

    client.on('data', (bytes) => {
      if (cutting?.after !== undefined && bytes.includes(cutting.after)) pair.saidBefore = true
      const isMeant = cutting && !pair.hangs && (cutting.after === undefined || pair.saidBefore)
      if (cutting && isMeant && bytes.includes(cutting.text)) {
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
    for (const [one, other] of [
      [client, pair.server],
      [pair.server, client],
    ] as const) {
      one.on('error', () => {})
      // A goodbye is passed on, and stays unanswered where nobody hears it.
      one.on('end', () => !pair.hangs && other.end())
      one.on('close', () => {
        // Who hangs does not even hear that the other side is gone.
        if (pair.hangs) return
        pairs.delete(pair)
        other.destroy()
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
      for (const pair of pairs) pair.saidBefore = false
      return new Promise((done) => {
        cutting = { text, when, after, done }
      })
    },
    cutAll() {
      for (const pair of pairs) cut(pair)
    },
    stall() {
      stalled = true
      for (const pair of pairs) pair.hangs = true
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
