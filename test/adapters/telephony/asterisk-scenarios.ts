import type { ChannelEvent } from 'hookswitch'
import { type AsteriskAccountOf, accountFromAccountCode, accountFromVariable } from 'hookswitch/asterisk'
import {
  DIAL_PLAN_STEP,
  isRelevantEvent,
  parseAmiEvent,
  VARIABLE_SET,
} from '../../../adapters/telephony/asterisk/ami-event.js'
import { createAmiFrameReader } from '../../../adapters/telephony/asterisk/ami-frames.js'
import { createAmiMessage, eventNameOf } from '../../../adapters/telephony/asterisk/ami-message.js'
import { parseAriEvent } from '../../../adapters/telephony/asterisk/ari-event.js'
import type { MappingOptions } from '../../../adapters/telephony/asterisk/channel-registry.js'
import { createAsteriskMapping } from '../../../adapters/telephony/asterisk/mapping.js'
import type { SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import {
  createAccountBuffer,
  type UnknownAccount,
} from '../../../adapters/telephony/source/account-buffer.js'
import type { MappedBatch, Problem } from '../../../adapters/telephony/source/mapped-events.js'
import { amiBytes, ariFrames, recordedCalls } from './asterisk-recorded.js'

/** Phones have the variable; halves of Local channels inherit only the account code. */
export const byVariable: AsteriskAccountOf = (leg) =>
  accountFromVariable('ACCOUNT_ID')(leg) ?? (leg.isInternalLeg ? accountFromAccountCode()(leg) : undefined)

/** All results of a stream. */
export interface Trace {
  events: ChannelEvent[]
  problems: Problem[]
  unknown: UnknownAccount[]
  openLegs: number
}

/** Creates a mapping whose results are recorded, with accounts assigned as in the pipeline. */
export function createTracer(options: Partial<MappingOptions> = {}) {
  const map = createAsteriskMapping({ accountOf: byVariable, maxOpenLegs: 100_000, ...options })
  const buffer = createAccountBuffer({ maxWaitMs: 10_000, maxEventsPerLeg: 100, maxLegs: 10_000 })
  const results: Omit<Trace, 'openLegs'> = { events: [], problems: [], unknown: [] }
  const push = ({ updates, problems }: MappedBatch) => {
    results.problems.push(...problems)
    for (const update of updates) {
      const { ready, unknown } = buffer.add(update, 0)
      results.events.push(...ready)
      results.unknown.push(...unknown)
    }
  }
  return {
    mapping: map,
    push,
    apply: (...switchEvents: SwitchEvent[]) => {
      for (const switchEvent of switchEvents) push(map.map(switchEvent))
    },
    trace: (): Trace => ({ ...results, openLegs: map.openLegs() }),
  }
}

/** Parses AMI bytes. */
export function amiEvents(chunks: Iterable<Buffer>): SwitchEvent[] {
  const all: SwitchEvent[] = []
  const frames = createAmiFrameReader(
    () => {},
    (bytes) => {
      const name = eventNameOf(bytes)
      if (!isRelevantEvent(name) && name !== VARIABLE_SET && name !== DIAL_PLAN_STEP) return
      const switchEvent = parseAmiEvent(createAmiMessage(bytes), 0)
      if (typeof switchEvent === 'string') throw new Error(switchEvent)
      if (switchEvent) all.push(switchEvent)
    },
    (reason) => {
      throw new Error(reason)
    },
  )
  for (const chunk of chunks) frames.receive(chunk)
  return all
}

/** Parses ARI frames. */
export function ariEvents(frames: readonly string[]): SwitchEvent[] {
  const all: SwitchEvent[] = []
  for (const frame of frames) {
    const read = parseAriEvent(frame, 0)
    if (read && 'malformed' in read) throw new Error(read.malformed)
    if (read && 'event' in read) all.push(read.event)
  }
  return all
}

export function traceOf(switchEvents: readonly SwitchEvent[], options: Partial<MappingOptions> = {}): Trace {
  const { apply, trace } = createTracer(options)
  apply(...switchEvents)
  return trace()
}

/** The results of both streams of the recording. */
export const TRACES = [
  ['AMI', traceOf(amiEvents([amiBytes]), { customVariables: ['SIPCALLID'] })],
  ['ARI', traceOf(ariEvents(ariFrames), { customVariables: ['SIPCALLID'] })],
] as const

/** The Uniqueid of each phone's leg by its SIP Call-ID, from ARI, which reports it for all legs. */
export const UNIQUE_IDS: ReadonlyMap<string, string> = new Map(
  TRACES[1][1].events.flatMap(({ callId, customChannelVars }) =>
    customChannelVars?.sip_call_id === undefined ? [] : [[String(customChannelVars.sip_call_id), callId]],
  ),
)

export const hooksOf = (events: readonly ChannelEvent[]) =>
  events.map(({ hook }) => hook.replace('channel_', ''))

/** Returns the events of a leg by the SIP Call-ID of its phone. */
export function eventsOf({ events }: Trace, sipCallId: string): ChannelEvent[] {
  const id = UNIQUE_IDS.get(sipCallId)
  return events.filter(({ callId }) => callId === id)
}

export const findEvent = (trace: Trace, sipCallId: string, hook: string) =>
  eventsOf(trace, sipCallId).find((event) => event.hook === `channel_${hook}`)

/** The switch events of each stream. */
export const SWITCH_EVENTS = { AMI: amiEvents([amiBytes]), ARI: ariEvents(ariFrames) } as const

/** The AMI messages, without their last line end. */
export const amiTexts: readonly string[] = amiBytes.toString('utf8').split('\r\n\r\n').slice(1)

export const recordedLegs = (call: string) => recordedCalls.find((recording) => recording.call === call)!.legs

/** Returns the SIP Call-ID of a leg of a call; 1: the dialled leg. */
export const recordedLegId = (call: string, index = 1) => recordedLegs(call)[index]!.callId

/** Returns the other legs that a phone is bridged with, in order. */
export const otherLegsOf = (trace: Trace, sipCallId: string) =>
  eventsOf(trace, sipCallId)
    .filter(({ hook }) => hook === 'channel_bridge')
    .map(({ otherLegCallId }) => otherLegCallId)

export const causeOf = (trace: Trace, sipCallId: string) =>
  findEvent(trace, sipCallId, 'destroy')?.hangupCause
