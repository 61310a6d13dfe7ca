/** One request and its response: the handler that undici drives, the size limits, and the deadline. */
import type { Socket } from 'node:net'
import type { Dialled, Observation, SendRequest } from '../ports.js'
import { redactText } from '../values/redact.js'
import type { ConnectPhase } from './connect.js'
import { classifyError, noResponse, ownFault, type SendFailure, toSingleLine } from './error-classifier.js'
import { InterimFilter, isOrdinary } from './interim-filter.js'
import { readHead } from './lenient-head.js'
import type { ResponseHeadDecoder } from './response-head.js'
import type { Expirable, TimerBucket, TimerBuckets } from './timer-buckets.js'

/** How much of a response body is kept, in bytes. */
const MAX_BODY_KEPT_BYTES = 8 * 1024
/** How much of a body is read, so that a connection with a longer response can be reused. Above, it is destroyed. */
const MAX_BODY_READ_BYTES = 64 * 1024
/**
 * How much of a response may be anything other than body: the head, chunk framing, trailers. The parser
 * counts only names and values: 16,384 headers of one letter each took 3 MB of small buffers, and the headers above its
 * limit took 80 ms in errors, one for each.
 */
const MAX_OVERHEAD_BYTES = 16 * 1024
/** How much interim responses (1xx) may take before the final one, in bytes, however many they are. */
const MAX_INTERIM_BYTES = 64 * 1024
/** How much of an answer that is not HTTP is shown, in characters. */
const MAX_SHOWN = 60

/** What is missing when the time is over in each phase. */
export const UNFINISHED: Readonly<Record<ConnectPhase, string>> = {
  name: 'the name was not resolved',
  connect: 'no connection',
  tls: 'no TLS handshake',
}
/** The beginning of any response, which completes what was received of one. */
const SAMPLE = 'HTTP/1.1 200 '
const SAMPLE_COMPLETED = /^HTTP\/1\.\d[ \t]+[1-9]\d\d[ \t]/

type BodyEnd = Extract<Observation, { kind: 'response' }>['bodyEnd']

