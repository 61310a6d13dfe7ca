import type { DeliveryKey } from '../../../src/delivery/queue-store.js'
import type { Row } from './fixtures.js'

/** A delivery of the naive queue. */
export interface NaiveDelivery extends Required<Omit<Row, 'lane'>> {
  lane: string
  dueMs: number
  attempts: number
  tries: number
  interruptions: number
  failedMs: number
  isTaken: boolean
  /** The object, or true for content that arrived by `fill`. */
  content: object | true | undefined
  isRequested: boolean
  isDisplaced: boolean
}

export interface NaiveEndpoint {
  readonly id: string
  readonly shard: number
  epoch: number
  pausedUntilMs: number
}

/** What `retry` and `update` change. */
export interface Counters {
  readonly dueMs: number
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  /** 0: there was no failure. */
  readonly failedMs: number
}

/** The queue as arrays that are searched and sorted at every call. */
export class NaiveQueue {
  readonly endpoints = new Map<string, NaiveEndpoint>()
  /** In the order of each lane; lanes are mixed. */
  deliveries: NaiveDelivery[] = []
  /** Webhooks that were above their limit when a delivery entered, since the last `trim`. */
  readonly full = new Set<string>()
  isAccountFull = false

  constructor(
    readonly maxContents: number,
    readonly limits: { readonly perWebhook: number; readonly perAccount: number },
  ) {}

  find({ webhookId, position }: DeliveryKey): NaiveDelivery | undefined {
    return this.deliveries.find(
      (delivery) => delivery.webhookId === webhookId && delivery.position === position,
    )
  }

  laneOf(delivery: NaiveDelivery): NaiveDelivery[] {
    if (delivery.lane === '') return [delivery]
    return this.deliveries.filter(
      ({ webhookId, lane }) => webhookId === delivery.webhookId && lane === delivery.lane,
    )
  }

  isHead(delivery: NaiveDelivery): boolean {
    return this.laneOf(delivery)[0] === delivery
  }

  isStale(delivery: NaiveDelivery): boolean {
    return delivery.isDisplaced || delivery.epoch < this.endpoints.get(delivery.webhookId)!.epoch
  }

  /** Deliveries that wait to be sent; without an id those of the account. */
  backlog(webhookId?: string): NaiveDelivery[] {
    return this.deliveries.filter(
      (delivery) =>
        !delivery.isTaken &&
        !this.isStale(delivery) &&
        (webhookId === undefined || delivery.webhookId === webhookId),
    )
  }

  /** Displaces the deliveries of the oldest calls, until there are `count`. Returns the number of the last call. */
  displace(webhookId: string, count: number, now: number): number {
    let last = 0
    for (let left = count; left > 0; left -= last) {
      const waiting = this.backlog(webhookId)
      const firsts = waiting.filter(
        (delivery) => this.laneOf(delivery).find((other) => waiting.includes(other)) === delivery,
      )
      const [oldest] = firsts.sort((a, b) => a.position - b.position)
      if (!oldest) throw new Error(`only ${count - left} of ${count} deliveries can be displaced`)
      const lane = this.laneOf(oldest).filter((delivery) => waiting.includes(delivery))
      // Replays have no sequence number, and are no call.
      const call = oldest.sequence === 0 ? lane.slice(0, left) : lane
      for (const delivery of call) {
        const [head, next] = this.laneOf(delivery)
        if (head === delivery && next) next.dueMs = Math.max(next.dueMs, now)
        Object.assign(delivery, { isDisplaced: true, lane: '' })
      }
      last = call.length
    }
    return last
  }

  of(webhookId: string, isTaken: boolean): NaiveDelivery[] {
    return this.deliveries.filter(
      (delivery) => delivery.webhookId === webhookId && delivery.isTaken === isTaken,
    )
  }

  waitingHeads(webhookId: string): NaiveDelivery[] {
    return this.of(webhookId, false).filter((delivery) => this.isHead(delivery))
  }

  get waitingContents(): number {
    return this.deliveries.filter(({ isTaken, content }) => !isTaken && content !== undefined).length
  }

