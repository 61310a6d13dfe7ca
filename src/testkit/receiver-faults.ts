import { gzipSync } from 'node:zlib'
import { systemClock } from '../clock.js'
import { type Answer, answerBytes, type Exchange, headBytes, type Step, status } from './receiver-script.js'

const MEBIBYTE = 1_048_576

/** Real time in which a client in another process reads what has reached it. */
const READING_MS = 5

const clock = systemClock()

/**
 * Resets the connection (RST): before any answer, or after that many bytes of one.
 *
 * @param options.afterBytes how many bytes of the answer are sent first, default 0
 * @param options.answer the answer (status 200) that is cut, default one with the body `{"ok":true}`
 */
export function reset(options: { readonly afterBytes?: number; readonly answer?: Answer } = {}): Step {
  const { afterBytes = 0, answer = { body: '{"ok":true}' } } = options
  return {
    name: `reset after ${afterBytes} bytes`,
    async play(exchange) {
      if (afterBytes > 0) {
        await exchange.write(answerBytes(200, answer).subarray(0, afterBytes))
        // A Node client that finds bytes and a reset together takes the reset for a good end (libuv): so first
        // it is given the time to read, and, where it lives in this process, the turns.
        await clock.sleep(READING_MS)
        await clock.yield()
        await clock.yield()
      }
      exchange.reset()
    },
  }
}

/** Ends the connection (FIN) without a byte of an answer. */
export function closeSilently(): Step {
  return {
    name: 'close silently',
    play: async ({ end }) => end(),
  }
}

/** Answers what no HTTP client understands, and ends the connection. */
export function garbage(): Step {
  return {
    name: 'garbage',
    async play({ write, end }) {
      await write(Buffer.from('\u0000\u0001SSH-2.0-OpenSSH_9.2\r\n\u00ff\u00fe<html>\r\n\r\n', 'latin1'))
      end()
    },
  }
}

/** Sends these bytes as they are, one piece after the other, and leaves the connection open. */
export function rawBytes(...pieces: readonly (string | Uint8Array)[]): Step {
  return {
    name: 'raw bytes',
    async play({ write }) {
      for (const piece of pieces) await write(piece)
    },
  }
}

interface Drip {
  /** Milliseconds between two bytes, default 20. */
  readonly everyMs?: number
  /** After so many bytes the answer is complete; default: never. */
  readonly bytes?: number
}

/** Sends a header byte by byte: every parser timer sees life, the answer does not come. */
export function dripHeaders({ everyMs = 20, bytes = Infinity }: Drip = {}): Step {
  return {
    name: `drip headers every ${everyMs} ms`,
    async play(exchange) {
      await exchange.write('HTTP/1.1 200 OK\r\nx-drip: ')
      await drip(exchange, everyMs, bytes, 'd')
      await exchange.write('\r\ncontent-length: 0\r\n\r\n')
    },
  }
}

/** Sends headers at once and then a chunked body, one byte a chunk. */
export function dripBody({ everyMs = 20, bytes = Infinity }: Drip = {}): Step {
  return {
    name: `drip body every ${everyMs} ms`,
    async play(exchange) {
      await exchange.write(headBytes(200, { 'transfer-encoding': 'chunked' }))
      await drip(exchange, everyMs, bytes, '1\r\nd\r\n')
      await exchange.write('0\r\n\r\n')
    },
  }
}

/** Sends a body without end, as fast as it is read. */
export function endlessBody(): Step {
  const piece = Buffer.alloc(65_536, 'e')
  return {
    name: 'endless body',
    async play(exchange) {
      await exchange.write(headBytes(200, { connection: 'close' }))
      await drip(exchange, 0, Infinity, piece)
    },
  }
}

/**
 * Sends interim answers, one after the other.
 *
 * @param options.code the interim status, default 103 (Early Hints)
 * @param options.count after so many a 200 follows; default: never
 */
export function flood1xx(options: { readonly code?: number; readonly count?: number } = {}): Step {
  const { code = 103, count = Infinity } = options
  return {
    name: `flood of ${code}`,
    async play(exchange) {
      const interim = headBytes(code, {}).toString()
      if (count === Infinity) await drip(exchange, 0, count, interim.repeat(100))
      else await exchange.write(interim.repeat(count))
      await status(200).play(exchange)
    },
  }
}

/** Answers with a small gzip body that grows to `inflatedMiB` mebibytes (default 64) where somebody inflates it. */
export function gzipBomb({ inflatedMiB = 64 }: { readonly inflatedMiB?: number } = {}): Step {
  // RFC 1952 2.2: members one after the other inflate to their contents one after the other.
  const member = gzipSync(Buffer.alloc(MEBIBYTE))
  const body = Buffer.concat(Array.from({ length: inflatedMiB }, () => member))
  return {
    ...status(200, { headers: { 'content-encoding': 'gzip' }, body }),
    name: `gzip bomb of ${inflatedMiB} MiB`,
  }
}

/**
 * Declares a longer body than it sends, and ends the connection.
 *
 * @param options.declared the Content-Length, default 100
 * @param options.sent how many bytes are sent, default 10
 */
export function shortBody(options: { readonly declared?: number; readonly sent?: number } = {}): Step {
  const { declared = 100, sent = 10 } = options
  return {
    name: `short body: ${sent} of ${declared} bytes`,
    async play({ write, end }) {
      await write(
        answerBytes(200, { headers: { 'content-length': String(declared) }, body: 's'.repeat(sent) }),
      )
      end()
    },
  }
}

/** Answers 200, and `afterMs` milliseconds later (default 0) once more on the idle connection, unasked. */
export function unsolicited({ afterMs = 0 }: { readonly afterMs?: number } = {}): Step {
  return {
    name: 'unsolicited second answer',
    async play({ write, pause }) {
      await write(answerBytes(200))
      await pause(afterMs)
      await write(answerBytes(200, { body: 'unasked' }))
    },
  }
}

/** Writes the same piece again and again, until that many or until the connection is gone. */
async function drip(exchange: Exchange, everyMs: number, count: number, piece: string | Uint8Array) {
  for (let sent = 0; sent < count && !exchange.gone.aborted; sent += 1) {
    await exchange.write(piece)
    if (everyMs > 0) await exchange.pause(everyMs)
  }
}
