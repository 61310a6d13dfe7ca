/** One request and what is seen of it: the handler that the client library drives, and the deadline that ends it. */
import type { Socket } from 'node:net'
import type { Observation, SendRequest } from '../ports.js'
import type { Deadline, Deadlines, Expiring } from './deadlines.js'
import { judgeError, type NoAnswer, noResponse, ownFault } from './failure.js'

/** As much of a response body as is kept, in bytes. */
const KEEP_BYTES = 8 * 1024
/** As much as is read, so that a connection with a longish answer can be used again; then it is destroyed. */
const READ_BYTES = 64 * 1024
/**
 * As much of an answer as may be other than body: heads, interim answers, the framing of chunks, trailers. The parser
 * counts only names and values: 16,384 headers of one letter each were 3 MB of small buffers, and those beyond its limit
 * cost 80 ms in errors that it made for each.
 */
const OTHER_BYTES = 16 * 1024
/** Interim answers (1xx) borne before the final one; a flood of them would outlive every parser timeout. */
const MAX_INTERIM = 10

/** Where a request stands: a queue, or a connection that has served so many before it. */
export interface Holder {
  readonly served: number | undefined
  /** Called once when the request has ended; only after a whole answer may the connection be used again. */
  released(exchange: Exchange, isReusable: boolean): void
}

export class Exchange implements Expiring {
  /** Set by the pool. */
  holder: Holder | undefined
  readonly dueMs: number
  private readonly deadline: Deadline
  private isOver = false
  private isWritten = false
  private interim = 0
  private status = 0
  private rawHeaders: readonly Buffer[] = []
  private readonly chunks: Buffer[] = []
  private kept = 0
  private read = 0
  private received = 0

  constructor(
    readonly request: SendRequest,
    /** Path and query to ask for. */
    readonly path: string,
    private readonly deadlines: Deadlines,
    private readonly resolve: (seen: Observation) => void,
  ) {
    this.dueMs = performance.now() + request.deadlineMs
    this.deadline = deadlines.set(this, request.deadlineMs)
  }

  /** Called when the request is about to be written. Throwing here takes it back without a byte sent. */
  onConnect(): void {
    if (this.isOver) throw new Error('the request has ended')
    if (this.isWritten) throw new Error('a request is written once')
    this.isWritten = true
  }

  /**
   * Reads the next piece of the answer from `socket` for the parser, no larger than may be other than body; `null`: there
   * is none now, or the request has ended because there was too much of that.
   */
  take(socket: Socket, read: (size?: number) => Buffer | null): Buffer | null {
    const room = OTHER_BYTES - (this.received - this.read)
    if (room <= 0) {
      const kept = `more than ${OTHER_BYTES} bytes of headers`
      this.finish(this.status === 0 ? noResponse('protocol', kept) : this.response('truncated'))
      return null
    }
    const piece = read.call(socket, socket.readableLength > room ? room : undefined)
    if (piece) this.received += piece.length
    return piece
  }

  onHeaders(status: number, rawHeaders: readonly Buffer[]): boolean {
    if (status >= 200) {
      this.status = status
      this.rawHeaders = rawHeaders
    } else if (++this.interim > MAX_INTERIM) {
      this.finish(noResponse('protocol', `more than ${MAX_INTERIM} interim answers`))
    }
    return true
  }

  onData(chunk: Buffer): boolean {
    this.read += chunk.length
    if (this.kept < KEEP_BYTES) {
      const piece = chunk.subarray(0, KEEP_BYTES - this.kept)
      this.kept += piece.length
      this.chunks.push(piece)
    }
    if (this.read > READ_BYTES) this.finish(this.response('truncated'))
    return true
  }

  onComplete(): void {
    this.finish(this.response(this.kept < this.read ? 'truncated' : 'complete'), true)
  }

  onError(error: unknown): void {
    if (this.isOver) return
    const seen = judgeError(error, { isReused: (this.holder?.served ?? 0) > 0 })
    if (this.status === 0) this.finish(seen)
    else
      this.finish(
        this.response(seen.kind === 'no_response' && seen.failure === 'timeout' ? 'timeout' : 'broken'),
      )
  }

  expire(): void {
    const within = `within ${this.request.deadlineMs} ms`
    if (this.status !== 0) this.finish(this.response('timeout'))
    // It waited for one of our own connections: nothing was sent, nothing is charged.
    else if (this.holder?.served === undefined) this.finish(ownFault(`no connection was free ${within}`))
    else if (this.isWritten) this.finish(noResponse('timeout', `no answer ${within}`))
    else this.finish(noResponse('timeout', `no connection ${within}`))
  }

  /** Ends the request unless its writing has begun. */
  withdraw(): void {
    if (!this.isWritten) this.finish({ kind: 'withdrawn' })
  }

  /** Ends the request from our side. */
  abandon(seen: NoAnswer): void {
    this.finish(this.status === 0 ? seen : this.response('broken'))
  }

  private finish(seen: Observation, isReusable = false): void {
    if (this.isOver) return
    this.isOver = true
    this.deadlines.clear(this, this.deadline)
    this.resolve(seen)
    this.holder?.released(this, isReusable)
  }

  private response(bodyEnd: 'complete' | 'truncated' | 'broken' | 'timeout'): Observation {
    const headers = this.rawHeaders.map((bytes) => bytes.toString('latin1'))
    const body = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks)
    return { kind: 'response', status: this.status, headers, body: body.toString('utf8'), bodyEnd }
  }
}
