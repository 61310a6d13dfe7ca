/** `fakeAsteriskAri`: replays a recorded ARI WebSocket. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Validator } from '../../options/validators.js'
import { checkOptions, nonEmptyText } from '../check-options.js'
import type { FakeAsterisk } from './asterisk-ami.js'
import { type AriEvent, type AriObject, parseAriRecording } from './asterisk-ari-recording.js'
import { createCommandLog } from './command-log.js'
import { createFakeSwitch, FAKE_CHECKS, type FakeOptions } from './fake-switch.js'
import { createFrameReader, encodeFrame, TEXT, upgradeResponse } from './websocket.js'

/** Options of `fakeAsteriskAri`. */
export interface FakeAsteriskAriOptions extends FakeOptions {
  /** Username of the API key. */
  readonly username: string
  /** Password of the API key. */
  readonly password: string
}

const CHECKS: Readonly<Record<keyof FakeAsteriskAriOptions, Validator>> = Object.freeze({
  ...FAKE_CHECKS,
  username: nonEmptyText,
  password: nonEmptyText,
})

/** Events for a client without `subscribeAll`: those of calls that enter its application. */
const APPLICATION_EVENTS: ReadonlySet<string> = new Set(['StasisStart', 'StasisEnd'])

/**
 * An Asterisk that replays a recorded ARI WebSocket: `GET /ari/events` (WebSocket; `app`, `subscribeAll`),
 * `GET /ari/channels`, `GET /ari/channels/{id}`, `GET /ari/bridges`, `GET /ari/asterisk/ping`; credentials by
 * `Authorization: Basic` or `api_key`.
 *
 * @param options.recording the text frames that a client received with `subscribeAll=true`, one per line
 * @throws `InvalidOption` naming the option, also for a recording without events
 */
export function fakeAsteriskAri(options: FakeAsteriskAriOptions): FakeAsterisk {
  checkOptions('fakeAsteriskAri', options, CHECKS, ['recording', 'username', 'password'])
  const key = `${options.username}:${options.password}`
  const log = createCommandLog()
  const channels = new Map<string, AriObject>()
  const bridges = new Map<string, AriObject>()
  /** Ids of the channels that were open at a restart. */
  const endedByRestart = new Set<string>()

  const { controls, isSilent, subscribe } = createFakeSwitch<AriEvent>(options, {
    events: parseAriRecording(options.recording),
    applyEvent({ type, channel, bridge, text }) {
      if (endedByRestart.size > 0 && [...endedByRestart].some((id) => text.includes(`"${id}"`))) return false
      updateOpen(channels, channel, type === 'ChannelCreated', type === 'ChannelDestroyed')
      updateOpen(bridges, bridge, type === 'BridgeCreated', type === 'BridgeDestroyed')
      return true
    },
    createServer: () => createServer({ noDelay: true }, serve).on('upgrade', upgrade),
  })

  function serve(request: IncomingMessage, response: ServerResponse) {
    if (isSilent()) return
    const { pathname, searchParams } = urlOf(request)
    log.add(`${request.method} ${pathname}`)
    const reply = (status: number, body: unknown) => {
      const bytes = Buffer.from(JSON.stringify(body), 'latin1')
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
      response.end(bytes)
    }
    if (!isAuthorized(request, searchParams)) return reply(401, { message: 'Authentication required' })
    if (request.method !== 'GET') return reply(405, { message: 'Invalid method' })
    const [, id] = /^\/ari\/channels\/([^/]+)$/.exec(pathname) ?? []
    if (id !== undefined) {
      const channel = [...channels.values()].find((one) => encodeURIComponent(one.id) === id)
      return channel ? reply(200, channel) : reply(404, { message: 'Channel not found' })
    }
    if (pathname === '/ari/channels') return reply(200, [...channels.values()])
    if (pathname === '/ari/bridges') return reply(200, [...bridges.values()])
    if (pathname === '/ari/asterisk/ping') return reply(200, { ping: 'pong' })
    return reply(404, { message: 'Resource not found' })
  }

  function upgrade(request: IncomingMessage, socket: Socket, head: Buffer) {
    if (isSilent()) return
    const { pathname, searchParams } = urlOf(request)
    log.add(`${request.method} ${pathname}`)
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)
    if (pathname !== '/ari/events') return refuse('404 Not Found')
    if (!isAuthorized(request, searchParams)) return refuse('401 Unauthorized')
    const upgraded = upgradeResponse(request)
    if (!upgraded || !searchParams.get('app')) return refuse('400 Bad Request')

    const send = (bytes: Buffer) => void (isSilent() || socket.write(bytes))
    const read = createFrameReader({ send, end: () => socket.end() })
    socket.write(upgraded)
    socket.on('data', (chunk: Buffer) => void (isSilent() || read(chunk)))
    if (head.length > 0) read(head)
    const isSubscribedToAll = searchParams.get('subscribeAll') === 'true'
    subscribe({ socket, send: (bytes) => send(Buffer.from(bytes)) }, ({ type, text }) =>
      isSubscribedToAll || APPLICATION_EVENTS.has(type)
        ? encodeFrame(TEXT, Buffer.from(text, 'latin1'))
        : undefined,
    )
  }

  function isAuthorized({ headers }: IncomingMessage, query: URLSearchParams): boolean {
    const [, basic] = /^Basic (\S+)$/i.exec(headers.authorization ?? '') ?? []
    const credentials = basic === undefined ? query.get('api_key') : Buffer.from(basic, 'base64').toString()
    return credentials === key
  }

  return Object.assign(controls, {
    commands: log.entries,
    restart() {
      for (const id of channels.keys()) endedByRestart.add(id)
      channels.clear()
      bridges.clear()
      controls.cut()
    },
  })
}

function updateOpen(
  open: Map<string, AriObject>,
  object: AriObject | undefined,
  isBegin: boolean,
  isEnd: boolean,
): void {
  if (!object) return
  if (isEnd) open.delete(object.id)
  else if (isBegin || open.has(object.id)) open.set(object.id, object)
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  return new URL(URL.canParse(url, 'http://fake') ? url : '/', 'http://fake')
}
