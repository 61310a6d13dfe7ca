/**
 * The state of a source's connection, and its log lines: the reason of a lost connection at once, but not at each of the
 * attempts of a week, nor each time that a switch accepts a connection only to close it.
 */
import type { Clock, Log } from 'hookswitch'
import type { ConnectionState } from './source-figures.js'

/** Dependencies of a report. */
interface ConnectionReportDeps {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly log: Log
  /** The switch: `freeswitch 127.0.0.1:8021`. */
  readonly source: string
}

/** Follows the connection of one source. */
interface ConnectionReport {
  onConnected(): void
  /** @param retryInMs milliseconds to the next attempt */
  onDisconnected(reason: string, retryInMs: number): void
  /** The source is closed. */
  onClosed(): void
  /** Returns the current state. */
  state(): ConnectionState
  /** Whether the source has tried to connect. */
  hasTried(): boolean
}

/** A reason that repeats is logged again after this time. */
const REPEAT_AFTER_MS = 600_000
/** After a connection that lasted this long, the same reason is no repetition. */
const STABLE_AFTER_MS = 10_000

/** Creates the report of a source that has not tried to connect. */
export function createConnectionReport(deps: ConnectionReportDeps): ConnectionReport {
  const { clock, log, source } = deps
  let hasTried = false
  let isConnected = false
  let disconnectReason: string | undefined
  let connects = 0
  let connectedMs = 0
  let logged: { readonly reason: string; readonly atMs: number } | undefined

  return {
    onConnected() {
      hasTried = true
      isConnected = true
      disconnectReason = undefined
      connects += 1
      connectedMs = clock.monotonic()
      log.info({ source }, 'connected to the switch')
    },
    onDisconnected(reason, retryInMs) {
      const nowMs = clock.monotonic()
      const wasStable = isConnected && nowMs - connectedMs >= STABLE_AFTER_MS
      hasTried = true
      isConnected = false
      disconnectReason = reason
      const isRepeated = logged?.reason === reason && nowMs - logged.atMs < REPEAT_AFTER_MS
      const fields = { source, reason, retryInMs }
      const message = 'not connected to the switch'
      if (isRepeated && !wasStable) return log.debug(fields, message)
      logged = { reason, atMs: nowMs }
      log.warn(fields, message)
    },
    onClosed() {
      isConnected = false
      if (hasTried) disconnectReason = 'the source is closed'
    },
    state: () => ({ peer: source, isConnected, disconnectReason, reconnects: Math.max(0, connects - 1) }),
    hasTried: () => hasTried,
  }
}
