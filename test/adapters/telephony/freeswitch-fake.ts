import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** Replies of a fake switch, where they differ from an idle one with the password `ClueCon`. */
export interface FakeReplies {
  readonly password?: string
  readonly coreUuid?: string
  /** The channels that `show channels as json` lists. */
  readonly channels?: readonly string[]
  /** The channel data of `uuid_dump`, by id; a listed channel without data has those of an unanswered leg. */
  readonly dumps?: Readonly<Record<string, object>>
  /** Replies to `api` commands, by the command without `api `; `undefined`: the default reply. */
  readonly api?: (command: string) => string | undefined
  /** Reply to `event`. */
  readonly event?: string
  /** Receives commands and sends no replies. */
  readonly mute?: boolean
  /** Called with the fake before each reply. */
  readonly onReply?: (fake: FakeSwitch) => void
  /** Takes over a connection: the fake sends nothing on it. */
  readonly onConnection?: (socket: Socket) => void
}

export interface FakeSwitch {
  readonly port: number
  replies: FakeReplies
  /** Every command received, in order, of all connections. */
  readonly commands: string[]
  /** Open connections. */
  readonly sockets: Set<Socket>
  /** Sends bytes on all connections. */
  send(bytes: Buffer | string): void
  /** Destroys all connections. */
  drop(): void
  close(): Promise<void>
}

/** The fake's `Core-UUID`. */
export const CORE_UUID = '9a4c94f4-2c5f-405b-be4b-22f9891adaf9'

const api = (body: string) =>
  `Content-Type: api/response\nContent-Length: ${Buffer.byteLength(body)}\n\n${body}`
const reply = (text: string) => `Content-Type: command/reply\nReply-Text: ${text}\n\n`

/** An event as the switch writes it. */
export function jsonFrame(event: Readonly<Record<string, string | readonly string[]>>): string {
  const body = JSON.stringify(event)
  return `Content-Length: ${Buffer.byteLength(body)}\nContent-Type: text/event-json\n\n${body}`
}

const CREATED_US = 1_795_173_739_000_000

/** A synthetic event of a leg of the account `acme`. */
export function legEvent(
  name: string,
  uuid: string,
  given: { readonly answeredMs?: number; readonly cause?: string; readonly padding?: number } = {},
): Record<string, string> {
  const { answeredMs, cause = 'NORMAL_CLEARING', padding = 0 } = given
  return {
    'Event-Name': name,
    'Core-UUID': CORE_UUID,
    'Event-Date-Timestamp': String(CREATED_US + 5_000_000),
    'Event-Sequence': '7',
    'Channel-Name': 'sofia/external/1001@acme.example',
    'Unique-ID': uuid,
    'Call-Direction': 'inbound',
    'Caller-Channel-Created-Time': String(CREATED_US),
    'Caller-Channel-Answered-Time': answeredMs === undefined ? '0' : String(CREATED_US + answeredMs * 1000),
    ...(name === 'CHANNEL_DESTROY' ? { 'Hangup-Cause': cause } : {}),
    'variable_ecallmgr_Account-ID': 'acme',
    variable_padding: 'x'.repeat(padding),
  }
}

/** A switch that speaks the event socket protocol and has only the calls that a test sends. */
export async function startFakeSwitch(replies: FakeReplies = {}): Promise<FakeSwitch> {
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const replyTo = (command: string, socket: Socket): string | undefined => {
    const {
      password = 'ClueCon',
      coreUuid = CORE_UUID,
      channels = [],
      dumps = {},
      event,
      mute,
    } = fake.replies
    fake.replies.onReply?.(fake)
    if (mute) return undefined
    if (command === `auth ${password}`) return reply('+OK accepted')
    if (command.startsWith('auth ')) {
      socket.end(`${reply('-ERR invalid')}Content-Type: text/disconnect-notice\nContent-Length: 4\n\nBye\n`)
      return undefined
    }
    if (command.startsWith('event '))
      return reply(event ?? `+OK event listener enabled ${command.split(' ')[1]}`)
    if (!command.startsWith('api ')) return reply('+OK')
    const apiCommand = command.slice(4)
    const customReply = fake.replies.api?.(apiCommand)
    if (customReply !== undefined) return api(customReply)
    if (apiCommand === 'global_getvar core_uuid') return api(coreUuid)
    if (apiCommand === 'show channels as json') {
      const rows = channels.map((uuid) => ({ uuid, direction: 'inbound', created_epoch: '1795173739' }))
      return api(JSON.stringify(rows.length > 0 ? { row_count: rows.length, rows } : { row_count: 0 }))
    }
    if (apiCommand.startsWith('uuid_exists ')) return api(String(channels.includes(apiCommand.slice(12))))
    const dumped = /^uuid_dump (\S+) json$/.exec(apiCommand)?.[1] ?? ''
    const dump = dumps[dumped] ?? (channels.includes(dumped) ? legEvent('CHANNEL_DATA', dumped) : undefined)
    return api(dump ? JSON.stringify(dump, undefined, '\t') : '-ERR No such channel!\n')
  }
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    if (fake.replies.onConnection) return fake.replies.onConnection(socket)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      for (let end = received.indexOf('\n\n'); end >= 0; end = received.indexOf('\n\n')) {
        const command = received.slice(0, end)
        received = received.slice(end + 2)
        commands.push(command)
        const text = replyTo(command, socket)
        if (text !== undefined) socket.write(text)
      }
    })
    socket.write('Content-Type: auth/request\n\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const fake: FakeSwitch = {
    port: (server.address() as AddressInfo).port,
    replies,
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
