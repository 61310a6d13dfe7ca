/** Parser of `text/event-stream` (HTML Living Standard, section 9.2.6). Pure. */

export interface SseItem {
  /** The last id that the stream has sent; `''` before the first. */
  readonly id: string
  readonly event: string
  readonly data: string
}

export interface SseParser {
  /** Returns the items that this part of the stream completes. */
  push(text: string): readonly SseItem[]
  /** Pause before the next connection in milliseconds, if the stream named one. */
  readonly retryMs: number | undefined
}

export function createSseParser(): SseParser {
  let pending = ''
  let isFirst = true
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
      pending += isFirst ? text.replace(/^\ufeff/, '') : text
      if (pending !== '') isFirst = false
      const items: SseItem[] = []
      for (;;) {
        const match = /\r\n|\n|\r/.exec(pending)
        // A CR at the end may be the first half of a CRLF.
        if (!match || (match[0] === '\r' && match.index === pending.length - 1)) return items
        const line = pending.slice(0, match.index)
        pending = pending.slice(match.index + match[0].length)
        const item = takeLine(line)
        if (item) items.push(item)
      }
    },
    get retryMs() {
      return retryMs
    },
  }
}
