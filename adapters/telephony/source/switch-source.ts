/** A source that connects to its switch: one reconnecting connection, one mapping, one event pipeline. */
import type { EventHub } from 'hookswitch'
import { keepConnected, type SwitchSession } from './connection.js'
import {
  createEventPipeline,
  type EventPipeline,
  type PipelineCounts,
  type SourceEvents,
} from './event-pipeline.js'
import { type CheckedSourceOptions, integerBetween } from './options.js'

/** Publishes the channel events of a switch. */
export interface SwitchSource {
  /** Emits `connected`, `disconnected`, `account_unknown`, `rejected` and `problem`. */
  readonly events: EventHub<SourceEvents>
  /** Connects, and reconnects whenever the connection is lost, until `close`. Further calls have no effect. */
  start(): void
  /** Returns the current counters and the state of the connection. */
  status(): SourceStatus
  /**
   * Ends the connection, publishes the events received so far, and emits those that cannot be published as `rejected`
   * or `account_unknown`. Call it before `hs.close()`; otherwise waiting events cannot be published.
   *
   * @throws `InvalidOption` for an invalid `drainMs`
   */
  close(options?: {
    /** How long publishing may take, milliseconds. Default 5,000. */
    readonly drainMs?: number
  }): Promise<void>
}

/** The state of a source. */
export interface SourceStatus extends PipelineCounts {
  /** Whether the source is logged in and subscribed. */
  readonly isConnected: boolean
  /** Legs that have begun and not ended. */
  readonly openLegs: number
}

/** The parts of a source that are specific to a switch. */
export interface SwitchConnector {
  /** The switch in events and in the log: `freeswitch 127.0.0.1:8021`. */
  readonly peer: string
  /** Connects, logs in, subscribes and resyncs; then pushes everything received into the pipeline. */
  readonly open: (pipeline: EventPipeline, signal: AbortSignal) => Promise<SwitchSession>
  /** Number of legs that have begun and not ended. */
  readonly openLegs: () => number
}

/** Creates a source that is not started. */
export function createSwitchSource(
  { publish, clock, random, log, bufferLimits }: CheckedSourceOptions,
  { peer, open, openLegs }: SwitchConnector,
): SwitchSource {
  const pipeline = createEventPipeline({ publish, clock, random, log, name: peer }, bufferLimits)
  let connection: { close(): Promise<void> } | undefined
  let closed: Promise<void> | undefined
  let isConnected = false

  return {
    events: pipeline.events,
    start() {
      if (closed) return
      connection ??= keepConnected({
        clock,
        random,
        open: (signal) => open(pipeline, signal),
        onConnected() {
          isConnected = true
          pipeline.reportConnected(peer)
        },
        onDisconnected(reason, retryInMs) {
          isConnected = false
          pipeline.reportDisconnected(peer, reason, retryInMs)
        },
      })
    },
    status: () => ({ isConnected, openLegs: openLegs(), ...pipeline.counts() }),
    close({ drainMs = 5_000 } = {}) {
      integerBetween(0, 2_147_483_647)('drainMs', drainMs)
      closed ??= (async () => {
        await connection?.close()
        isConnected = false
        await pipeline.close(drainMs)
      })()
      return closed
    },
  }
}
