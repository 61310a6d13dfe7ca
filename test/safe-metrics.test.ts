import { describe, expect, it } from 'vitest'
import type { GaugeReading, Metrics } from '../src/metrics.js'
import type { Log, Tracing } from '../src/ports.js'
import { safeMetrics, safeTracing } from '../src/safe-metrics.js'

function noting() {
  const warned: unknown[] = []
  const warn = (fields: object, message: string) => void warned.push([fields, message])
  return { warned, log: { debug: warn, info: warn, warn, error: warn } satisfies Log }
}

const fail = (): never => {
  throw new Error('no backend')
}

describe('the host’s metrics', () => {
  it('may throw: that is told once', () => {
    const { warned, log } = noting()
    const metrics = safeMetrics({ count: fail, observe: fail, watch: fail }, log)
    for (let i = 0; i < 3; i += 1) {
      metrics.count('hookswitch_events_accepted_total', 1, undefined)
      metrics.observe('hookswitch_attempt_duration_seconds', 1)
      metrics.watch(async () => [])
    }
    expect(warned).toEqual([[{ reason: 'no backend' }, 'metrics failed']])
  })

  it('are told once how gauges are read, and read what the last start made', async () => {
    const watched: Parameters<Metrics['watch']>[] = []
    const ended = new AbortController()
    const watch = (...args: Parameters<Metrics['watch']>) => void watched.push(args)
    const metrics = safeMetrics({ count() {}, observe() {}, watch }, noting().log, ended.signal)
    const reads = (value: number) => async (): Promise<readonly GaugeReading[]> => [
      { name: 'hookswitch_in_flight', value },
    ]
    metrics.watch(reads(1))
    metrics.watch(reads(2))
    expect(watched).toHaveLength(1)
    const [read, signal] = watched[0]!
    expect(await read()).toEqual([{ name: 'hookswitch_in_flight', value: 2 }])
    expect(signal).toBe(ended.signal)
  })

  it('may be none', () => {
    const metrics = safeMetrics(undefined, noting().log)
    metrics.count('hookswitch_events_accepted_total', 1, undefined)
    metrics.observe('hookswitch_attempt_duration_seconds', 1)
    metrics.watch(fail)
  })
})

describe('the host’s tracing', () => {
  it('may throw at any point: that is told once, and there is no span', () => {
    const { warned, log } = noting()
    const atBegin = safeTracing({ begin: fail }, log)!
    const atEnd = safeTracing({ begin: () => ({ traceparent: 'x', end: fail }) }, log)!
    for (let i = 0; i < 2; i += 1) {
      const span = atBegin.begin('publish', undefined, {})
      expect(span.traceparent).toBeUndefined()
      span.end({})
      atEnd.begin('attempt', undefined, {}).end({}, 'timeout')
    }
    expect(warned).toEqual(Array(2).fill([{ reason: 'no backend' }, 'tracing failed']))
  })

  it('may be none', () => {
    expect(safeTracing(undefined as Tracing | undefined, noting().log)).toBeUndefined()
  })
})
