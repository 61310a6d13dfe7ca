import fc from 'fast-check'
import { type GaugeReading, METRICS, type MetricShape } from 'hookswitch/adapter'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { describe, expect, it } from 'vitest'
import { exposition, numberText } from '../../../adapters/observability/exposition.js'
import { watchedGauges } from '../../../adapters/observability/gauges.js'
import { parseExposition } from './parse-exposition.js'

const SHAPES = Object.entries(METRICS) as [string, MetricShape][]
const of = (kind: MetricShape['kind']) => SHAPES.filter(([, shape]) => shape.kind === kind)
const scrape = async (metrics: { text(): Promise<string> }) => parseExposition(await metrics.text())

const READINGS: readonly GaugeReading[] = [
  { name: 'hookswitch_deliveries_pending', value: 7 },
  { name: 'hookswitch_deliveries_pending_limit', value: 1_000 },
  { name: 'hookswitch_account_backlog_ratio', value: 0.25 },
  { name: 'hookswitch_history_bytes', value: 4_096 },
  { name: 'hookswitch_history_limit_bytes', value: 0 },
  { name: 'hookswitch_oldest_due_seconds', value: 1.5 },
  { name: 'hookswitch_oldest_waiting_seconds', label: 'pending', value: 90 },
  { name: 'hookswitch_oldest_waiting_seconds', label: 'held', value: 0 },
  { name: 'hookswitch_in_flight', value: 3 },
  { name: 'hookswitch_streams', value: 2 },
  { name: 'hookswitch_endpoints', value: 9 },
  { name: 'hookswitch_endpoints_paused', label: 'waiting', value: 2 },
  { name: 'hookswitch_endpoints_paused', label: 'probing', value: 1 },
  { name: 'hookswitch_outage_start_timestamp_seconds', label: 'public', value: 1_900_000_000 },
  { name: 'hookswitch_outage_start_timestamp_seconds', label: 'private', value: 0 },
  { name: 'hookswitch_outage_start_timestamp_seconds', label: 'loopback', value: 0 },
  { name: 'hookswitch_node_problem', label: 'store', value: 1 },
  { name: 'hookswitch_node_problem', label: 'lease', value: 0 },
  { name: 'hookswitch_node_problem', label: 'feed', value: 0 },
  { name: 'hookswitch_node_problem', label: 'disk', value: 0 },
  { name: 'hookswitch_last_commit_timestamp_seconds', value: 1_900_000_001 },
  { name: 'hookswitch_feed_lag_seconds', value: 2.5 },
  { name: 'hookswitch_clock_deviation_seconds', value: -40 },
  { name: 'hookswitch_time_seconds', value: 1_900_000_002.5 },
  { name: 'hookswitch_event_loop_delay_seconds', value: 0.01 },
  { name: 'hookswitch_resident_memory_bytes', value: 100 },
  { name: 'hookswitch_memory_limit_bytes', value: 400 },
  { name: 'hookswitch_heap_bytes', value: 50 },
  { name: 'hookswitch_heap_limit_bytes', value: 200 },
  { name: 'hookswitch_disk_free_bytes', value: 700 },
  { name: 'hookswitch_disk_bytes', value: 800 },
]
const SWITCH = 'freeswitch "a":8021'
const SOURCE_READINGS: readonly GaugeReading[] = [
  { name: 'hookswitch_source_connected', label: SWITCH, value: 1 },
  { name: 'hookswitch_source_reconnects_total', label: SWITCH, value: 2 },
  { name: 'hookswitch_source_events_read_total', label: SWITCH, value: 30 },
  { name: 'hookswitch_source_events_published_total', label: SWITCH, value: 20 },
  { name: 'hookswitch_source_events_refused_total', label: SWITCH, value: 4 },
  { name: 'hookswitch_source_events_held', label: SWITCH, value: 6 },
  { name: 'hookswitch_source_lag_seconds', label: SWITCH, value: 0.25 },
]

