/**
 * Reads what the switch reports of a call beyond its channels: transfers (variables of the leg that transfers), parking
 * (`valet_park`), voicemail, queues (`queue-report.ts`), conferences, recordings and keys. Pure.
 */

import type { PendingEvent } from '../source/mapped-events.js'
import {
  type CallDetails,
  definedDetails,
  detailsKey,
  MISSED,
  type OptionalHook,
  partyDetails,
} from '../source/optional-hooks.js'
import { accountSubclasses, MESSAGE } from './account-events.js'
import type { EslEvent } from './event.js'
import { buildDetailEvent } from './event-builder.js'
import { type Leg, readEventTimeUs } from './leg.js'
import { CALLCENTER, callcenterReports, FIFO, fifoReports } from './queue-report.js'
import { type CallReport, countOf, idsOf } from './report.js'

/** The transfer that a leg has requested. */
interface Transfer {
  /** Distinguishes it from other transfers of the leg. */
  readonly key: string
  readonly type: 'blind' | 'attended'
  /** The number that the call is transferred to, if the switch reports it. */
  readonly to: string | undefined
  readonly targetId: string | undefined
  readonly transfereeId: string | undefined
}

const VALET_PARKING = 'valet_parking::info'
const VOICEMAIL = 'vm::maintenance'
const CONFERENCE = 'conference::maintenance'

const QUEUES: readonly string[] = [CALLCENTER, FIFO]

/** The subclasses of CUSTOM that a hook needs. What a caller left, or a queue dialled, is no missed call. */
const SUBCLASSES: Partial<Record<OptionalHook, readonly string[]>> = {
  parking: [VALET_PARKING],
  voicemail_new: [VOICEMAIL],
  missed_call: [VOICEMAIL, ...QUEUES],
  queue_join: QUEUES,
  queue_leave: QUEUES,
  queue_agent_offer: QUEUES,
  queue_agent_answer: QUEUES,
  queue_agent_no_answer: QUEUES,
  queue_agent_complete: QUEUES,
  conference_join: [CONFERENCE],
  conference_leave: [CONFERENCE],
}

/** The hooks that have an event of their own. */
const EVENT_HOOKS: ReadonlyMap<string, OptionalHook> = new Map([
  ['DTMF', 'channel_dtmf'],
  ['RECORD_START', 'recording_started'],
  ['RECORD_STOP', 'recording_ready'],
  [MESSAGE, 'sms'],
])

/** Returns the events that these hooks need, as arguments of the command `event`: behind CUSTOM all are subclasses. */
export function reportEvents(hooks: readonly OptionalHook[]): readonly string[] {
  const subclasses = new Set([
    ...hooks.flatMap((hook) => SUBCLASSES[hook] ?? []),
    ...accountSubclasses(hooks),
  ])
  return [
    ...[...EVENT_HOOKS].flatMap(([name, hook]) => (hooks.includes(hook) ? [name] : [])),
    ...(subclasses.size > 0 ? ['CUSTOM', ...subclasses] : []),
  ]
}

/** Names of the events that `readReports` reads. */
export const REPORT_EVENTS: readonly string[] = ['CUSTOM', ...EVENT_HOOKS.keys()]

/** Whether an event of this name is a report; otherwise it only shows its leg, if it has one. */
export function isReport(name: string, hooks: ReadonlySet<string>): boolean {
  return name === 'CUSTOM' || hooks.has(EVENT_HOOKS.get(name) ?? '')
}

/**
 * Reads an event.
 *
 * @param parkedSlot returns the slot in which a leg is parked
 */
export function readReports(
  event: EslEvent,
  parkedSlot: (uuid: string) => string | undefined,
): readonly CallReport[] {
  if (event.name === 'DTMF') return [keyReport(event)]
  if (event.name !== 'CUSTOM') return recordingReports(event)
  switch (event.header('Event-Subclass')) {
    case CALLCENTER:
      return callcenterReports(event)
    case FIFO:
      return fifoReports(event)
    case VALET_PARKING:
      return parkingReports(event, parkedSlot)
    case VOICEMAIL:
      return event.header('VM-Action') === 'leave-message' ? [voicemailReport(event)] : []
    case CONFERENCE:
      return conferenceReports(event)
    default:
      return []
  }
}

/** The switch counts samples of 1/8000 s. */
const SAMPLES_PER_MS = 8

function keyReport(event: EslEvent): CallReport {
  const samples = countOf(event.header('DTMF-Duration'))
  const details = definedDetails({
    dtmfDigit: event.header('DTMF-Digit'),
    dtmfDurationMs: samples === undefined ? undefined : Math.round(samples / SAMPLES_PER_MS),
  })
  return { hook: 'channel_dtmf', uuids: idsOf(event.header('Unique-ID')), details }
}

/** What the switch calls `success-silence` is every other end. */
const COMPLETION_REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['success-maxtime', 'max_length'],
  ['uri-failure', 'failed'],
])

