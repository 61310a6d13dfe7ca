import type { Check } from '../../option-checks.js'
import { checkGiven, text } from '../handler/given-options.js'
import { type CommandLog, commandLog } from './command-log.js'
import { type Client, FAKE_CHECKS, type FakeOptions, type FakeSwitch, fakeSwitch } from './fake-switch.js'
import { type FreeswitchLegs, freeswitchLegs } from './freeswitch-legs.js'
import { type FreeswitchEvent, readFreeswitch } from './freeswitch-recording.js'

/** Options of `fakeFreeswitch`. */
export interface FakeFreeswitchOptions extends FakeOptions {
  /** Default `ClueCon`. */
  readonly password?: string
}

/** A FreeSWITCH on this machine. */
export interface FakeFreeswitch extends FakeSwitch {
  /** The last thousand commands heard, the password left out: `auth`, `event json CHANNEL_CREATE`. */
  readonly commands: readonly string[]
  /** The `Core-UUID` of what follows. */
  readonly coreUuid: string
  /**
   * The process ends and comes back under another `Core-UUID`: connections are cut, open legs are gone without a word,
   * and the recording begins again, so that every id comes again.
   */
  restart(): void
}

const CHECKS: Readonly<Record<keyof FakeFreeswitchOptions, Check>> = Object.freeze({
  ...FAKE_CHECKS,
  password: text,
})

/** A command above this size ends the connection. */
const LONGEST_COMMAND = 65_536

/** What the fake's clients share. */
interface Switch {
  readonly password: string
  readonly format: string
  readonly legs: FreeswitchLegs
  readonly log: CommandLog
  /** Seconds that the fake has played. */
  readonly uptime: () => number
  readonly coreUuid: () => string
  /** The client wants these events (`ALL`, names, subclasses), or none any more. */
  readonly subscribe: (client: Client, wanted: ReadonlySet<string>) => void
  readonly unsubscribe: (client: Client) => void
}

/**
 * A FreeSWITCH that replays a recorded event socket (mod_event_socket, inbound mode): `auth`, `event`, `noevents`,
 * `api show channels as json`, `api uuid_dump`, `api uuid_exists`, `api global_getvar core_uuid`, `api uptime`,
 * `api echo`, `exit`. Every other command is answered as FreeSWITCH answers those that it does not know.
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
  checkGiven('fakeFreeswitch', options, CHECKS, ['recording'])
  const { format, coreUuid: recorded, events } = readFreeswitch(options.recording)
  let coreUuid = recorded
  let restarts = 0
  const legs = freeswitchLegs(() => coreUuid)
  const log = commandLog()
  const startMs = events[0]?.atMs ?? 0

  const { controls, timeline, subscribe, unsubscribe } = fakeSwitch(options, {
    events,
    happen(event) {
      legs.happen(event)
      return true
    },
    serve: (client) => session(client, shared),
  })
  const bytesOf = ({ frame }: FreeswitchEvent) =>
    Buffer.from(coreUuid === recorded ? frame : frame.replaceAll(recorded, coreUuid), 'latin1')
  const shared: Switch = {
    password: options.password ?? 'ClueCon',
    format,
    legs,
    log,
    uptime: () => Math.round(((events[timeline.position - 1]?.atMs ?? startMs) - startMs) / 1000),
    coreUuid: () => coreUuid,
    subscribe: (client, wanted) =>
      subscribe(client, (event) => {
        const isWanted = wanted.has('ALL') || wanted.has(event.subclass ?? event.name)
        return isWanted ? bytesOf(event) : undefined
      }),
    unsubscribe,
  }

  const own: Pick<FakeFreeswitch, 'commands' | 'restart'> = {
    commands: log.list,
    restart() {
      restarts += 1
      coreUuid = `${recorded.slice(0, -4)}${restarts.toString(16).padStart(4, '0')}`
      legs.clear()
      timeline.rewind()
      controls.cut()
    },
  }
  const fake = Object.assign(controls, own)
  return Object.defineProperty(fake, 'coreUuid', { get: () => coreUuid, enumerable: true }) as FakeFreeswitch
}

/** One client: what it sends is commands, each ended by an empty line. */
function session(client: Client, shared: Switch): (chunk: Buffer) => void {
  const wanted = new Set<string>()
  let pending = ''
  let isTrusted = false
  const reply = (said: string) => client.say(`Content-Type: command/reply\nReply-Text: ${said}\n\n`)
  const goodbye = () => {
    const notice = 'Disconnected, goodbye.\nSee you at ClueCon! http://www.cluecon.com/\n'
    client.say(`Content-Type: text/disconnect-notice\nContent-Length: ${notice.length}\n\n${notice}`)
    client.socket.end()
  }
  client.say('Content-Type: auth/request\n\n')

  const obey = (command: string) => {
    const [verb = '', ...words] = command.split(/\s+/)
    shared.log.add(verb === 'auth' ? 'auth' : command)
    if (verb === 'exit') {
      reply('+OK bye')
      return goodbye()
    }
    if (!isTrusted && verb === 'auth') {
      isTrusted = command.slice(5) === shared.password
      reply(isTrusted ? '+OK accepted' : '-ERR invalid')
      return isTrusted ? undefined : goodbye()
    }
    if (!isTrusted) return reply('-ERR command not found')
    switch (verb) {
      case 'event': {
        const format = words[0] ?? ''
        if (words.length < 2) return reply('-ERR no keywords supplied')
        if (format !== shared.format) return reply(`-ERR the recording holds ${shared.format} events only`)
        for (const name of words.slice(1)) wanted.add(name.toUpperCase() === 'ALL' ? 'ALL' : name)
        reply(`+OK event listener enabled ${format}`)
        return shared.subscribe(client, wanted)
      }
      case 'noevents':
        wanted.clear()
        shared.unsubscribe(client)
        return reply('+OK no longer listening for events')
      case 'api': {
        const body = Buffer.from(answer(words, shared), 'latin1')
        client.say(`Content-Type: api/response\nContent-Length: ${body.length}\n\n`)
        return client.say(body)
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
      if (command !== '') obey(command)
      if (client.socket.writableEnded) return
    }
    if (pending.length > LONGEST_COMMAND) client.socket.destroy()
  }
}

/** What an API command answers. */
function answer([name = '', ...words]: readonly string[], { legs, uptime, coreUuid }: Switch): string {
  const [first = '', second = 'txt'] = words
  switch (`${name} ${name === 'show' ? words.join(' ') : ''}`.trim()) {
    case 'show channels as json':
      return legs.show()
    case 'show channels count':
      return `\n${legs.count} total.\n`
    case 'uuid_dump':
      return legs.dump(first, second) ?? '-ERR No such channel!\n'
    case 'uuid_exists':
      return String(legs.has(first))
    case 'uptime':
      return `${uptime()}\n`
    case 'echo':
      return words.join(' ')
    case 'global_getvar':
      return first === 'core_uuid' ? coreUuid() : '-ERR no reply\n'
    default:
      return `-ERR ${name} Command not found!\n`
  }
}
