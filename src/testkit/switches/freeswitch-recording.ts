/** Parses a recorded event socket. */
import { invalidOption } from '../../options/validators.js'
import { decodeRecording, requireEvents } from './recording.js'
import type { TimedEvent } from './timeline.js'

/** The event formats of FreeSWITCH's event socket. */
type FreeswitchFormat = 'plain' | 'json'

/** A header of an event; an array variable has several values. */
export type FreeswitchHeader = readonly [name: string, value: string | readonly string[]]

/** An event as it was received. Strings have one character per byte. */
export interface FreeswitchEvent extends TimedEvent {
  /** `CHANNEL_CREATE`. */
  readonly name: string
  /** Subclass of a CUSTOM event: `sofia::register`. */
  readonly subclass: string | undefined
  /** Id of the leg, if the event is of a leg. */
  readonly uuid: string | undefined
  /** The complete message, from `Content-Length` on. */
  readonly frame: string
  /** The decoded headers. */
  headers(): readonly FreeswitchHeader[]
}

/** The events that a client received after `event plain` or `event json`. */
interface FreeswitchRecording {
  readonly format: FreeswitchFormat
  readonly coreUuid: string
  readonly events: readonly FreeswitchEvent[]
}

/**
 * Parses the bytes that a client of the event socket received. Other messages (replies to commands) and an incomplete last
 * event are left out.
 *
 * @throws `InvalidOption` if there are no events, or events in both formats
 */
export function parseFreeswitchRecording(recording: Uint8Array): FreeswitchRecording {
  const text = decodeRecording(recording)
  const events: FreeswitchEvent[] = []
  const formats = new Set<FreeswitchFormat>()
  for (let at = 0; ; ) {
    const bodyAt = text.indexOf('\n\n', at) + 2
    if (bodyAt < 2) break
    const head = text.slice(at, bodyAt)
    const endAt = bodyAt + Number(/^Content-Length: (\d+)$/m.exec(head)?.[1] ?? 0)
    const format = /^Content-Type: text\/event-(plain|json)$/m.exec(head)?.[1] as FreeswitchFormat | undefined
    if (endAt > text.length) break
    if (format) {
      formats.add(format)
      events.push(parseEvent(text.slice(at, endAt), text.slice(bodyAt, endAt), format))
    }
    at = endAt
  }
  const [format = 'plain', other] = formats
  if (other) throw invalidOption('recording', 'mixes plain and JSON events')
  const required = requireEvents(events, "events of FreeSWITCH's event socket")
  return { format, coreUuid: findHeader(required[0]!.headers(), 'Core-UUID') ?? '', events: required }
}

function parseEvent(frame: string, body: string, format: FreeswitchFormat): FreeswitchEvent {
  const headers = () => (format === 'json' ? parseJsonHeaders(body) : parsePlainHeaders(body))
  const all = headers()
  return {
    atMs: Number(findHeader(all, 'Event-Date-Timestamp') ?? 0) / 1000,
    name: findHeader(all, 'Event-Name') ?? '',
    subclass: findHeader(all, 'Event-Subclass'),
    uuid: findHeader(all, 'Unique-ID'),
    frame,
    headers,
  }
}

/** The value of a header; the first one of an array. */
export function findHeader(headers: readonly FreeswitchHeader[], name: string): string | undefined {
  const value = headers.find(([key]) => key === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}

function parseJsonHeaders(body: string): FreeswitchHeader[] {
  return Object.entries(JSON.parse(body) as Record<string, string | string[]>)
}

function parsePlainHeaders(body: string): FreeswitchHeader[] {
  const head = body.slice(0, body.indexOf('\n\n'))
  return head.split('\n').map((line) => {
    const colon = line.indexOf(': ')
    const value = line
      .slice(colon + 2)
      .replace(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    return [line.slice(0, colon), value.startsWith('ARRAY::') ? value.slice(7).split('|:') : value]
  })
}

/** Headers in FreeSWITCH's JSON form. */
export function toJson(headers: readonly FreeswitchHeader[]): string {
  return JSON.stringify(Object.fromEntries(headers))
}

/** Headers in FreeSWITCH's plain form: a `%` before two hex digits is not encoded. */
export function toPlain(headers: readonly FreeswitchHeader[]): string {
  const lines = headers.map(([name, value]) => {
    const text = typeof value === 'string' ? value : `ARRAY::${value.join('|:')}`
    return `${name}: ${text.replace(/%(?![0-9A-F]{2})|[^A-Za-z0-9!'()*,\-./_~%]/g, encodeChar)}\n`
  })
  return `${lines.join('')}\n`
}

function encodeChar(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
