/** A source that connects to its switch: one reconnecting connection, one mapping, one event pipeline. */
import type { EventHub } from 'hookswitch/adapter'
import { keepConnected, type SwitchSession } from './connection.js'
import { createEventPipeline, type EventPipeline, type SourceEvents } from './event-pipeline.js'
import type { MappedBatch } from './mapped-events.js'
import { createOpenLegRecorder, type OpenLegRecorder, type SavableLegs } from './open-legs.js'
import { type CheckedSourceOptions, drainMsOf, invalidOption } from './options.js'
import type { ConnectionState, PipelineCounts } from './source-figures.js'

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
    readonly drainMs?: number | undefined
  }): Promise<void>
}

/** The state of a source. */
export interface SourceStatus extends ConnectionState, PipelineCounts {
  /** Legs that have begun and not ended. */
  readonly openLegs: number
}

/** The parts of a source that are specific to a switch. */
interface SwitchConnector {
  /** The switch in events and in the log: `freeswitch 127.0.0.1:8021`. */
  readonly peer: string
  /** The option that `peer` has the address from. */
  readonly addressOption: 'host' | 'url'
  /** Connects, logs in, subscribes and resyncs; then pushes everything received into the pipeline. */
  readonly open: (pipeline: EventPipeline, signal: AbortSignal) => Promise<SwitchSession>
  /** Called with legs whose account is overdue, see `EventPipelineDeps`. */
  readonly requestAccounts?: (callIds: readonly string[]) => void
  /** Number of legs that have begun and not ended. */
  readonly openLegs: () => number
  /** The open legs, which are kept in the store. */
  readonly savableLegs: SavableLegs
  /** Returns the events that are held until more is known; called when the connection is closed. Default: there are none. */
  readonly flush?: () => MappedBatch
}

/** The store names the open legs of a source by its `peer`, of at most so many characters. */
const MAX_STORED_NAME_LENGTH = 255

/**
 * Creates a source that is not started.
 *
 * @throws `InvalidOption` naming the option of the address, if open legs are to be stored and `peer` is too long
 */
export function createSwitchSource(
  { publish, clock, random, log, metrics, bufferLimits, openLegs: store }: CheckedSourceOptions,
  { peer, addressOption, open, requestAccounts, openLegs, savableLegs, flush }: SwitchConnector,
): SwitchSource {
  if (store && peer.length > MAX_STORED_NAME_LENGTH) {
    const sentence = `is too long to store open legs: '${peer.slice(0, 40)}…' has ${peer.length} characters`
    throw invalidOption(addressOption, `${sentence}, and ${MAX_STORED_NAME_LENGTH} are possible`)
  }
  const recorder: OpenLegRecorder | undefined =
    store &&
    createOpenLegRecorder({
      store,
      source: peer,
      legs: savableLegs,
      isWaiting: (callId) => pipeline.isWaiting(callId),
      clock,
      random,
      log,
    })
  const pipeline = createEventPipeline(
    {
      publish,
      clock,
      random,
      log,
      metrics,
      name: peer,
      requestAccounts,
      ...(recorder && { openLegs: recorder }),
    },
    bufferLimits,
  )
  let isLoaded = recorder === undefined
  let connection: { close(): Promise<void> } | undefined
  let closed: Promise<void> | undefined

  return {
    events: pipeline.events,
    start() {
      if (closed) return
      connection ??= keepConnected({
        clock,
        random,
        async open(signal) {
          // Before the first connection, whose resync compares them with the switch.
          if (!isLoaded) await recorder?.load(signal)
          isLoaded = true
          return open(pipeline, signal)
        },
        onConnected: () => pipeline.reportConnected(peer),
        onDisconnected: (reason, retryInMs) => pipeline.reportDisconnected(peer, reason, retryInMs),
      })
    },
    status: () => ({ ...pipeline.connection(), openLegs: openLegs(), ...pipeline.counts() }),
    close(options) {
      const drainMs = drainMsOf(options)
      closed ??= (async () => {
        await connection?.close()
        if (flush) pipeline.push(flush())
        const untilMs = clock.monotonic() + drainMs
        await pipeline.close(drainMs)
        await recorder?.close(Math.max(0, untilMs - clock.monotonic()))
      })()
      return closed
    },
  }
}