function recordingReports(event: EslEvent): readonly CallReport[] {
  // A message for a mailbox, or the greeting of one.
  if (event.header('variable_current_application') === 'voicemail') return []
  const uuids = idsOf(event.header('Unique-ID'))
  const path = event.header('Record-File-Path')
  if (event.name === 'RECORD_START')
    return [{ hook: 'recording_started', uuids, details: definedDetails({ path }) }]
  const reason =
    COMPLETION_REASONS.get(event.header('Record-Completion-Cause')) ??
    (event.header('Answer-State') === 'hangup' ? 'hangup' : 'stopped')
  const durationMs = countOf(event.header('variable_record_ms'))
  return [{ hook: 'recording_ready', uuids, details: definedDetails({ path, durationMs, reason }) }]
}

const MEMBER_HOOKS: ReadonlyMap<string | undefined, OptionalHook> = new Map([
  ['add-member', 'conference_join'],
  ['del-member', 'conference_leave'],
])

function conferenceReports(event: EslEvent): readonly CallReport[] {
  const hook = MEMBER_HOOKS.get(event.header('Action'))
  if (!hook) return []
  const details = definedDetails({
    name: event.header('Conference-Name'),
    member: event.header('Member-ID'),
    members: countOf(event.header('Conference-Size')),
  })
  return [{ hook, uuids: idsOf(event.header('Unique-ID')), details }]
}

function parkingReports(
  event: EslEvent,
  parkedSlot: (uuid: string) => string | undefined,
): readonly CallReport[] {
  const uuids = idsOf(event.header('Unique-ID'))
  const parkingSlot = event.header('Valet-Extension')
  const report = (eventName: CallDetails['eventName'], otherLegCallId?: string): CallReport => ({
    hook: 'parking',
    uuids,
    details: definedDetails({ eventName, parkingSlot, otherLegCallId }),
  })
  switch (event.header('Action')) {
    case 'hold':
      return [report('PARK_PARKED')]
    case 'bridge':
      return [report('PARK_RETRIEVED', event.header('Bridge-To-UUID'))]
    case 'exit': {
      // It follows a retrieval too.
      if (parkedSlot(uuids[0] ?? '') === undefined) return []
      if (event.header('Answer-State') === 'hangup') return [report('PARK_ABANDONED')]
      return [{ hook: 'parking', uuids, details: definedDetails({ parkingSlot }), isTimeOut: true }]
    }
    default:
      return []
  }
}

const FILE_PREFIX = 'msg_'

/** The id of the leg is in the name of the file (`msg_<uuid>.wav`); `VM-UUID` is that of the message. */
function voicemailReport(event: EslEvent): CallReport {
  const path = event.header('VM-File-Path') ?? ''
  const nameAt = path.lastIndexOf(FILE_PREFIX)
  const [, fileId] = (nameAt >= 0 && /^(.+)\.\w+$/.exec(path.slice(nameAt + FILE_PREFIX.length))) || []
  const lengthSeconds = countOf(event.header('VM-Message-Len'))
  const [user, domain] = [event.header('VM-User'), event.header('VM-Domain')]
  const details = definedDetails({
    voicemailBox: user !== undefined && domain !== undefined ? `${user}@${domain}` : user,
    voicemailId: event.header('VM-UUID') ?? fileId,
    voicemailLengthMs: lengthSeconds === undefined ? undefined : lengthSeconds * 1000,
    toUser: user,
    toRealm: domain,
  })
  const uuids = idsOf(event.header('Unique-ID'), event.header('VM-UUID'), fileId)
  return { hook: 'voicemail_new', uuids, details }
}

/** Reads the transfer that a leg has requested by REFER, from its last events. */
export function readTransfer(leg: Leg, event: EslEvent): Transfer | undefined {
  const key = event.header('variable_transfer_to')
  const [, kind, id] = /^(blind|s?att):(.+)$/.exec(key ?? '') ?? []
  if (key === undefined || kind === undefined || id === undefined) return undefined
  if (kind === 'att') {
    return { key, type: 'attended', to: undefined, targetId: id, transfereeId: leg.otherLegCallId }
  }
  const [, to] = /^\w+:(.+)$/.exec(event.header('variable_transfer_destination') ?? '') ?? []
  const type = kind === 'blind' ? 'blind' : 'attended'
  return { key, type, to, targetId: undefined, transfereeId: id }
}

/** Builds the event of a report. */
export function buildReportEvent(
  leg: Leg,
  hook: OptionalHook,
  details: CallDetails,
  event: EslEvent,
): PendingEvent {
  const atUs = readEventTimeUs(event)
  // One event of the switch may be about several agents.
  const key = `${event.header('Event-Sequence') ?? atUs}/${detailsKey(details)}`
  const built = buildDetailEvent(leg, hook, key, atUs, details)
  return hook === 'voicemail_new' ? { ...partyDetails(built), ...built } : built
}

/** Builds `missed_call`, for the end of a leg that called a user; `undefined`: it is none. */
export function buildMissedCall(leg: Leg, event: EslEvent): PendingEvent | undefined {
  const { direction, isInternal, notes, answeredUs } = leg
  if (direction !== 'inbound' || isInternal || !notes.hasDialledPhone || notes.hasLeftMessage)
    return undefined
  // A bridge before the answer is early media.
  if (answeredUs > 0 && notes.wasBridged) return undefined
  const built = buildDetailEvent(leg, 'missed_call', '', readEventTimeUs(event), MISSED)
  return { ...partyDetails(built), ...built }
}
