/** Translates the ARI events that tell more of a call than its channels: transfers, keys, voicemail, recordings. */
import { definedDetails } from '../source/optional-hooks.js'
import type { CallReport, Channel, SwitchEvent } from './switch-event.js'

type Json = Readonly<Record<string, unknown>>

/** Parses the value of a key as a channel. */
type ChannelOf = (value: unknown) => Channel | undefined

/** The events that `parseAriReport` uses. */
export const REPORT_TYPES: ReadonlySet<string> = new Set([
  'BridgeAttendedTransfer',
  'BridgeBlindTransfer',
  'ChannelDtmfReceived',
])

/** The events that `parseAriRecording` uses. */
export const RECORDING_TYPES: ReadonlySet<string> = new Set([
  'RecordingFailed',
  'RecordingFinished',
  'RecordingStarted',
])

/** Whether a variable tells that no destination of a `Dial()` was called. */
export function isNotDialled(event: Json): boolean {
  return event.variable === 'DIALSTATUS' && event.value === 'CHANUNAVAIL'
}

/** The mailbox of a voicemail message that the caller has left; `undefined`: the variable tells of none. */
export function mailboxOfMessage(event: Json): { readonly mailbox?: string } | undefined {
  if (event.variable !== 'VMSTATUS' || event.value !== 'SUCCESS') return undefined
  const dialplan = objectOf(objectOf(event.channel).dialplan)
  // `VoiceMail(1001@default&1002,u)`
  const [mailbox = ''] = (textOf(dialplan.app_data) ?? '').split(/[&,]/, 1)
  return dialplan.app_name === 'VoiceMail' && mailbox !== '' ? { mailbox } : {}
}

/** Parses an event of `RECORDING_TYPES`; a string: why it cannot be parsed. Recordings of bridges belong to no channel. */
export function parseAriRecording(type: string, event: Json, atMs: number): SwitchEvent | string | undefined {
  const recording = objectOf(event.recording)
  const [name, format, target] = [
    textOf(recording.name),
    textOf(recording.format),
    textOf(recording.target_uri),
  ]
  if (name === undefined || target === undefined) return 'no recording'
  if (!target.startsWith(CHANNEL_TARGET)) return undefined
  return {
    kind: 'recorded',
    atMs,
    channelId: target.slice(CHANNEL_TARGET.length),
    isBegin: type === 'RecordingStarted',
    path: format === undefined ? name : `${name}.${format}`,
    reason: type === 'RecordingFailed' ? 'failed' : undefined,
  }
}

const CHANNEL_TARGET = 'channel:'

/** Parses an event of `REPORT_TYPES`; a string: why it cannot be parsed; empty: it yields nothing. */
export function parseAriReport(
  type: string,
  event: Json,
  channelOf: ChannelOf,
): readonly CallReport[] | string {
  if (type === 'ChannelDtmfReceived') {
    const channel = channelOf(event.channel)
    if (!channel) return 'no channel'
    const details = definedDetails({
      dtmfDigit: textOf(event.digit),
      dtmfDurationMs: durationOf(event.duration_ms),
    })
    return [{ hook: 'channel_dtmf', channel, details }]
  }
  if (event.result !== 'Success') return []
  const isBlind = type === 'BridgeBlindTransfer'
  const transferor = channelOf(isBlind ? event.channel : event.transferer_first_leg)
  if (!transferor) return `no ${isBlind ? 'channel' : 'transferer_first_leg'}`
  const target = channelOf(event.transfer_target)
  const second = channelOf(event.transferer_second_leg)
  const details = definedDetails(
    isBlind
      ? { transferType: 'blind', transferTo: textOf(event.exten) }
      : {
          transferType: 'attended',
          transferTo: target?.callerNumber ?? second?.extension,
          targetCallId: target?.id,
        },
  )
  const transferee = channelOf(event.transferee)
  return [
    { hook: 'channel_transferor', channel: transferor, details },
    ...(transferee ? [{ hook: 'channel_transferee', channel: transferee, details } as const] : []),
  ]
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined
}

function durationOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 2_147_483_647
    ? (value as number)
    : undefined
}
