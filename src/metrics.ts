/**
 * The metrics door and all that goes through it: a closed set of names and labels, as data, so that adapters can declare
 * them and nobody's input ever becomes a label. Names and units follow Prometheus and OpenTelemetry: seconds, `_total`.
 */

/** What became of one request. */
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

/** Every metric: kind, what it tells, and its label with all the values that it takes. */
export const METRICS = Object.freeze({
  hookswitch_events_accepted_total: { kind: 'counter', help: 'Events accepted, duplicates left out.' },
  hookswitch_events_refused_total: {
    kind: 'counter',
    help: 'Events refused by publish.',
    label: 'reason',
    values: ['invalid', 'queue_full', 'store', 'other'],
  },
  hookswitch_deliveries_accepted_total: {
    kind: 'counter',
    help: 'Deliveries made: of accepted events, tests and replays.',
  },
  hookswitch_deliveries_ended_total: {
    kind: 'counter',
    help: 'Deliveries that ended, by their last state.',
    label: 'state',
    values: ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'],
  },
  hookswitch_attempts_total: {
    kind: 'counter',
    help: 'Requests to receivers, by what became of them.',
    label: 'outcome',
    values: ATTEMPT_OUTCOMES,
  },
  hookswitch_webhooks_disabled_total: {
    kind: 'counter',
    help: 'Webhooks that the service disabled.',
    label: 'reason',
    values: ['gone', 'failing'],
  },
  hookswitch_token_lookups_total: {
    kind: 'counter',
    help: 'Tokens looked up, by whether memory knew them.',
    label: 'cache',
    values: ['hit', 'miss'],
  },
  hookswitch_logins_total: {
    kind: 'counter',
    help: 'Logins, by what became of them.',
    label: 'result',
    values: ['succeeded', 'failed', 'throttled'],
  },
  hookswitch_attempt_duration_seconds: {
    kind: 'histogram',
    help: 'How long a request took, from DNS to the end of its answer.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  hookswitch_delivery_latency_seconds: {
    kind: 'histogram',
    help: 'From the acceptance of an event to its delivery.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600, 86_400],
  },
  hookswitch_deliveries_pending: {
    kind: 'gauge',
    help: 'Deliveries that wait or are in flight, in the whole store.',
  },
  hookswitch_oldest_due_seconds: {
    kind: 'gauge',
    help: 'For how long the delivery of this node that waits longest has been due.',
  },
  hookswitch_in_flight: { kind: 'gauge', help: 'Requests of this node that are in flight.' },
  hookswitch_breakers: {
    kind: 'gauge',
    help: 'Endpoints of this node with work whose breaker is not closed.',
    label: 'state',
    values: ['open', 'half_open'],
  },
} as const satisfies Readonly<Record<string, MetricShape>>)

export type MetricShape = {
  readonly help: string
  /** A metric has one label at most; all of its values are known. */
  readonly label?: string
  readonly values?: readonly string[]
} & (
  | { readonly kind: 'counter' | 'gauge' }
  /** Upper bounds, seconds. */
  | { readonly kind: 'histogram'; readonly buckets: readonly number[] }
)

type Shapes = typeof METRICS
type OfKind<Kind extends MetricShape['kind']> = {
  [Name in keyof Shapes]: Shapes[Name]['kind'] extends Kind ? Name : never
}[keyof Shapes]

export type CounterName = OfKind<'counter'>
export type HistogramName = OfKind<'histogram'>
export type GaugeName = OfKind<'gauge'>
/** The values of a metric's label; `undefined` for one without. */
export type LabelOf<Name extends keyof Shapes> = Shapes[Name] extends {
  readonly values: readonly (infer Value)[]
}
  ? Value
  : undefined

/** One gauge as it stands. */
export interface GaugeReading {
  readonly name: GaugeName
  readonly label?: string
  readonly value: number
}

/** Where measurements go. One that throws hurts nobody. */
export interface Metrics {
  /** Adds to a counter. `label`: a value of its label. */
  count<Name extends CounterName>(name: Name, by: number, label: LabelOf<Name>): void
  /** One value of a distribution, seconds. */
  observe(name: HistogramName, seconds: number): void
  /**
   * Given once, when the instance starts: how to read the gauges, to be called whenever they are collected. It may
   * reject; all values of a label are in it. `ended` aborts when the instance closes: there is nothing to read then.
   */
  watch(read: () => Promise<readonly GaugeReading[]>, ended?: AbortSignal): void
}
