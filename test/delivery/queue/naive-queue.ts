import { positionMs } from '../../../src/delivery/positions.js'
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
  /** First attempt of a delivery that was added, and not found too old since. */
  isLive: boolean
  /** A test that was not tried. */
  isTest: boolean
  /** The first failure of a head for which its lane waits, and how long it does. */
  patience: { readonly failedMs: number; untilMs: number } | undefined
  /** The lane that it has left. */
  leftLane: string
}

export interface NaiveEndpoint {
  readonly id: string
  readonly shard: number
  epoch: number
  pausedUntilMs: number
  /** Why it is paused. */
  pause: 'unavailable' | 'rejected' | undefined
  failingSinceMs: number | undefined
  isStrict: boolean
  rejectedHooks: ReadonlySet<string>
  /** Whether an older delivery gets the next odd slot. */
  oldFirst: boolean
}

/** How long a delivery is live, ms. */
const LIVE_MS = 10_000

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
    readonly patienceMs: number,
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
        Object.assign(delivery, { isDisplaced: true, lane: '', patience: undefined })
        if (head === delivery && next) {
          next.dueMs = Math.max(next.dueMs, now)
          this.setPatience(next)
        }
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
    const [taken] = delivery.lane === '' ? [] : this.laneOf(delivery)
    // It had left its lane before it was dropped.
    if (delivery.failedMs > 0 && taken?.isTaken && isEarlier(delivery, taken))
      Object.assign(delivery, { leftLane: delivery.lane, lane: '' })
    const lane = delivery.lane === '' ? [] : this.laneOf(delivery)
    let place = lane.length
    while (place > 0 && !lane[place - 1]!.isTaken && isEarlier(delivery, lane[place - 1]!)) place--
    const successor = lane[place]
    if (successor) this.deliveries.splice(this.deliveries.indexOf(successor), 0, delivery)
    else this.deliveries.push(delivery)
    if (place === 0 && lane[0]) lane[0].patience = undefined
    if (delivery.dueMs === 0) delivery.dueMs = now
    if (this.isHead(delivery)) this.setPatience(delivery)
    if (!this.isStale(delivery)) {
      if (this.backlog(delivery.webhookId).length > this.limits.perWebhook) this.full.add(delivery.webhookId)
      if (this.backlog().length > this.limits.perAccount) this.isAccountFull = true
    }
    return true
  }

  remove(delivery: NaiveDelivery, now: number): void {
    const [head, next] = this.laneOf(delivery)
    this.deliveries.splice(this.deliveries.indexOf(delivery), 1)
    if (head === delivery && next) this.promote(next, now)
  }

  promote(delivery: NaiveDelivery, now: number): void {
    delivery.dueMs = Math.max(delivery.dueMs, now)
    if (isTooOld(delivery, now)) delivery.isLive = false
    this.setPatience(delivery)
  }

  /** Whether an earlier delivery has left the lane, and has not ended. */
  isLeft({ webhookId, lane }: NaiveDelivery): boolean {
    return this.deliveries.some((other) => other.webhookId === webhookId && other.leftLane === lane)
  }

  isOutOfOrder(delivery: NaiveDelivery): boolean {
    return delivery.leftLane !== '' || (delivery.lane !== '' && this.isLeft(delivery))
  }

  /** The lane of a head waits from its first failure. */
  setPatience(head: NaiveDelivery): void {
    const { failedMs, lane } = head
    if (head.patience?.failedMs === (failedMs || undefined)) return
    const waitMs = this.isLeft(head) ? 0 : this.patienceMs
    head.patience = failedMs > 0 && lane !== '' ? { failedMs, untilMs: failedMs + waitMs } : undefined
  }

  /** The head whose lane waits least long, and need not because others were taken since it failed. */
  firstPatient(webhookId: string): NaiveDelivery | undefined {
    const { isStrict, failingSinceMs = Number.POSITIVE_INFINITY } = this.endpoints.get(webhookId)!
    const [first] = this.deliveries
      .filter((delivery) => delivery.webhookId === webhookId && delivery.patience)
      .sort((a, b) => a.patience!.untilMs - b.patience!.untilMs || a.position - b.position)
    return first && !isStrict && first.patience!.failedMs < failingSinceMs ? first : undefined
  }

  /** A delivery leaves its lane; the next one follows if it was the head. */
  leave(delivery: NaiveDelivery, now: number): void {
    const [head, next] = this.laneOf(delivery)
    Object.assign(delivery, { leftLane: delivery.lane, lane: '', patience: undefined })
    if (head === delivery && next) this.promote(next, now)
  }

  endPatience(webhookId: string, now: number): void {
    for (;;) {
      const first = this.firstPatient(webhookId)
      if (!first || first.patience!.untilMs > now) return
      this.leave(first, now)
    }
  }

  /** What is first among the live heads is old if it was accepted too long ago. */
  age(webhookId: string, limit: number, now: number): void {
    for (const hasContent of [true, false])
      for (let left = limit; left > 0; left--) {
        const [first] = this.waitingHeads(webhookId)
          .filter((head) => head.isLive && !this.isStale(head))
          .filter((head) => (hasContent ? head.content : !head.content && !head.isRequested))
          .sort(byDueTime)
        if (!first || !isTooOld(first, now)) break
        first.isLive = false
      }
  }

  resume(webhookId: string, now: number): void {
    for (const { patience } of this.deliveries.filter((delivery) => delivery.webhookId === webhookId))
      if (patience) patience.untilMs = Math.max(patience.untilMs, now + this.patienceMs)
    for (const head of this.waitingHeads(webhookId))
      if (head.failedMs > 0) head.dueMs = positionMs(head.position)
  }

  /** Due heads that can be sent. */
  due(webhookId: string, now: number): NaiveDelivery[] {
    return this.waitingHeads(webhookId)
      .filter((delivery) => !this.isStale(delivery) && delivery.content && delivery.dueMs <= now)
      .sort(byDueTime)
  }

  take(webhookId: string, slots: number, now: number, maxOld: number): NaiveDelivery[] {
    const taken: NaiveDelivery[] = []
    const endpoint = this.endpoints.get(webhookId)!
    const { oldFirst } = endpoint
    if (slots % 2 === 1) endpoint.oldFirst = !oldFirst
    this.endPatience(webhookId, now)
    this.age(webhookId, 100, now)
    const takeKind = (isLive: boolean, limit: number) => {
      while (taken.length < limit) {
        const first = this.due(webhookId, now).find((head) => head.isLive === isLive)
        if (!first) return
        taken.push(first)
        this.markTaken(first)
      }
    }
    takeKind(true, oldFirst ? Math.floor(slots / 2) : Math.ceil(slots / 2))
    takeKind(false, Math.min(slots, taken.length + maxOld))
    takeKind(true, slots)
    return taken
  }

  /** The deliveries of which one is the next probe: a test, one of a kind that was not rejected, or the first that is due. */
  probes(webhookId: string, now: number): NaiveDelivery[] {
    const { pause, rejectedHooks } = this.endpoints.get(webhookId)!
    const [test] = this.waitingTests(webhookId)
    if (test && test.dueMs <= now) return [test]
    const followers = this.of(webhookId, false).filter((delivery) => {
      const lane = this.laneOf(delivery)
      const [head] = lane
      const isBehindOld = !head!.isLive && !head!.isTaken && head!.content && !this.isStale(head!)
      return (
        delivery !== head &&
        lane.indexOf(delivery) <= 8 &&
        isBehindOld &&
        !this.isStale(delivery) &&
        delivery.content &&
        !rejectedHooks.has(delivery.hook)
      )
    })
    if (pause === 'rejected' && rejectedHooks.size > 0 && followers.length > 0) return followers
    const [old] = this.due(webhookId, now).filter(({ isLive }) => !isLive)
    const [live] = this.due(webhookId, now).filter(({ isLive }) => isLive)
    const first = live && (!old || live.dueMs < old.dueMs) ? live : old
    return first ? [first] : []
  }

  waitingTests(webhookId: string): NaiveDelivery[] {
    return this.of(webhookId, false)
      .filter((delivery) => delivery.isTest && delivery.content && !this.isStale(delivery))
      .sort((a, b) => a.dueMs - b.dueMs)
  }

  markTaken(delivery: NaiveDelivery): void {
    delivery.isTaken = true
    delivery.isRequested = false
  }

  waitAgain(delivery: NaiveDelivery, changes: Partial<Counters>, maxKept: number): void {
    const isKept = this.waitingContents < maxKept
    Object.assign(delivery, changes, { isTaken: false })
    if (delivery.attempts > 0) delivery.isLive = false
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
    const { pause, pausedUntilMs } = this.endpoints.get(webhookId)!
    const times = this.waitingHeads(webhookId)
      .filter((delivery) => !this.isStale(delivery) && (delivery.content || !delivery.isRequested))
      .map(({ dueMs }) => dueMs)
    const patience = this.firstPatient(webhookId)?.patience
    if (patience) times.push(patience.untilMs)
    const tests = pause ? this.waitingTests(webhookId).map(({ dueMs }) => dueMs) : []
    const all = [...times.map((dueMs) => Math.max(dueMs, pausedUntilMs)), ...tests]
    return all.length === 0 ? undefined : Math.min(...all)
  }

  /** What is remembered beside the rows is lost when all are dropped. */
  drop(shards: readonly number[] | 'all'): void {
    const isDropped = ({ webhookId }: NaiveDelivery) =>
      shards === 'all' || shards.includes(this.endpoints.get(webhookId)!.shard)
    this.deliveries = this.deliveries.filter((delivery) => delivery.isTaken || !isDropped(delivery))
    if (shards !== 'all') return
    for (const delivery of this.deliveries) {
      Object.assign(delivery, { isLive: false, isTest: false, leftLane: '', patience: undefined })
    }
    for (const delivery of this.deliveries) this.setPatience(delivery)
  }
}

const byDueTime = (a: NaiveDelivery, b: NaiveDelivery) => a.dueMs - b.dueMs || a.position - b.position

const isTooOld = ({ position }: NaiveDelivery, now: number) => positionMs(position) < now - LIVE_MS

function isEarlier(a: NaiveDelivery, b: NaiveDelivery): boolean {
  if (a.sequence > 0 && b.sequence > 0 && a.sequence !== b.sequence) return a.sequence < b.sequence
  return a.position < b.position
}
