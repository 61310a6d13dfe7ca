/**
 * Failed deliveries of one endpoint: heads that their lanes wait for, and overtaken ones, which left their lanes.
 *
 * A lane waits for its head. When the head fails while the receiver takes other deliveries, the lane waits for a limited time
 * from its first failure, once; then the head leaves it, keeps its own schedule, and the next delivery follows. Until the
 * overtaken delivery has ended, its attempts and those of its lane are out of order.
 */
import { type HeapItem, heapPush, heapRemove } from '../../values/heap.js'

/** A head that failed. */
interface PatientHead extends HeapItem {
  readonly entry: number
  /** Store time of its first failure, ms. */
  readonly failedMs: number
}

export class Patience {
  /** By the time until which their lanes wait. */
  private heads: PatientHead[] = []
  /** The same by position. */
  private readonly byPosition = new Map<number, PatientHead>()
  /** Lanes of those that left them, by position. */
  private readonly lanes = new Map<number, number>()
  /** How many deliveries have left a lane and not ended. */
  private readonly left = new Map<number, number>()

  /** Adds a head. @param untilMs store time until which its lane waits, ms */
  add(entry: number, position: number, failedMs: number, untilMs: number): void {
    const head = { entry, position, failedMs, dueMs: untilMs, heapIndex: -1 }
    this.byPosition.set(position, head)
    heapPush(this.heads, head)
  }

  /** The head whose lane waits least long. */
  get first(): PatientHead | undefined {
    return this.heads[0]
  }

  /** The first failure of a head; `undefined`: its lane does not wait for it. */
  failedMs(position: number): number | undefined {
    return this.byPosition.get(position)?.failedMs
  }

  /** The lane of a delivery does not wait for it, or no more: it has not failed, is not the head, or has left. */
  remove(position: number): void {
    const head = this.byPosition.get(position)
    if (!head) return
    this.byPosition.delete(position)
    heapRemove(this.heads, head)
  }

  /** No lane waits less long than this. @param untilMs store time, ms */
  extend(untilMs: number): void {
    const before = this.heads
    this.heads = []
    for (const head of before) {
      head.dueMs = Math.max(head.dueMs, untilMs)
      heapPush(this.heads, head)
    }
  }

  /** A delivery leaves its lane. */
  leave(position: number, lane: number): void {
    this.remove(position)
    this.lanes.set(position, lane)
    this.left.set(lane, (this.left.get(lane) ?? 0) + 1)
  }

  /** A delivery has ended. */
  ended(position: number): void {
    this.remove(position)
    const lane = this.lanes.get(position)
    if (lane === undefined) return
    this.lanes.delete(position)
    const left = this.left.get(lane)! - 1
    if (left > 0) this.left.set(lane, left)
    else this.left.delete(lane)
  }

  /** Whether a delivery has left its lane. */
  hasLeft(position: number): boolean {
    return this.lanes.has(position)
  }

  /** Whether a delivery that has not ended has left this lane. */
  isLeft(lane: number): boolean {
    return this.left.has(lane)
  }

  /** Whether there is nothing to remember. */
  get isEmpty(): boolean {
    return this.heads.length === 0 && this.lanes.size === 0
  }
}
