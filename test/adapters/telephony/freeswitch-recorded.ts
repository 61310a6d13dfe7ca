import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type EslEvent, type EventFormat, parseEvent } from '../../../adapters/telephony/freeswitch/event.js'
import { createFrameReader } from '../../../adapters/telephony/freeswitch/frames.js'

/** What happened on one leg, from the scenarios and the message logs of the phones. */
export interface RecordedLeg {
  readonly leg: string
  readonly uuid: string
  readonly direction: 'inbound' | 'outbound'
  readonly internal?: boolean
  readonly answered: boolean
  readonly hangupCause: string
  readonly sipCode?: number
  readonly endedBy?: string
  readonly wire?: {
    readonly inviteAt: number
    readonly ringAt?: number
    readonly answeredAt?: number
    readonly endedAt: number
  }
  readonly holds: number
  readonly resumes: number
  readonly accountId?: string
  readonly accountKnownAt?: string
  readonly bridgedWith?: readonly string[]
}

/** What happened on one call. */
export interface RecordedCall {
  readonly id: string
  readonly title: string
  readonly dialled?: string
  readonly callerIdName?: string
  readonly callerIdNumber?: string
  readonly legs: readonly RecordedLeg[]
}

interface Recording {
  readonly totals: Readonly<Record<string, number>> & {
    readonly hangupCauses: Readonly<Record<string, number>>
  }
  readonly events: Readonly<Record<string, number>>
  readonly calls: readonly RecordedCall[]
}

const at = (name: string) => new URL(`../../../examples/switches/recordings/${name}`, import.meta.url)

/** The bytes received from the switch. */
export const bytesOf = (name: string): Buffer => gunzipSync(readFileSync(at(`freeswitch-esl-${name}.txt.gz`)))

const expected = JSON.parse(readFileSync(at('freeswitch-expected.json'), 'utf8')) as {
  readonly accounts: Readonly<Record<string, string>>
  readonly recordings: readonly [Recording, Recording]
}

/** What happened on the 47 calls of the two long files. */
export const recorded = expected.recordings[0]
/** What happened on the three calls of the third. */
export const recordedAll = expected.recordings[1]
/** Account ids by realm. */
export const accounts = expected.accounts

/** The account of a leg: its own, or of one that the switch dials the caller's. */
export const accountOf = (leg: RecordedLeg, { legs: [caller] }: RecordedCall): string | undefined =>
  leg.accountId ?? (leg.direction === 'outbound' ? caller?.accountId : undefined)

/** Phones are bridged with phones, also through loopback pairs; half of such a pair with the leg beside it. */
export function partnersOf(leg: RecordedLeg, call: RecordedCall): readonly string[] {
  const find = (uuid: string) => call.legs.find((leg) => leg.uuid === uuid)
  const direct = leg.bridgedWith ?? []
  if (leg.internal) return direct
  const behind = direct.flatMap((uuid) => {
    if (!find(uuid)?.internal) return [uuid]
    const half = call.legs.find((leg) => leg.internal && leg.uuid !== uuid)
    return (half?.bridgedWith ?? []).filter((other) => !find(other)?.internal)
  })
  return [...new Set(behind)]
}

export interface Message {
  readonly type: string
  readonly head: string
  readonly body: Buffer
}

/** The messages of a stream, read as one chunk. */
export function messagesOf(bytes: Buffer): Message[] {
  const messages: Message[] = []
  createFrameReader((type, head, body) => messages.push({ type, head, body: Buffer.from(body) })).push(bytes)
  return messages
}

/** The events among them. */
export function eventsIn(messages: readonly Message[]): EslEvent[] {
  return messages.flatMap(({ type, body }) => {
    if (!type.startsWith('text/event-')) return []
    const event = parseEvent(type === 'text/event-json' ? 'json' : 'plain', body)
    if (!event) throw new Error(`not an event: ${body.toString().slice(0, 200)}`)
    return [event]
  })
}

/** The events of a recorded file. */
export const recordedEvents = (format: EventFormat | 'plain-all'): EslEvent[] =>
  eventsIn(messagesOf(bytesOf(format)))