  insert(delivery: NaiveDelivery, now: number): boolean {
    if (this.find(delivery)) return false
    const lane = delivery.lane === '' ? [] : this.laneOf(delivery)
    let place = lane.length
    while (place > 0 && !lane[place - 1]!.isTaken && isEarlier(delivery, lane[place - 1]!)) place--
    const successor = lane[place]
    if (successor) this.deliveries.splice(this.deliveries.indexOf(successor), 0, delivery)
    else this.deliveries.push(delivery)
    if (this.isHead(delivery) && delivery.dueMs === 0) delivery.dueMs = now
    if (!this.isStale(delivery)) {
      if (this.backlog(delivery.webhookId).length > this.limits.perWebhook) this.full.add(delivery.webhookId)
      if (this.backlog().length > this.limits.perAccount) this.isAccountFull = true
    }
    return true
  }

  remove(delivery: NaiveDelivery, now: number): void {
    const [head, next] = this.laneOf(delivery)
    this.deliveries.splice(this.deliveries.indexOf(delivery), 1)
    if (head === delivery && next) next.dueMs = Math.max(next.dueMs, now)
  }

  take(webhookId: string, slots: number, retriesFirst: boolean, now: number): NaiveDelivery[] {
    const due = this.waitingHeads(webhookId)
      .filter((delivery) => !this.isStale(delivery) && delivery.content && delivery.dueMs <= now)
      .sort((a, b) => a.dueMs - b.dueMs || a.position - b.position)
    const firsts = due.filter(({ attempts }) => attempts === 0)
    const retries = due.filter(({ attempts }) => attempts > 0)
    const half = retriesFirst ? Math.floor(slots / 2) : Math.ceil(slots / 2)
    const share = firsts.slice(0, half)
    const others = retries.slice(0, slots - share.length)
    const rest = firsts.slice(half, half + slots - share.length - others.length)
    const taken = [...share, ...others, ...rest]
    for (const delivery of taken) this.markTaken(delivery)
    return taken
  }

  markTaken(delivery: NaiveDelivery): void {
    delivery.isTaken = true
    delivery.isRequested = false
  }

  waitAgain(delivery: NaiveDelivery, changes: Partial<Counters>, maxKept: number): void {
    const isKept = this.waitingContents < maxKept
    Object.assign(delivery, changes, { isTaken: false })
    if (!isKept) delivery.content = undefined
  }

  /** Waiting heads whose content is missing and needed, apart from the bound of what an endpoint may request. */
  needed(webhookId: string, now: number): NaiveDelivery[] {
    const { pausedUntilMs } = this.endpoints.get(webhookId)!
    return this.waitingHeads(webhookId).filter(
      (delivery) =>
        !delivery.content &&
        !delivery.isRequested &&
        (this.isStale(delivery) || Math.max(delivery.dueMs, pausedUntilMs) <= now),
    )
  }

  staleHeads(): NaiveDelivery[] {
    return this.deliveries.filter(
      (delivery) => !delivery.isTaken && delivery.content && this.isStale(delivery) && this.isHead(delivery),
    )
  }

  readyMs(webhookId: string): number | undefined {
    const times = this.waitingHeads(webhookId)
      .filter((delivery) => !this.isStale(delivery) && (delivery.content || !delivery.isRequested))
      .map(({ dueMs }) => dueMs)
    if (times.length === 0) return undefined
    return Math.max(Math.min(...times), this.endpoints.get(webhookId)!.pausedUntilMs)
  }

  drop(shards: readonly number[] | 'all'): void {
    this.deliveries = this.deliveries.filter(
      ({ webhookId, isTaken }) =>
        isTaken || (shards !== 'all' && !shards.includes(this.endpoints.get(webhookId)!.shard)),
    )
  }
}

function isEarlier(a: NaiveDelivery, b: NaiveDelivery): boolean {
  if (a.sequence > 0 && b.sequence > 0 && a.sequence !== b.sequence) return a.sequence < b.sequence
  return a.position < b.position
}
