/** Parser of `text/event-stream` (HTML Living Standard, section 9.2.6). Pure. */

export interface SseItem {
  /** The last id that the stream has sent; `''` before the first. */
  readonly id: string
  readonly event: string
  readonly data: string
}

interface SseParser {
  /** Returns the items that this part of the stream completes. */
  push(text: string): readonly SseItem[]
  /** Pause before the next connection in milliseconds, if the stream named one. */
  readonly retryMs: number | undefined
}

const LINE_END = /\r\n|\n|\r/g

export function createSseParser(): SseParser {
  /** The line that has not ended. It is read when it ends: engines join the parts of a text only then. */
  let rest = ''
  let isFirst = true
  /** The last part ended with CR, which ended a line; an LF that follows belongs to it. */
  let isAfterCr = false
  let id = ''
  let event = ''
  let data: string[] = []
  let retryMs: number | undefined

  function takeLine(line: string): SseItem | undefined {
    if (line === '') {
      const item = data.length === 0 ? undefined : { id, event: event || 'message', data: data.join('\n') }
      event = ''
      data = []
      return item
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line)!
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value)
    return undefined
  }

  return {
    push(text) {
      const isBegun = (isFirst && text.startsWith('\ufeff')) || (isAfterCr && text.startsWith('\n'))
      const part = isBegun ? text.slice(1) : text
      if (text !== '') {
        isFirst = false
        isAfterCr = text.endsWith('\r')
      }
      const items: SseItem[] = []
      let start = 0
      for (const { 0: end, index } of part.matchAll(LINE_END)) {
        const item = takeLine(rest + part.slice(start, index))
        rest = ''
        start = index + end.length
        if (item) items.push(item)
      }
      rest += part.slice(start)
      return items
    },
    get retryMs() {
      return retryMs
    },
  }
}