describe('prometheusMetrics', () => {
  it('shows every counter and histogram from the start, each label value at 0, with its help text', async () => {
    const { families } = await scrape(prometheusMetrics())
    expect([...families.keys()]).toEqual([...of('counter'), ...of('histogram')].map(([name]) => name))
    for (const [name, shape] of of('counter')) {
      const { help, type, samples } = families.get(name)!
      expect([help, type]).toEqual([shape.help, 'counter'])
      const labels = shape.values?.map((value) => ({ [shape.label!]: value })) ?? [{}]
      expect(samples.map((sample) => sample.labels)).toEqual(labels)
      expect(samples.every(({ value }) => value === 0)).toBe(true)
    }
  })

  it('sums counters by label', async () => {
    const metrics = prometheusMetrics()
    metrics.count('hookswitch_attempts_total', 1, 'delivered')
    metrics.count('hookswitch_attempts_total', 2, 'delivered')
    metrics.count('hookswitch_attempts_total', 5, 'timeout')
    metrics.count('hookswitch_events_accepted_total', 4, undefined)
    const { value } = await scrape(metrics)
    expect(value('hookswitch_attempts_total', { outcome: 'delivered' })).toBe(3)
    expect(value('hookswitch_attempts_total', { outcome: 'timeout' })).toBe(5)
    expect(value('hookswitch_attempts_total', { outcome: 'dns' })).toBe(0)
    expect(value('hookswitch_events_accepted_total')).toBe(4)
  })

  it('ignores names and labels that METRICS does not contain, and never decreases a counter', async () => {
    const metrics = prometheusMetrics()
    const before = await metrics.text()
    const count = metrics.count as (name: string, by: number, label?: string) => void
    count('hookswitch_attempts_total', 1, 'a name chosen by a client')
    count('hookswitch_attempts_total', 1)
    count('hookswitch_events_accepted_total', 1, 'delivered')
    count('constructor', 1)
    for (const by of [-1, 0, Number.NaN]) count('hookswitch_events_accepted_total', by)
    metrics.observe('nothing' as never, 1)
    for (const seconds of [Number.NaN, Number.POSITIVE_INFINITY])
      metrics.observe('hookswitch_attempt_duration_seconds', seconds)
    expect(await metrics.text()).toBe(before)
  })

  it('counts durations in cumulative buckets', async () => {
    const seconds = fc.oneof(fc.double({ min: -1, max: 20, noNaN: true }), fc.constantFrom(0.005, 10, 86_400))
    await fc.assert(
      fc.asyncProperty(fc.array(seconds), async (values) => {
        const metrics = prometheusMetrics()
        for (const value of values) metrics.observe('hookswitch_attempt_duration_seconds', value)
        const { value } = await scrape(metrics)
        for (const bound of METRICS.hookswitch_attempt_duration_seconds.buckets) {
          const count = values.filter((value) => value <= bound).length
          expect(value('hookswitch_attempt_duration_seconds_bucket', { le: String(bound) })).toBe(count)
        }
        expect(value('hookswitch_attempt_duration_seconds_count')).toBe(values.length)
        const sum = values.reduce((total, value) => total + Math.max(0, value), 0)
        expect(value('hookswitch_attempt_duration_seconds_sum')).toBeCloseTo(sum, 6)
      }),
      { numRuns: 50 },
    )
  })

  it('reads gauges at each scrape until the instance has ended', async () => {
    const metrics = prometheusMetrics()
    const ended = new AbortController()
    let inFlight = 3
    metrics.watch(
      async () =>
        [...READINGS, ...SOURCE_READINGS].map((reading) =>
          reading.name === 'hookswitch_in_flight' ? { ...reading, value: inFlight } : reading,
        ),
      ended.signal,
    )
    const first = await scrape(metrics)
    expect(of('gauge').map(([name]) => first.families.get(name)?.type)).toEqual(
      of('gauge').map(() => 'gauge'),
    )
    expect(first.value('hookswitch_in_flight')).toBe(3)
    expect(first.value('hookswitch_endpoints_paused', { state: 'waiting' })).toBe(2)
    inFlight = 0
    expect((await scrape(metrics)).value('hookswitch_in_flight')).toBe(0)
    ended.abort()
    expect((await scrape(metrics)).families.has('hookswitch_in_flight')).toBe(false)
  })

  it('shows the figures of each source under its name, also while the store cannot be read', async () => {
    const metrics = prometheusMetrics()
    const ended = new AbortController()
    metrics.watch(() => Promise.reject(new Error('the store is unavailable')))
    metrics.watch(async () => SOURCE_READINGS, ended.signal)
    const other = SOURCE_READINGS.map((reading) => ({
      ...reading,
      label: 'kamailio b:8448',
      value: reading.value + 1,
    }))
    metrics.watch(async () => other)
    const { families, value } = await scrape(metrics)
    for (const reading of [...SOURCE_READINGS, ...other])
      expect([reading.name, value(reading.name, { source: reading.label! })]).toEqual([
        reading.name,
        reading.value,
      ])
    expect(families.get('hookswitch_source_events_read_total')!.type).toBe('counter')
    expect(families.get('hookswitch_source_events_held')!.type).toBe('gauge')
    ended.abort()
    const { families: left } = await scrape(metrics)
    expect(left.get('hookswitch_source_connected')!.samples.map(({ labels }) => labels)).toEqual([
      { source: 'kamailio b:8448' },
    ])
  })

  it('omits only the gauges while they cannot be read', async () => {
    const failures: (() => Promise<readonly GaugeReading[]>)[] = [
      () => Promise.reject(new Error('the store is unavailable')),
      () => {
        throw new Error('the store is unavailable')
      },
      () => Promise.resolve(null as never),
    ]
    for (const failure of failures) {
      const metrics = prometheusMetrics()
      metrics.count('hookswitch_events_accepted_total', 1, undefined)
      metrics.watch(failure)
      const { families, value } = await scrape(metrics)
      expect([...families.values()].filter(({ type }) => type === 'gauge')).toEqual([])
      expect(value('hookswitch_events_accepted_total')).toBe(1)
    }
  })

  it('stops waiting for a store that does not respond', async () => {
    const gauges = watchedGauges(1)
    gauges.watch(() => new Promise(() => {}))
    expect(await gauges.read()).toEqual([])
  })

  it('shows the gauges that could be read, with every value of their labels', async () => {
    const metrics = prometheusMetrics()
    metrics.watch(async () => [
      { name: 'hookswitch_in_flight', value: 1 },
      { name: 'hookswitch_endpoints_paused', label: 'waiting', value: 2 },
      { name: 'hookswitch_oldest_due_seconds', value: Number.NaN },
      { name: 'hookswitch_endpoints_paused', label: 'a name chosen by a client', value: 9 },
      { name: 'constructor' as never, value: 9 },
    ])
    const { families, value } = await scrape(metrics)
    const gauges = [...families].filter(([, { type }]) => type === 'gauge').map(([name]) => name)
    expect(gauges).toEqual(['hookswitch_in_flight', 'hookswitch_endpoints_paused'])
    expect(families.get('hookswitch_endpoints_paused')!.samples).toHaveLength(2)
    expect(value('hookswitch_endpoints_paused', { state: 'probing' })).toBe(0)
  })

  it('reads the gauges once for concurrent scrapes', async () => {
    const metrics = prometheusMetrics()
    let reads = 0
    metrics.watch(async () => {
      reads += 1
      return READINGS
    })
    const [first, second] = await Promise.all([metrics.text(), metrics.text()])
    expect([reads, first === second]).toEqual([1, true])
    await metrics.text()
    expect(reads).toBe(2)
  })
})

