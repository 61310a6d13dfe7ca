/** Messages of AMI → what happens to channels. */
import { type AmiMessage, unescaped } from './ami-message.js'
import { type Bridge, type Channel, DOWN, type Happening, type Listed } from './happening.js'

/** The events that say something; nearly all others (`VarSet`, `Newexten`, `CEL`, …) need not be read. */
const READ: ReadonlySet<string> = new Set([
  'Newchannel',
  'Newstate',
  'NewConnectedLine',
  'NewCallerid',
  'NewAccountCode',
  'DialBegin',
  'DialState',
  'DialEnd',
  'BridgeEnter',
  'BridgeLeave',
  'Hold',
  'Unhold',
  'HangupRequest',
  'Hangup',
])

/** Whether an event of this name is worth reading. */
export function isRead(event: string): boolean {
  return READ.has(event)
}

/** When the switch sent a message, Unix milliseconds; `undefined`: `manager.conf` lacks `timestampevents = yes`. */
export function timeOf(message: AmiMessage): number | undefined {
  const atMs = Number(message.get('Timestamp')) * 1000
  return atMs > 0 && atMs < 1e15 ? atMs : undefined
}

/**
 * What a message says; `undefined`: nothing that concerns a channel; a text: why it cannot be read.
 *
 * @param nowMs the time of a message that has none, Unix milliseconds
 */
export function amiHappening(message: AmiMessage, nowMs: number): Happening | string | undefined {
  if (!READ.has(message.event)) return undefined
  const atMs = timeOf(message) ?? nowMs
  const isDial = message.event.startsWith('Dial')
  const channel = channelOf(message, isDial ? 'Dest' : '')
  if (!channel) return `no ${isDial ? 'DestUniqueid' : 'Uniqueid'}`
  switch (message.event) {
    case 'Newchannel':
      return { kind: 'began', atMs, channel }
    case 'DialBegin':
    case 'DialState':
    case 'DialEnd': {
      const caller = channelOf(message, '')
      const status = message.event === 'DialBegin' ? '' : (message.get('DialStatus') ?? '')
      const called = channel
      return caller
        ? { kind: 'dialled', atMs, caller, called, status }
        : { kind: 'dialled', atMs, called, status }
    }
    case 'BridgeEnter':
    case 'BridgeLeave': {
      const bridge = bridgeOf(message)
      if (!bridge) return 'no BridgeUniqueid'
      return { kind: message.event === 'BridgeEnter' ? 'entered' : 'left', atMs, channel, bridge }
    }
    case 'Hold':
      return { kind: 'held', atMs, channel }
    case 'Unhold':
      return { kind: 'unheld', atMs, channel }
    case 'HangupRequest': {
      const techCause = numberOf(message, 'TechCause')
      const asked = { kind: 'hangup_asked', atMs, channel } as const
      return techCause === undefined ? asked : Object.assign(asked, { techCause })
    }
    case 'Hangup': {
      const cause = numberOf(message, 'Cause') ?? 0
      const techCause = numberOf(message, 'TechCause')
      const hungUp = { kind: 'hung_up', atMs, channel, cause } as const
      return techCause === undefined ? hungUp : Object.assign(hungUp, { techCause })
    }
    default:
      return { kind: 'seen', atMs, channel }
  }
}

/** A line of the answer to `CoreShowChannels`. Its kind of bridge is not told: most are talks. */
export function amiListed(message: AmiMessage): Listed | undefined {
  const channel = channelOf(message, '')
  if (!channel) return undefined
  const id = message.get('BridgeId')
  return id === undefined ? { channel } : { channel, bridge: { id, kind: 'talk' } }
}

function channelOf(message: AmiMessage, prefix: string): Channel | undefined {
  const id = message.get(`${prefix}Uniqueid`)
  const name = message.get(`${prefix}Channel`)
  if (id === undefined || name === undefined) return undefined
  return {
    id,
    name,
    state: numberOf(message, `${prefix}ChannelState`) ?? DOWN,
    callerNumber: message.get(`${prefix}CallerIDNum`),
    callerName: unescaped(message.get(`${prefix}CallerIDName`)),
    connectedNumber: message.get(`${prefix}ConnectedLineNum`),
    connectedName: unescaped(message.get(`${prefix}ConnectedLineName`)),
    accountCode: message.get(`${prefix}AccountCode`),
    context: message.get(`${prefix}Context`),
    extension: message.get(`${prefix}Exten`),
    linkedId: message.get(`${prefix}Linkedid`),
    application: prefix === '' ? message.get('Application') : undefined,
    variable: (variable) => message.variable(variable, prefix),
  }
}

/** ConfBridge makes bridges of the type `base`, parking of the type `parking`. */
function bridgeOf(message: AmiMessage): Bridge | undefined {
  const id = message.get('BridgeUniqueid')
  if (id === undefined) return undefined
  const type = message.get('BridgeType')
  const holds = type === 'parking' || message.get('BridgeTechnology') === 'holding_bridge'
  const kind = holds ? 'hold' : type === 'base' ? 'conference' : 'talk'
  const name = message.get('BridgeName')
  return name === undefined ? { id, kind } : { id, kind, name }
}

function numberOf(message: AmiMessage, name: string): number | undefined {
  const value = Number(message.get(name))
  return Number.isSafeInteger(value) ? value : undefined
}
