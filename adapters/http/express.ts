/** hookswitch as a middleware of Express 4 and 5: before or after body parsers, at the root or under a prefix. */
import type { IncomingMessage } from 'node:http'
import { checkService, type HttpService, type RequestRecord } from 'hookswitch/adapter'
import { createNodeHandler, type NodeHandler } from './node-handler.js'
import { BODY_TIMEOUT_MS } from './request-record.js'
import { createUnsent, UNSENT_DEFAULTS } from './unsent.js'

export type { NodeHandler } from './node-handler.js'

interface ParsedRequest extends IncomingMessage {
  /** Result of an earlier body parser: a value, the text, or a buffer. */
  body?: unknown
  /** The raw bytes, if the host's parser keeps them (`verify: (req, res, bytes) => { req.rawBody = bytes }`). */
  rawBody?: unknown
}

/**
 * Creates a middleware for `app.use(...)`. Paths outside `/v1` and `/v2` go to `next`. A request body must arrive
 * within 30 s and be at most 1 MiB; otherwise the response is 408 or 413. The middleware itself never throws and never rejects.
 *
 * Mount it before body parsers if possible: an earlier parser rejects malformed bodies with its own response, and drops
 * repeated keys.
 *
 * @param hs a hookswitch instance
 * @throws HookswitchError `InvalidOption` if `hs` is no instance
 * @example app.use('/telephony', expressMiddleware(hs))
 */
export function expressMiddleware(hs: HttpService): NodeHandler {
  checkService('expressMiddleware', hs)
  return createNodeHandler(hs, {
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    awaitTaken: createUnsent(UNSENT_DEFAULTS),
    readParsedBody,
  })
}

/** Uses `req.body` only if the stream was read: Express 4 sets it to `{}` even if nothing was parsed. */
function readParsedBody(req: ParsedRequest): Pick<RequestRecord, 'body' | 'parsedBody'> | undefined {
  const { body, rawBody } = req
  if (!req.readableDidRead || body === undefined || Number(req.headers['content-length'] ?? 1) === 0)
    return undefined
  if (rawBody instanceof Uint8Array) return { body: rawBody }
  if (body instanceof Uint8Array) return { body }
  return typeof body === 'string' ? { body: Buffer.from(body) } : { parsedBody: body }
}
