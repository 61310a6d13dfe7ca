/**
 * The metrics port, and every metric as data: a closed set of names and label values, so that adapters can declare them
 * up front and no external input becomes a label. Only the values of `source` are open: the addresses of the switches
 * that the host connects to. Names and units follow Prometheus and OpenTelemetry: seconds, `_total`.
 */

import { FAILURE_CAUSES, type FailureCause } from './values/failure-cause.js'

/** Results of one request, as label values. */
export const ATTEMPT_OUTCOMES = Object.freeze([
  'delivered',
  'http',
  'redirect',
  'timeout',
  'connection',
  'dns',
  'tls',
  'protocol',
  'blocked_address',
  'own_fault',
  'interrupted',
] as const)

/** Causes of requests that failed without a usable answer, as label values; `other`: the class alone is known. */
const ATTEMPT_CAUSES: readonly (FailureCause | 'other')[] = Object.freeze([
  ...(Object.keys(FAILURE_CAUSES) as FailureCause[]),
  'other',
])

/** Networks, by the address that a request went to, as label values. */
export const NETWORKS = Object.freeze(['public', 'private', 'loopback'] as const)

/** What a node needs for its work, as label values. The program adds its disk. */
export const NODE_PARTS = Object.freeze(['store', 'lease', 'feed'] as const)