/** What a request is assigned to: the queue of an origin, or a connection. */
export interface ExchangeOwner {
  /** Requests that the connection has served before; `undefined` for a queue. */
  readonly served: number | undefined
  /** What connecting has come to; `undefined` for a queue. */
  readonly phase: ConnectPhase | undefined
  /** The first error of the connection: the alert of a TLS server is followed by an ordinary end. */
  readonly socketError: unknown
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
  /** Its connection had served requests before, and ended without a byte of a response. */
  isStale = false
  private readonly deadline: TimerBucket
  private isOver = false
  private isWritten = false
  /** Created for a response that may begin with an interim response. */
  private interimFilter: InterimFilter | undefined
  private status = 0
  private rawHeaders: readonly Buffer[] = []
  /** What the parser was given of a head that it has not finished: the first part, and the following ones. */
  private head: Buffer | undefined
  private moreHead: Buffer[] | undefined
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
    /** The exchange that this one repeats, on a new connection and within its deadline. */
    readonly repeats?: Exchange,
  ) {
    this.dueMs = repeats?.dueMs ?? performance.now() + request.deadlineMs
    this.deadline = timerBuckets.set(this, this.dueMs)
  }

  /** Called before the request is written. Throwing here withholds it without a byte sent. */
  onConnect(): void {
    if (this.isOver) throw new Error('the request has ended')
    if (this.isWritten) throw new Error('a request is written once')
    this.isWritten = true
  }

  /**
   * Reads the next part of the response from `socket` for the parser, without interim responses and within the overhead
   * limit; `null` when there is no data now, or when the request has ended because a limit was exceeded.
   */
  read(socket: Socket, read: (size?: number) => Buffer | null): Buffer | null {
    // What arrives before the request is written is no response to it: the parser refuses it.
    if (!this.isWritten) return read.call(socket)
    const removed = this.interimFilter?.removed ?? 0
    const allowance = MAX_OVERHEAD_BYTES - (this.received - removed - this.bodyRead)
    if (allowance <= 0 || removed > MAX_INTERIM_BYTES) {
      const detail = `more than ${MAX_OVERHEAD_BYTES} bytes of headers`
      this.end(noResponse('protocol', 'head_too_large', detail), 'truncated')
      return null
    }
    const chunk = read.call(socket, socket.readableLength > allowance ? allowance : undefined)
    if (!chunk) return null
    const isFirst = this.received === 0
    this.received += chunk.length
    if (this.status !== 0) return chunk
    if (isFirst && isOrdinary(chunk)) {
      this.head = chunk
      return chunk
    }
    if (isFirst) this.interimFilter = new InterimFilter()
    const part = this.interimFilter?.filter(chunk) ?? chunk
    if (this.head === undefined) this.head = part
    else if (this.moreHead === undefined) this.moreHead = [part]
    else this.moreHead.push(part)
    return part
  }

  onHeaders(status: number, rawHeaders: readonly Buffer[]): boolean {
    // The parser accepts statuses that no response has, such as 099.
    if (status < 200) return true
    this.status = status
    this.rawHeaders = rawHeaders
    this.head = undefined
    this.moreHead = undefined
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
    const failure = classifyError(this.owner?.socketError ?? error)
    this.end(failure, 'failure' in failure && failure.failure === 'timeout' ? 'timeout' : 'broken')
  }

  expire(): void {
    const within = `within ${this.request.deadlineMs} ms`
    const { phase } = this.owner ?? {}
    // It was waiting for a connection of this process: nothing was sent and nothing is charged.
    if (phase === undefined) this.end(ownFault(`no connection was free ${within}`), 'timeout')
    else if (this.isWritten)
      this.end(noResponse('timeout', 'timeout_answer', `no response ${within}`), 'timeout')
    else this.end(noResponse('timeout', `timeout_${phase}`, `${UNFINISHED[phase]} ${within}`), 'timeout')
  }

  /** Ends the request unless it is already being written. */
  cancel(): void {
    if (!this.isWritten) this.finish({ kind: 'cancelled' })
  }

  /** Ends the request in any state. */
  abandon(failure: SendFailure): void {
    this.end(failure, 'broken')
  }

  /** Ends the request with the response as far as it was received, or with the failure. */
  private end(failure: SendFailure, bodyEnd: BodyEnd): void {
    if (this.isOver) return
    this.finish(this.status === 0 ? this.lenientResponse(failure, bodyEnd) : this.response(bodyEnd))
  }

  private finish(observation: Observation, isReusable = false): void {
    if (this.isOver) return
    this.isOver = true
    this.timerBuckets.clear(this, this.deadline)
    const dialled = this.owner?.dialled
    this.owner?.onEnd(this, isReusable)
    this.onEnd(observation, dialled)
  }

  private response(bodyEnd: BodyEnd): Observation {
    return {
      kind: 'response',
      status: this.status,
      headers: this.owner!.headDecoder.decode(this.rawHeaders),
      body: this.bodyText(),
      bodyEnd,
    }
  }

  /** A response whose head the parser has not accepted, if it has a good status line; otherwise the failure. */
  private lenientResponse(failure: SendFailure, bodyEnd: BodyEnd): Observation {
    const parts = [this.head, ...(this.moreHead ?? []), this.interimFilter?.held]
    const received = Buffer.concat(parts.filter((part) => part !== undefined))
    const head = readHead(received)
    if (!head) return this.describeFailure(failure, received)
    const { status, headers, body, fault } = head
    return {
      kind: 'response',
      status,
      headers,
      body: body?.toString('utf8', 0, MAX_BODY_KEPT_BYTES) ?? '',
      bodyEnd,
      note: noteOf(failure, fault),
    }
  }

  /** Adds what only the exchange knows of a failure. */
  private describeFailure(failure: SendFailure, received: Buffer): Observation {
    if (failure.kind !== 'no_response') return failure
    const isSent = this.isWritten
    const text = received.toString('latin1')
    if (text !== '' && !SAMPLE_COMPLETED.test(text + SAMPLE.slice(text.length))) {
      return { ...noResponse('protocol', 'not_http', this.describeOther(text)), isSent }
    }
    const isEnded = failure.cause === 'closed_early' || failure.cause === 'reset'
    this.isStale = isEnded && isSent && this.received === 0 && this.owner!.served! > 0
    return { ...failure, isSent }
  }

  /** Describes what came in place of HTTP, without what may be a secret of the request. */
  private describeOther(text: string): string {
    if (/^[\x14-\x17]\x03/.test(text)) return 'the server answered with TLS: it may expect https'
    if (text.startsWith(`${this.request.method} `)) return 'the server sent the request back'
    return `the server sent "${toSingleLine(redactText(text), MAX_SHOWN)}"`
  }

  private bodyText(): string {
    if (this.body === undefined) return ''
    const bytes = this.moreBody === undefined ? this.body : Buffer.concat([this.body, ...this.moreBody])
    return bytes.toString('utf8')
  }
}

/** What was wrong with a head, for the owner of the webhook. */
function noteOf(failure: SendFailure, fault: string | undefined): string {
  if (failure.kind === 'own_fault') return 'the request was ended before the head was complete'
  if (failure.cause === 'head_too_large') return 'the head is too large'
  if (failure.failure === 'protocol') return fault ?? failure.detail
  if (failure.failure === 'timeout') return 'the head was not complete in time'
  return 'the connection was closed before the head was complete'
}
