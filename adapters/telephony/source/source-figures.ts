/** The figures of a source: for its status and as metrics. */
import type { GaugeReading } from 'hookswitch/adapter'

/** The state of a source's connection to its switch. */
export interface ConnectionState {
  /** The switch, as in events, log lines and metrics: `freeswitch 127.0.0.1:8021`. */
  readonly peer: string
  /** Whether the source is logged in and subscribed. */
  readonly isConnected: boolean
  /** Why it is not connected; `undefined` while it is, and before the first attempt has ended. */
  readonly disconnectReason: string | undefined
  /** Connections after the first. */
  readonly reconnects: number
}

/** Counters of a source. `read` is `published` plus `refused` plus `held`. */
export interface PipelineCounts {
  /** Channel events read from the switch. */
  readonly read: number
  /** Events that `publish` accepted, duplicates included. */
  readonly published: number
  /** Events that are not published: refused by `publish`, left at the close, or of a leg whose account stayed unknown. */
  readonly refused: number
  /** Events that are not published yet: they wait for their account or for the service. */
  readonly held: number
  /**
   * How late the source is, milliseconds: the age of the oldest event that it holds, or how old the event was that it
   * published last, within the last minute, whichever is more. Compares the clock of the switch with the local one.
   */
  readonly lagMs: number
  /** Events that wait for earlier ones of their leg, or are being published. */
  readonly waiting: number
  /** Legs whose account is not known yet. */
  readonly legsWithoutAccount: number
}

/**
 * Returns the current readings of a source.
 *
 * @param source value of the label `source`
 * @param connection `undefined`: the source has not tried to connect
 */
export function sourceReadings(
  source: string,
  counts: PipelineCounts,
  connection: ConnectionState | undefined,
): readonly GaugeReading[] {
  const reading = (name: GaugeReading['name'], value: number) => ({ name, label: source, value })
  const ofConnection = connection
    ? [
        reading('hookswitch_source_connected', connection.isConnected ? 1 : 0),
        reading('hookswitch_source_reconnects_total', connection.reconnects),
      ]
    : []
  return [
    ...ofConnection,
    reading('hookswitch_source_events_read_total', counts.read),
    reading('hookswitch_source_events_published_total', counts.published),
    reading('hookswitch_source_events_refused_total', counts.refused),
    reading('hookswitch_source_events_held', counts.held),
    reading('hookswitch_source_lag_seconds', counts.lagMs / 1000),
  ]
}
