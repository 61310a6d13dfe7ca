/**
 * Slot time: how many slots an account has used on average in the last seconds, and how many it may hold at once while other
 * accounts compete for slots. The fair queue decides which endpoint gets a slot.
 *
 * Theory of operation
 *
 * - A slot that a request holds cannot be taken back before the receiver answers. So an order of the waiting endpoints is not
 *   enough: slots must be free when an account comes that has used few. A burst takes its slots at once, so the slots that an
 *   account holds now count for that (`mayHoldMore`), not its past use.
 * - The average is a decaying sum: use that lies `AVERAGE_MS` back counts for a third of use now. Requests in flight count
 *   from the moment in which they are sent, not only when they end. It decides about the order alone (`isOverShare`).
 * - An account that competes with nobody may use every slot.
 */
import { createLinkedQueue, enqueue, type QueueItem, unqueue } from '../../values/linked-queue.js'

/** The slots that an account has used lately. */
export interface SlotUse extends QueueItem<SlotUse> {
  /** Requests that are sent and have not ended. */
  inUse: number
  /** Average number of slots in use, as of `atMs`. */
  average: number
  /** Store time of the last change, ms. */
  atMs: number
  /** Store time at which one of its endpoints last had something due, ms. */
  dueMs: number
}

/** Time constant of the average, ms. */
const AVERAGE_MS = 5_000
/** An account competes for slots for this long after one of its endpoints had something due, ms. */
const COMPETES_MS = 10_000
/** The share of all slots that is left to accounts that hold few. */
const RESERVE_SHARE = 1 / 16
/** How many slots an account may hold for each one that is free, when only the reserve is left. */
const HELD_PER_FREE_SLOT = 2

/** The share of all slots up to which an account is a small one; it is never over its share of slot time. */
const FEW_SHARE = 1 / 32

export function createSlotUse(): SlotUse {
  return {
    inUse: 0,
    average: 0,
    atMs: Number.NEGATIVE_INFINITY,
    dueMs: Number.NEGATIVE_INFINITY,
    queue: undefined,
    previous: undefined,
    next: undefined,
  }
}

/** The average number of slots in use. @param now store time, ms; a clock that was set back adds nothing @internal */
export function averageUse({ inUse, average, atMs }: SlotUse, now: number): number {
  if (now <= atMs || average === inUse) return average
  return inUse + (average - inUse) * Math.exp((atMs - now) / AVERAGE_MS)
}

/** Counts slots that are used from now on, or no longer. */
export function changeUse(use: SlotUse, change: number, now: number): void {
  use.average = averageUse(use, now)
  use.atMs = now
  use.inUse += change
}

/**
 * Whether an account may hold one more slot while others compete. All accounts may use all slots but the reserve. The more
 * slots an account holds, and the fewer are left, the less of the reserve it gets: n accounts with unlimited demand leave
 * 1 / (2n + 1) of all slots free, whatever their receivers do.
 *
 * @param held slots that it holds, of any class
 * @param free slots that nobody holds, of `total`
 */
export function mayHoldMore(held: number, free: number, total: number): boolean {
  return free > Math.floor(total * RESERVE_SHARE) || held < free * HELD_PER_FREE_SLOT
}

/** Up to how many slots an account counts as a small one; 0: so few slots have no such limit. */
export function fewSlots(total: number): number {
  return Math.floor(total * FEW_SHARE)
}

/** The accounts that compete for the slots of a node, in the order in which they last had something due. */
interface Competitors {
  /** Something of an account is due. */
  add(use: SlotUse, now: number): void
  /** How many accounts compete. */
  count(now: number): number
}

export function createCompetitors(): Competitors {
  const queue = createLinkedQueue<SlotUse>()
  return {
    add(use, now) {
      use.dueMs = now
      if (queue.last === use) return
      unqueue(use)
      enqueue(queue, use)
    },
    count(now) {
      for (let { first } = queue; first && Math.abs(now - first.dueMs) > COMPETES_MS; first = queue.first)
        unqueue(first)
      return queue.length
    },
  }
}

/**
 * Whether an account has used more than its share: the same part for each that competes, of all slots but the reserve, and at
 * least as much as a small account may hold.
 */
export function isOverShare(use: SlotUse, competitors: number, total: number, now: number): boolean {
  return averageUse(use, now) > total * Math.max((1 - RESERVE_SHARE) / competitors, FEW_SHARE)
}