/** Every metric by name: its kind, its help text, and its label with all values of that label. */
export const METRICS = Object.freeze({
  hookswitch_events_accepted_total: { kind: 'counter', help: 'Events accepted, without duplicates.' },
  hookswitch_events_refused_total: {
    kind: 'counter',
    help: 'Events rejected by publish.',
    label: 'reason',
    values: ['invalid', 'queue_full', 'too_many', 'store', 'closing', 'other'],
  },
  hookswitch_deliveries_accepted_total: {
    kind: 'counter',
    help: 'Deliveries created by accepted events, tests and replays.',
  },
  hookswitch_deliveries_ended_total: {
    kind: 'counter',
    help: 'Deliveries that ended, by final state.',
    label: 'state',
    values: ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'],
  },
  hookswitch_queue_full_total: {
    kind: 'counter',
    help: 'Deliveries that expired unsent because too many waited: for their webhook, their account, or in all.',
    label: 'share',
    values: ['webhook', 'account', 'all'],
  },
  hookswitch_deliveries_lost_total: {
    kind: 'counter',
    help: 'Pending deliveries that the store has lost in a failover without synchronous replication.',
  },
  hookswitch_attempts_total: {
    kind: 'counter',
    help: 'Requests to receivers, by result.',
    label: 'outcome',
    values: ATTEMPT_OUTCOMES,
  },
  hookswitch_attempts_failed_total: {
    kind: 'counter',
    help: 'Requests to receivers that failed without a usable answer, by cause.',
    label: 'cause',
    values: ATTEMPT_CAUSES,
  },
  hookswitch_webhooks_disabled_total: {
    kind: 'counter',
    help: 'Webhooks disabled by the service.',
    label: 'reason',
    values: ['gone', 'failing'],
  },
  hookswitch_pauses_total: {
    kind: 'counter',
    help: 'Pauses of webhooks whose receivers fail that began and that ended.',
    label: 'change',
    values: ['began', 'ended'],
  },
  hookswitch_outages_total: {
    kind: 'counter',
    help: 'Times that no receiver of a network answered this node any more.',
    label: 'network',
    values: NETWORKS,
  },
  hookswitch_token_lookups_total: {
    kind: 'counter',
    help: 'Token lookups, by cache result.',
    label: 'cache',
    values: ['hit', 'miss'],
  },
  hookswitch_logins_total: {
    kind: 'counter',
    help: 'Logins, by result.',
    label: 'result',
    values: ['succeeded', 'failed', 'throttled'],
  },
  hookswitch_stream_items_dropped_total: {
    kind: 'counter',
    help: 'Items of live streams that were dropped: their readers were too slow.',
  },
  hookswitch_attempt_duration_seconds: {
    kind: 'histogram',
    help: 'Duration of a request, from DNS to the end of the response.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  hookswitch_delivery_latency_seconds: {
    kind: 'histogram',
    help: 'Time from the acceptance of an event to its delivery.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600, 86_400],
  },
  hookswitch_deliveries_pending: {
    kind: 'gauge',
    help: 'Deliveries waiting or in flight, on all nodes as far as this one knows.',
  },
  hookswitch_deliveries_pending_limit: {
    kind: 'gauge',
    help: 'The option maxPending: above it deliveries expire unsent.',
  },
  hookswitch_account_backlog_ratio: {
    kind: 'gauge',
    help: 'The part of maxPendingPerAccount that waits on this node for the account with the most deliveries, 0 to 1.',
  },
  hookswitch_history_bytes: {
    kind: 'gauge',
    help: 'About how many bytes events, attempts and ended deliveries take in the store.',
  },
  hookswitch_history_limit_bytes: {
    kind: 'gauge',
    help: 'The option maxHistoryBytes; 0: there is no limit.',
  },
  hookswitch_oldest_due_seconds: {
    kind: 'gauge',
    help: 'Time since the delivery of this node became due that could have been sent first: its webhook is not paused and not at a limit of its own.',
  },
  hookswitch_oldest_waiting_seconds: {
    kind: 'gauge',
    help: 'Time since the oldest pending delivery of this node was accepted or replayed: of those that may be sent or wait for a retry or the end of a pause, and of those that are held.',
    label: 'state',
    values: ['pending', 'held'],
  },
  hookswitch_in_flight: { kind: 'gauge', help: 'Requests of this node in flight.' },
  hookswitch_streams: { kind: 'gauge', help: 'Open live streams of this node.' },
  hookswitch_endpoints: {
    kind: 'gauge',
    help: 'Webhooks in the memory of this node: with pending deliveries, or used lately.',
  },
  hookswitch_endpoints_paused: {
    kind: 'gauge',
    help: 'Paused endpoints of this node with pending deliveries: those that wait for their next try, and those that are tried now.',
    label: 'state',
    values: ['waiting', 'probing'],
  },
  hookswitch_outage_start_timestamp_seconds: {
    kind: 'gauge',
    help: 'Since when no receiver of a network answers this node, in Unix time; 0: receivers answer.',
    label: 'network',
    values: NETWORKS,
  },
  hookswitch_node_problem: {
    kind: 'gauge',
    help: 'Whether this part keeps this node from its work (1) or not (0).',
    label: 'part',
    values: [...NODE_PARTS, 'disk'],
  },
  hookswitch_last_commit_timestamp_seconds: {
    kind: 'gauge',
    help: 'When this node last wrote deliveries to the store, in Unix time; 0: not since its start.',
  },
  hookswitch_feed_lag_seconds: {
    kind: 'gauge',
    help: 'Time since this node last read what other nodes have accepted and changed; 0 where it is alone.',
  },
  hookswitch_clock_deviation_seconds: {
    kind: 'gauge',
    help: "How far this machine's clock is ahead of the store's (negative: behind).",
  },
  hookswitch_time_seconds: { kind: 'gauge', help: 'The clock of the machine, in Unix time.' },
  hookswitch_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'The longest delay of the event loop of the program in the last complete 10 s.',
  },
  hookswitch_resident_memory_bytes: { kind: 'gauge', help: 'Resident memory of the program.' },
  hookswitch_memory_limit_bytes: {
    kind: 'gauge',
    help: 'Memory that the program may use: the limit of its container, or that of the machine.',
  },
  hookswitch_heap_bytes: { kind: 'gauge', help: 'Used JavaScript heap of the program.' },
  hookswitch_heap_limit_bytes: {
    kind: 'gauge',
    help: 'Size of the JavaScript heap at which the program ends (--max-old-space-size).',
  },
  hookswitch_disk_free_bytes: { kind: 'gauge', help: "Free bytes on the disk of the program's SQLite file." },
  hookswitch_disk_bytes: { kind: 'gauge', help: "Size of the disk of the program's SQLite file." },
  hookswitch_source_connected: {
    kind: 'gauge',
    help: 'Whether the source is logged in and subscribed (1) or not (0).',
    label: 'source',
  },
  hookswitch_source_reconnects_total: {
    kind: 'observable_counter',
    help: 'Connections of the source after its first.',
    label: 'source',
  },
  hookswitch_source_events_read_total: {
    kind: 'observable_counter',
    help: 'Channel events read from the switch.',
    label: 'source',
  },
  hookswitch_source_events_published_total: {
    kind: 'observable_counter',
    help: 'Channel events that publish accepted, duplicates included.',
    label: 'source',
  },
  hookswitch_source_events_refused_total: {
    kind: 'observable_counter',
    help: 'Channel events that are not published: refused by publish, or without a known account.',
    label: 'source',
  },
  hookswitch_source_events_held: {
    kind: 'gauge',
    help: 'Channel events that wait for their account or for the service.',
    label: 'source',
  },
  hookswitch_source_lag_seconds: {
    kind: 'gauge',
    help: 'How late the source publishes what happened at the switch.',
    label: 'source',
  },
} as const satisfies Readonly<Record<string, MetricShape>>)

