import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** What a fake switch answers, where it differs from an idle one with the password `ClueCon`. */
export interface FakeAnswers {
  readonly password?: string
  readonly coreUuid?: string
  /** What `show channels as json` lists; `undefined` as an answer: none comes. */
  readonly channels?: readonly string[]
  /** Answers to `api` commands, by the command without `api `. */
  readonly api?: (command: string) => string | undefined
  /** Answers to `event`. */
  readonly event?: string
  /** Hears everything and says nothing. */
  readonly mute?: boolean
  /** Told of the fake when it answers. */
  readonly onAnswers?: (fake: FakeSwitch) => void
  /** Takes over a connection: nothing else is said on it. */
  readonly onConnection?: (socket: Socket) => void
}

export interface FakeSwitch {
  readonly port: number
  answers: FakeAnswers
  /** Every command that came, in order, of all connections. */
  readonly commands: string[]
  /** Open connections. */
  readonly sockets: Set<Socket>
  /** Says something to all connections. */
  send(bytes: Buffer | string): void
  /** Ends all connections. */
  drop(): void
  close(): Promise<void>
}

export const RUN = '9a4c94f4-2c5f-405b-be4b-22f9891adaf9'

const api = (body: string) =>
  `Content-Type: api/response\nContent-Length: ${Buffer.byteLength(body)}\n\n${body}`
const reply = (text: string) => `Content-Type: command/reply\nReply-Text: ${text}\n\n`

/** An event as the switch writes it. */
export function jsonFrame(event: Readonly<Record<string, string | readonly string[]>>): string {
  const body = JSON.stringify(event)
  return `Content-Length: ${Buffer.byteLength(body)}\nContent-Type: text/event-json\n\n${body}`
}

const BEGIN_US = 1_795_173_739_000_000

/** A made-up event of a leg of the account `acme`. */
export function legEvent(
  name: string,
  uuid: string,
  given: { readonly answeredMs?: number; readonly cause?: string; readonly padding?: number } = {},
): Record<string, string> {
  const { answeredMs, cause = 'NORMAL_CLEARING', padding = 0 } = given
  return {
    'Event-Name': name,
    'Core-UUID': RUN,
    'Event-Date-Timestamp': String(BEGIN_US + 5_000_000),
    'Event-Sequence': '7',
    'Channel-Name': 'sofia/external/1001@acme.example',
    'Unique-ID': uuid,
    'Call-Direction': 'inbound',
    'Caller-Channel-Created-Time': String(BEGIN_US),
    'Caller-Channel-Answered-Time': answeredMs === undefined ? '0' : String(BEGIN_US + answeredMs * 1000),
    ...(name === 'CHANNEL_DESTROY' ? { 'Hangup-Cause': cause } : {}),
    'variable_ecallmgr_Account-ID': 'acme',
    variable_padding: 'x'.repeat(padding),
  }
}

/** A switch that speaks the event socket's protocol and has no calls but those that a test makes up. */
export async function fakeSwitch(answers: FakeAnswers = {}): Promise<FakeSwitch> {
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const answer = (command: string, socket: Socket): string | undefined => {
    const { password = 'ClueCon', coreUuid = RUN, channels = [], event, mute } = fake.answers
    fake.answers.onAnswers?.(fake)
    if (mute) return undefined
    if (command === `auth ${password}`) return reply('+OK accepted')
    if (command.startsWith('auth ')) {
      socket.end(`${reply('-ERR invalid')}Content-Type: text/disconnect-notice\nContent-Length: 4\n\nBye\n`)
      return undefined
    }
    if (command.startsWith('event '))
      return reply(event ?? `+OK event listener enabled ${command.split(' ')[1]}`)
    if (!command.startsWith('api ')) return reply('+OK')
    const asked = command.slice(4)
    const own = fake.answers.api?.(asked)
    if (own !== undefined) return api(own)
    if (asked === 'global_getvar core_uuid') return api(coreUuid)
    if (asked === 'show channels as json') {
      const rows = channels.map((uuid) => ({ uuid, direction: 'inbound', created_epoch: '1795173739' }))
      return api(JSON.stringify(rows.length > 0 ? { row_count: rows.length, rows } : { row_count: 0 }))
    }
    if (asked.startsWith('uuid_exists ')) return api(String(channels.includes(asked.slice(12))))
    return api('-ERR No such channel!\n')
  }
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    if (fake.answers.onConnection) return fake.answers.onConnection(socket)
    let heard = ''
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1')
      for (let end = heard.indexOf('\n\n'); end >= 0; end = heard.indexOf('\n\n')) {
        const command = heard.slice(0, end)
        heard = heard.slice(end + 2)
        commands.push(command)
        const said = answer(command, socket)
        if (said !== undefined) socket.write(said)
      }
    })
    socket.write('Content-Type: auth/request\n\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const fake: FakeSwitch = {
    port: (server.address() as AddressInfo).port,
    answers,
    commands,
    sockets,
    send(bytes) {
      for (const socket of sockets) socket.write(bytes)
    },
    drop() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      this.drop()
      server.close()
      await once(server, 'close')
    },
  }
  return fake
}
