/** hookswitch as a middleware of Express 4 and 5, before or after body parsers, at the root or under a prefix. */
import type { IncomingMessage } from 'node:http'
import type { HttpService, RequestRecord } from 'hookswitch'
import { BODY_TIMEOUT_MS } from './incoming.js'
import { handlerWith, type NodeHandler } from './node-handler.js'

interface ParsedRequest extends IncomingMessage {
  /** What a body parser made of the body: a value, the text, or a buffer. */
  body?: unknown
  /** The bytes, where the host's parser keeps them (`verify: (req, res, bytes) => { req.rawBody = bytes }`). */
  rawBody?: unknown
}

/**
 * A middleware for `app.use(...)`; paths that are not ours go on to `next`. Mount it before body parsers where you can:
 * a parser before it refuses in its own words what it cannot read, and eats repeated keys.
 *
 * @example app.use('/telephony', expressMiddleware(hs))
 */
export function expressMiddleware(hs: HttpService): NodeHandler {
  return handlerWith(hs, BODY_TIMEOUT_MS, eatenBody)
}

/** `req.body` counts only where the stream was read: Express 4 sets it to `{}` also where nothing was parsed. */
function eatenBody(req: ParsedRequest): Pick<RequestRecord, 'body' | 'parsedBody'> | undefined {
  const { body, rawBody } = req
  if (!req.readableDidRead || body === undefined || Number(req.headers['content-length'] ?? 1) === 0)
    return undefined
  if (rawBody instanceof Uint8Array) return { body: rawBody }
  if (body instanceof Uint8Array) return { body }
  return typeof body === 'string' ? { body: Buffer.from(body) } : { parsedBody: body }
}
