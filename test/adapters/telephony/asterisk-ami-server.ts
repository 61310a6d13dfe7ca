import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { until } from 'hookswitch/testkit'

/** One action of a client: its lines by key. */
export type Action = Readonly<Record<string, string>>

/** A connection, as a test sees it from the side of Asterisk. */
export interface Connection {
  readonly socket: Socket
  readonly actions: readonly Action[]
  say(text: string): void
}

/** What a test may change of the answers; each gives the text, or undefined for silence. */
export interface Manners {
  banner?: string
  login?: (action: Action) => string | undefined
  list?: (action: Action) => string | undefined
  ping?: (action: Action) => string | undefined
}

export const BANNER = 'Asterisk Call Manager/11.0.0\r\n'

/** A message of AMI. */
export const message = (fields: Readonly<Record<string, string | number>>) =>
  `${Object.entries(fields)
    .map(([key, value]) => `${key}: ${value}\r\n`)
    .join('')}\r\n`

/** The fields that every event of a channel repeats. */
export const channel = (id: string, over: Readonly<Record<string, string | number>> = {}) => ({
  Channel: `PJSIP/1001-${id}`,
  ChannelState: 4,
  CallerIDNum: '1001',
  CallerIDName: 'Alice',
  ConnectedLineNum: '<unknown>',
  AccountCode: 'acme',
  Context: 'phones',
  Exten: '2001',
  Uniqueid: id,
  Linkedid: id,
  ...over,
})

/** An event of a channel. */
export const event = (
  name: string,
  id: string,
  atMs: number,
  over: Readonly<Record<string, string | number>> = {},
) =>
  message({ Event: name, Privilege: 'call,all', Timestamp: (atMs / 1000).toFixed(6), ...channel(id, over) })

/** The answer to CoreShowChannels. */
export const list = (
  actionId: string | undefined,
  channels: readonly Readonly<Record<string, string | number>>[],
) => {
  const id = actionId === undefined ? {} : { ActionID: actionId }
  return [
    message({ Response: 'Success', ...id, EventList: 'start' }),
    ...channels.map((one) => message({ Event: 'CoreShowChannel', ...id, ...one })),
    message({ Event: 'CoreShowChannelsComplete', ...id, EventList: 'Complete', ListItems: channels.length }),
  ].join('')
}

/** A little Asterisk: it says what a test tells it to. */
export async function amiServer() {
  const connections: Connection[] = []
  const manners: Manners = {}
  const server = createServer((socket) => {
    const actions: Action[] = []
    const connection = { socket, actions, say: (text: string) => void socket.write(text) }
    socket.on('error', () => {})
    connections.push(connection)
    connection.say(manners.banner ?? BANNER)
    let pending = ''
    socket.on('data', (chunk) => {
      pending += chunk
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const action = Object.fromEntries(
          pending
            .slice(0, end)
            .split('\r\n')
            .map((line) => line.split(': ', 2) as [string, string]),
        )
        pending = pending.slice(end + 4)
        actions.push(action)
        const answer = answerTo(action, manners)
        if (answer !== undefined) connection.say(answer)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    manners,
    connections,
    /** The nth connection, once it has got so far. */
    async connected(nth: number, action = 'CoreShowChannels'): Promise<Connection> {
      await until(() => connections[nth]?.actions.some(({ Action }) => Action === action))
      return connections[nth]!
    },
    close() {
      for (const { socket } of connections) socket.destroy()
      server.close()
    },
  }
}

function answerTo(action: Action, { login, list: channels, ping }: Manners): string | undefined {
  switch (action.Action) {
    case 'Login':
      if (login) return login(action)
      return action.Username === 'hookswitch' && action.Secret === 'secret'
        ? message({ Response: 'Success', ActionID: action.ActionID!, Message: 'Authentication accepted' })
        : message({ Response: 'Error', ActionID: action.ActionID!, Message: 'Authentication failed' })
    case 'CoreShowChannels':
      return channels ? channels(action) : list(action.ActionID, [])
    case 'Ping':
      if (ping) return ping(action)
      return message({ Response: 'Success', ActionID: action.ActionID!, Ping: 'Pong' })
  }
  return message({ Response: 'Error', Message: 'Invalid/unknown command' })
}
