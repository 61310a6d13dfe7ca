/** `fakeFreeswitch`: replays a recorded event socket. */
import type { Validator } from '../../options/validators.js'
import { checkOptions, nonEmptyText } from '../check-options.js'
import { type CommandLog, createCommandLog } from './command-log.js'
import {
  type Client,
  createFakeSwitch,
  FAKE_CHECKS,
  type FakeOptions,
  type FakeSwitch,
} from './fake-switch.js'
import { createFreeswitchLegs, type FreeswitchLegs } from './freeswitch-legs.js'
import { type FreeswitchEvent, parseFreeswitchRecording } from './freeswitch-recording.js'

/** Options of `fakeFreeswitch`. */
export interface FakeFreeswitchOptions extends FakeOptions {
  /** Password of the event socket. Default `ClueCon`. */
  readonly password?: string | undefined
}

/** A local FreeSWITCH. */
export interface FakeFreeswitch extends FakeSwitch {
  /** The last 1,000 commands received, without the password: `auth`, `event json CHANNEL_CREATE`. */
  readonly commands: readonly string[]
  /** The `Core-UUID` of the next events. */
  readonly coreUuid: string
  /**
   * Simulates a restart of the process under another `Core-UUID`: connections are cut, open legs are gone without an event,
   * and the recording starts again, so that all ids are reused.
   */
  restart(): void
}

const CHECKS: Readonly<Record<keyof FakeFreeswitchOptions, Validator>> = Object.freeze({
  ...FAKE_CHECKS,
  password: nonEmptyText,
})

/** A longer command ends the connection, bytes. */
const MAX_COMMAND_BYTES = 65_536

/** State shared by all clients of a fake. */
interface SharedState {
  readonly password: string
  readonly format: string
  readonly legs: FreeswitchLegs
  readonly log: CommandLog
  /** Time of the recording that has been replayed, seconds. */
  readonly uptime: () => number
  readonly coreUuid: () => string
  /** Subscribes a client to these events: `ALL`, names, subclasses. */
  readonly subscribe: (client: Client, names: ReadonlySet<string>) => void
  readonly unsubscribe: (client: Client) => void
}

/**
 * A FreeSWITCH that replays a recorded event socket (mod_event_socket, inbound mode): `auth`, `event`, `noevents`,
 * `api show channels as json`, `api uuid_dump`, `api uuid_exists`, `api global_getvar core_uuid`, `api uptime`,
 * `api echo`, `exit`. Every other command gets FreeSWITCH's reply to an unknown command.
 *
 * @param options.recording what a client received after `event plain` or `event json`; the fake serves that format
 * @throws `InvalidOption` naming the option, also for a recording without events
 * @example
 * const fake = fakeFreeswitch({ recording: await readFile('freeswitch-esl-json.txt.gz') })
 * const source = freeswitchSource({ host: fake.host, port: await fake.start(), password: 'ClueCon', … })
 * await fake.waitFor('subscribed')
 * await fake.play({ speed: 10 })
 * await fake.close()
 */
export function fakeFreeswitch(options: FakeFreeswitchOptions): FakeFreeswitch {
  checkOptions('fakeFreeswitch', options, CHECKS, ['recording'])
  const { format, coreUuid: recordedCoreUuid, events } = parseFreeswitchRecording(options.recording)
  let coreUuid = recordedCoreUuid
  let restarts = 0
  const legs = createFreeswitchLegs(() => coreUuid)
  const log = createCommandLog()
  const startMs = events[0]?.atMs ?? 0

  const { controls, timeline, subscribe, unsubscribe } = createFakeSwitch(options, {
    events,
    applyEvent(event) {
      legs.apply(event)
      return true
    },
    serveClient: (client) => serveClient(client, shared),
  })
  const encode = ({ frame }: FreeswitchEvent) =>
    Buffer.from(
      coreUuid === recordedCoreUuid ? frame : frame.replaceAll(recordedCoreUuid, coreUuid),
      'latin1',
    )
  const shared: SharedState = {
    password: options.password ?? 'ClueCon',
    format,
    legs,
    log,
    uptime: () => Math.round(((events[timeline.position - 1]?.atMs ?? startMs) - startMs) / 1000),
    coreUuid: () => coreUuid,
    subscribe: (client, names) =>
      subscribe(client, (event) => {
        const isSubscribed = names.has('ALL') || names.has(event.subclass ?? event.name)
        return isSubscribed ? encode(event) : undefined
      }),
    unsubscribe,
  }

  const extension: Pick<FakeFreeswitch, 'commands' | 'restart'> = {
    commands: log.entries,
    restart() {
      restarts += 1
      coreUuid = `${recordedCoreUuid.slice(0, -4)}${restarts.toString(16).padStart(4, '0')}`
      legs.clear()
      timeline.rewind()
      controls.cut()
    },
  }
  const fake = Object.assign(controls, extension)
  return Object.defineProperty(fake, 'coreUuid', { get: () => coreUuid, enumerable: true }) as FakeFreeswitch
}

