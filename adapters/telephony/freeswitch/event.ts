/** An event of the event socket, independent of its format. Values are extracted on request: most are never read. */

/** How the switch writes events: `event plain` or `event json`. */
export type EventFormat = 'plain' | 'json'

/** A value; several for an array of the switch. */
export type EventValue = string | readonly string[]

/** One event. */
export interface EslEvent {
  /** `CHANNEL_CREATE`, … */
  readonly name: string
  /** A header by its exact name; an array in the switch's single-string form (`ARRAY::a|:b`). */
  header(name: string): string | undefined
  /** A header by its exact name; an array as an array. */
  value(name: string): EventValue | undefined
  /** Calls `visit` for every header with this prefix, with the name after the prefix. */
  forEach(prefix: string, visit: (name: string, value: EventValue) => void): void
}

/** FreeSWITCH's single-string form of an array (`switch_event.c`). */
const ARRAY = 'ARRAY::'
const ARRAY_SEPARATOR = '|:'

/** An array in its single-string form. */
export function joinArray(values: readonly string[]): string {
  return ARRAY + values.join(ARRAY_SEPARATOR)
}

/** The array that a string holds in single-string form; any other string unchanged. */
export function splitArray(text: string): EventValue {
  return text.startsWith(ARRAY) ? text.slice(ARRAY.length).split(ARRAY_SEPARATOR) : text
}

const NOT_ASCII = /[\x80-\xff]/

/** Decodes as UTF-8 what was read as latin1; invalid bytes become U+FFFD. */
export function decodeUtf8(latin1: string): string {
  return NOT_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1
}

/** Caches the search string of each header name: the same few names are looked up in every event. */
export function cacheSearchKeys(make: (name: string) => string): (name: string) => string {
  const cached = new Map<string, string>()
  return (name) => {
    const known = cached.get(name)
    if (known !== undefined) return known
    const key = make(name)
    // Names come from the host's code, which may generate an unlimited number of them.
    if (cached.size < MAX_CACHED_KEYS) cached.set(name, key)
    return key
  }
}

const MAX_CACHED_KEYS = 1_000
