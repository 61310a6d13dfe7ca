/** One request and its response: the handler that undici drives, the size limits, and the deadline. */
import type { Socket } from 'node:net'
import type { Dialled, Observation, SendRequest } from '../ports.js'
import { classifyError, noResponse, ownFault, type SendFailure } from './error-classifier.js'
import type { ResponseHeadDecoder } from './response-head.js'
import type { Expirable, TimerBucket, TimerBuckets } from './timer-buckets.js'

/** How much of a response body is kept, in bytes. */
const MAX_BODY_KEPT_BYTES = 8 * 1024
/** How much of a body is read, so that a connection with a longer response can be reused. Above, it is destroyed. */
const MAX_BODY_READ_BYTES = 64 * 1024
/**
 * How much of a response may be anything other than body: heads, interim responses, chunk framing, trailers. The parser
 * counts only names and values: 16,384 headers of one letter each took 3 MB of small buffers, and the headers above its
 * limit took 80 ms in errors, one for each.
 */
const MAX_OVERHEAD_BYTES = 16 * 1024
/** Interim responses (1xx) accepted before the final one; a flood of them would outlast every parser timeout. */
const MAX_INTERIM_RESPONSES = 10

/** What a request is assigned to: the queue of an origin, or a connection. */
export interface ExchangeOwner {
  /** Requests that the connection has served before; `undefined` for a queue. */
  readonly served: number | undefined
  /** Where the connection leads, as far as is known; `undefined` for a queue. */
  readonly dialled: Dialled | undefined
  /** Decodes the response heads of the origin. */
  readonly headDecoder: ResponseHeadDecoder
  /** Called once when the request has ended. The connection is reusable only after a complete response. */
  onEnd(exchange: Exchange, isReusable: boolean): void
}

export class Exchange implements Expirable {
  /** Set by the pool. */
  owner: ExchangeOwner | undefined
  /** Deadline by the monotonic clock, ms. */
  readonly dueMs: number
  private readonly deadline: TimerBucket
  private isOver = false
  private isWritten = false
  private interimResponses = 0
  private status = 0
  private rawHeaders: readonly Buffer[] = []
  /** The beginning of the body; `undefined` without a body. */
  private body: Buffer | undefined
  /** The following parts of a body that arrived in several. */
  private moreBody: Buffer[] | undefined
  private bodyKept = 0
  private bodyRead = 0
  private received = 0

  constructor(
    readonly request: SendRequest,
    /** Path and query. */
    readonly path: string,
    private readonly timerBuckets: TimerBuckets,
    /** Called once, when the connection is free for the next request. Must not throw. */
    private readonly onEnd: (observation: Observation, dialled?: Dialled) => void,
  ) {
    this.dueMs = performance.now() + request.deadlineMs
    this.deadline = timerBuckets.set(this, this.dueMs)
  }

  /** Called before the request is written. Throwing here withholds it without a byte sent. */
  onConnect(): void {
    if (this.isOver) throw new Error('the request has ended')
    if (this.isWritten) throw new Error('a request is written once')
    this.isWritten = true
  }

  /**
   * Reads the next part of the response from `socket` for the parser, within the overhead limit; `null` when there is no
   * data now, or when the request has ended because the limit was exceeded.
   */
  read(socket: Socket, read: (size?: number) => Buffer | null): Buffer | null {
    const allowance = MAX_OVERHEAD_BYTES - (this.received - this.bodyRead)
    if (allowance <= 0) {
      const detail = `more than ${MAX_OVERHEAD_BYTES} bytes of headers`
      this.finish(this.status === 0 ? noResponse('protocol', detail) : this.response('truncated'))
      return null
    }
    const chunk = read.call(socket, socket.readableLength > allowance ? allowance : undefined)
    if (chunk) this.received += chunk.length
    return chunk
  }

  onHeaders(status: number, rawHeaders: readonly Buffer[]): boolean {
    if (status >= 200) {
      this.status = status
      this.rawHeaders = rawHeaders
    } else if (++this.interimResponses > MAX_INTERIM_RESPONSES) {
      this.finish(noResponse('protocol', `more than ${MAX_INTERIM_RESPONSES} interim responses`))
    }
    return true
  }

  onData(chunk: Buffer): boolean {
    this.bodyRead += chunk.length
    if (this.bodyKept < MAX_BODY_KEPT_BYTES) {
      const left = MAX_BODY_KEPT_BYTES - this.bodyKept
      const part = chunk.length > left ? chunk.subarray(0, left) : chunk
      this.bodyKept += part.length
      if (this.body === undefined) this.body = part
      else if (this.moreBody === undefined) this.moreBody = [part]
      else this.moreBody.push(part)
    }
    if (this.bodyRead > MAX_BODY_READ_BYTES) this.finish(this.response('truncated'))
    return true
  }

  onComplete(): void {
    this.finish(this.response(this.bodyKept < this.bodyRead ? 'truncated' : 'complete'), true)
  }

  onError(error: unknown): void {
    if (this.isOver) return
    const failure = classifyError(error, { isReused: (this.owner?.served ?? 0) > 0 })
    if (this.status === 0) this.finish(failure)
    else
      this.finish(
        this.response(failure.kind === 'no_response' && failure.failure === 'timeout' ? 'timeout' : 'broken'),
      )
  }

  expire(): void {
    const within = `within ${this.request.deadlineMs} ms`
    if (this.status !== 0) this.finish(this.response('timeout'))
    // It was waiting for a connection of this process: nothing was sent and nothing is charged.
    else if (this.owner?.served === undefined) this.finish(ownFault(`no connection was free ${within}`))
    else if (this.isWritten) this.finish(noResponse('timeout', `no response ${within}`))
    else this.finish(noResponse('timeout', `no connection ${within}`))
  }

  /** Ends the request unless it is already being written. */
  cancel(): void {
    if (!this.isWritten) this.finish({ kind: 'cancelled' })
  }

  /** Ends the request in any state. */
  abandon(failure: SendFailure): void {
    this.finish(this.status === 0 ? failure : this.response('broken'))
  }

  private finish(observation: Observation, isReusable = false): void {
    if (this.isOver) return
    this.isOver = true
    this.timerBuckets.clear(this, this.deadline)
    const dialled = this.owner?.dialled
    this.owner?.onEnd(this, isReusable)
    this.onEnd(observation, dialled)
  }

  private response(bodyEnd: 'complete' | 'truncated' | 'broken' | 'timeout'): Observation {
    return {
      kind: 'response',
      status: this.status,
      headers: this.owner!.headDecoder.decode(this.rawHeaders),
      body: this.bodyText(),
      bodyEnd,
    }
  }

  private bodyText(): string {
    if (this.body === undefined) return ''
    const bytes = this.moreBody === undefined ? this.body : Buffer.concat([this.body, ...this.moreBody])
    return bytes.toString('utf8')
  }
}
