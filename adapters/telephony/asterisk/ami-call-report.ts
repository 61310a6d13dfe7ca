/**
 * Translates the AMI messages that tell more of a call than its channels: transfers, parking, voicemail, queues, conferences,
 * recordings, keys.
 */
import { type CallDetails, definedDetails, type OptionalHook } from '../source/optional-hooks.js'
import type { AmiMessage } from './ami-message.js'
import type { CallReport, Channel, SwitchEvent } from './switch-event.js'

/** A parsed message, without its time; a string: why it cannot be parsed; `undefined`: it yields nothing. */
type AmiReportResult = Unstamped | string | undefined
type Unstamped = SwitchEvent extends infer Event
  ? Event extends SwitchEvent
    ? Omit<Event, 'atMs'>
    : never
  : never

/** Returns the channel of a message whose field names have this prefix. */
type ChannelOf = (prefix: string) => Channel | undefined

/** Parking events by message. */
const PARKING: Readonly<Record<string, CallDetails['eventName']>> = {
  ParkedCall: 'PARK_PARKED',
  UnParkedCall: 'PARK_RETRIEVED',
  ParkedCallGiveUp: 'PARK_ABANDONED',
}

const QUEUE: Readonly<Record<string, OptionalHook>> = {
  QueueCallerJoin: 'queue_join',
  QueueCallerLeave: 'queue_leave',
  AgentCalled: 'queue_agent_offer',
  AgentConnect: 'queue_agent_answer',
  AgentRingNoAnswer: 'queue_agent_no_answer',
  AgentComplete: 'queue_agent_complete',
}

const CONFERENCE: Readonly<Record<string, OptionalHook>> = {
  ConfbridgeJoin: 'conference_join',
  ConfbridgeLeave: 'conference_leave',
}

/** The messages that `parseAmiReport` uses. */
export const REPORT_EVENTS: ReadonlySet<string> = new Set([
  'BlindTransfer',
  'AttendedTransfer',
  'MessageWaiting',
  'ParkedCallTimeOut',
  'QueueCallerAbandon',
  'DTMFEnd',
  ...Object.keys(PARKING),
  ...Object.keys(QUEUE),
  ...Object.keys(CONFERENCE),
  'MixMonitorStart',
  'MixMonitorStop',
])

const VARIABLE = Buffer.from('\r\nVariable: ')
/** Results of applications in variables: what `VoiceMail()` sets when a message is recorded, and what `Dial()` sets. */
const RESULTS = [
  ['VMSTATUS', 'SUCCESS', 'message_left'],
  ['DIALSTATUS', 'CHANUNAVAIL', 'not_dialled'],
] as const
/** Set by `Queue()` when the call goes on in the dial plan. */
const QUEUE_STATUS = 'QUEUESTATUS'
/** Set by `MixMonitor()`, just before its message. */
const RECORDING_PATH = 'MIXMONITOR_FILENAME'
const RESULT_NAMES = [...RESULTS.map(([name]) => name), QUEUE_STATUS, RECORDING_PATH].map((name) =>
  Buffer.from(`${name}\r\n`),
)

/** Whether a `VarSet` may be the result of an application, without decoding it. */
export function mayBeResult(message: Buffer): boolean {
  const at = message.indexOf(VARIABLE)
  const start = at + VARIABLE.length
  return at >= 0 && RESULT_NAMES.some((name) => message.subarray(start, start + name.length).equals(name))
}

/** Parses a `VarSet`. */
export function parseVariable(message: AmiMessage, channel: Channel): Unstamped {
  const [variable, set] = [message.get('Variable'), message.get('Value')]
  if (variable === QUEUE_STATUS && set !== undefined)
    return { kind: 'noted', channel, notes: { queueStatus: set } }
  if (variable === RECORDING_PATH && set !== undefined)
    return { kind: 'noted', channel, notes: { recordingPath: set } }
  const result = RESULTS.find(([name, value]) => name === variable && value === set)
  return { kind: result?.[2] ?? 'variable_set', channel }
}

