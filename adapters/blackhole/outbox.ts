/**
 * What waits for one client. Events wait until the token of their binding has been checked for their account; one check covers
 * all that wait. Nothing waits for the client: what it does not read is bounded, and more is too slow.
 */
import type { Clock } from 'hookswitch'

/** The part of a WebSocket that sends. */
export interface Sink {
  /** Bytes that have not been handed to the operating system. */
  readonly bufferedAmount: number
  send(text: string): void
}

interface OutboxDeps {
  readonly clock: Pick<Clock, 'yield'>
  readonly sink: Sink
  /** Bytes that may wait. */
  readonly maxBytes: number
  /** Ends the session if its tokens do not permit the account any more. */
  checkAccount(accountId: string): Promise<void>
  /** Whether the session is still bound. */
  isBound(accountId: string, key: string): boolean
  /** More waits than may wait. */
  onSlow(): void
}

interface QueuedEvent {
  readonly accountId: string
  /** Key of the binding. */
  readonly key: string
  readonly frame: string
}

/** Longest time that a client may read nothing of what waits for it, ms. */
const MAX_STALL_MS = 30_000

export class Outbox {
  private readonly deps: OutboxDeps
  private queue: QueuedEvent[] = []
  private queuedBytes = 0
  private isSending = false
  private isClosed = false
  private lastBuffered = 0
  private stalledSinceMs: number | undefined = undefined

  constructor(deps: OutboxDeps) {
    this.deps = deps
  }

  /** Sends a frame now. */
  send(frame: string): void {
    if (!this.isClosed && this.hasRoom(Buffer.byteLength(frame))) this.deps.sink.send(frame)
  }

  /** Adds an event, which is sent after the check of its account. Never waits. */
  queueEvent(event: QueuedEvent): void {
    if (this.isClosed) return
    const size = Buffer.byteLength(event.frame)
    if (!this.hasRoom(size)) return
    this.queue.push(event)
    this.queuedBytes += size
    if (!this.isSending) void this.sendQueued()
  }

  /** Whether the client reads nothing. To be called every few seconds. @param nowMs monotonic */
  isStalled(nowMs: number): boolean {
    const { bufferedAmount } = this.deps.sink
    const isMoving = this.stalledSinceMs === undefined || bufferedAmount < this.lastBuffered
    this.lastBuffered = bufferedAmount
    if (bufferedAmount === 0) this.stalledSinceMs = undefined
    else if (isMoving) this.stalledSinceMs = nowMs
    return this.stalledSinceMs !== undefined && nowMs - this.stalledSinceMs >= MAX_STALL_MS
  }

  /** Forgets what waits, and sends nothing more. */
  close(): void {
    this.isClosed = true
    this.queue = []
  }

  private hasRoom(size: number): boolean {
    const { sink, maxBytes, onSlow } = this.deps
    if (this.queuedBytes + sink.bufferedAmount + size <= maxBytes) return true
    onSlow()
    return false
  }

  private async sendQueued(): Promise<void> {
    const { clock, checkAccount, isBound } = this.deps
    this.isSending = true
    while (this.queue.length > 0) {
      // Gathers what is published together, so that one check covers it.
      await clock.yield()
      const events = this.queue
      const bytes = this.queuedBytes
      this.queue = []
      for (const accountId of new Set(events.map((event) => event.accountId))) await checkAccount(accountId)
      this.queuedBytes -= bytes
      for (const { accountId, key, frame } of events) if (isBound(accountId, key)) this.send(frame)
    }
    this.isSending = false
  }
}
