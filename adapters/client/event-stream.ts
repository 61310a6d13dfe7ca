/** Parses Server-Sent Events (WHATWG HTML, section 9.2). Pure. */

/** One event. */
export interface ServerEvent {
  /** The field `event`; `message` without one. */
  readonly type: string
  readonly data: string
  /** The field `id` of this event. */
  readonly id?: string
}

/** What a parser finds in a part of a stream. */
interface ParsedEvents {
  readonly events: readonly ServerEvent[]
  /** The last field `retry`, ms. */
  readonly retryMs?: number
  /** True: an event is longer than the limit, and nothing more can be parsed. */
  readonly isTooLong?: true
}

const LINE_END = /\r\n|\n|\r/g

/**
 * Returns a function that takes the parts of a stream as text.
 *
 * @param maxLength longest event, in characters
 */
export function createEventParser(maxLength: number): (text: string) => ParsedEvents {
  /** The line that has not ended. It is read when it ends: V8 joins the parts of a text only then. */
  let rest = ''
  let isFirst = true
  /** The last part ended with CR, which ended a line; an LF that follows belongs to it. */
  let isAfterCr = false
  let type = ''
  let data: string[] = []
  let length = 0
  let id: string | undefined

  return (text) => {
    const events: ServerEvent[] = []
    let retryMs: number | undefined
    const isBegun = (isFirst && text.startsWith('\ufeff')) || (isAfterCr && text.startsWith('\n'))
    const part = isBegun ? text.slice(1) : text
    if (text !== '') {
      isFirst = false
      isAfterCr = text.endsWith('\r')
    }
    let start = 0
    for (const { 0: end, index } of part.matchAll(LINE_END)) {
      const line = rest + part.slice(start, index)
      rest = ''
      start = index + end.length
      if (line === '') {
        if (data.length > 0) {
          events.push({ type: type || 'message', data: data.join('\n'), ...(id !== undefined && { id }) })
        }
        type = ''
        data = []
        length = 0
        id = undefined
        continue
      }
      const colon = line.indexOf(':')
      const name = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
      length += line.length
      if (name === 'data') data.push(value)
      else if (name === 'event') type = value
      else if (name === 'id' && !value.includes('\0')) id = value
      else if (name === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value)
    }
    rest += part.slice(start)
    const isTooLong = length + rest.length > maxLength
    return {
      events,
      ...(retryMs !== undefined && { retryMs }),
      ...(isTooLong && { isTooLong }),
    }
  }
}
