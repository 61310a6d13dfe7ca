import { describe, expect, it } from 'vitest'
import type { GaugeReading, Metrics } from '../../src/metrics.js'
import type { Log, Tracing } from '../../src/ports.js'
import { safeMetrics, safeTracing } from '../../src/runtime/safe-metrics.js'

function recordingLog() {
  const warned: unknown[] = []
  const warn = (fields: object, message: string) => void warned.push([fields, message])
  return { warned, log: { debug: warn, info: warn, warn, error: warn } satisfies Log }
}

const fail = (): never => {
  throw new Error('no backend')
}

describe('safeMetrics', () => {
  it('catches exceptions and logs them', () => {
    const { warned, log } = recordingLog()
    const metrics = safeMetrics({ count: fail, observe: fail, watch: fail }, log)
    for (let i = 0; i < 3; i += 1) {
      metrics.count('hookswitch_events_accepted_total', 1, undefined)
      metrics.observe('hookswitch_attempt_duration_seconds', 1)
      metrics.watch(async () => [])
    }
    expect(warned).toEqual(Array(7).fill([{ reason: 'no backend' }, 'metrics failed']))
  })

  it('registers one gauge reader, which reads the instance of the latest start', async () => {
    const watched: Parameters<Metrics['watch']>[] = []
    const ended = new AbortController()
    const watch = (...args: Parameters<Metrics['watch']>) => void watched.push(args)
    const metrics = safeMetrics({ count() {}, observe() {}, watch }, recordingLog().log, ended.signal)
    const readerOf = (value: number) => async (): Promise<readonly GaugeReading[]> => [
      { name: 'hookswitch_in_flight', value },
    ]
    metrics.watch(readerOf(1))
    metrics.watch(readerOf(2))
    expect(watched).toHaveLength(1)
    const [read, signal] = watched[0]!
    expect(await read()).toEqual([{ name: 'hookswitch_in_flight', value: 2 }])
    expect(signal).toBe(ended.signal)
  })

  it('discards measurements if the host has no metrics', () => {
    const metrics = safeMetrics(undefined, recordingLog().log)
    metrics.count('hookswitch_events_accepted_total', 1, undefined)
    metrics.observe('hookswitch_attempt_duration_seconds', 1)
    metrics.watch(fail)
  })
})

describe('safeTracing', () => {
  it('catches exceptions at any point and logs them; there is no span then', () => {
    const { warned, log } = recordingLog()
    const atBegin = safeTracing({ begin: fail }, log)!
    const atEnd = safeTracing({ begin: () => ({ traceparent: 'x', end: fail }) }, log)!
    for (let i = 0; i < 2; i += 1) {
      const span = atBegin.begin('publish', undefined, {})
      expect(span.traceparent).toBeUndefined()
      span.end({})
      atEnd.begin('attempt', undefined, {}).end({}, 'timeout')
    }
    expect(warned).toEqual(Array(4).fill([{ reason: 'no backend' }, 'tracing failed']))
  })

  it('is undefined if the host has no tracing', () => {
    expect(safeTracing(undefined as Tracing | undefined, recordingLog().log)).toBeUndefined()
  })
})
