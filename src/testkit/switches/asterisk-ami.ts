/** `fakeAsteriskAmi`: replays a recorded connection to the manager interface. */
import type { Validator } from '../../options/validators.js'
import { checkOptions, nonEmptyText } from '../check-options.js'
import { type AmiChannels, createAmiChannels } from './asterisk-ami-channels.js'
import { type AmiEvent, parseAmiRecording } from './asterisk-ami-recording.js'
import { type CommandLog, createCommandLog } from './command-log.js'
import {
  type Client,
  createFakeSwitch,
  FAKE_CHECKS,
  type FakeOptions,
  type FakeSwitch,
} from './fake-switch.js'

/** Options of `fakeAsteriskAmi`. */
export interface FakeAsteriskAmiOptions extends FakeOptions {
  /** Username that clients log in with. */
  readonly username: string
  /** Secret that clients log in with. */
  readonly secret: string
}

/** A local Asterisk. */
export interface FakeAsterisk extends FakeSwitch {
  /** The last 1,000 actions (`Login`) or requests (`GET /ari/channels`), without secrets. */
  readonly commands: readonly string[]
  /**
   * Simulates a restart of the process: connections are cut, open channels are gone without an event, and their later events
   * are left out. The recording continues, because Asterisk never reuses ids.
   */
  restart(): void
}

const CHECKS: Readonly<Record<keyof FakeAsteriskAmiOptions, Validator>> = Object.freeze({
  ...FAKE_CHECKS,
  username: nonEmptyText,
  secret: nonEmptyText,
})

/** A longer action ends the connection, bytes. */
const MAX_ACTION_BYTES = 65_536

/** State shared by all clients of a fake. */
interface SharedState {
  readonly banner: string
  readonly username: string
  readonly secret: string
  readonly channels: AmiChannels
  readonly log: CommandLog
  /** Time of the last replayed event, Unix milliseconds. */
  readonly nowMs: () => number
  /** Subscribes a client to events of these classes; `on`: to all. */
  readonly subscribe: (client: Client, classes: ReadonlySet<string>) => void
  readonly unsubscribe: (client: Client) => void
}

/**
 * An Asterisk that replays a recorded manager interface (AMI): `Login`, `Logoff`, `Ping`, `Events`, `CoreShowChannels`.
 * Every other action gets Asterisk's reply to an unknown action.
 *
 * @param options.recording the bytes that a client received, from the banner on
 * @throws `InvalidOption` naming the option, also for a recording without events
 */
export function fakeAsteriskAmi(options: FakeAsteriskAmiOptions): FakeAsterisk {
  checkOptions('fakeAsteriskAmi', options, CHECKS, ['recording', 'username', 'secret'])
  const { username, secret } = options
  const { banner, events } = parseAmiRecording(options.recording)
  const channels = createAmiChannels()
  const log = createCommandLog()
  /** Ids of the channels that were open at a restart. */
  const endedByRestart = new Set<string>()

  const { controls, timeline, subscribe, unsubscribe } = createFakeSwitch<AmiEvent>(options, {
    events,
    applyEvent(event) {
      if (endedByRestart.size > 0 && event.lines.some(([, value]) => endedByRestart.has(value))) return false
      channels.apply(event)
      return true
    },
    serveClient: (client) => serveClient(client, shared),
  })
  const shared: SharedState = {
    banner,
    username,
    secret,
    channels,
    log,
    nowMs: () => events[Math.max(0, timeline.position - 1)]?.atMs ?? 0,
    subscribe: (client, classes) =>
      subscribe(client, (event) => {
        const isSubscribed =
          classes.has('on') || event.classes.some((name) => name !== 'all' && classes.has(name))
        return isSubscribed ? Buffer.from(event.text, 'latin1') : undefined
      }),
    unsubscribe,
  }
  return Object.assign(controls, {
    commands: log.entries,
    restart() {
      for (const id of channels.ids()) endedByRestart.add(id)
      channels.clear()
      controls.cut()
    },
  })
}

/** Serves one client, which sends actions: lines of `Key: value`, ended by an empty line. */
function serveClient(client: Client, shared: SharedState): (chunk: Buffer) => void {
  let pending = ''
  let isAuthenticated = false
  client.send(`${shared.banner}\r\n`)

  const execute = (fields: ReadonlyMap<string, string>) => {
    const action = fields.get('action') ?? ''
    const id = fields.has('actionid') ? [`ActionID: ${fields.get('actionid')}`] : []
    const reply = (first: string, ...lines: readonly string[]) =>
      client.send(Buffer.from(`${[first, ...id, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'))
    const applyMask = (mask: string) => {
      const classes = new Set(mask.toLowerCase().split(/\s*,\s*/))
      if (classes.has('off')) shared.unsubscribe(client)
      else shared.subscribe(client, new Set(classes.has('all') ? ['on'] : classes))
    }
    shared.log.add(action)
    switch (action.toLowerCase()) {
      case 'login': {
        isAuthenticated = fields.get('username') === shared.username && fields.get('secret') === shared.secret
        if (!isAuthenticated) {
          reply('Response: Error', 'Message: Authentication failed')
          return client.socket.end()
        }
        reply('Response: Success', 'Message: Authentication accepted')
        client.send('Event: FullyBooted\r\nPrivilege: system,all\r\nStatus: Fully Booted\r\n\r\n')
        return applyMask(fields.get('events') ?? 'on')
      }
      case 'logoff':
        reply('Response: Goodbye', 'Message: Thanks for all the fish.')
        return client.socket.end()
    }
    if (!isAuthenticated) return reply('Response: Error', 'Message: Permission denied')
    switch (action.toLowerCase()) {
      case 'ping':
        return reply('Response: Success', 'Ping: Pong', `Timestamp: ${(shared.nowMs() / 1000).toFixed(6)}`)
      case 'events': {
        const mask = fields.get('eventmask') ?? 'on'
        reply('Response: Success', `Events: ${mask.toLowerCase() === 'off' ? 'Off' : 'On'}`)
        return applyMask(mask)
      }
      case 'coreshowchannels': {
        const channels = shared.channels.list()
        reply('Response: Success', 'EventList: start', 'Message: Channels will follow')
        for (const lines of channels) reply('Event: CoreShowChannel', ...lines)
        return reply(
          'Event: CoreShowChannelsComplete',
          'EventList: Complete',
          `ListItems: ${channels.length}`,
        )
      }
      default:
        return reply('Response: Error', 'Message: Invalid/unknown command')
    }
  }

  return (chunk) => {
    pending += chunk.toString('latin1')
    for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
      execute(parseAction(pending.slice(0, end)))
      pending = pending.slice(end + 4)
      if (client.socket.writableEnded) return
    }
    if (pending.length > MAX_ACTION_BYTES) client.socket.destroy()
  }
}

/** The lines of an action by lower-case key: keys are case-insensitive. */
function parseAction(text: string): Map<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(/:(.*)/s, 2))
  return new Map(lines.map(([key = '', value = '']) => [key.trim().toLowerCase(), value.trim()]))
}