/** Parses a message of `REPORT_EVENTS`. */
export function parseAmiReport(message: AmiMessage, channelOf: ChannelOf): AmiReportResult {
  const { event } = message
  if (event === 'BlindTransfer' || event === 'AttendedTransfer') return parseTransfer(message, channelOf)
  const parking = PARKING[event]
  if (parking !== undefined) return parseParking(message, parking, channelOf)
  if (event === 'ParkedCallTimeOut') {
    const parkee = channelOf('Parkee')
    if (!parkee) return 'no ParkeeUniqueid'
    return { kind: 'noted', channel: parkee, notes: { timedOutSlot: message.get('ParkingSpace') ?? '' } }
  }
  // Of a caller who hangs up, the end of the talk names only the agent.
  const channel = channelOf('') ?? (event === 'AgentComplete' ? channelOf('Dest') : undefined)
  // A mailbox can change without a channel.
  if (!channel) return event === 'MessageWaiting' ? undefined : 'no Uniqueid'
  const queueHook = QUEUE[event]
  if (queueHook !== undefined) return reported(reportOfQueue(message, queueHook, channel))
  const conferenceHook = CONFERENCE[event]
  if (conferenceHook !== undefined) {
    const details = definedDetails({ name: message.get('Conference') })
    return reported({ hook: conferenceHook, channel, details, bridgeId: message.get('BridgeUniqueid') })
  }
  if (event === 'MixMonitorStart') return { kind: 'recorded', channelId: channel.id, isBegin: true }
  if (event === 'MixMonitorStop')
    return { kind: 'recorded', channelId: channel.id, isBegin: false, reason: 'stopped' }
  if (event === 'MessageWaiting') {
    const mailbox = message.get('Mailbox')
    return mailbox === undefined ? undefined : { kind: 'noted', channel, notes: { mailbox } }
  }
  if (event === 'QueueCallerAbandon') {
    const abandonedAfterSeconds = countOf(message, 'HoldTime') ?? 0
    return { kind: 'noted', channel, notes: { abandonedAfterSeconds } }
  }
  if (message.get('Direction') !== 'Received') return undefined
  const details = definedDetails({
    dtmfDigit: message.get('Digit'),
    dtmfDurationMs: countOf(message, 'DurationMs'),
  })
  return reported({ hook: 'channel_dtmf', channel, details })
}

function parseTransfer(message: AmiMessage, channelOf: ChannelOf): AmiReportResult {
  if (message.get('Result') !== 'Success') return undefined
  const isBlind = message.event === 'BlindTransfer'
  const transferor = channelOf(isBlind ? 'Transferer' : 'OrigTransferer')
  if (!transferor) return `no ${isBlind ? 'Transferer' : 'OrigTransferer'}Uniqueid`
  const details = definedDetails(
    isBlind
      ? { transferType: 'blind', transferTo: message.get('Extension') }
      : {
          transferType: 'attended',
          transferTo: message.get('TransferTargetCallerIDNum') ?? message.get('SecondTransfererExten'),
          targetCallId: message.get('TransferTargetUniqueid'),
        },
  )
  const transferee = channelOf('Transferee')
  return reported(
    { hook: 'channel_transferor', channel: transferor, details },
    ...(transferee ? [{ hook: 'channel_transferee', channel: transferee, details } as const] : []),
  )
}

function parseParking(
  message: AmiMessage,
  eventName: CallDetails['eventName'],
  channelOf: ChannelOf,
): AmiReportResult {
  const channel = channelOf('Parkee')
  if (!channel) return 'no ParkeeUniqueid'
  const details = definedDetails({
    eventName,
    parkingSlot: message.get('ParkingSpace'),
    otherLegCallId: message.get('RetrieverUniqueid'),
  })
  return reported({ hook: 'parking', channel, details })
}

function reportOfQueue(message: AmiMessage, hook: OptionalHook, channel: Channel): CallReport {
  const hasAgent = hook.startsWith('queue_agent_')
  const details = definedDetails({
    queueId: message.get('Queue'),
    queuePosition: countOf(message, 'Position'),
    waitingSeconds: countOf(message, 'HoldTime'),
    agentId: hasAgent ? (message.get('MemberName') ?? message.get('Interface')) : undefined,
    agentCallId: hasAgent ? message.get('DestUniqueid') : undefined,
    ringingMs: hook === 'queue_agent_no_answer' ? countOf(message, 'RingTime') : undefined,
    talkingSeconds: countOf(message, 'TalkTime'),
    reason: message.get('Reason'),
  })
  return { hook, channel, details }
}

function reported(first: CallReport, ...others: readonly CallReport[]): AmiReportResult {
  return { kind: 'reported', channel: first.channel, reports: [first, ...others] }
}

function countOf(message: AmiMessage, name: string): number | undefined {
  const value = Number(message.get(name))
  return Number.isSafeInteger(value) && value >= 0 && value <= 2_147_483_647 ? value : undefined
}
