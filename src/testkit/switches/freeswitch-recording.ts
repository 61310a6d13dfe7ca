import { invalid } from '../../option-checks.js'
import { bytesOf, someEvents } from './recording.js'
import type { Moment } from './timeline.js'

/** The two forms of events that FreeSWITCH's event socket sends. */
export type FreeswitchFormat = 'plain' | 'json'

/** A header of an event; several values: an array variable. */
export type FreeswitchHeader = readonly [name: string, value: string | readonly string[]]

/** An event as it was received. Texts hold one character a byte. */
export interface FreeswitchEvent extends Moment {
  /** `CHANNEL_CREATE`. */
  readonly name: string
  /** Of a CUSTOM event: `sofia::register`. */
  readonly subclass: string | undefined
  /** The leg, if it is about one. */
  readonly uuid: string | undefined
  /** All bytes, from `Content-Length` on. */
  readonly frame: string
  /** Its headers, decoded. */
  headers(): readonly FreeswitchHeader[]
}

/** What `event plain` or `event json` brought. */
export interface FreeswitchRecording {
  readonly format: FreeswitchFormat
  readonly coreUuid: string
  readonly events: readonly FreeswitchEvent[]
}

/**
 * Reads what a client of the event socket received. What is no event (answers to its commands) is left out, and so is
 * an end in the middle of an event.
 *
 * @throws `InvalidOption` when there are no events, or some in each of the two formats
 */
export function readFreeswitch(given: Uint8Array): FreeswitchRecording {
  const text = bytesOf(given)
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
      events.push(eventOf(text.slice(at, endAt), text.slice(bodyAt, endAt), format))
    }
    at = endAt
  }
  const [format = 'plain', other] = formats
  if (other) throw invalid('recording', 'mixes plain and JSON events')
  const some = someEvents(events, "events of FreeSWITCH's event socket")
  return { format, coreUuid: headerOf(some[0]!.headers(), 'Core-UUID') ?? '', events: some }
}

function eventOf(frame: string, body: string, format: FreeswitchFormat): FreeswitchEvent {
  const headers = () => (format === 'json' ? ofJson(body) : ofPlain(body))
  const all = headers()
  return {
    atMs: Number(headerOf(all, 'Event-Date-Timestamp') ?? 0) / 1000,
    name: headerOf(all, 'Event-Name') ?? '',
    subclass: headerOf(all, 'Event-Subclass'),
    uuid: headerOf(all, 'Unique-ID'),
    frame,
    headers,
  }
}

/** The value of a header; of an array its first. */
export function headerOf(headers: readonly FreeswitchHeader[], name: string): string | undefined {
  const value = headers.find(([key]) => key === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}

function ofJson(body: string): FreeswitchHeader[] {
  return Object.entries(JSON.parse(body) as Record<string, string | string[]>)
}

function ofPlain(body: string): FreeswitchHeader[] {
  const head = body.slice(0, body.indexOf('\n\n'))
  return head.split('\n').map((line) => {
    const colon = line.indexOf(': ')
    const value = line
      .slice(colon + 2)
      .replace(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    return [line.slice(0, colon), value.startsWith('ARRAY::') ? value.slice(7).split('|:') : value]
  })
}

/** Headers as FreeSWITCH writes them in JSON. */
export function toJson(headers: readonly FreeswitchHeader[]): string {
  return JSON.stringify(Object.fromEntries(headers))
}

/** Headers as FreeSWITCH writes them in plain: a `%` that looks encoded already stays as it is. */
export function toPlain(headers: readonly FreeswitchHeader[]): string {
  const lines = headers.map(([name, value]) => {
    const whole = typeof value === 'string' ? value : `ARRAY::${value.join('|:')}`
    return `${name}: ${whole.replace(/%(?![0-9A-F]{2})|[^A-Za-z0-9!'()*,\-./_~%]/g, encoded)}\n`
  })
  return `${lines.join('')}\n`
}

function encoded(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
