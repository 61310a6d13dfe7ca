/** Lines by HTTP: a handler for Node's own server and for Express. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mapped } from '../source/leg-news.js'
import { MOST_LINES, postedLines } from './posted-lines.js'

/** `(req, res)` of `http.createServer` and of Express; a body that a parser has read already is taken from `req.body`. */
export type KamailioHandler = (req: IncomingMessage, res: ServerResponse) => void

/** What a handler needs. */
export interface HandlerDoors {
  /** Takes a line; what of it could not be used. */
  readonly take: (line: unknown) => Mapped['problems']
  readonly isFull: () => boolean
  readonly isClosed: () => boolean
  /** Asked for as `Authorization: Bearer …`; undefined: nothing is asked for. */
  readonly token: string | undefined
}

const MAX_BODY_BYTES = 1_048_576
/** So much more of a body that is too long is read, so that its sender reads the answer (RFC 9112, 9.6). */
const MAX_LINGER_BYTES = 8 * MAX_BODY_BYTES
const TYPES: ReadonlySet<string> = new Set(['application/json', 'application/x-ndjson', 'application/ndjson'])
/** Seconds: a feed that is full has room again soon, or the service stands still. */
const RETRY_AFTER = '1'

interface Refusal {
  readonly status: number
  readonly error: string
  readonly headers?: Readonly<Record<string, string>>
}

export function kamailioHandler(doors: HandlerDoors): KamailioHandler {
  const wanted = doors.token === undefined ? undefined : digest(`Bearer ${doors.token}`)
  return (req, res) => {
    req.on('error', () => {})
    res.on('error', () => {})
    const refusal = refusedUnread(req, wanted) ?? refusedForNow(doors)
    if (refusal) return answer(req, res, refusal)
    // A parser of Express 4 makes a body of its own also where it has left ours unread.
    if (req.readableEnded) return taken(req, res, doors, linesOfParsed((req as { body?: unknown }).body))
    return readBody(req, (body) => {
      if (body === undefined) answer(req, res, TOO_LARGE)
      else taken(req, res, doors, postedLines(body))
    })
  }
}

const TOO_LARGE: Refusal = { status: 413, error: `the body is longer than ${MAX_BODY_BYTES} bytes` }

function refusedUnread(
  { method, headers }: IncomingMessage,
  wanted: Buffer | undefined,
): Refusal | undefined {
  if (method !== 'POST') return { status: 405, error: 'only POST', headers: { allow: 'POST' } }
  if (wanted && !timingSafeEqual(digest(headers.authorization ?? ''), wanted)) {
    return { status: 401, error: 'the token is missing or wrong', headers: { 'www-authenticate': 'Bearer' } }
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type === undefined || !TYPES.has(type))
    return { status: 415, error: 'only application/json or x-ndjson' }
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (encoding !== 'identity') return { status: 415, error: 'no content-encoding' }
  return Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES ? TOO_LARGE : undefined
}

function refusedForNow({ isFull, isClosed }: HandlerDoors): Refusal | undefined {
  const error = isClosed() ? 'the source is closed' : isFull() ? 'the service is full' : undefined
  return error === undefined ? undefined : { status: 503, error, headers: { 'retry-after': RETRY_AFTER } }
}

/** All lines of a body are taken, or, where there is no room for them now, none. */
function taken(req: IncomingMessage, res: ServerResponse, doors: HandlerDoors, lines: readonly unknown[]) {
  const refusal = refusedForNow(doors) ?? refusedLines(lines.length)
  if (refusal) return answer(req, res, refusal)
  const bad: { readonly line: number; readonly message: string }[] = []
  for (const [index, line] of lines.entries()) {
    const malformed = doors.take(line).find(({ kind }) => kind === 'malformed')
    if (malformed) bad.push({ line: index + 1, message: malformed.message })
  }
  if (bad.length === 0) return void res.writeHead(204).end()
  const error = `${bad.length} of ${lines.length} lines cannot be read, the others are taken`
  return json(res, 400, { error, bad, taken: lines.length - bad.length })
}

function refusedLines(count: number): Refusal | undefined {
  if (count === 0) return { status: 400, error: 'the body has no line' }
  return count > MOST_LINES ? { status: 413, error: `the body has more than ${MOST_LINES} lines` } : undefined
}

/** What a parser in front of us, Express's say, has made of the body. */
function linesOfParsed(body: unknown): readonly unknown[] {
  if (typeof body === 'string') return postedLines(body)
  if (body instanceof Uint8Array) return postedLines(Buffer.from(body).toString())
  if (body === undefined) return []
  return Array.isArray(body) ? body : [body]
}

/** Gives the whole body, or undefined when it is too long. A client that goes away gets no answer. */
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

function answer(req: IncomingMessage, res: ServerResponse, { status, error, headers = {} }: Refusal) {
  json(res, status, { error }, headers)
  let size = 0
  req.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_LINGER_BYTES) req.destroy()
  })
}

function json(
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

/** Of one length, so that a comparison takes the same time for every guess. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
