/**
 * Events that belong to no channel: of phones that register, of agents of queues, of text messages. Translates the messages
 * of AMI and ARI that report them, and builds the events. Pure.
 */
import { createHash } from 'node:crypto'
import { idempotencyKey } from '../source/idempotency-key.js'
import type { PendingEvent } from '../source/mapped-events.js'
import { type OptionalHook, splitAddress } from '../source/optional-hooks.js'
import { sipAddress, userAtRealm } from '../source/sip-address.js'
import type { AsteriskFacts } from './account-resolver.js'
import type { AmiMessage } from './ami-message.js'
import { parseDevice } from './channel-name.js'
import type { StandaloneReport } from './switch-event.js'

type Json = Readonly<Record<string, unknown>>
/** A string: why a message cannot be parsed; `undefined`: it yields nothing. */
type ParseResult = StandaloneReport | string | undefined

/** States of a registration, by `ContactStatus` (PJSIP) and `PeerStatus` (IAX2). A renewal has none of them. */
const REGISTRATION: ReadonlyMap<string | undefined, OptionalHook> = new Map([
  ['Created', 'device_registered'],
  ['NonQualified', 'device_registered'],
  ['Registered', 'device_registered'],
  ['Removed', 'device_unregistered'],
  ['Unregistered', 'device_unregistered'],
])

const AGENT: ReadonlyMap<string, OptionalHook> = new Map([
  ['QueueMemberAdded', 'queue_agent_login'],
  ['QueueMemberRemoved', 'queue_agent_logout'],
])

/** By `Paused` of QueueMemberPause. */
const PAUSE: ReadonlyMap<string | undefined, OptionalHook> = new Map([
  ['1', 'queue_agent_pause'],
  ['0', 'queue_agent_resume'],
])

/** The AMI messages that `parseAmiStandalone` uses. */
export const STANDALONE_EVENTS: ReadonlySet<string> = new Set([
  ...AGENT.keys(),
  'QueueMemberPause',
  'ContactStatus',
  'PeerStatus',
])

/** The ARI events that `parseAriStandalone` uses. */
export const STANDALONE_TYPES: ReadonlySet<string> = new Set([
  'ContactStatusChange',
  'PeerStatusChange',
  'TextMessageReceived',
])

/** Parses a message of `STANDALONE_EVENTS`. */
export function parseAmiStandalone(message: AmiMessage): ParseResult {
  const { event } = message
  if (event === 'ContactStatus') {
    const endpoint = message.get('EndpointName')
    if (endpoint === undefined) return 'no EndpointName'
    return registrationOf(`PJSIP/${endpoint}`, message.get('ContactStatus'), message.get('URI'))
  }
  if (event === 'PeerStatus') {
    const peer = message.get('Peer')
    return peer === undefined
      ? 'no Peer'
      : registrationOf(peer, message.get('PeerStatus'), message.get('Address'))
  }
  const device = message.get('Interface')
  if (device === undefined) return 'no Interface'
  const hook = AGENT.get(event) ?? PAUSE.get(message.get('Paused'))
  if (hook === undefined) return 'no Paused'
  const queueId = message.get('Queue')
  const [number = ''] = parseDevice(device).endpoint.split('@', 1)
  return {
    hook,
    id: idOf(device),
    device,
    key: queueId ?? '',
    fields: {
      queueId,
      agentId: message.get('MemberName') ?? device,
      agentNumber: /^\+?\d+$/.test(number) ? number : undefined,
      reason: hook === 'queue_agent_pause' ? message.get('PausedReason') : undefined,
    },
  }
}

/** Parses an event of `STANDALONE_TYPES`. */
export function parseAriStandalone(type: string, event: Json): ParseResult {
  const endpoint = objectOf(event.endpoint)
  const [technology, resource] = [textOf(endpoint.technology), textOf(endpoint.resource)]
  const device = technology === undefined || resource === undefined ? undefined : `${technology}/${resource}`
  if (type === 'TextMessageReceived') return messageOf(objectOf(event.message), device)
  if (device === undefined) return 'no endpoint'
  if (type === 'ContactStatusChange') {
    const contact = objectOf(event.contact_info)
    return registrationOf(device, textOf(contact.contact_status), textOf(contact.uri))
  }
  const peer = objectOf(event.peer)
  return registrationOf(device, textOf(peer.peer_status), textOf(peer.address))
}

function registrationOf(
  device: string,
  status: string | undefined,
  contact: string | undefined,
): StandaloneReport | undefined {
  const hook = REGISTRATION.get(status)
  if (!hook) return undefined
  const username = parseDevice(device).endpoint
  return { hook, id: idOf(device), device, key: contact ?? '', fields: { from: username, username, contact } }
}

function messageOf(message: Json, device: string | undefined): ParseResult {
  const [from, to, body] = [textOf(message.from), textOf(message.to), textOf(message.body)]
  if (from === undefined || to === undefined) return 'no message'
  const variables = objectOf(message.variables)
  // Such as the sign that somebody is typing.
  if (!/^(?:text\/|$)/i.test(textOf(variables['Content-Type']) ?? '')) return undefined
  const [sender, recipient] = [partyOf(from), partyOf(to)]
  const [fromUser, fromRealm] = splitAddress(sender)
  const [toUser, toRealm] = splitAddress(recipient)
  return {
    hook: 'sms',
    // The sender chooses the Call-ID: it must not be the id of a leg.
    id: idOf(`sms/${textOf(variables['Call-ID']) ?? digestOf(from, to, body ?? '')}`),
    // A message of another program of the switch comes from no phone.
    device: device ?? 'Message/',
    key: '',
    fields: { direction: 'inbound', from: fromUser, fromRealm, to: toUser, toRealm, body },
  }
}

/** The address of `"Alice" <sip:1001@host>`, `pjsip:1002@host`, `pjsip:endpoint/sip:1002@host`; another text as it is. */
function partyOf(text: string): string | undefined {
  const open = text.lastIndexOf('<')
  const close = text.lastIndexOf('>')
  const uri = open >= 0 && close > open ? text.slice(open + 1, close) : text
  const at = Math.max(uri.lastIndexOf('sip:'), uri.lastIndexOf('sips:'))
  return userAtRealm(sipAddress(at < 0 ? uri : uri.slice(at))) ?? uri
}

/** A call id that `publish` accepts. */
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

const idOf = (text: string) => (CALL_ID.test(text) ? text : digestOf(text))

const digestOf = (...parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)

/** What `accountOf` and `realmOf` get of a report. */
export function standaloneFacts({ hook, id, device, fields }: StandaloneReport): AsteriskFacts {
  return {
    ...parseDevice(device),
    callId: id,
    channel: device,
    direction: 'inbound',
    isInternalLeg: false,
    accountCode: undefined,
    context: undefined,
    extension: undefined,
    callerNumber: fields.from,
    hook,
    queue: fields.queueId,
    variable: () => undefined,
  }
}

/** Builds the event of a report, without its account. */
export function buildStandalone(
  { hook, id, key, fields }: StandaloneReport,
  atMs: number,
  realm: string | undefined,
): PendingEvent {
  const { from, username } = fields
  const registered = username === undefined || realm === undefined ? {} : { realm, from: `${from}@${realm}` }
  const defined = Object.entries({ ...fields, ...registered }).filter(([, value]) => value !== undefined)
  return {
    hook,
    callId: id,
    timestampMs: Math.floor(atMs),
    ...Object.fromEntries(defined),
    idempotencyKey: idempotencyKey(id, hook, Math.round(atMs * 1000), key),
  }
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined
}
