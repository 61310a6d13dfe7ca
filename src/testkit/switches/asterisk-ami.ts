import type { Check } from '../../option-checks.js'
import { checkGiven, text } from '../handler/given-options.js'
import { type AmiChannels, amiChannels } from './asterisk-ami-channels.js'
import { type AmiEvent, readAmi } from './asterisk-ami-recording.js'
import { type CommandLog, commandLog } from './command-log.js'
import { type Client, FAKE_CHECKS, type FakeOptions, type FakeSwitch, fakeSwitch } from './fake-switch.js'

/** Options of `fakeAsteriskAmi`. */
export interface FakeAsteriskAmiOptions extends FakeOptions {
  readonly username: string
  readonly secret: string
}

/** An Asterisk on this machine. */
export interface FakeAsterisk extends FakeSwitch {
  /** The last thousand things heard: names of actions (`Login`), or requests (`GET /ari/channels`). No secrets. */
  readonly commands: readonly string[]
  /**
   * The process ends and comes back: connections are cut, open channels are gone without a word, and nothing of them
   * follows. The recording goes on, since Asterisk's ids never come again.
   */
  restart(): void
}

const CHECKS: Readonly<Record<keyof FakeAsteriskAmiOptions, Check>> = Object.freeze({
  ...FAKE_CHECKS,
  username: text,
  secret: text,
})

/** An action above this size ends the connection. */
const LONGEST_ACTION = 65_536

interface Switch {
  readonly banner: string
  readonly username: string
  readonly secret: string
  readonly channels: AmiChannels
  readonly log: CommandLog
  readonly nowMs: () => number
  readonly subscribe: (client: Client, classes: ReadonlySet<string>) => void
  readonly unsubscribe: (client: Client) => void
}

/**
 * An Asterisk that replays a recorded manager interface (AMI): `Login`, `Logoff`, `Ping`, `Events`, `CoreShowChannels`.
 * Every other action is answered as Asterisk answers those that it does not know.
 *
 * @param options.recording what a client received, from the banner on
 * @throws `InvalidOption` naming the option, also for a recording without events
 */
export function fakeAsteriskAmi(options: FakeAsteriskAmiOptions): FakeAsterisk {
  checkGiven('fakeAsteriskAmi', options, CHECKS, ['recording', 'username', 'secret'])
  const { username, secret } = options
  const { banner, events } = readAmi(options.recording)
  const channels = amiChannels()
  const log = commandLog()
  /** Channels that a restart ended. */
  const gone = new Set<string>()

  const { controls, timeline, subscribe, unsubscribe } = fakeSwitch<AmiEvent>(options, {
    events,
    happen(event) {
      if (gone.size > 0 && event.lines.some(([, value]) => gone.has(value))) return false
      channels.happen(event)
      return true
    },
    serve: (client) => session(client, shared),
  })
  const shared: Switch = {
    banner,
    username,
    secret,
    channels,
    log,
    nowMs: () => events[Math.max(0, timeline.position - 1)]?.atMs ?? 0,
    subscribe: (client, classes) =>
      subscribe(client, (event) => {
        const isWanted = classes.has('on') || event.classes.some((one) => one !== 'all' && classes.has(one))
        return isWanted ? Buffer.from(event.text, 'latin1') : undefined
      }),
    unsubscribe,
  }
  return Object.assign(controls, {
    commands: log.list,
    restart() {
      for (const id of channels.ids()) gone.add(id)
      channels.clear()
      controls.cut()
    },
  })
}

/** One client: what it sends is actions, lines of `Key: value` ended by an empty one. */
function session(client: Client, shared: Switch): (chunk: Buffer) => void {
  let pending = ''
  let isTrusted = false
  client.say(`${shared.banner}\r\n`)

  const obey = (given: ReadonlyMap<string, string>) => {
    const action = given.get('action') ?? ''
    const id = given.has('actionid') ? [`ActionID: ${given.get('actionid')}`] : []
    const say = (first: string, ...lines: readonly string[]) =>
      client.say(Buffer.from(`${[first, ...id, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'))
    const listen = (mask: string) => {
      const classes = new Set(mask.toLowerCase().split(/\s*,\s*/))
      if (classes.has('off')) shared.unsubscribe(client)
      else shared.subscribe(client, new Set(classes.has('all') ? ['on'] : classes))
    }
    shared.log.add(action)
    switch (action.toLowerCase()) {
      case 'login': {
        isTrusted = given.get('username') === shared.username && given.get('secret') === shared.secret
        if (!isTrusted) {
          say('Response: Error', 'Message: Authentication failed')
          return client.socket.end()
        }
        say('Response: Success', 'Message: Authentication accepted')
        client.say('Event: FullyBooted\r\nPrivilege: system,all\r\nStatus: Fully Booted\r\n\r\n')
        return listen(given.get('events') ?? 'on')
      }
      case 'logoff':
        say('Response: Goodbye', 'Message: Thanks for all the fish.')
        return client.socket.end()
    }
    if (!isTrusted) return say('Response: Error', 'Message: Permission denied')
    switch (action.toLowerCase()) {
      case 'ping':
        return say('Response: Success', 'Ping: Pong', `Timestamp: ${(shared.nowMs() / 1000).toFixed(6)}`)
      case 'events': {
        const mask = given.get('eventmask') ?? 'on'
        say('Response: Success', `Events: ${mask.toLowerCase() === 'off' ? 'Off' : 'On'}`)
        return listen(mask)
      }
      case 'coreshowchannels': {
        const channels = shared.channels.show()
        say('Response: Success', 'EventList: start', 'Message: Channels will follow')
        for (const lines of channels) say('Event: CoreShowChannel', ...lines)
        return say('Event: CoreShowChannelsComplete', 'EventList: Complete', `ListItems: ${channels.length}`)
      }
      default:
        return say('Response: Error', 'Message: Invalid/unknown command')
    }
  }

  return (chunk) => {
    pending += chunk.toString('latin1')
    for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
      obey(actionOf(pending.slice(0, end)))
      pending = pending.slice(end + 4)
      if (client.socket.writableEnded) return
    }
    if (pending.length > LONGEST_ACTION) client.socket.destroy()
  }
}

/** The lines of an action, by lower-case key: Asterisk tells no case apart. */
function actionOf(text: string): Map<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(/:(.*)/s, 2))
  return new Map(lines.map(([key = '', value = '']) => [key.trim().toLowerCase(), value.trim()]))
}
