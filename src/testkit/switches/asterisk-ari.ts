import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Check } from '../../option-checks.js'
import { checkGiven, text } from '../handler/given-options.js'
import type { FakeAsterisk } from './asterisk-ami.js'
import { type AriEvent, type AriThing, readAri } from './asterisk-ari-recording.js'
import { commandLog } from './command-log.js'
import { FAKE_CHECKS, type FakeOptions, fakeSwitch } from './fake-switch.js'
import { frame, frameReader, handshake, TEXT } from './websocket.js'

/** Options of `fakeAsteriskAri`. */
export interface FakeAsteriskAriOptions extends FakeOptions {
  readonly username: string
  readonly password: string
}

const CHECKS: Readonly<Record<keyof FakeAsteriskAriOptions, Check>> = Object.freeze({
  ...FAKE_CHECKS,
  username: text,
  password: text,
})

/** What a client hears that has not subscribed to everything: of the calls that enter its own application. */
const OF_THE_APPLICATION: ReadonlySet<string> = new Set(['StasisStart', 'StasisEnd'])

/**
 * An Asterisk that replays a recorded ARI WebSocket: `GET /ari/events` (WebSocket; `app`, `subscribeAll`),
 * `GET /ari/channels`, `GET /ari/channels/{id}`, `GET /ari/bridges`, `GET /ari/asterisk/ping`; key by `Authorization:
 * Basic` or `api_key`.
 *
 * @param options.recording the text frames that a client received with `subscribeAll=true`, one a line
 * @throws `InvalidOption` naming the option, also for a recording without events
 */
export function fakeAsteriskAri(options: FakeAsteriskAriOptions): FakeAsterisk {
  checkGiven('fakeAsteriskAri', options, CHECKS, ['recording', 'username', 'password'])
  const key = `${options.username}:${options.password}`
  const log = commandLog()
  const channels = new Map<string, AriThing>()
  const bridges = new Map<string, AriThing>()
  /** Channels that a restart ended. */
  const gone = new Set<string>()

  const { controls, isSilent, subscribe } = fakeSwitch<AriEvent>(options, {
    events: readAri(options.recording),
    happen({ type, channel, bridge, text }) {
      if (gone.size > 0 && [...gone].some((id) => text.includes(`"${id}"`))) return false
      keep(channels, channel, type === 'ChannelCreated', type === 'ChannelDestroyed')
      keep(bridges, bridge, type === 'BridgeCreated', type === 'BridgeDestroyed')
      return true
    },
    server: () => createServer({ noDelay: true }, serve).on('upgrade', upgrade),
  })

  function serve(request: IncomingMessage, response: ServerResponse) {
    if (isSilent()) return
    const { pathname, searchParams } = urlOf(request)
    log.add(`${request.method} ${pathname}`)
    const say = (status: number, body: unknown) => {
      const bytes = Buffer.from(JSON.stringify(body), 'latin1')
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
      response.end(bytes)
    }
    if (!isKnown(request, searchParams)) return say(401, { message: 'Authentication required' })
    if (request.method !== 'GET') return say(405, { message: 'Invalid method' })
    const [, id] = /^\/ari\/channels\/([^/]+)$/.exec(pathname) ?? []
    if (id !== undefined) {
      const channel = [...channels.values()].find((one) => encodeURIComponent(one.id) === id)
      return channel ? say(200, channel) : say(404, { message: 'Channel not found' })
    }
    if (pathname === '/ari/channels') return say(200, [...channels.values()])
    if (pathname === '/ari/bridges') return say(200, [...bridges.values()])
    if (pathname === '/ari/asterisk/ping') return say(200, { ping: 'pong' })
    return say(404, { message: 'Resource not found' })
  }

  function upgrade(request: IncomingMessage, socket: Socket, head: Buffer) {
    if (isSilent()) return
    const { pathname, searchParams } = urlOf(request)
    log.add(`${request.method} ${pathname}`)
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)
    if (pathname !== '/ari/events') return refuse('404 Not Found')
    if (!isKnown(request, searchParams)) return refuse('401 Unauthorized')
    const opening = handshake(request)
    if (!opening || !searchParams.get('app')) return refuse('400 Bad Request')

    const say = (bytes: Buffer) => void (isSilent() || socket.write(bytes))
    const read = frameReader({ say, end: () => socket.end() })
    socket.write(opening)
    socket.on('data', (chunk: Buffer) => void (isSilent() || read(chunk)))
    if (head.length > 0) read(head)
    const hearsAll = searchParams.get('subscribeAll') === 'true'
    subscribe({ socket, say: (bytes) => say(Buffer.from(bytes)) }, ({ type, text }) =>
      hearsAll || OF_THE_APPLICATION.has(type) ? frame(TEXT, Buffer.from(text, 'latin1')) : undefined,
    )
  }

  function isKnown({ headers }: IncomingMessage, query: URLSearchParams): boolean {
    const [, basic] = /^Basic (\S+)$/i.exec(headers.authorization ?? '') ?? []
    const given = basic === undefined ? query.get('api_key') : Buffer.from(basic, 'base64').toString()
    return given === key
  }

  return Object.assign(controls, {
    commands: log.list,
    restart() {
      for (const id of channels.keys()) gone.add(id)
      channels.clear()
      bridges.clear()
      controls.cut()
    },
  })
}

function keep(
  open: Map<string, AriThing>,
  thing: AriThing | undefined,
  begins: boolean,
  ends: boolean,
): void {
  if (!thing) return
  if (ends) open.delete(thing.id)
  else if (begins || open.has(thing.id)) open.set(thing.id, thing)
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  return new URL(URL.canParse(url, 'http://fake') ? url : '/', 'http://fake')
}
