/** `fakeAsteriskAri`: replays a recorded ARI WebSocket. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Validator } from '../../options/validators.js'
import { checkOptions, nonEmptyText } from '../check-options.js'
import type { FakeAsterisk } from './asterisk-ami.js'
import { type AriEvent, type AriObject, parseAriRecording } from './asterisk-ari-recording.js'
import { createCommandLog } from './command-log.js'
import { type Client, createFakeSwitch, FAKE_CHECKS, type FakeOptions } from './fake-switch.js'
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
 * `GET /ari/channels`, `GET /ari/channels/{id}`, `GET /ari/channels/{id}/variable` (the functions `CDR(start,u)`,
 * `CDR(answer,u)` and `CHANNEL(onhold)`), `GET /ari/bridges`, `GET /ari/asterisk/ping`; credentials by
 * `Authorization: Basic` or `api_key`. A client takes over the application of an earlier one, which gets
 * `ApplicationReplaced` and nothing more.
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
  /** When channels were answered, Unix milliseconds, and which hold; by id. */
  const answered = new Map<string, number>()
  const holding = new Set<string>()
  /** The newest client of each application. */
  const applications = new Map<string, Client>()
  /** Ids of the channels that were open at a restart. */
  const endedByRestart = new Set<string>()

  const { controls, isSilent, subscribe, unsubscribe } = createFakeSwitch<AriEvent>(options, {
    events: parseAriRecording(options.recording),
    applyEvent({ type, channel, bridge, text, atMs }) {
      if (endedByRestart.size > 0 && [...endedByRestart].some((id) => text.includes(`"${id}"`))) return false
      updateOpen(channels, channel, type === 'ChannelCreated', type === 'ChannelDestroyed')
      if (channel) updateProgress(channel, type, atMs)
      updateOpen(bridges, bridge, type === 'BridgeCreated', type === 'BridgeDestroyed')
      return true
    },
    createServer: () => createServer({ noDelay: true }, serve).on('upgrade', upgrade),
  })

  function updateProgress(channel: AriObject, type: string, atMs: number) {
    if (channel.state === 'Up' && !answered.has(channel.id)) answered.set(channel.id, atMs)
    if (type === 'ChannelHold') holding.add(channel.id)
    if (type === 'ChannelUnhold' || type === 'ChannelLeftBridge') holding.delete(channel.id)
    if (type !== 'ChannelDestroyed') return
    answered.delete(channel.id)
    holding.delete(channel.id)
  }

  /** The value of a function for a channel; '' for others. */
  function variableOf(channel: AriObject, variable: string | null): string {
    const seconds = (ms: number) => (ms / 1000).toFixed(6)
    if (variable === 'CDR(start,u)') return seconds(Date.parse(channel.creationtime ?? ''))
    if (variable === 'CDR(answer,u)') return seconds(answered.get(channel.id) ?? 0)
    if (variable !== 'CHANNEL(onhold)') return ''
    const bridge = [...bridges.values()].find((bridge) => bridge.channels?.includes(channel.id))
    return bridge?.channels?.some((id) => id !== channel.id && holding.has(id)) ? '1' : '0'
  }

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
    const [, id, isVariable] = /^\/ari\/channels\/([^/]+)(\/variable)?$/.exec(pathname) ?? []
    if (id !== undefined) {
      const channel = [...channels.values()].find((channel) => encodeURIComponent(channel.id) === id)
      if (!channel) return reply(404, { message: 'Channel not found' })
      if (isVariable === undefined) return reply(200, channel)
      return reply(200, { value: variableOf(channel, searchParams.get('variable')) })
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
    const client = { socket, send: (bytes: string | Buffer) => send(Buffer.from(bytes)) }
    takeOver(searchParams.get('app') ?? '', client)
    subscribe(client, ({ type, text }) =>
      isSubscribedToAll || APPLICATION_EVENTS.has(type)
        ? encodeFrame(TEXT, Buffer.from(text, 'latin1'))
        : undefined,
    )
  }

  function takeOver(application: string, client: Client) {
    const replaced = applications.get(application)
    applications.set(application, client)
    if (!replaced) return
    unsubscribe(replaced)
    const timestamp = new Date().toISOString().replace('Z', '+0000')
    const event = JSON.stringify({ type: 'ApplicationReplaced', timestamp, application })
    replaced.send(encodeFrame(TEXT, Buffer.from(event)))
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
      answered.clear()
      holding.clear()
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