/** Declaration of one metric. */
export type MetricShape = {
  /** One sentence for the metrics backend. */
  readonly help: string
  /** Name of the label. A metric has at most one. */
  readonly label?: string
  /** All values of the label; absent where the host chooses them. */
  readonly values?: readonly string[]
} & (
  | {
      /** An `observable_counter` is read at collection, as a gauge is, and never decreases. */
      readonly kind: 'counter' | 'observable_counter' | 'gauge'
    }
  /** `buckets`: upper bounds, in seconds. */
  | { readonly kind: 'histogram'; readonly buckets: readonly number[] }
)

/** Names of the counters in `METRICS`. */
export type CounterName = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['kind'] extends 'counter' ? Name : never
}[keyof typeof METRICS]
/** Names of the histograms in `METRICS`. */
export type HistogramName = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['kind'] extends 'histogram' ? Name : never
}[keyof typeof METRICS]
/** Names of the gauges in `METRICS`. */
export type GaugeName = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['kind'] extends 'gauge' ? Name : never
}[keyof typeof METRICS]
/** Names of the counters in `METRICS` that are read at collection. */
export type ObservableCounterName = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['kind'] extends 'observable_counter' ? Name : never
}[keyof typeof METRICS]
/** Label values of a metric; `undefined` for a metric without a label. */
export type LabelOf<Name extends keyof typeof METRICS> = (typeof METRICS)[Name] extends {
  readonly values: readonly (infer Value)[]
}
  ? Value
  : undefined

/** Current value of one gauge or observable counter. */
export interface GaugeReading {
  /** Name of the metric. */
  readonly name: GaugeName | ObservableCounterName
  /** A value of the metric's label; absent where it has no label. */
  readonly label?: string
  /** The current value, in the unit that the name states. */
  readonly value: number
}

/** Receives measurements. Exceptions are caught and logged once. */
export interface Metrics {
  /** Adds `by` to a counter. `label`: a value of the counter's label. */
  count<Name extends CounterName>(name: Name, by: number, label: LabelOf<Name>): void
  /** Adds one value to a histogram, in seconds. */
  observe(name: HistogramName, seconds: number): void
  /**
   * Registers a function that reads gauges and observable counters; called once when an instance starts, and once by
   * each source of switch events that has these metrics.
   *
   * @param read call it at every collection; returns its metrics with all their label values, and may reject
   * @param ended aborts when the instance closes; do not call `read` afterwards
   */
  watch(read: () => Promise<readonly GaugeReading[]>, ended?: AbortSignal): void
}