describe('prometheusMetrics shared by two instances', () => {
  it('sums the gauges, except those of which the greatest counts', async () => {
    const metrics = prometheusMetrics()
    const ended = new AbortController()
    metrics.watch(async () => READINGS)
    metrics.watch(
      async () => [
        { name: 'hookswitch_deliveries_pending', value: 3 },
        { name: 'hookswitch_oldest_due_seconds', value: 0.5 },
        { name: 'hookswitch_endpoints_paused', label: 'waiting', value: 1 },
        { name: 'hookswitch_outage_start_timestamp_seconds', label: 'public', value: 1_900_000_009 },
        { name: 'hookswitch_clock_deviation_seconds', value: 10 },
      ],
      ended.signal,
    )
    const both = await scrape(metrics)
    expect(both.value('hookswitch_deliveries_pending')).toBe(10)
    expect(both.value('hookswitch_oldest_due_seconds')).toBe(1.5)
    expect(both.value('hookswitch_endpoints_paused', { state: 'waiting' })).toBe(3)
    expect(both.value('hookswitch_outage_start_timestamp_seconds', { network: 'public' })).toBe(1_900_000_009)
    expect(both.value('hookswitch_clock_deviation_seconds')).toBe(-40)
    ended.abort()
    expect((await scrape(metrics)).value('hookswitch_deliveries_pending')).toBe(7)
  })

  it('shows two sources at one switch as connected only while both are', async () => {
    const metrics = prometheusMetrics()
    const source = (connected: number, read: number) => async () => [
      { name: 'hookswitch_source_connected' as const, label: 'switch', value: connected },
      { name: 'hookswitch_source_events_read_total' as const, label: 'switch', value: read },
    ]
    const second = new AbortController()
    metrics.watch(source(1, 3))
    metrics.watch(source(0, 4), second.signal)
    const both = await scrape(metrics)
    expect(both.value('hookswitch_source_connected', { source: 'switch' })).toBe(0)
    expect(both.value('hookswitch_source_events_read_total', { source: 'switch' })).toBe(7)
    second.abort()
    metrics.watch(source(1, 4))
    expect((await scrape(metrics)).value('hookswitch_source_connected', { source: 'switch' })).toBe(1)
  })

  it('shows no gauges while one instance cannot be read, because part of a sum is wrong', async () => {
    const metrics = prometheusMetrics()
    metrics.watch(async () => READINGS)
    metrics.watch(() => Promise.reject(new Error('the store is unavailable')))
    expect((await scrape(metrics)).value('hookswitch_deliveries_pending')).toBeUndefined()
  })
})

