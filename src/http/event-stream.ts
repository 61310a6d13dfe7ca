/** A live stream as Server-Sent Events (WHATWG HTML, section 9.2). */
import type { OpenStream } from '../stream/open-stream.js'
import type { StreamEntry } from '../stream/subscriber.js'
import type { ResponseStream } from './message.js'

/** What the reader of a stream needs of it. */
export type StreamSource = Pick<OpenStream, 'take' | 'takeNow' | 'close' | 'onStall'>

/** How long a client waits before it connects again, ms. */
const RETRY_MS = 2_000
/** Characters after which a part is sent although more items wait. */
const MAX_PART = 16_384

const START = `retry: ${RETRY_MS}\n\n`
/** A comment, which clients ignore. */
const HEARTBEAT = ':\n\n'

/** Headers of the response. Proxies must neither buffer nor compress it. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
})

function eventText({ id, type, json }: StreamEntry): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${json}\n\n`
}

/**
 * @param onEnd called once when the response is complete or the client has gone
 */
export function eventStream(source: StreamSource, onEnd?: () => void): ResponseStream {
  let hasStarted = false
  let isOver = false

  function finish(): undefined {
    if (!isOver) {
      isOver = true
      source.close()
      onEnd?.()
    }
    return undefined
  }

  return {
    async next() {
      // First even if the stream is over, so that the client knows when to connect again.
      if (!hasStarted) {
        hasStarted = true
        return START
      }
      if (isOver) return finish()
      const taken = await source.take()
      if (!taken || isOver) return finish()
      if (taken === 'idle') return HEARTBEAT
      let text = eventText(taken)
      while (text.length < MAX_PART) {
        const more = source.takeNow()
        if (!more) break
        text += eventText(more)
      }
      return text
    },
    close: finish,
    onAbort(abort) {
      source.onStall = abort
    },
  }
}
