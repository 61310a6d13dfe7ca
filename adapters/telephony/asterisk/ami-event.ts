/** Translates AMI messages into switch events. */
import { parseAmiReport, parseVariable, REPORT_EVENTS } from './ami-call-report.js'
import { type AmiMessage, unescapeC } from './ami-message.js'
import { parseAmiStandalone, STANDALONE_EVENTS } from './standalone-report.js'
import { type Bridge, type Channel, DOWN, type ListedChannel, type SwitchEvent } from './switch-event.js'

/** The events that the mapping uses; nearly all others (`Newexten`, `CEL`, …) are skipped unparsed. */
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

/** Half of all events; used only while the leg is not settled. */
export const VARIABLE_SET = 'VarSet'
/** A fifth of all events; used likewise. */
export const DIAL_PLAN_STEP = 'Newexten'

/** Whether events of this name are used. */
export function isRelevantEvent(event: string): boolean {
  return RELEVANT.has(event) || REPORT_EVENTS.has(event) || STANDALONE_EVENTS.has(event)
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
  const isStep = message.event === VARIABLE_SET || message.event === DIAL_PLAN_STEP
  if (!isStep && !isRelevantEvent(message.event)) return undefined
  const atMs = timestampOf(message) ?? nowMs
  if (REPORT_EVENTS.has(message.event)) {
    const report = parseAmiReport(message, (prefix) => channelOf(message, prefix))
    return typeof report === 'object' ? { ...report, atMs } : report
  }
  if (STANDALONE_EVENTS.has(message.event)) {
    const report = parseAmiStandalone(message)
    return typeof report === 'object' ? { kind: 'standalone', atMs, report } : report
  }
  const isDial = message.event.startsWith('Dial')
  const channel = channelOf(message, isDial ? 'Dest' : '')
  // A global variable has no channel.
  if (!channel && message.event === VARIABLE_SET) return undefined
  if (!channel) return `no ${isDial ? 'DestUniqueid' : 'Uniqueid'}`
  switch (message.event) {
    case 'Newchannel':
      return { kind: 'created', atMs, channel }
    case VARIABLE_SET:
      return { ...parseVariable(message, channel), atMs }
    case DIAL_PLAN_STEP:
      return { kind: 'dial_plan_step', atMs, channel }
    case 'NewCallerid': {
      // `32 (Presentation Prohibited, Not Screened)`
      const callerPresentation = Number.parseInt(message.get('CID-CallingPres') ?? '', 10)
      const isKnown = callerPresentation >= 0
      return { kind: 'updated', atMs, channel: isKnown ? { ...channel, callerPresentation } : channel }
    }
    case 'DialBegin':
    case 'DialState':
    case 'DialEnd':
      return dialOf(message, atMs, channel)
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
      const cause = integerOf(message, 'Cause')
      const requested = { kind: 'hangup_requested', atMs, channel } as const
      return withTechCause(cause === undefined ? requested : Object.assign(requested, { cause }), message)
    }
    case 'Hangup': {
      const cause = integerOf(message, 'Cause') ?? 0
      return withTechCause({ kind: 'hung_up', atMs, channel, cause } as const, message)
    }
    default:
      return { kind: 'updated', atMs, channel }
  }
}

/** Parses an item of the response to `BridgeList`. */
export function parseAmiBridge(message: AmiMessage): Bridge | undefined {
  return bridgeOf(message)
}

/**
 * Parses an item of the response to `CoreShowChannels`.
 *
 * @param bridges the listed bridges by id; one that began since is assumed to connect two legs
 */
export function parseAmiChannel(
  message: AmiMessage,
  bridges: ReadonlyMap<string, Bridge>,
): ListedChannel | undefined {
  const channel = channelOf(message, '')
  if (!channel) return undefined
  const ageSeconds = secondsOf(message.get('Duration'))
  const listed = ageSeconds === undefined ? channel : { ...channel, ageSeconds }
  const id = message.get('BridgeId')
  return id === undefined
    ? { channel: listed }
    : { channel: listed, bridge: bridges.get(id) ?? { id, kind: 'talk' } }
}

function dialOf(message: AmiMessage, atMs: number, called: Channel): SwitchEvent {
  const isBegin = message.event === 'DialBegin'
  const caller = channelOf(message, '')
  const status = isBegin ? '' : (message.get('DialStatus') ?? '')
  const dialString = isBegin ? message.get('DialString') : undefined
  return {
    kind: 'dialled',
    atMs,
    called,
    status,
    ...(caller ? { caller } : {}),
    ...(dialString === undefined ? {} : { dialString }),
    ...(!isBegin && message.get('Forward') !== undefined ? { isForwarded: true } : {}),
  }
}

function withTechCause<T extends SwitchEvent>(event: T, message: AmiMessage): T {
  const techCause = integerOf(message, 'TechCause')
  return techCause === undefined ? event : Object.assign(event, { techCause })
}

/** Parses `01:02:03`; the hours have two digits or more. */
function secondsOf(duration: string | undefined): number | undefined {
  const [, hours, minutes, seconds] = /^(\d{2,6}):(\d\d):(\d\d)$/.exec(duration ?? '') ?? []
  return hours === undefined ? undefined : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
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
    variable: message.variables(prefix),
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
