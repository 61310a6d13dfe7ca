import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { until } from 'hookswitch/testkit'

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

/** Encodes an unmasked frame, as servers send them (RFC 6455, 5.2). */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload])
  const head = Buffer.alloc(10)
  head[0] = 0x80 | opcode
  head[1] = 127
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

/** A WebSocket on Asterisk's side. */
export interface WebSocketPeer {
  readonly socket: Socket
  readonly url: string
  /** Sends one frame per event in a single write. */
  send(...events: readonly object[]): boolean
  sendRaw(bytes: Buffer | string): void
}

/** Overrides of the responses; `undefined`: no response. */
export interface AriResponses {
  upgrade?: () => string | undefined
  /** Events sent in the same write as the handshake response. */
  first?: readonly object[]
  channels?: () => unknown
  /** The list of channels begins and does not end. */
  partialChannels?: boolean
  bridges?: () => unknown
  /** Values of functions and channel variables by `channel/name`; absent: every request for one gets 404. */
  variables?: Record<string, string>
  /** Requests for functions and variables get no response. */
  ignoresVariables?: boolean
  ping?: () => unknown
  pongs?: boolean
  /** The socket stays open after a close frame. */
  ignoresClose?: boolean
}

/** The response to an unknown path. */
export const NOT_FOUND = { message: 'Resource not found' }

/** Builds an ARI channel. */
export const ariChannel = (id: string, over: object = {}) => ({
  id,
  name: `PJSIP/1001-${id}`,
  state: 'Ring',
  protocol_id: '',
  caller: { name: 'Alice', number: '1001' },
  connected: { name: '', number: '' },
  accountcode: 'acme',
  dialplan: { context: 'phones', exten: '2001', priority: 1, app_name: '', app_data: '' },
  creationtime: '2026-01-01T00:00:00.000+0000',
  channelvars: {},
  ...over,
})

/** Builds an ARI event of a channel. */
export const ariEvent = (type: string, id: string, atMs: number, over: object = {}, more: object = {}) => ({
  type,
  timestamp: new Date(atMs).toISOString().replace('Z', '+0000'),
  channel: ariChannel(id, over),
  ...more,
})

/** Starts a fake Asterisk with ARI. */
export async function startAriServer() {
  const peers: WebSocketPeer[] = []
  const sockets: Socket[] = []
  const requests: string[] = []
  /** The newest connection of each application. */
  const owners = new Map<string, WebSocketPeer>()
  const responses: AriResponses = {}
  const key = `Basic ${Buffer.from('hookswitch:secret').toString('base64')}`

  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    if (request.headers.authorization !== key) return void response.writeHead(401).end()
    if (responses.partialChannels && request.url === '/ari/channels') return void response.write('[')
    const answer = answerTo(request.url, responses)
    if (answer === undefined) return
    if (answer === NOT_FOUND) response.writeHead(404)
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  server.on('connection', (socket) => sockets.push(socket))
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {})
    if (request.headers.authorization !== key) return void socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    if (responses.upgrade) {
      const answer = responses.upgrade()
      return answer === undefined ? undefined : void socket.end(answer)
    }
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
    const first = (responses.first ?? []).map((event) => frame(TEXT, Buffer.from(JSON.stringify(event))))
    socket.write(Buffer.concat([Buffer.from(head), ...first]))
    socket.on('data', (bytes: Buffer) => {
      const opcode = (bytes[0] ?? 0) & 15
      if (opcode === CLOSE && !responses.ignoresClose) socket.end(frame(CLOSE, Buffer.from([3, 232])))
      if (opcode === PING && responses.pongs !== false) socket.write(frame(PONG, Buffer.alloc(0)))
    })
    const url = request.url ?? ''
    const application = new URL(url, 'http://fake').searchParams.get('app') ?? ''
    const peer: WebSocketPeer = {
      socket,
      url,
      send: (...events) =>
        socket.write(Buffer.concat(events.map((event) => frame(TEXT, Buffer.from(JSON.stringify(event)))))),
      sendRaw: (bytes) =>
        void socket.write(typeof bytes === 'string' ? frame(TEXT, Buffer.from(bytes)) : bytes),
    }
    // The newest connection takes over the application; Asterisk leaves the older one open.
    const replaced = owners.get(application)
    owners.set(application, peer)
    replaced?.send({ type: 'ApplicationReplaced', timestamp: '2026-01-01T00:00:00.000+0000', application })
    peers.push(peer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ari`,
    responses,
    peers,
    requests,
    /** Sends events to the newest connection of each application. */
    broadcast(...events: readonly object[]) {
      for (const peer of owners.values()) peer.send(...events)
    },
    async connected(nth: number): Promise<WebSocketPeer> {
      await until(() => peers[nth])
      return peers[nth]!
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function answerTo(url: string | undefined, responses: AriResponses): unknown {
  const { channels, bridges, ping, variables, ignoresVariables } = responses
  const [, id, name] = /^\/ari\/channels\/(.+)\/variable\?variable=(.+)$/.exec(url ?? '') ?? []
  if (id !== undefined && ignoresVariables) return undefined
  if (id !== undefined && variables === undefined) return NOT_FOUND
  if (id !== undefined) return { value: variables?.[`${id}/${decodeURIComponent(name ?? '')}`] ?? '' }
  switch (url) {
    case '/ari/channels':
      return channels ? channels() : []
    case '/ari/bridges':
      return bridges ? bridges() : []
    case '/ari/asterisk/ping':
      return ping ? ping() : { ping: 'pong' }
  }
  return NOT_FOUND
}