/** Serves one client, which sends commands that end with an empty line. */
function serveClient(client: Client, shared: SharedState): (chunk: Buffer) => void {
  const names = new Set<string>()
  let pending = ''
  let isAuthenticated = false
  const reply = (text: string) => client.send(`Content-Type: command/reply\nReply-Text: ${text}\n\n`)
  const disconnect = () => {
    const notice = 'Disconnected, goodbye.\nSee you at ClueCon! http://www.cluecon.com/\n'
    client.send(`Content-Type: text/disconnect-notice\nContent-Length: ${notice.length}\n\n${notice}`)
    client.socket.end()
  }
  client.send('Content-Type: auth/request\n\n')

  const execute = (command: string) => {
    const [name = '', ...args] = command.split(/\s+/)
    shared.log.add(name === 'auth' ? 'auth' : command)
    if (name === 'exit') {
      reply('+OK bye')
      return disconnect()
    }
    if (!isAuthenticated && name === 'auth') {
      isAuthenticated = command.slice(5) === shared.password
      reply(isAuthenticated ? '+OK accepted' : '-ERR invalid')
      return isAuthenticated ? undefined : disconnect()
    }
    if (!isAuthenticated) return reply('-ERR command not found')
    switch (name) {
      case 'event': {
        const format = args[0] ?? ''
        if (args.length < 2) return reply('-ERR no keywords supplied')
        if (format !== shared.format) return reply(`-ERR the recording holds ${shared.format} events only`)
        for (const event of args.slice(1)) names.add(event.toUpperCase() === 'ALL' ? 'ALL' : event)
        reply(`+OK event listener enabled ${format}`)
        return shared.subscribe(client, names)
      }
      case 'noevents':
        names.clear()
        shared.unsubscribe(client)
        return reply('+OK no longer listening for events')
      case 'api': {
        const body = Buffer.from(executeApi(args, shared), 'latin1')
        client.send(`Content-Type: api/response\nContent-Length: ${body.length}\n\n`)
        return client.send(body)
      }
      default:
        return reply('-ERR command not found')
    }
  }

  return (chunk) => {
    pending += chunk.toString('latin1')
    for (let end = /\r?\n\r?\n/.exec(pending); end; end = /\r?\n\r?\n/.exec(pending)) {
      const command = pending.slice(0, end.index).trim()
      pending = pending.slice(end.index + end[0].length)
      if (command !== '') execute(command)
      if (client.socket.writableEnded) return
    }
    if (pending.length > MAX_COMMAND_BYTES) client.socket.destroy()
  }
}

/** The output of an API command. */
function executeApi(
  [name = '', ...args]: readonly string[],
  { legs, uptime, coreUuid }: SharedState,
): string {
  const [first = '', second = 'txt'] = args
  switch (`${name} ${name === 'show' ? args.join(' ') : ''}`.trim()) {
    case 'show channels as json':
      return legs.listChannels()
    case 'show channels count':
      return `\n${legs.count} total.\n`
    case 'uuid_dump':
      return legs.dump(first, second) ?? '-ERR No such channel!\n'
    case 'uuid_exists':
      return String(legs.has(first))
    case 'uptime':
      return `${uptime()}\n`
    case 'echo':
      return args.join(' ')
    case 'global_getvar':
      return first === 'core_uuid' ? coreUuid() : '-ERR no reply\n'
    default:
      return `-ERR ${name} Command not found!\n`
  }
}