describe('exposition', () => {
  it('escapes every character of help texts and labels', () => {
    const anyText = fc.string({
      unit: fc.constantFrom('a', ' ', '\\', '"', 'n', '\n', '\r', '}', '{', ',', '=', 'é'),
    })
    fc.assert(
      fc.property(anyText, anyText, (help, label) => {
        const text = exposition([
          { name: 'x', help, kind: 'gauge', samples: [{ suffix: '', labels: [['l', label]], value: 1 }] },
        ])
        const [family] = parseExposition(text).families.values()
        expect(family!.help).toBe(help)
        expect(family!.samples).toEqual([{ name: 'x', labels: { l: label }, value: 1 }])
      }),
    )
  })

  it('omits a metric without samples', () => {
    expect(exposition([{ name: 'x', help: 'X', kind: 'gauge', samples: [] }])).toBe('')
  })

  it("writes numbers for Go's ParseFloat", () => {
    expect([0, 0.005, 86_400, 1e21, 5e-324].map(numberText)).toEqual([
      '0',
      '0.005',
      '86400',
      '1e+21',
      '5e-324',
    ])
    expect(numberText(Number.POSITIVE_INFINITY)).toBe('+Inf')
    expect(numberText(Number.NEGATIVE_INFINITY)).toBe('-Inf')
  })
})
