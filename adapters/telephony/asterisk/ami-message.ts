/** One message of AMI: its fields are looked up where they are read, since most messages are of no use. */
import { detached } from '../source/said.js'

/** A message. */
export interface AmiMessage {
  /** What follows `Event: `; '' for an answer. */
  readonly event: string
  /** A field as it stands; absent: not there, empty or `<unknown>`. */
  get(name: string): string | undefined
  /**
   * A channel variable of one of the channels of the message: `ChanVariable` is repeated, and an answer to Originate
   * has the channel in its key.
   *
   * @param prefix which channel: '' or `Dest`, …
   */
  variable(name: string, prefix?: string): string | undefined
}

/** The bytes that begin an event. */
const EVENT = Buffer.from('Event: ')
const CR = 13

/** What a message is, without a look at the rest of it; '' for an answer. */
export function eventOf(message: Buffer): string {
  if (message.length < EVENT.length || message.compare(EVENT, 0, EVENT.length, 0, EVENT.length) !== 0)
    return ''
  const end = message.indexOf(CR, EVENT.length)
  return message.toString('latin1', EVENT.length, end < 0 ? message.length : end)
}

/** @param bytes the lines of the message, each with its CRLF */
export function amiMessage(bytes: Buffer): AmiMessage {
  const text = `\r\n${bytes.toString('utf8')}`

  /** What follows a key, up to the end of the line; without the message, since legs are remembered for long. */
  const after = (key: string): string | undefined => {
    const at = text.indexOf(`\r\n${key}`)
    if (at < 0) return undefined
    const start = at + 2 + key.length
    const end = text.indexOf('\r\n', start)
    return detached(end < 0 ? text.slice(start) : text.slice(start, end))
  }

  return {
    event: eventOf(bytes),
    get(name) {
      const value = after(`${name}: `)
      return value === '' || value === '<unknown>' ? undefined : value
    },
    variable(name, prefix = '') {
      const value = after(`${prefix}ChanVariable: ${name}=`)
      if (value !== undefined || !text.includes(`\r\n${prefix}ChanVariable(`)) return value || undefined
      return ofNamedChannel(text, prefix, name)
    },
  }
}

/** `ChanVariable(PJSIP/2013-0000003e): ACCOUNT_ID=alpha` */
function ofNamedChannel(text: string, prefix: string, name: string): string | undefined {
  const key = `${prefix}ChanVariable(`
  for (const line of text.split('\r\n')) {
    const at = line.startsWith(key) ? line.indexOf(`): ${name}=`) : -1
    if (at >= 0) return detached(line.slice(at + 4 + name.length)) || undefined
  }
  return undefined
}

/** Escapes of C and what they stand for; every other character stands for itself. */
const ESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Undoes what AMI does to names of parties (`ast_escape_c`): `Bob \\\"Bobby\\\"` was `Bob \"Bobby\"`. */
export function unescaped(value: string | undefined): string | undefined {
  if (value?.includes('\\') !== true) return value
  return value.replace(/\\(.)/gs, (_, char: string) => ESCAPED[char] ?? char)
}
