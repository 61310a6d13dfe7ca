/**
 * The queue of one stream, between the hub, which pushes and never waits, and its reader, which takes. Decides what is
 * dropped, counted or ended where the reader is too slow.
 */
import type { Clock } from '../ports.js'
import {
  countedOf,
  type StreamEndReason,
  streamEndJson,
  streamGapJson,
  streamRateJson,
} from '../wire/stream-json.js'
import type { JsonObject } from '../wire/webhook-json.js'

/** An item, shared by all streams that contain it. */
export interface StreamContent {
  readonly type: 'attempt' | 'webhook' | 'event' | 'rate' | 'gap' | 'end'
  /** The document of the HTTP API. */
  readonly data: JsonObject
  /** `data` as JSON. */
  readonly json: string
}

/** An item of one stream. */
export interface StreamEntry extends StreamContent {
  /** Where to resume after it. Absent for `gap` and `end`. */
  readonly id?: string
}

/** What a reader takes. `idle`: nothing was sent for 15 s. `undefined`: the stream has ended. @internal */
export type Taken = StreamEntry | 'idle' | undefined

/** Characters that may wait for a reader. @internal */
export const MAX_QUEUED = 262_144
/** Longest time that a reader may leave items waiting, ms. @internal */
export const MAX_STALL_MS = 30_000
/** Items per second above which attempts are counted. @internal */
export const MAX_PER_SECOND = 200
/** Time without an item after which the reader gets `idle`, ms. @internal */
export const HEARTBEAT_MS = 15_000
/** Webhooks that are counted in one second. */
const MAX_RATES = 200
/** Characters of a queued item besides its document. */
const OVERHEAD = 64

export const contentOf = (type: StreamContent['type'], data: JsonObject): StreamContent => ({
  type,
  data,
  json: JSON.stringify(data),
})

interface Rate {
  ok: number
  failed: number
}

interface Gap {
  readonly from: string
  dropped: number | null
}

const isGap = (queued: StreamEntry | Gap): queued is Gap => 'from' in queued

const sizeOf = ({ json, id = '' }: StreamEntry): number => json.length + id.length + OVERHEAD

export interface SubscriberDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Counts items that are dropped. */
  onDrop(count: number): void
  /** Called once when the stream ends, for whatever reason. */
  onEnd(): void
}

export class Subscriber {
  /** True: nothing is added any more. What waits can still be taken. */
  isEnded = false
  /** Called once after the reader has stalled: its connection is of no use. */
  onStall: (() => void) | undefined = undefined
  private readonly deps: SubscriberDeps
  private queue: (StreamEntry | Gap)[] = []
  private size = 0
  private lastId: string
  /** True: more is dropped until half of the queue is free. */
  private isFull = false
  /** Start of the second in which items are counted: monotonic, ms. */
  private secondMs: number
  private countInSecond = 0
  private rates: Map<string, Rate> | undefined = undefined
  /** What was left out in this second because of its number of items: one gap for all, for a fast reader takes each at once. */
  private limited: { readonly from: string; dropped: number } | undefined = undefined
  private rateId: string
  private lastTakenMs: number
  /** Since when something waits; `undefined`: nothing does. */
  private waitingSinceMs: number | undefined = undefined
  private isIdle = false
  private wake: ((taken: Taken) => void) | undefined = undefined
  private roomWaiters: (() => void)[] | undefined = undefined

  /** @param firstId where a stream resumes that has sent nothing */
  constructor(deps: SubscriberDeps, firstId: string) {
    this.deps = deps
    this.lastId = firstId
    this.rateId = firstId
    this.lastTakenMs = this.secondMs = deps.clock.monotonic()
  }

  /** Adds an item, or drops or counts it. @param id where to resume after it */
  push(content: StreamContent, id: string): void {
    if (this.isEnded) return
    this.startSecond()
    // Changes of webhooks are few, and none may be missed.
    if (content.type !== 'webhook') this.countInSecond += 1
    if (this.countInSecond <= MAX_PER_SECOND || content.type === 'webhook') this.enqueue(content, id)
    else if (content.type === 'attempt') this.count(content, id)
    else this.limit()
  }

  /** Adds an item of the past, which is never counted: the caller waits for `whenRoom` before. */
  pushPast(content: StreamContent, id: string): void {
    if (!this.isEnded) this.enqueue(content, id)
  }

  /** Notes lost items. @param dropped null: an unknown number */
  drop(dropped: number | null): void {
    if (this.isEnded) return
    this.deps.onDrop(dropped ?? 1)
    const last = this.queue.at(-1)
    if (!last || !isGap(last)) this.add({ from: this.lastId, dropped })
    else last.dropped = last.dropped === null || dropped === null ? null : last.dropped + dropped
  }

