/** Steps of a scripted receiver that break HTTP, its timing, or its limits. */
import { gzipSync } from 'node:zlib'
import { systemClock } from '../runtime/clock.js'
import {
  type Exchange,
  formatHead,
  formatResponse,
  type ScriptedResponse,
  type Step,
  status,
} from './receiver-script.js'

const MEBIBYTE = 1_048_576

/** Real milliseconds in which a client in another process reads the bytes that have arrived. */
const READ_MS = 5

const clock = systemClock()

/**
 * Resets the connection (RST), before or during a response.
 *
 * @param options.afterBytes bytes of the response that are sent first. Default is 0.
 * @param options.response the response (status 200) that is cut off. Default has the body `{"ok":true}`.
 */
export function reset(
  options: {
    readonly afterBytes?: number | undefined
    readonly response?: ScriptedResponse | undefined
  } = {},
): Step {
  const { afterBytes = 0, response = { body: '{"ok":true}' } } = options
  return {
    name: `reset after ${afterBytes} bytes`,
    async play(exchange) {
      if (afterBytes > 0) {
        await exchange.write(formatResponse(200, response).subarray(0, afterBytes))
        // A Node client that reads bytes and a reset together takes the reset for a normal end (libuv), so the client
        // gets time to read first, and event loop turns if it runs in this process.
        await clock.sleep(READ_MS)
        await clock.yield()
        await clock.yield()
      }
      exchange.reset()
    },
  }
}

/** Closes the connection (FIN) without sending a byte. */
export function closeSilently(): Step {
  return {
    name: 'close silently',
    play: async ({ end }) => end(),
  }
}

/** Sends bytes that are not HTTP, then closes the connection. */
export function garbage(): Step {
  return {
    name: 'garbage',
    async play({ write, end }) {
      await write(Buffer.from('\u0000\u0001SSH-2.0-OpenSSH_9.2\r\n\u00ff\u00fe<html>\r\n\r\n', 'latin1'))
      end()
    },
  }
}

/** Writes these bytes unchanged, chunk by chunk, and leaves the connection open. */
export function rawBytes(...chunks: readonly (string | Uint8Array)[]): Step {
  return {
    name: 'raw bytes',
    async play({ write }) {
      for (const chunk of chunks) await write(chunk)
    },
  }
}

/** Options of `dripHeaders` and `dripBody`. */
export interface DripOptions {
  /** Milliseconds between two bytes. Default is 20. */
  readonly everyMs?: number | undefined
  /** Number of bytes after which the response is complete. Default is Infinity. */
  readonly bytes?: number | undefined
}

/**
 * Sends a response header byte by byte: the connection stays active, but no response arrives.
 *
 * @param options.everyMs milliseconds between two bytes. Default is 20.
 * @param options.bytes bytes after which the response is completed. Default is Infinity.
 */
export function dripHeaders({ everyMs = 20, bytes = Infinity }: DripOptions = {}): Step {
  return {
    name: `drip headers every ${everyMs} ms`,
    async play(exchange) {
      await exchange.write('HTTP/1.1 200 OK\r\nx-drip: ')
      await drip(exchange, everyMs, bytes, 'd')
      await exchange.write('\r\ncontent-length: 0\r\n\r\n')
    },
  }
}

/**
 * Sends headers at once and then a chunked body, one byte per chunk.
 *
 * @param options.everyMs milliseconds between two bytes. Default is 20.
 * @param options.bytes bytes after which the body ends. Default is Infinity.
 */
export function dripBody({ everyMs = 20, bytes = Infinity }: DripOptions = {}): Step {
  return {
    name: `drip body every ${everyMs} ms`,
    async play(exchange) {
      await exchange.write(formatHead(200, { 'transfer-encoding': 'chunked' }))
      await drip(exchange, everyMs, bytes, '1\r\nd\r\n')
      await exchange.write('0\r\n\r\n')
    },
  }
}

/** Sends an endless body, as fast as the client reads it. */
export function endlessBody(): Step {
  const chunk = Buffer.alloc(65_536, 'e')
  return {
    name: 'endless body',
    async play(exchange) {
      await exchange.write(formatHead(200, { connection: 'close' }))
      await drip(exchange, 0, Infinity, chunk)
    },
  }
}

/**
 * Sends interim (1xx) responses.
 *
 * @param options.code the interim status. Default is 103 (Early Hints).
 * @param options.count number of interim responses before a 200. Default is Infinity.
 */
export function flood1xx(
  options: { readonly code?: number | undefined; readonly count?: number | undefined } = {},
): Step {
  const { code = 103, count = Infinity } = options
  return {
    name: `flood of ${code}`,
    async play(exchange) {
      const interim = formatHead(code, {}).toString()
      if (count === Infinity) await drip(exchange, 0, count, interim.repeat(100))
      else await exchange.write(interim.repeat(count))
      await status(200).play(exchange)
    },
  }
}

/**
 * Responds with a small gzip body that inflates to a large one.
 *
 * @param options.inflatedMiB inflated size in MiB. Default is 64.
 */
export function gzipBomb({ inflatedMiB = 64 }: { readonly inflatedMiB?: number | undefined } = {}): Step {
  // RFC 1952 2.2: concatenated members inflate to their concatenated contents.
  const member = gzipSync(Buffer.alloc(MEBIBYTE))
  const body = Buffer.concat(Array.from({ length: inflatedMiB }, () => member))
  return {
    ...status(200, { headers: { 'content-encoding': 'gzip' }, body }),
    name: `gzip bomb of ${inflatedMiB} MiB`,
  }
}

/**
 * Sends fewer body bytes than Content-Length declares, then closes the connection.
 *
 * @param options.declared the Content-Length. Default is 100.
 * @param options.sent number of bytes that are sent. Default is 10.
 */
export function shortBody(
  options: { readonly declared?: number | undefined; readonly sent?: number | undefined } = {},
): Step {
  const { declared = 100, sent = 10 } = options
  return {
    name: `short body: ${sent} of ${declared} bytes`,
    async play({ write, end }) {
      await write(
        formatResponse(200, { headers: { 'content-length': String(declared) }, body: 's'.repeat(sent) }),
      )
      end()
    },
  }
}

/**
 * Responds 200, and then sends a second, unsolicited response on the idle connection.
 *
 * @param options.afterMs milliseconds between the two responses. Default is 0.
 */
export function unsolicited({ afterMs = 0 }: { readonly afterMs?: number | undefined } = {}): Step {
  return {
    name: 'unsolicited second response',
    async play({ write, pause }) {
      await write(formatResponse(200))
      await pause(afterMs)
      await write(formatResponse(200, { body: 'unsolicited' }))
    },
  }
}

/** Writes a chunk `count` times, or until the connection closes. */
async function drip(exchange: Exchange, everyMs: number, count: number, chunk: string | Uint8Array) {
  for (let sent = 0; sent < count && !exchange.signal.aborted; sent += 1) {
    await exchange.write(chunk)
    if (everyMs > 0) await exchange.pause(everyMs)
  }
}
