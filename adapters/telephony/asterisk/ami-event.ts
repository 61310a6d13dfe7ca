/** Translates AMI messages into switch events. */
import { type AmiMessage, unescapeC } from './ami-message.js'
import { type Bridge, type Channel, DOWN, type ListedChannel, type SwitchEvent } from './switch-event.js'

/** The events that the mapping uses; nearly all others (`VarSet`, `Newexten`, `CEL`, …) are skipped unparsed. */
const RELEVANT: ReadonlySet<string> = new Set([
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

/** Whether events of this name are used. */
export function isRelevantEvent(event: string): boolean {
  return RELEVANT.has(event)
}

/** Returns when the switch sent a message, Unix milliseconds; `undefined` without `timestampevents = yes` in `manager.conf`. */
export function timestampOf(message: AmiMessage): number | undefined {
  const atMs = Number(message.get('Timestamp')) * 1000
  return atMs > 0 && atMs < 1e15 ? atMs : undefined
}

/**
 * Parses a message.
 *
 * @param nowMs the time of a message without a timestamp, Unix milliseconds
 * @returns `undefined`: it does not concern a channel; a string: why it cannot be parsed
 */
export function parseAmiEvent(message: AmiMessage, nowMs: number): SwitchEvent | string | undefined {
  if (!RELEVANT.has(message.event)) return undefined
  const atMs = timestampOf(message) ?? nowMs
  const isDial = message.event.startsWith('Dial')
  const channel = channelOf(message, isDial ? 'Dest' : '')
  if (!channel) return `no ${isDial ? 'DestUniqueid' : 'Uniqueid'}`
  switch (message.event) {
    case 'Newchannel':
      return { kind: 'created', atMs, channel }
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
      const techCause = integerOf(message, 'TechCause')
      const requested = { kind: 'hangup_requested', atMs, channel } as const
      return techCause === undefined ? requested : Object.assign(requested, { techCause })
    }
    case 'Hangup': {
      const cause = integerOf(message, 'Cause') ?? 0
      const techCause = integerOf(message, 'TechCause')
      const hungUp = { kind: 'hung_up', atMs, channel, cause } as const
      return techCause === undefined ? hungUp : Object.assign(hungUp, { techCause })
    }
    default:
      return { kind: 'updated', atMs, channel }
  }
}

/** Parses an item of the response to `CoreShowChannels`. It lacks the kind of the bridge: `talk` is assumed. */
export function parseAmiChannel(message: AmiMessage): ListedChannel | undefined {
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
    state: integerOf(message, `${prefix}ChannelState`) ?? DOWN,
    callerNumber: message.get(`${prefix}CallerIDNum`),
    callerName: unescapeC(message.get(`${prefix}CallerIDName`)),
    connectedNumber: message.get(`${prefix}ConnectedLineNum`),
    connectedName: unescapeC(message.get(`${prefix}ConnectedLineName`)),
    accountCode: message.get(`${prefix}AccountCode`),
    context: message.get(`${prefix}Context`),
    extension: message.get(`${prefix}Exten`),
    linkedId: message.get(`${prefix}Linkedid`),
    application: prefix === '' ? message.get('Application') : undefined,
    variable: (variable) => message.variable(variable, prefix),
  }
}

/** ConfBridge creates bridges of the type `base`, parking those of the type `parking`. */
function bridgeOf(message: AmiMessage): Bridge | undefined {
  const id = message.get('BridgeUniqueid')
  if (id === undefined) return undefined
  const type = message.get('BridgeType')
  const isHolding = type === 'parking' || message.get('BridgeTechnology') === 'holding_bridge'
  const kind = isHolding ? 'hold' : type === 'base' ? 'conference' : 'talk'
  const name = message.get('BridgeName')
  return name === undefined ? { id, kind } : { id, kind, name }
}

function integerOf(message: AmiMessage, name: string): number | undefined {
  const value = Number(message.get(name))
  return Number.isSafeInteger(value) ? value : undefined
}
