/** One message of AMI. Fields are searched on demand instead of parsed, because most messages are not used. */
import { detachSubstring } from '../source/sanitize.js'

/** A message. */
export interface AmiMessage {
  /** The value of `Event`; '' for a response. */
  readonly event: string
  /** Returns a field; `undefined` if it is absent, empty or `<unknown>`. */
  get(name: string): string | undefined
  /**
   * Returns a function that returns the variables of one of the channels of the message, by their names. It retains only
   * their lines, because a leg keeps it until its next message.
   *
   * @param prefix the channel: '' or `Dest`, …
   */
  variables(prefix: string): (name: string) => string | undefined
}

/** The first bytes of an event. */
const EVENT = Buffer.from('Event: ')
const UNIQUE_ID = Buffer.from('\r\nUniqueid: ')
const CR = 13

/** Returns the event name of a message without decoding the rest; '' for a response. */
export function eventNameOf(message: Buffer): string {
  if (message.length < EVENT.length || message.compare(EVENT, 0, EVENT.length, 0, EVENT.length) !== 0)
    return ''
  const end = message.indexOf(CR, EVENT.length)
  return message.toString('latin1', EVENT.length, end < 0 ? message.length : end)
}

/** Returns the value of `Uniqueid` without decoding the rest of the message; '' where there is none. */
export function uniqueIdOf(message: Buffer): string {
  const at = message.indexOf(UNIQUE_ID)
  if (at < 0) return ''
  const start = at + UNIQUE_ID.length
  const end = message.indexOf(CR, start)
  return message.toString('utf8', start, end < 0 ? message.length : end)
}

/** @param bytes the lines of the message, each with its CRLF */
export function createAmiMessage(bytes: Buffer): AmiMessage {
  const text = `\r\n${bytes.toString('utf8')}`

  return {
    event: eventNameOf(bytes),
    get(name) {
      const value = valueAfter(text, `${name}: `)
      return value === '' || value === '<unknown>' ? undefined : value
    },
    variables(prefix) {
      const key = `${prefix}ChanVariable`
      return variablesIn(linesOf(text, key), key)
    },
  }
}

/** Returns the rest of the line after a key, detached from the text, because legs keep it for long. */
function valueAfter(text: string, key: string): string | undefined {
  const at = text.indexOf(`\r\n${key}`)
  if (at < 0) return undefined
  const start = at + 2 + key.length
  const end = text.indexOf('\r\n', start)
  return detachSubstring(end < 0 ? text.slice(start) : text.slice(start, end))
}

/** Returns the lines that begin with a key, each after a CRLF, detached from the text. */
function linesOf(text: string, key: string): string {
  const begin = `\r\n${key}`
  let lines = ''
  for (let at = text.indexOf(begin); at >= 0; ) {
    const end = text.indexOf('\r\n', at + begin.length)
    lines += end < 0 ? text.slice(at) : text.slice(at, end)
    at = end < 0 ? -1 : text.indexOf(begin, end)
  }
  return detachSubstring(lines)
}

/**
 * Returns the function that looks variables up in their lines. Outside of `createAmiMessage`, whose closures keep the text
 * alive. `ChanVariable` occurs once per variable; in a response to Originate its key contains the channel.
 */
function variablesIn(lines: string, key: string): (name: string) => string | undefined {
  return (name) => {
    const value = valueAfter(lines, `${key}: ${name}=`)
    if (value !== undefined || !lines.includes(`\r\n${key}(`)) return value || undefined
    return variableOfNamedChannel(lines, `${key}(`, name)
  }
}

/** `ChanVariable(PJSIP/2013-0000003e): ACCOUNT_ID=alpha` */
function variableOfNamedChannel(lines: string, key: string, name: string): string | undefined {
  for (const line of lines.split('\r\n')) {
    const at = line.startsWith(key) ? line.indexOf(`): ${name}=`) : -1
    if (at >= 0) return detachSubstring(line.slice(at + 4 + name.length)) || undefined
  }
  return undefined
}

/** The escape sequences of C with a special meaning; every other escaped character stands for itself. */
const C_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Reverses the escaping of party names in AMI (`ast_escape_c`): `Bob \\\"Bobby\\\"` was `Bob \"Bobby\"`. */
export function unescapeC(value: string | undefined): string | undefined {
  if (value?.includes('\\') !== true) return value
  return value.replace(/\\(.)/gs, (_, char: string) => C_ESCAPES[char] ?? char)
}
