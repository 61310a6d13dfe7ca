/** Text frames of ARI → what happens to channels. */
import {
  type Bridge,
  BUSY,
  type Channel,
  DOWN,
  type Happening,
  type Listed,
  RING,
  RINGING,
  UP,
} from './happening.js'

/** The events that say something; more than half of all others are `ChannelVarset`. */
const READ: ReadonlySet<string> = new Set([
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
])

/** What ARI calls the states of a channel; those that matter. */
const STATES: Readonly<Record<string, number>> = {
  Down: DOWN,
  Ring: RING,
  Ringing: RINGING,
  Up: UP,
  Busy: BUSY,
}
/** `Rsrvd`, which says as little as the others without a name here. */
const OTHER_STATE = 1

const TYPE = '"type":"'

/**
 * Whether a frame may be worth reading, without parsing it. `"type":"` cannot stand inside of a text, where its quotes
 * are escaped; but it may be a key deeper down, and a switch that writes with spaces (`pretty = yes`) has none at all.
 */
export function mayMatter(frame: string): boolean {
  let at = frame.indexOf(TYPE)
  if (at < 0) return true
  for (; at >= 0; at = frame.indexOf(TYPE, at + TYPE.length)) {
    const end = frame.indexOf('"', at + TYPE.length)
    if (end < 0 || READ.has(frame.slice(at + TYPE.length, end))) return true
  }
  return false
}

/** What a frame says: a happening, nothing that concerns a channel, or why it cannot be read. */
export type AriRead =
  | { readonly happening: Happening }
  | { readonly malformed: string }
  /** Another client took over the application: nothing comes any more. */
  | { readonly isReplaced: true }
  | undefined

type Json = Readonly<Record<string, unknown>>

/** @param nowMs the time of a frame that has none, Unix milliseconds */
export function ariEvent(frame: string, nowMs: number): AriRead {
  const event = objectOf(parsed(frame))
  if (!event) return { malformed: 'a frame is not a JSON object' }
  const type = textOf(event.type)
  if (type === undefined || !READ.has(type)) return undefined
  if (type === 'ApplicationReplaced') return { isReplaced: true }
  const atMs = timeOf(event.timestamp) ?? nowMs
  const channel = channelOf(type === 'Dial' ? event.peer : event.channel)
  if (!channel) return { malformed: `${type}: no ${type === 'Dial' ? 'peer' : 'channel'}` }
  switch (type) {
    case 'ChannelCreated':
      return { happening: { kind: 'began', atMs, channel } }
    case 'Dial': {
      const caller = channelOf(event.caller)
      const called = channel
      const status = textOf(event.dialstatus) ?? ''
      if (!caller) return { happening: { kind: 'dialled', atMs, called, status } }
      return { happening: { kind: 'dialled', atMs, caller, called, status } }
    }
    case 'ChannelEnteredBridge':
    case 'ChannelLeftBridge': {
      const bridge = bridgeOf(event.bridge)
      if (!bridge) return { malformed: `${type}: no bridge` }
      return {
        happening: { kind: type === 'ChannelEnteredBridge' ? 'entered' : 'left', atMs, channel, bridge },
      }
    }
    case 'ChannelHold':
      return { happening: { kind: 'held', atMs, channel } }
    case 'ChannelUnhold':
      return { happening: { kind: 'unheld', atMs, channel } }
    case 'ChannelHangupRequest': {
      // A soft one comes from the switch, and mostly names the caller, whoever hung up.
      if (event.soft === true) return { happening: { kind: 'seen', atMs, channel } }
      const asked = { kind: 'hangup_asked', atMs, channel } as const
      return { happening: withTechCause(asked, event) }
    }
    case 'ChannelDestroyed': {
      const hungUp = { kind: 'hung_up', atMs, channel, cause: numberOf(event.cause) ?? 0 } as const
      return { happening: withTechCause(hungUp, event) }
    }
    default:
      return { happening: { kind: 'seen', atMs, channel } }
  }
}

/**
 * The open channels, out of the answers to `GET /channels` and `GET /bridges`.
 *
 * @throws when they are something else
 */
export function ariListed(channels: string, bridges: string): Listed[] {
  const bridgeOfChannel = new Map<string, Bridge>()
  for (const one of listOf(bridges, 'bridges')) {
    const bridge = bridgeOf(one)
    const members = objectOf(one)?.channels
    if (bridge && Array.isArray(members))
      for (const id of members) bridgeOfChannel.set(textOf(id) ?? '', bridge)
  }
  const listed: Listed[] = []
  for (const one of listOf(channels, 'channels')) {
    const channel = channelOf(one)
    const bridge = channel && bridgeOfChannel.get(channel.id)
    if (channel) listed.push(bridge ? { channel, bridge } : { channel })
  }
  return listed
}

function listOf(text: string, what: string): readonly unknown[] {
  const list = parsed(text)
  if (!Array.isArray(list)) throw new Error(`the switch does not list its ${what}`)
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
    state: STATES[textOf(channel.state) ?? ''] ?? OTHER_STATE,
    callerNumber: textOf(caller?.number),
    callerName: textOf(caller?.name),
    connectedNumber: textOf(connected?.number),
    connectedName: textOf(connected?.name),
    accountCode: textOf(channel.accountcode),
    context: textOf(dialplan?.context),
    extension: textOf(dialplan?.exten),
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
  const holds = bridge.bridge_class === 'parking' || bridge.technology === 'holding_bridge'
  const kind = holds ? 'hold' : bridge.bridge_class === 'base' ? 'conference' : 'talk'
  const name = textOf(bridge.name)
  return name === undefined ? { id, kind } : { id, kind, name }
}

function withTechCause<T extends Happening>(happening: T, event: Json): T {
  const techCause = numberOf(event.tech_cause)
  return techCause === undefined ? happening : Object.assign(happening, { techCause })
}

/** `2026-11-20T11:30:04.052+0000`, whose offset lacks the colon of RFC 3339; before 1970 is no time of a call. */
function timeOf(value: unknown): number | undefined {
  const ms = Date.parse((textOf(value) ?? '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return ms >= 0 ? ms : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

/** An escape of JSON may be half a character; an event must be whole ones. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}
