import type { ReceivedRequest } from './receiver-log.js'

/** What a step of a script has in its hands: one request, and the connection it came on. */
export interface Exchange {
  readonly request: ReceivedRequest
  /** Aborted when the connection is gone, whoever ended it. */
  readonly gone: AbortSignal
  /** Puts bytes on the wire as they are; resolves when the system has taken them, or when the connection is gone. */
  write(bytes: string | Uint8Array): Promise<void>
  /** Waits, or stops waiting when the connection is gone. */
  pause(ms: number): Promise<void>
  /** Ends the connection in good order (FIN) after what was written. */
  end(): void
  /** Ends the connection with a reset (RST). */
  reset(): void
}

/**
 * One answer of a script. When `play` has resolved and the connection stands, the next request on it is answered;
 * a step of one's own is an object like this.
 */
export interface Step {
  /** Shown in the log of requests. */
  readonly name: string
  play(exchange: Exchange): Promise<void>
}

/** An answer in good form. */
export interface Answer {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** The bytes of an answer in good form: status line, headers, Content-Length, body. */
export function answerBytes(code: number, { headers = {}, body = '' }: Answer = {}): Buffer {
  const content = Buffer.from(body)
  // RFC 9110 8.6: no Content-Length with 1xx and 204.
  const length = code < 200 || code === 204 ? {} : { 'content-length': String(content.length) }
  return Buffer.concat([headBytes(code, { ...length, ...headers }), content])
}

/** The bytes of status line and headers, whatever they may be: 99 becomes `099`. */
export function headBytes(code: number, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${String(code).padStart(3, '0')} Scripted\r\n${lines.join('')}\r\n`, 'latin1')
}

/** Answers with this status (any number, also 99 or 600), after `delayMs` milliseconds (default 0). */
export function status(code: number, options: Answer & { readonly delayMs?: number } = {}): Step {
  return {
    name: `status ${code}`,
    async play({ request, write, pause }) {
      if (options.delayMs !== undefined) await pause(options.delayMs)
      const bytes = answerBytes(code, options)
      await write(request.method === 'HEAD' ? bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 4) : bytes)
    },
  }
}

/** Waits `ms` milliseconds, then plays `then` (default: 200). */
export function delay(ms: number, then: Step = status(200)): Step {
  return {
    name: `delay ${ms} ms, ${then.name}`,
    async play(exchange) {
      await exchange.pause(ms)
      await then.play(exchange)
    },
  }
}

/** Asks to come back later (RFC 9110 10.2.3): seconds, a moment, or a text that is put into the header as it is. */
export function retryAfter(when: number | Date | string, code = 503): Step {
  const value = when instanceof Date ? when.toUTCString() : String(when)
  return { ...status(code, { headers: { 'retry-after': value } }), name: `retry after ${value}` }
}

/** Redirects to `location`. */
export function redirect(location: string, code = 302): Step {
  return { ...status(code, { headers: { location } }), name: `redirect to ${location}` }
}

/** Never answers. */
export function hang(): Step {
  return { name: 'hang', play: ({ gone }) => aborted(gone) }
}

/** A step at which requests wait until the test lets them go on. */
export interface Gate extends Step {
  /** How many requests wait here now. */
  readonly waiting: number
  /** Lets `count` requests through, those that wait now or that come later; without a count all, for good. */
  release(count?: number): void
}

/** Holds requests until `release` is called, then plays `then` (default: 200). */
export function gate(then: Step = status(200)): Gate {
  const queue = new Set<() => void>()
  let passes = 0
  /** Resolves when this request may pass, or its connection is gone: then its place is free again. */
  const passed = (gone: AbortSignal) =>
    new Promise<void>((resolve) => {
      const pass = () => {
        queue.delete(pass)
        gone.removeEventListener('abort', pass)
        resolve()
      }
      queue.add(pass)
      gone.addEventListener('abort', pass, { once: true })
    })
  return {
    name: `gate, ${then.name}`,
    get waiting() {
      return queue.size
    },
    release(count = Infinity) {
      passes += count
      for (const pass of queue) {
        if (passes < 1) break
        passes -= 1
        pass()
      }
    },
    async play(exchange) {
      if (passes >= 1) passes -= 1
      else await passed(exchange.gone)
      await then.play(exchange)
    },
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
