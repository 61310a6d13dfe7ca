import type { QueuedDelivery } from './queued-delivery.js'

/** The deliveries whose content is in memory, in numbered slots from 1: an entry needs 4 bytes to refer to one. */
export class Contents {
  private readonly slots: (QueuedDelivery | undefined)[] = [undefined]
  private readonly freeSlots: number[] = []

  /** The delivery in a slot that is in use. */
  get(slot: number): QueuedDelivery {
    return this.slots[slot]!
  }

  /** Adds a delivery and returns its slot. */
  add(delivery: QueuedDelivery): number {
    const slot = this.freeSlots.pop() ?? this.slots.length
    this.slots[slot] = delivery
    return slot
  }

  /** Removes a delivery from its slot. */
  delete(slot: number): void {
    this.slots[slot] = undefined
    this.freeSlots.push(slot)
  }

  /** Removes all deliveries. */
  clear(): void {
    for (const delivery of this.slots) if (delivery) delivery.entry = -1
    this.slots.length = 1
    this.freeSlots.length = 0
  }
}
