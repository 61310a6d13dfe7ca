/** The gauges of the program itself: its clock, its event loop, its memory, and the disk of its SQLite file. */
import { totalmem } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Log } from 'hookswitch'
import type { GaugeReading } from 'hookswitch/adapter'
import type { PrometheusMetrics } from 'hookswitch/prometheus'
import type { DiskHealth } from './disk.js'

/** Time whose longest delay is one reading, ms: a reading changes nothing, so that several collectors get the same. */
const WINDOW_MS = 10_000
/** Interval in which the delay is sampled, ms. */
const RESOLUTION_MS = 50
/** A clock that is set by more than this is logged, ms. */
const CLOCK_STEP_MS = 30_000

/**
 * Registers the gauges of the program, and logs when the clock of the machine is set: with SQLite nothing else shows it.
 *
 * @param readDisk the disk of the store's file; `undefined`: there is none, or the system does not tell
 * @returns ends the measurement
 */
export function watchProgram(
  metrics: Pick<PrometheusMetrics, 'watch'>,
  readDisk: () => Promise<DiskHealth | undefined>,
  log: Pick<Log, 'warn'>,
): () => void {
  const ended = new AbortController()
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let longestNs = 0
  const wallOffsetMs = () => Date.now() - performance.now()
  let offsetMs = wallOffsetMs()
  delays.enable()
  const timer = setInterval(() => {
    // The histogram counts the time between two samples.
    longestNs = Math.max(0, delays.max - RESOLUTION_MS * 1e6)
    delays.reset()
    const stepMs = wallOffsetMs() - offsetMs
    offsetMs += stepMs
    if (Math.abs(stepMs) > CLOCK_STEP_MS)
      log.warn(
        { seconds: Math.round(stepMs / 1000) },
        'the clock of this machine was set, or the machine was suspended',
      )
  }, WINDOW_MS).unref()
  metrics.watch(async () => readings(longestNs / 1e9, await readDisk()), ended.signal)
  return () => {
    ended.abort()
    clearInterval(timer)
    delays.disable()
  }
}

function readings(delaySeconds: number, disk: DiskHealth | undefined): readonly GaugeReading[] {
  const { rss, heapUsed } = process.memoryUsage()
  return [
    { name: 'hookswitch_time_seconds', value: Date.now() / 1000 },
    { name: 'hookswitch_event_loop_delay_seconds', value: delaySeconds },
    { name: 'hookswitch_resident_memory_bytes', value: rss },
    { name: 'hookswitch_memory_limit_bytes', value: memoryLimit() },
    { name: 'hookswitch_heap_bytes', value: heapUsed },
    { name: 'hookswitch_heap_limit_bytes', value: getHeapStatistics().heap_size_limit },
    ...(disk
      ? ([
          { name: 'hookswitch_disk_free_bytes', value: disk.freeBytes },
          { name: 'hookswitch_disk_bytes', value: disk.bytes },
          { name: 'hookswitch_node_problem', label: 'disk', value: disk.reason === undefined ? 0 : 1 },
        ] as const)
      : []),
  ]
}

/** A container without a limit reports 0, or more than the machine has. */
function memoryLimit(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}
