import type { LinkedQueue, QueueItem } from '../../values/linked-queue.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { Pace } from '../pace.js'
import { AccountShare } from './account-share.js'
import { EntryHeap } from './entry-heap.js'
import type { Patience } from './patience.js'

/** Counts events in a window of time, and the one before. Times are ms. */
class RateWindow {
  private count = 0
  private countBefore = 0
  private sinceMs = 0
  /** The first event after a window without any. */
  private firstMs = 0

  constructor(private readonly windowMs: number) {}

  add(now: number): void {
    this.turn(now)
    if (this.count === 0 && this.countBefore === 0) this.firstMs = now
    this.count++
  }

  /** As `rate`, but since the first event if that is in the last window. */
  latestRate(now: number): number {
    return (this.rate(now) * this.windowMs) / Math.min(this.windowMs, Math.max(1_000, now - this.firstMs))
  }

  /** Events a second in the last window. */
  rate(now: number): number {
    this.turn(now)
    const before = this.countBefore * (1 - (now - this.sinceMs) / this.windowMs)
    return ((this.count + before) * 1_000) / this.windowMs
  }

  private turn(now: number): void {
    const passedMs = now - this.sinceMs
    if (passedMs < this.windowMs) return
    this.countBefore = passedMs < 2 * this.windowMs ? this.count : 0
    this.count = 0
    this.sinceMs = passedMs < 2 * this.windowMs ? this.sinceMs + this.windowMs : now
  }
}

/** An endpoint of the queue: a webhook with its waiting and taken deliveries. */
export class QueueEndpoint implements QueueItem<QueueEndpoint> {
  /** Id of the webhook. */
  readonly id: string
  /** The newest known row of the webhook, with its health. */
  webhook: Webhook
  /** Its shard, 0–63. */
  readonly shard: number
  /** Deliveries that wait. */
  waiting = 0
  /** Deliveries that are taken. */
  taken = 0
  /** Deliveries that wait to be sent: without displaced ones, and those of older epochs. */
  backlog = 0
  /** Displaced deliveries that wait for their end. */
  displaced = 0
  /** Decided changes of its health that the store does not have yet. */
  unstoredHealth = 0
  /** Limits its rate, and its requests at once; `undefined`: nothing does. Written by the dispatcher. */
  pace: Pace | undefined = undefined

  // The rest belongs to the queue.

  /** Its number in entries; -1: evicted, or not added yet. */
  index = -1
  /** The share of its account; shared with the other endpoints of the account while this one is in the queue. */
  account: AccountShare
  /** Positions of the first waiting deliveries of the lanes that are displaced next, the oldest last. */
  oldest: number[] = []
  /** No delivery has a lower position: a lower bound while the one that had it is gone. */
  lowestPosition = Number.POSITIVE_INFINITY
  /** The current epoch: deliveries of older ones are stale. Only `forgetRevisions` lowers it. */
  epoch: number
  /** No delivery in the queue has a higher epoch. */
  newestEpoch = 0
  /** Scheme, host and port of the webhook's URI. */
  origin = ''
  /** Waiting heads, by kind of head (`heads.ts`). */
  readonly waitingHeads: (EntryHeap | undefined)[] = new Array<undefined>(8).fill(undefined)
  /** Entries whose content was requested and that were not taken since. */
  requested = 0
  /** Waiting heads whose content was requested and did not arrive yet. */
  readonly requestedHeads = new EntryHeap()
  /** Taken heads. */
  readonly takenHeads = new EntryHeap()
  /** Whether an older delivery gets the odd one of the next slots. */
  oldFirst = false
  /** Whether the next content that is requested is that of an older delivery. */
  requestsOld = false
  /** Positions of tests that were not tried: on a paused endpoint they are the next probes. */
  tests: number[] = []
  /** Deliveries that failed and for which their lanes wait; `undefined`: none. */
  patience: Patience | undefined = undefined

  // It is either idle, in the queue of endpoints whose contents are needed, or in the heap of those where some will be.
  queue: LinkedQueue<QueueEndpoint> | undefined = undefined
  previous: QueueEndpoint | undefined = undefined
  next: QueueEndpoint | undefined = undefined
  /** Store time, ms, at which contents are needed. */
  dueMs = 0
  /** Order among endpoints of the same due time. */
  position = 0
  heapIndex = -1

  /** Kinds of events that its receiver has rejected since its last success. */
  rejectedHooks: Set<string> | undefined = undefined
  /** Kinds of events that its receiver has accepted since it was last paused for rejections. */
  private acceptedHooks: Set<string> | undefined = undefined
  private readonly lastSeconds = new RateWindow(5_000)
  private readonly lastMinute = new RateWindow(60_000)

  constructor(webhook: Webhook, shard: number) {
    this.id = webhook.id
    this.webhook = webhook
    this.shard = shard
    this.epoch = webhook.epoch
    this.account = new AccountShare(webhook.accountId)
  }

  /** Its receiver has accepted a request. @param now store time, ms */
  countAccepted(hook: string, now: number): void {
    this.lastSeconds.add(now)
    this.lastMinute.add(now)
    this.rejectedHooks = undefined
    this.acceptedHooks ??= new Set()
    this.acceptedHooks.add(hook)
  }

  /** Its receiver has rejected an event of this kind. */
  countRejected(hook: string): void {
    this.rejectedHooks ??= new Set()
    this.rejectedHooks.add(hook)
  }

  /** It is paused because everything is rejected: what was accepted before says nothing any more. */
  forgetAccepted(): void {
    this.acceptedHooks = undefined
  }

  /** Whether a rejection of this kind says something about the receiver: it accepts this kind, or no other. */
  isInformative(hook: string): boolean {
    return this.acceptedHooks === undefined || this.acceptedHooks.has(hook)
  }

  /** Requests a second that its receiver has accepted lately, and on average in the last minute. @param now store time, ms */
  acceptedRates(now: number): { readonly lately: number; readonly minute: number } {
    return { lately: this.lastSeconds.latestRate(now), minute: this.lastMinute.rate(now) }
  }
}
