/** Receives lines by HTTP: a handler for Node's HTTP server and for Express. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { MappedBatch } from '../source/mapped-events.js'
import { MAX_HTTP_LINES, parseHttpLines } from './http-lines.js'

/** `(req, res)` of `http.createServer` and of Express; if a body parser has read the body, `req.body` is used. */
export type KamailioHandler = (req: IncomingMessage, res: ServerResponse) => void

/** Dependencies of a handler. */
interface HandlerDeps {
  /** Maps one line; returns its problems. */
  readonly mapLine: (line: unknown) => MappedBatch['problems']
  readonly isFull: () => boolean
  readonly isClosed: () => boolean
  /** Required as `Authorization: Bearer …`; `undefined`: requests are not authenticated. */
  readonly token: string | undefined
}

const MAX_BODY_BYTES = 1_048_576
/** Bytes that are still read and discarded after an error response, so that the sender reads it (RFC 9112, 9.6). */
const MAX_LINGER_BYTES = 8 * MAX_BODY_BYTES
const TYPES: ReadonlySet<string> = new Set(['application/json', 'application/x-ndjson', 'application/ndjson'])
/** Seconds: a full pipeline usually has capacity again soon. */
const RETRY_AFTER = '1'

interface ErrorResponse {
  readonly status: number
  readonly error: string
  readonly headers?: Readonly<Record<string, string>>
}

export function createKamailioHandler(deps: HandlerDeps): KamailioHandler {
  const expected = deps.token === undefined ? undefined : sha256(`Bearer ${deps.token}`)
  return (req, res) => {
    req.on('error', () => {})
    res.on('error', () => {})
    const error = checkRequest(req, expected) ?? checkAvailability(deps)
    if (error) return sendError(req, res, error)
    // `req.body` alone proves nothing: Express 4's parsers set it even if they did not read the body.
    if (req.readableEnded) return mapLines(req, res, deps, linesOfParsed((req as { body?: unknown }).body))
    return readBody(req, (body) => {
      if (body === undefined) sendError(req, res, TOO_LARGE)
      else mapLines(req, res, deps, parseHttpLines(body))
    })
  }
}

const TOO_LARGE: ErrorResponse = { status: 413, error: `the body is longer than ${MAX_BODY_BYTES} bytes` }

function checkRequest(
  { method, headers }: IncomingMessage,
  expected: Buffer | undefined,
): ErrorResponse | undefined {
  if (method !== 'POST') return { status: 405, error: 'only POST', headers: { allow: 'POST' } }
  if (expected && !timingSafeEqual(sha256(headers.authorization ?? ''), expected)) {
    return { status: 401, error: 'the token is missing or wrong', headers: { 'www-authenticate': 'Bearer' } }
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type === undefined || !TYPES.has(type))
    return { status: 415, error: 'only application/json or x-ndjson' }
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (encoding !== 'identity') return { status: 415, error: 'no content-encoding' }
  return Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES ? TOO_LARGE : undefined
}

function checkAvailability({ isFull, isClosed }: HandlerDeps): ErrorResponse | undefined {
  const error = isClosed() ? 'the source is closed' : isFull() ? 'the service is full' : undefined
  return error === undefined ? undefined : { status: 503, error, headers: { 'retry-after': RETRY_AFTER } }
}

/** Maps all lines of a body, or none of them if the pipeline is full. */
function mapLines(req: IncomingMessage, res: ServerResponse, deps: HandlerDeps, lines: readonly unknown[]) {
  const error = checkAvailability(deps) ?? checkLineCount(lines.length)
  if (error) return sendError(req, res, error)
  const bad: { readonly line: number; readonly message: string }[] = []
  for (const [index, line] of lines.entries()) {
    const malformed = deps.mapLine(line).find(({ kind }) => kind === 'malformed')
    if (malformed) bad.push({ line: index + 1, message: malformed.message })
  }
  if (bad.length === 0) return void res.writeHead(204).end()
  const message = `${bad.length} of ${lines.length} lines cannot be read, the others are taken`
  return sendJson(res, 400, { error: message, bad, taken: lines.length - bad.length })
}

function checkLineCount(count: number): ErrorResponse | undefined {
  if (count === 0) return { status: 400, error: 'the body has no line' }
  return count > MAX_HTTP_LINES
    ? { status: 413, error: `the body has more than ${MAX_HTTP_LINES} lines` }
    : undefined
}

/** The lines of a body that a parser (such as Express's) has read and parsed. */
function linesOfParsed(body: unknown): readonly unknown[] {
  if (typeof body === 'string') return parseHttpLines(body)
  if (body instanceof Uint8Array) return parseHttpLines(Buffer.from(body).toString())
  if (body === undefined) return []
  return Array.isArray(body) ? body : [body]
}

/** Calls `done` with the body, or with `undefined` if it is too long; not at all if the client disconnects. */
function readBody(req: IncomingMessage, done: (body: string | undefined) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_BODY_BYTES) return void chunks.push(chunk)
    req.off('data', onData).off('end', onEnd)
    done(undefined)
  }
  const onEnd = () => done(Buffer.concat(chunks, size).toString())
  req.on('data', onData).on('end', onEnd)
}

function sendError(
  req: IncomingMessage,
  res: ServerResponse,
  { status, error, headers = {} }: ErrorResponse,
) {
  sendJson(res, status, { error }, headers)
  let size = 0
  req.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_LINGER_BYTES) req.destroy()
  })
}

function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const text = JSON.stringify(body)
  const length = String(Buffer.byteLength(text))
  res
    .writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers })
    .end(text)
}

/** Gives both sides of the comparison the same length, as a constant-time comparison requires. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
