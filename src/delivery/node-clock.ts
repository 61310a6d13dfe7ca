/**
 * The clock of a node: the machine's, with the time of day of the store's machine where that is another one.
 *
 * Signatures, records and expiry times are read elsewhere, by receivers and by other nodes. A node whose own clock is
 * wrong must not sign with it. The time of day continues by the monotonic clock between two answers of the store.
 */
import type { Clock, Log } from '../ports.js'
import { checkDeviation, deviationOf, type ReportedDeviation } from './clock-deviation.js'
import { createStoreClock, type StoreClock } from './store-clock.js'

/** `now` is the time of day of the store's machine. */
export interface NodeClock extends Clock {
  /** The wall clock of this machine, Unix ms. */
  machineNow(): number
  /** How far the wall clock of this machine was ahead of the store's machine at the last answer, ms; 0 without another machine. */
  deviationMs(): number
  /** Whether a deviation is reported and has not ended. */
  isDeviating(): boolean
  /** Call it before a request to the store; the result takes the time of day of the store's machine in the answer, Unix ms. */
  beginSync(): (clockMs: number) => void
}

/** @param machine the clocks of this machine. Its wall clock counts until the store has answered. */
export function createNodeClock(machine: Clock, log: Pick<Log, 'info' | 'warn'>): NodeClock {
  let timeOfDay: StoreClock | undefined
  let deviationMs = 0
  let reported: ReportedDeviation | undefined

  function report(): void {
    const check = checkDeviation(reported, deviationMs, machine.monotonic())
    reported = check.reported
    const fields = { deviationSeconds: Math.round(deviationMs / 1000) }
    if (check.report === 'deviates')
      log.warn(fields, "the clock of this machine is wrong, or the store's is: they differ by more than 30 s")
    if (check.report === 'agrees') log.info(fields, "the clock of this machine agrees with the store's again")
  }

  return {
    now: () => timeOfDay?.now() ?? machine.now(),
    machineNow: () => machine.now(),
    monotonic: () => machine.monotonic(),
    sleep: (ms, signal) => machine.sleep(ms, signal),
    yield: () => machine.yield(),
    deviationMs: () => deviationMs,
    isDeviating: () => reported !== undefined,
    beginSync() {
      const requestedMs = machine.monotonic()
      const requestedWallMs = machine.now()
      return (clockMs) => {
        timeOfDay ??= createStoreClock(machine)
        timeOfDay.sync(clockMs, requestedMs)
        const nowMs = machine.now()
        // A machine that was suspended meanwhile has only the wall clock to measure it.
        const durationMs = Math.max(machine.monotonic() - requestedMs, nowMs - requestedWallMs)
        deviationMs = Math.round(deviationOf(nowMs, clockMs, durationMs))
        report()
      }
    },
  }
}
