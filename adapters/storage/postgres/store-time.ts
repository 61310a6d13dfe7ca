/**
 * Computes store time when the clock of the server jumps: after a failover to a server whose clock is wrong, or when
 * somebody sets it.
 *
 * - Store time is the server's clock plus an offset. The offset is stored together with the time of the latest lease grant.
 *   Store time never goes back: when the server's clock goes back, the offset grows by the same amount, so due times, pauses
 *   and leases keep their meaning.
 * - A node that was running before the jump measures with its monotonic clock how much time has passed, and continues store
 *   time from there. A node that starts after the jump continues from the latest grant.
 * - When the server's clock jumps forward, the offset shrinks first, to zero at least. Store time follows the rest of the
 *   jump, because a jump looks the same as a machine that was suspended. No node can have renewed its lease during the
 *   jump, so the first node that notices it extends all leases by the length of the jump.
 */
import type { StoreClockRow } from './sql/store-clock.js'

/** A difference below this is left alone: clocks are corrected a little all the time. */
const JUMP_MS = 1_000

/** Store time by the monotonic clock of a node: not before `earliestMs`, and not after `latestMs`. */
interface ExpectedTime {
  readonly earliestMs: number
  readonly latestMs: number
}

interface AdvancedTime {
  /** Store time in whole ms. */
  readonly nowMs: number
  readonly offsetMs: number
  /** Store time jumped forward from here; leases that held then are prolonged. Equal to `nowMs`: it did not. */
  readonly jumpedFromMs: number
}

/** @param expected absent: this node has not read store time before */
export function advanceStoreTime(
  { serverMs, offsetMs, lastMs }: StoreClockRow,
  expected?: ExpectedTime,
): AdvancedTime {
  let nowMs = serverMs + offsetMs
  if (expected && nowMs < expected.earliestMs - JUMP_MS) nowMs = expected.earliestMs
  if (expected && nowMs > expected.latestMs + JUMP_MS) nowMs = Math.max(serverMs, expected.latestMs)
  nowMs = Math.floor(Math.max(nowMs, lastMs))
  // Another node may have advanced store time since this one read it.
  const fromMs = expected ? Math.max(expected.latestMs, lastMs) : nowMs
  return {
    nowMs,
    offsetMs: nowMs - serverMs,
    jumpedFromMs: nowMs > fromMs + JUMP_MS ? fromMs : nowMs,
  }
}

/** Store time of the last grant to this store, and the monotonic time before and after it was read. */
export interface ReadTime {
  readonly storeMs: number
  readonly requestedMs: number
  readonly answeredMs: number
}

/** @param requestedMs, @param answeredMs monotonic time before and after the clock of the server was read now */
export function expectedTime(last: ReadTime, requestedMs: number, answeredMs: number): ExpectedTime {
  return {
    earliestMs: last.storeMs + requestedMs - last.answeredMs,
    latestMs: last.storeMs + answeredMs - last.requestedMs,
  }
}
