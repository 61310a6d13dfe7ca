import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { until } from 'hookswitch/testkit'

/** One action of a client: its fields by key. */
export type Action = Readonly<Record<string, string>>

/** A connection on Asterisk's side. */
export interface Connection {
  readonly socket: Socket
  readonly actions: readonly Action[]
  send(text: string): void
}

/** Overrides of the responses; each returns the text, or `undefined` for no response. */
export interface AmiResponses {
  banner?: string
  login?: (action: Action) => string | undefined
  channelList?: (action: Action) => string | undefined
  /** Lines of the items of `BridgeList`. */
  bridges?: readonly Readonly<Record<string, string | number>>[]
  /** Values of functions and channel variables by `Variable`, and by `Channel Variable`. */
  variables?: Record<string, string>
  ping?: (action: Action) => string | undefined
}

export const BANNER = 'Asterisk Call Manager/11.0.0\r\n'

/** Formats an AMI message. */
export const message = (fields: Readonly<Record<string, string | number>>) =>
  `${Object.entries(fields)
    .map(([key, value]) => `${key}: ${value}\r\n`)
    .join('')}\r\n`

/** The channel fields of an event. */
export const channelFields = (id: string, over: Readonly<Record<string, string | number>> = {}) => ({
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

/** Formats an event of a channel. */
export const channelEvent = (
  name: string,
  id: string,
  atMs: number,
  over: Readonly<Record<string, string | number>> = {},
) =>
  message({
    Event: name,
    Privilege: 'call,all',
    Timestamp: (atMs / 1000).toFixed(6),
    ...channelFields(id, over),
  })

/** Formats the response to CoreShowChannels. */
export const list = (
  actionId: string | undefined,
  channels: readonly Readonly<Record<string, string | number>>[],
) => {
  const id = actionId === undefined ? {} : { ActionID: actionId }
  return [
    message({ Response: 'Success', ...id, EventList: 'start' }),
    ...channels.map((channel) => message({ Event: 'CoreShowChannel', ...id, ...channel })),
    message({ Event: 'CoreShowChannelsComplete', ...id, EventList: 'Complete', ListItems: channels.length }),
  ].join('')
}

/** Starts a fake Asterisk with AMI. */
export async function startAmiServer() {
  const connections: Connection[] = []
  const responses: AmiResponses = {}
  const server = createServer((socket) => {
    const actions: Action[] = []
    const connection = { socket, actions, send: (text: string) => void socket.write(text) }
    socket.on('error', () => {})
    connections.push(connection)
    connection.send(responses.banner ?? BANNER)
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
        const answer = answerTo(action, responses)
        if (answer !== undefined) connection.send(answer)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    responses,
    connections,
    /** Waits for the nth connection and for an action on it. */
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

/** The settings of `manager.conf` that are right. */
export const SETTINGS = {
  'AST_CONFIG(manager.conf,hookswitch,read)': 'call,dialplan',
  'AST_CONFIG(manager.conf,general,timestampevents)': 'yes',
}

function answerTo(action: Action, responses: AmiResponses): string | undefined {
  const { login, channelList: channels, ping, bridges = [], variables = SETTINGS } = responses
  const ActionID = action.ActionID ?? ''
  switch (action.Action) {
    case 'Getvar': {
      const { Variable = '', Channel } = action
      const value = (variables as Record<string, string>)[
        Channel === undefined ? Variable : `${Channel} ${Variable}`
      ]
      return message({ Response: 'Success', ActionID, Variable, Value: value ?? '' })
    }
    case 'BridgeList':
      return [
        message({ Response: 'Success', ActionID, EventList: 'start' }),
        ...bridges.map((bridge) => message({ Event: 'BridgeListItem', ActionID, ...bridge })),
        message({ Event: 'BridgeListComplete', ActionID, EventList: 'Complete', ListItems: bridges.length }),
      ].join('')
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
