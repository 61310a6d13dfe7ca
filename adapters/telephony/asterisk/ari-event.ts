/** Translates text frames and lists of ARI into switch events. */
import {
  isNotDialled,
  mailboxOfMessage,
  parseAriRecording,
  parseAriReport,
  RECORDING_TYPES,
  REPORT_TYPES,
} from './ari-call-report.js'
import { parseAriStandalone, STANDALONE_TYPES } from './standalone-report.js'
import {
  type Bridge,
  BUSY,
  type Channel,
  DIALING,
  DIALING_OFF_HOOK,
  DOWN,
  type ListedChannel,
  OFF_HOOK,
  PRE_RING,
  RESERVED,
  RING,
  RINGING,
  type SwitchEvent,
  UP,
} from './switch-event.js'

/** The events that the mapping uses. */
const RELEVANT: ReadonlySet<string> = new Set([
  'ApplicationReplaced',
  'ChannelCallerId',
  'ChannelConnectedLine',
  'ChannelCreated',
  'ChannelDestroyed',
  'ChannelEnteredBridge',
  'ChannelHangupRequest',
  'ChannelHold',
  'ChannelLeftBridge',
  'ChannelStateChange',
  'ChannelUnhold',
  'Dial',
  ...REPORT_TYPES,
  ...RECORDING_TYPES,
  ...STANDALONE_TYPES,
])

/** The channel states that the mapping uses, by their ARI names. */
const STATES: Readonly<Record<string, number>> = {
  Down: DOWN,
  Rsrvd: RESERVED,
  OffHook: OFF_HOOK,
  Dialing: DIALING,
  Ring: RING,
  Ringing: RINGING,
  Up: UP,
  Busy: BUSY,
  'Dialing Offhook': DIALING_OFF_HOOK,
  'Pre-ring': PRE_RING,
}
/** ARI names the whole call only if `channelvars` lists this function. */
const LINKED_ID = 'CHANNEL(linkedid)'

/** More than half of all events; used only while the leg is not settled. */
const VARIABLE_SET = 'ChannelVarset'
/** Used likewise. */
const DIAL_PLAN_STEP = 'ChannelDialplan'

/** A parsed frame: an event, `undefined` where no channel is concerned, or why it cannot be parsed. */
export type AriParseResult =
  | { readonly event: SwitchEvent }
  | { readonly malformed: string }
  /** Another client took over the application: no more events follow. */
  | { readonly isReplaced: true }
  | undefined

type Json = Readonly<Record<string, unknown>>

/**
 * Parses a frame.
 *
 * @param nowMs the time of a frame without a timestamp, Unix milliseconds
 */
export function parseAriEvent(frame: string, nowMs: number): AriParseResult {
  const event = objectOf(parseJson(frame))
  if (!event) return { malformed: 'a frame is not a JSON object' }
  const type = textOf(event.type)
  const isStep = type === VARIABLE_SET || type === DIAL_PLAN_STEP
  if (type === undefined || (!isStep && !RELEVANT.has(type))) return undefined
  if (type === 'ApplicationReplaced') return { isReplaced: true }
  const atMs = timeOf(event.timestamp) ?? nowMs
  if (REPORT_TYPES.has(type)) return reportOf(type, event, atMs)
  if (STANDALONE_TYPES.has(type)) {
    const report = parseAriStandalone(type, event)
    if (typeof report === 'string') return { malformed: `${type}: ${report}` }
    return report && { event: { kind: 'standalone', atMs, report } }
  }
  if (RECORDING_TYPES.has(type)) {
    const recorded = parseAriRecording(type, event, atMs)
    if (typeof recorded === 'string') return { malformed: `${type}: ${recorded}` }
    return recorded && { event: recorded }
  }
  const channel = channelOf(type === 'Dial' ? event.peer : event.channel)
  if (!channel && type === VARIABLE_SET) return undefined
  if (!channel) return { malformed: `${type}: no ${type === 'Dial' ? 'peer' : 'channel'}` }
  switch (type) {
    case 'ChannelCreated':
      return { event: { kind: 'created', atMs, channel } }
    case VARIABLE_SET: {
      const message = mailboxOfMessage(event)
      if (message) return { event: { kind: 'message_left', atMs, channel, ...message } }
      return { event: { kind: isNotDialled(event) ? 'not_dialled' : 'variable_set', atMs, channel } }
    }
    case DIAL_PLAN_STEP:
      return { event: { kind: 'dial_plan_step', atMs, channel } }
    case 'ChannelCallerId': {
      const callerPresentation = integerOf(event.caller_presentation)
      return { event: { kind: 'updated', atMs, channel: { ...channel, callerPresentation } } }
    }
    case 'Dial':
      return { event: dialOf(event, atMs, channel) }
    case 'ChannelEnteredBridge':
    case 'ChannelLeftBridge': {
      const bridge = bridgeOf(event.bridge)
      if (!bridge) return { malformed: `${type}: no bridge` }
      return {
        event: { kind: type === 'ChannelEnteredBridge' ? 'entered' : 'left', atMs, channel, bridge },
      }
    }
    case 'ChannelHold':
      return { event: { kind: 'held', atMs, channel } }
    case 'ChannelUnhold':
      return { event: { kind: 'unheld', atMs, channel } }
    case 'ChannelHangupRequest': {
      // A soft request comes from the switch and usually names the caller, whichever side hung up.
      if (event.soft === true) return { event: { kind: 'updated', atMs, channel } }
      const cause = integerOf(event.cause)
      const requested = { kind: 'hangup_requested', atMs, channel } as const
      return {
        event: withTechCause(cause === undefined ? requested : Object.assign(requested, { cause }), event),
      }
    }
    case 'ChannelDestroyed': {
      const hungUp = { kind: 'hung_up', atMs, channel, cause: integerOf(event.cause) ?? 0 } as const
      return { event: withTechCause(hungUp, event) }
    }
    default:
      return { event: { kind: 'updated', atMs, channel } }
  }
}

