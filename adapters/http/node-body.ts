/** The body of a Node request: read to its end, or refused without reading on. Shared by the adapters on Node's http. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { MAX_BODY_BYTES } from 'hookswitch'
import { announcesTooMuch, type ReadBody } from './incoming.js'

/** How long, and how much, a client may go on sending after its body was refused. */
const LINGER_MS = 2_000
const LINGER_BYTES = 8 * MAX_BODY_BYTES

const NO_BODY: ReadBody = Object.freeze({})

/**
 * Reads a body of at most `MAX_BODY_BYTES` within `timeoutMs`. A longer or slower one is a `bodyProblem`, an absent or
 * empty one no `body`, known at once where HTTP/1 says so. Never rejects; the stream is left paused where reading stopped.
 */
export function readNodeBody(
  req: IncomingMessage,
  timeoutMs: number,
  stream: Readable = req,
): ReadBody | Promise<ReadBody> {
  // a stream that has ended says so only once: waiting for it would be waiting for ever
  if (stream.readableEnded || hasNoBody(req)) return NO_BODY
  if (stream.destroyed) return 'gone'
  if (stream === req && announcesTooMuch(req.headers)) return { bodyProblem: 'too_large' }

  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const timer = setTimeout(() => finish({ bodyProblem: 'too_slow' }), timeoutMs)
    const onData = (chunk: Buffer | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      if (size > MAX_BODY_BYTES) finish({ bodyProblem: 'too_large' })
      else chunks.push(bytes)
    }
    const onEnd = () =>
      finish(size === 0 ? {} : { body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size) })
    const onGone = () => finish('gone')
    const finish = (result: ReadBody) => {
      clearTimeout(timer)
      stream.off('data', onData).off('end', onEnd).off('close', onGone).pause()
      resolve(result)
    }
    // the error listener stays: a client that aborts later must not be an uncaught error of the host
    stream.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

/** HTTP/1 says ahead whether a body comes (RFC 9112 6.3); in HTTP/2 only the end of the stream tells. */
function hasNoBody({ httpVersionMajor, headers }: IncomingMessage): boolean {
  return (
    httpVersionMajor === 1 && headers['transfer-encoding'] === undefined && !Number(headers['content-length'])
  )
}

/**
 * Resolves when a client whose body was refused has stopped sending, or after 2 s or 8 MiB. Closing at once would
 * reset the connection while the client still writes, and many clients then never read the answer (RFC 9112 9.6).
 */
export function lingered(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (req.readableEnded || req.destroyed) return resolve()
    let size = 0
    const done = () => {
      clearTimeout(timer)
      req.off('data', onData).off('end', done).off('close', done).pause()
      resolve()
    }
    const timer = setTimeout(done, LINGER_MS)
    const onData = (chunk: Buffer | string) => {
      size += chunk.length
      if (size > LINGER_BYTES) done()
    }
    // resumed by hand: reading was paused when the body was refused
    req.on('data', onData).on('end', done).on('close', done).on('error', done).resume()
  })
}
