/** `fakeAsteriskAmi`: replays a recorded connection to the manager interface. */

import { invalidOption, type Validator } from '../../options/validators.js'
import { defined } from '../../values/defined.js'
import { checkOptions, nonEmptyText } from '../check-options.js'
import { type AmiChannels, createAmiChannels } from './asterisk-ami-channels.js'
import { type AmiEvent, fieldOf, parseAmiRecording } from './asterisk-ami-recording.js'
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
  /**
   * Settings of `manager.conf`, as `AST_CONFIG` returns them, and as Asterisk applies `read` and `write` to events and
   * actions. Default: all classes, and `timestampevents` as in the recording.
   */
  readonly settings?:
    | {
        readonly read?: string | undefined
        readonly write?: string | undefined
        readonly timestampevents?: string | undefined
      }
    | undefined
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
  settings: checkSettings,
})

/** The classes of `write`, one of which an action needs. */
const NEEDED_CLASSES: Readonly<Record<string, readonly string[]>> = {
  coreshowchannels: ['system', 'reporting'],
  getvar: ['call', 'reporting'],
}
/** A longer action ends the connection, bytes. */
const MAX_ACTION_BYTES = 65_536

/** State shared by all clients of a fake. */
interface SharedState {
  readonly banner: string
  readonly username: string
  readonly secret: string
  readonly channels: AmiChannels
  readonly settings: Readonly<Record<'read' | 'write' | 'timestampevents', string>>
  readonly log: CommandLog
  /** Time of the last replayed event, Unix milliseconds. */
  readonly nowMs: () => number
  /** Subscribes a client to events of these classes; `on`: to all. */
  readonly subscribe: (client: Client, classes: ReadonlySet<string>) => void
  readonly unsubscribe: (client: Client) => void
}

/**
 * An Asterisk that replays a recorded manager interface (AMI): `Login`, `Logoff`, `Ping`, `Events`, `CoreShowChannels`,
 * `BridgeList`, and `Getvar` for the functions `CDR`, `CHANNEL(onhold)` and `AST_CONFIG`. Every other action gets Asterisk's
 * reply to an unknown action.
 *
 * @param options.recording the bytes that a client received, from the banner on
 * @throws `InvalidOption` naming the option, also for a recording without events
 */
export function fakeAsteriskAmi(options: FakeAsteriskAmiOptions): FakeAsterisk {
  checkOptions('fakeAsteriskAmi', options, CHECKS, ['recording', 'username', 'secret'])
  const { username, secret } = options
  const { banner, events } = parseAmiRecording(options.recording)
  const hasTimes = events.some(({ lines }) => fieldOf(lines, 'Timestamp') !== undefined)
  const settings = {
    read: 'all',
    write: 'all',
    timestampevents: hasTimes ? 'yes' : 'no',
    ...defined(options.settings ?? {}),
  }
  const readable = new Set(classesOf(settings.read))
  const isTimed = settings.timestampevents === 'yes'
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
    settings,
    log,
    nowMs: () => events[Math.max(0, timeline.position - 1)]?.atMs ?? 0,
    subscribe: (client, classes) =>
      subscribe(client, (event) => {
        const isSubscribed = event.classes.some(
          (name) =>
            name !== 'all' &&
            (classes.has('on') || classes.has(name)) &&
            (readable.has('all') || readable.has(name)),
        )
        if (!isSubscribed) return undefined
        const text = isTimed ? event.text : event.text.replace(/\r\nTimestamp: [^\r]*/, '')
        return Buffer.from(text, 'latin1')
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
      const classes = new Set(classesOf(mask))
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
    const writable = new Set(classesOf(shared.settings.write))
    const needed = NEEDED_CLASSES[action.toLowerCase()] ?? []
    const isAllowed = needed.length === 0 || ['all', ...needed].some((name) => writable.has(name))
    if (!isAuthenticated || !isAllowed) return reply('Response: Error', 'Message: Permission denied')
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
      case 'bridgelist': {
        const bridges = shared.channels.bridges()
        reply('Response: Success', 'EventList: start', 'Message: Bridge listing will follow')
        for (const lines of bridges) reply('Event: BridgeListItem', ...lines)
        return reply('Event: BridgeListComplete', 'EventList: Complete', `ListItems: ${bridges.length}`)
      }
      case 'getvar': {
        const variable = fields.get('variable') ?? ''
        const value = variableOf(fields.get('channel'), variable, shared)
        if (value === undefined) return reply('Response: Error', 'Message: No such channel')
        return reply('Response: Success', `Variable: ${variable}`, `Value: ${value}`)
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

/** The value of a function, of a channel or of the configuration; `undefined`: there is no such channel. */
function variableOf(channel: string | undefined, variable: string, shared: SharedState): string | undefined {
  if (channel !== undefined && channel !== '') return shared.channels.variable(channel, variable)
  const { username, settings } = shared
  const [, category, name] = /^AST_CONFIG\(manager\.conf,([^,]+),(\w+)\)$/.exec(variable) ?? []
  if (category === 'general' && name === 'timestampevents') return settings.timestampevents
  if (category === username && (name === 'read' || name === 'write')) return settings[name]
  return ''
}

function classesOf(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
}

function checkSettings(field: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) throw invalidOption(field, 'must be an object')
  for (const [name, setting] of Object.entries(value)) {
    const isKnown = ['read', 'write', 'timestampevents'].includes(name)
    if (!isKnown || typeof setting !== 'string')
      throw invalidOption(field, 'must have texts: read, write, timestampevents')
  }
}

/** The lines of an action by lower-case key: keys are case-insensitive. */
function parseAction(text: string): Map<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(/:(.*)/s, 2))
  return new Map(lines.map(([key = '', value = '']) => [key.trim().toLowerCase(), value.trim()]))
}
