/** An event of the switch, whatever its format. Values are found when they are asked for: most never are. */

/** How the switch writes events: `event plain` or `event json`. */
export type EventFormat = 'plain' | 'json'

/** A value: several where the switch has an array. */
export type EventValue = string | readonly string[]

/** One event. */
export interface SwitchEvent {
  /** `CHANNEL_CREATE`, … */
  readonly name: string
  /** The value of a header, by its exact name; an array as the one text that the switch makes of it. */
  header(name: string): string | undefined
  /** The same, an array as it is. */
  value(name: string): EventValue | undefined
  /** Every header whose name begins so, without that beginning. */
  each(prefix: string, take: (name: string, value: EventValue) => void): void
}

/** How FreeSWITCH writes an array as one text (`switch_event.c`). */
const ARRAY = 'ARRAY::'
const ARRAY_SEPARATOR = '|:'

/** An array as one text. */
export function arrayAsText(values: readonly string[]): string {
  return ARRAY + values.join(ARRAY_SEPARATOR)
}

/** A text that may be an array. */
export function textAsValue(text: string): EventValue {
  return text.startsWith(ARRAY) ? text.slice(ARRAY.length).split(ARRAY_SEPARATOR) : text
}

const NOT_ASCII = /[\x80-\xff]/

/** Bytes that were read as latin1, as the UTF-8 that they are meant to be; what is none becomes U+FFFD. */
export function fromBytes(latin1: string): string {
  return NOT_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1
}

/** Makes and keeps what is searched for: the same few names, all the time. */
export function searchKeys(make: (name: string) => string): (name: string) => string {
  const made = new Map<string, string>()
  return (name) => {
    const known = made.get(name)
    if (known !== undefined) return known
    const key = make(name)
    // Names come from the host's code, which may make them up without end.
    if (made.size < MAX_KEYS) made.set(name, key)
    return key
  }
}

const MAX_KEYS = 1_000