  /** Resolves when the queue is at most half full, or the stream has ended. */
  whenRoom(): Promise<void> {
    if (this.isEnded || this.size <= MAX_QUEUED / 2) return Promise.resolve()
    return new Promise((resolve) => {
      this.roomWaiters ??= []
      this.roomWaiters.push(resolve)
    })
  }

  /** Takes the next item, or waits for it. One call at a time. */
  take(): Promise<Taken> {
    const first = this.takeNow()
    if (first || this.isEnded) return Promise.resolve(first)
    if (this.isIdle) {
      this.isIdle = false
      this.waitingSinceMs = undefined
      return Promise.resolve('idle')
    }
    return new Promise((resolve) => {
      this.wake = resolve
    })
  }

  /** Takes what waits already; `undefined`: nothing. */
  takeNow(): StreamEntry | undefined {
    const first = this.queue.shift()
    if (!first) return undefined
    this.lastTakenMs = this.deps.clock.monotonic()
    this.isIdle = false
    this.waitingSinceMs = this.queue.length > 0 ? this.lastTakenMs : undefined
    if (isGap(first)) return contentOf('gap', streamGapJson(first.from, first.dropped))
    this.size -= sizeOf(first)
    if (this.size <= MAX_QUEUED / 2) {
      this.isFull = false
      this.releaseRoom()
    }
    return first
  }

  /** Writes the counts of the last second; notices an idle or stalled reader. To be called every second. */
  tick(): void {
    if (this.isEnded) return
    this.startSecond()
    const nowMs = this.deps.clock.monotonic()
    if (this.waitingSinceMs !== undefined) {
      if (nowMs - this.waitingSinceMs < MAX_STALL_MS) return
      this.end('slow')
      this.onStall?.()
      return
    }
    if (nowMs - this.lastTakenMs < HEARTBEAT_MS) return
    this.lastTakenMs = nowMs
    const { wake } = this
    this.wake = undefined
    if (wake) {
      wake('idle')
      return
    }
    this.isIdle = true
    this.waitingSinceMs = nowMs
  }

  /** Adds a last item. What waits is dropped, unless the service is closing. */
  end(reason: StreamEndReason): void {
    if (this.isEnded) return
    if (reason === 'closing') this.sendLimited()
    else this.clear()
    this.add(contentOf('end', streamEndJson(reason)))
    this.finish()
  }

  /** The reader has gone. */
  close(): void {
    this.clear()
    this.finish()
    const { wake } = this
    this.wake = undefined
    wake?.(undefined)
  }

  private finish(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.rates = undefined
    this.releaseRoom()
    this.deps.onEnd()
  }

  private clear(): void {
    this.limited = undefined
    this.queue = []
    this.size = 0
  }

  private enqueue(content: StreamContent, id: string): void {
    const entry = { ...content, id }
    if (this.isFull || this.size + sizeOf(entry) > MAX_QUEUED) {
      this.isFull = true
      this.drop(1)
      return
    }
    this.lastId = id
    this.add(entry)
  }

  private add(entry: StreamEntry | Gap): void {
    this.queue.push(entry)
    if (!isGap(entry)) this.size += sizeOf(entry)
    this.waitingSinceMs ??= this.deps.clock.monotonic()
    const { wake } = this
    if (!wake) return
    this.wake = undefined
    wake(this.takeNow())
  }

  private releaseRoom(): void {
    const waiters = this.roomWaiters
    this.roomWaiters = undefined
    if (waiters) for (const resolve of waiters) resolve()
  }

  /** Begins another second if the present one is over, and sends what was counted and left out in it. */
  private startSecond(): void {
    const { clock } = this.deps
    const passedMs = clock.monotonic() - this.secondMs
    if (passedMs < 1000) return
    const startMs = clock.now() - passedMs
    const { rates } = this
    this.rates = undefined
    this.secondMs += passedMs - (passedMs % 1000)
    this.countInSecond = 0
    this.sendLimited()
    if (!rates) return
    for (const [webhookId, { ok, failed }] of rates) {
      this.enqueue(contentOf('rate', streamRateJson(webhookId, ok, failed, startMs)), this.rateId)
    }
  }

  /** Leaves out an item of a second that has too many. */
  private limit(): void {
    this.deps.onDrop(1)
    this.limited ??= { from: this.lastId, dropped: 0 }
    this.limited.dropped += 1
  }

  private sendLimited(): void {
    const { limited } = this
    this.limited = undefined
    if (limited) this.add(limited)
  }

  private count({ data }: StreamContent, id: string): void {
    this.rates ??= new Map()
    const { webhookId, isSuccess } = countedOf(data)
    let rate = this.rates.get(webhookId)
    if (!rate) {
      if (this.rates.size >= MAX_RATES) {
        this.limit()
        return
      }
      rate = { ok: 0, failed: 0 }
      this.rates.set(webhookId, rate)
    }
    if (isSuccess) rate.ok += 1
    else rate.failed += 1
    this.rateId = id
  }
}
