/** Reads the body of a Node request up to a limit. Shared by the adapters on Node's http. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { type BodyAdmission, MAX_BODY_BYTES } from 'hookswitch/adapter'
import { type BodyResult, isDeclaredTooLarge } from './request-record.js'

/** Time and bytes that a client may still send after its body was rejected. */
const DRAIN_TIMEOUT_MS = 2_000
const MAX_DRAIN_BYTES = 8 * MAX_BODY_BYTES

/**
 * Reads a body within its limits and `timeoutMs`. A larger or slower body is a `bodyProblem`; an absent or empty one has no
 * `body`, and returns synchronously if HTTP/1 announces it. Never rejects; leaves the stream paused.
 *
 * @param timeoutMs milliseconds
 * @param admit called if there is a body
 */
export function readNodeBody(
  req: IncomingMessage,
  timeoutMs: number,
  admit: () => BodyAdmission,
  stream: Readable = req,
): BodyResult | Promise<BodyResult> {
  // An ended stream emits no further `end`.
  if (stream.readableEnded || hasNoBody(req)) return {}
  if (stream.destroyed) return 'aborted'
  const admission = admit()
  if (stream === req && isDeclaredTooLarge(req.headers, admission.maxBytes)) {
    admission.end()
    return { bodyProblem: admission.excess }
  }

  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const timer = setTimeout(() => finish({ bodyProblem: 'too_slow' }), timeoutMs)
    const onData = (chunk: Buffer | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      const bodyProblem = admission.take(bytes.length)
      if (bodyProblem) finish({ bodyProblem })
      else chunks.push(bytes)
    }
    const onEnd = () =>
      finish(size === 0 ? {} : { body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size) })
    const onAborted = () => finish('aborted')
    const finish = (result: BodyResult) => {
      clearTimeout(timer)
      admission.end()
      stream.off('data', onData).off('end', onEnd).off('close', onAborted).pause()
      // The listener that stays refers to them.
      chunks.length = 0
      resolve(result)
    }
    // The error listener stays, so that a client that aborts later causes no uncaught error in the host.
    stream.on('data', onData).on('end', onEnd).on('close', onAborted).on('error', onAborted)
  })
}

/** HTTP/1 announces whether a body follows (RFC 9112, section 6.3); HTTP/2 does not. */
function hasNoBody({ httpVersionMajor, headers }: IncomingMessage): boolean {
  return (
    httpVersionMajor === 1 && headers['transfer-encoding'] === undefined && !Number(headers['content-length'])
  )
}

/**
 * Reads and discards the rest of a rejected body. Resolves when the client stops sending, or after 2 s or 8 MiB.
 * Closing at once would reset the connection while the client still writes, and many clients then never read the
 * response (RFC 9112, section 9.6).
 */
export function drainRequest(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (req.readableEnded || req.destroyed) return resolve()
    let size = 0
    const done = () => {
      clearTimeout(timer)
      req.off('data', onData).off('end', done).off('close', done).pause()
      resolve()
    }
    const timer = setTimeout(done, DRAIN_TIMEOUT_MS)
    const onData = (chunk: Buffer | string) => {
      size += chunk.length
      if (size > MAX_DRAIN_BYTES) done()
    }
    // `readNodeBody` paused the stream, so it must be resumed explicitly.
    req.on('data', onData).on('end', done).on('close', done).on('error', done).resume()
  })
}