function reportOf(type: string, event: Json, atMs: number): AriParseResult {
  const reports = parseAriReport(type, event, channelOf)
  if (typeof reports === 'string') return { malformed: `${type}: ${reports}` }
  const [first] = reports
  return first && { event: { kind: 'reported', atMs, channel: first.channel, reports } }
}

function dialOf(event: Json, atMs: number, called: Channel): SwitchEvent {
  const caller = channelOf(event.caller)
  const status = textOf(event.dialstatus) ?? ''
  // In later events of a forwarded call it is the new destination.
  const dialString = status === '' ? textOf(event.dialstring) : undefined
  return {
    kind: 'dialled',
    atMs,
    called,
    status,
    ...(caller ? { caller } : {}),
    ...(dialString === undefined ? {} : { dialString }),
    ...(status !== '' && textOf(event.forward) !== undefined ? { isForwarded: true } : {}),
  }
}

/**
 * Parses the responses to `GET /channels` and `GET /bridges` into the list of open channels.
 *
 * @throws if they are not JSON arrays
 */
export function parseAriChannels(channels: string, bridges: string): ListedChannel[] {
  const bridgeOfChannel = new Map<string, Bridge>()
  for (const item of parseList(bridges, 'bridges')) {
    const bridge = bridgeOf(item)
    const members = objectOf(item)?.channels
    if (bridge && Array.isArray(members))
      for (const id of members) bridgeOfChannel.set(textOf(id) ?? '', bridge)
  }
  const listed: ListedChannel[] = []
  for (const item of parseList(channels, 'channels')) {
    const channel = channelOf(item)
    const bridge = channel && bridgeOfChannel.get(channel.id)
    if (channel) listed.push(bridge ? { channel, bridge } : { channel })
  }
  return listed
}

function parseList(text: string, name: string): readonly unknown[] {
  const list = parseJson(text)
  if (!Array.isArray(list)) throw new Error(`the switch does not list its ${name}`)
  return list
}

function channelOf(value: unknown): Channel | undefined {
  const channel = objectOf(value)
  const id = textOf(channel?.id)
  const name = textOf(channel?.name)
  if (!channel || id === undefined || name === undefined) return undefined
  const caller = objectOf(channel.caller)
  const connected = objectOf(channel.connected)
  const dialplan = objectOf(channel.dialplan)
  const variables = objectOf(channel.channelvars)
  return {
    id,
    name,
    state: STATES[textOf(channel.state) ?? ''] ?? DOWN,
    callerNumber: textOf(caller?.number),
    callerName: textOf(caller?.name),
    connectedNumber: textOf(connected?.number),
    connectedName: textOf(connected?.name),
    accountCode: textOf(channel.accountcode),
    context: textOf(dialplan?.context),
    extension: textOf(dialplan?.exten),
    linkedId: variables && textOf(variables[LINKED_ID]),
    protocolId: textOf(channel.protocol_id),
    createdMs: timeOf(channel.creationtime),
    application: textOf(dialplan?.app_name),
    variable: (variable) =>
      variables && Object.hasOwn(variables, variable) ? textOf(variables[variable]) : undefined,
  }
}

function bridgeOf(value: unknown): Bridge | undefined {
  const bridge = objectOf(value)
  const id = textOf(bridge?.id)
  if (!bridge || id === undefined) return undefined
  const isHolding = bridge.bridge_class === 'parking' || bridge.technology === 'holding_bridge'
  const kind = isHolding ? 'hold' : bridge.bridge_class === 'base' ? 'conference' : 'talk'
  const name = textOf(bridge.name)
  const isConfBridge = bridge.creator === 'ConfBridge' ? ({ isConfBridge: true } as const) : {}
  return name === undefined ? { id, kind } : { id, kind, name, ...isConfBridge }
}

function withTechCause<T extends SwitchEvent>(switchEvent: T, event: Json): T {
  const techCause = integerOf(event.tech_cause)
  return techCause === undefined ? switchEvent : Object.assign(switchEvent, { techCause })
}

/** Parses `2026-11-20T11:30:04.052+0000`, whose offset lacks the colon of RFC 3339; times before 1970 are invalid. */
function timeOf(value: unknown): number | undefined {
  const ms = Date.parse((textOf(value) ?? '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return ms >= 0 ? ms : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

/** A JSON escape may be an unpaired surrogate; event values must be well-formed. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined
}

function integerOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}
