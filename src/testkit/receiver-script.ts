/** Steps of a scripted receiver that respond in valid HTTP, late or not at all. */
import type { ReceivedRequest } from './receiver-log.js'

/** The argument of a step: one request, and control over its connection. */
export interface Exchange {
  /** The request to answer. */
  readonly request: ReceivedRequest
  /** Aborted when the connection closes, whichever side closed it. */
  readonly signal: AbortSignal
  /** Writes bytes unchanged; resolves when the operating system has them, or when the connection closes. */
  write(bytes: string | Uint8Array): Promise<void>
  /** Waits `ms` milliseconds of the receiver's clock, or until the connection closes. */
  pause(ms: number): Promise<void>
  /** Closes the connection normally (FIN) after the bytes that were written. */
  end(): void
  /** Resets the connection (RST). */
  reset(): void
}

/** One response of a script. A custom step is an object like this. */
export interface Step {
  /** Name in the request log. */
  readonly name: string
  /** Responds. The next request on the connection is answered after it resolves; a rejection is answered with 500. */
  play(exchange: Exchange): Promise<void>
}

/** Content of a valid response. */
export interface ScriptedResponse {
  /** Header fields. Default is none; Content-Length is added. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Default is an empty body. */
  readonly body?: string | Uint8Array | undefined
}

/** Formats a valid response: status line, headers, Content-Length, body. */
export function formatResponse(code: number, { headers = {}, body = '' }: ScriptedResponse = {}): Buffer {
  const content = Buffer.from(body)
  // RFC 9110 8.6: no Content-Length with 1xx and 204.
  const length = code < 200 || code === 204 ? {} : { 'content-length': String(content.length) }
  return Buffer.concat([formatHead(code, { ...length, ...headers }), content])
}

/** Formats status line and headers, unchecked. 99 becomes `099`. */
export function formatHead(code: number, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${String(code).padStart(3, '0')} Scripted\r\n${lines.join('')}\r\n`, 'latin1')
}

/**
 * Responds with a status.
 *
 * @param code any number, also an invalid status such as 99 or 600
 * @param options.delayMs milliseconds before the response. Default is 0.
 */
export function status(
  code: number,
  options: ScriptedResponse & { readonly delayMs?: number | undefined } = {},
): Step {
  return {
    name: `status ${code}`,
    async play({ request, write, pause }) {
      if (options.delayMs !== undefined) await pause(options.delayMs)
      const bytes = formatResponse(code, options)
      await write(request.method === 'HEAD' ? bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 4) : bytes)
    },
  }
}

/**
 * Waits, then plays another step.
 *
 * @param ms milliseconds of the receiver's clock
 * @param then the other step. Default is status 200.
 */
export function delay(ms: number, then: Step = status(200)): Step {
  return {
    name: `delay ${ms} ms, ${then.name}`,
    async play(exchange) {
      await exchange.pause(ms)
      await then.play(exchange)
    },
  }
}

/**
 * Responds with the header Retry-After (RFC 9110 10.2.3).
 *
 * @param when seconds, a date, or the header's text
 * @param code status. Default is 503.
 */
export function retryAfter(when: number | Date | string, code = 503): Step {
  const value = when instanceof Date ? when.toUTCString() : String(when)
  return { ...status(code, { headers: { 'retry-after': value } }), name: `retry after ${value}` }
}

/** Redirects to `location`. Default status is 302. */
export function redirect(location: string, code = 302): Step {
  return { ...status(code, { headers: { location } }), name: `redirect to ${location}` }
}

/** Never responds, and leaves the connection open. */
export function hang(): Step {
  return { name: 'hang', play: ({ signal }) => aborted(signal) }
}

/** A step that holds requests until the test releases them. */
export interface Gate extends Step {
  /** Number of requests that are being held. */
  readonly waiting: number
  /** Releases `count` requests, held now or arriving later. Default is all, from now on. */
  release(count?: number): void
}

/**
 * Holds requests until `release` is called, then plays another step.
 *
 * @param then the other step. Default is status 200.
 */
export function gate(then: Step = status(200)): Gate {
  const queue = new Set<() => void>()
  let permits = 0
  /** Resolves when this request is released, or its connection closes: then it leaves the queue. */
  const released = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const leave = () => {
        queue.delete(leave)
        signal.removeEventListener('abort', leave)
        resolve()
      }
      queue.add(leave)
      signal.addEventListener('abort', leave, { once: true })
    })
  return {
    name: `gate, ${then.name}`,
    get waiting() {
      return queue.size
    },
    release(count = Infinity) {
      permits += count
      for (const leave of queue) {
        if (permits < 1) break
        permits -= 1
        leave()
      }
    },
    async play(exchange) {
      if (permits >= 1) permits -= 1
      else await released(exchange.signal)
      await then.play(exchange)
    },
  }
}

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
