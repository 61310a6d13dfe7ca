/** A real service with WebSockets on a loopback port, and clients of it. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ChannelEvent, createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import { type Blackhole, type BlackholeOptions, blackhole } from 'hookswitch/blackhole'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { ACCOUNTS } from '../../service/service-fixture.js'

// biome-ignore lint/suspicious/noExplicitAny: frames have no type in a client
export type Frame = any

export interface RunningSockets {
  readonly hs: Hookswitch
  readonly sockets: Blackhole
  readonly url: string
  /** Signs in with the API key of an account, `parent` by default. */
  token(account?: 'parent' | 'child' | 'other'): Promise<string>
  /** Publishes an event of a call, `channel_create` of `child` by default. */
  publish(event?: Partial<ChannelEvent>): Promise<unknown>
}

export async function startSockets(
  options: BlackholeOptions = {},
  service: Partial<Parameters<typeof createHookswitch>[0]> = {},
): Promise<RunningSockets> {
  const hs = createHookswitch({ store: memoryStore(), ...service })
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  for (const account of ACCOUNTS) await hs.accounts.create({ ...account })
  const sockets = await blackhole(hs, options)
  onTestFinished(() => sockets.close())
  const server = sockets.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const keys = { parent: 'k', child: 'c', other: 'o' }
  return {
    hs,
    sockets,
    url: `ws://127.0.0.1:${port}/`,
    token: async (account = 'parent') => (await hs.auth.signIn({ apiKey: keys[account].repeat(64) })).token,
    publish: (event = {}) =>
      hs.publish({ hook: 'channel_create', accountId: 'child', callId: 'call-1', ...event }),
  }
}

export interface Client {
  readonly socket: WebSocket
  /** Frames that arrived and were not taken. */
  readonly frames: Frame[]
  /** Code and reason of the close, once the socket is closed. */
  readonly closed: Promise<readonly [code: number, reason: string]>
  send(frame: object | string | Buffer): void
  /** Takes the next frame. */
  next(): Promise<Frame>
  /** Sends a request and takes the next frame. */
  request(action: string, rest?: object): Promise<Frame>
}

/** Opens a client of the package ws. */
export async function connect(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Client> {
  const socket = new WebSocket(url, { headers })
  const frames: Frame[] = []
  let wake: (() => void) | undefined
  socket.on('message', (data) => {
    frames.push(JSON.parse(data.toString()))
    wake?.()
  })
  socket.on('error', () => {})
  const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)] as const)
  void closed.then(() => wake?.())
  await once(socket, 'open')
  onTestFinished(() => socket.terminate())
  const client: Client = {
    socket,
    frames,
    closed,
    send: (frame) =>
      socket.send(typeof frame === 'string' || frame instanceof Buffer ? frame : JSON.stringify(frame)),
    async next() {
      while (frames.length === 0) {
        if (socket.readyState === WebSocket.CLOSED) throw new Error('the socket is closed')
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return frames.shift()
    },
    request(action, rest = {}) {
      client.send({ action, ...rest })
      return client.next()
    },
  }
  return client
}

/** The status with which a handshake is refused. */
export async function refusedWith(url: string, protocols: string[] = [], headers = {}): Promise<number> {
  const socket = new WebSocket(url, protocols, { headers })
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  response.resume()
  socket.terminate()
  return response.statusCode
}
