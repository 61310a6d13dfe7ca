/** The gauges of the program: memory, event loop and disk. */
import { totalmem } from 'node:os'
import type { GaugeReading } from 'hookswitch/adapter'
import { afterEach, expect, it, vi } from 'vitest'
import { diskHealth } from '../../../adapters/cli/disk.js'
import { watchProgram } from '../../../adapters/cli/program-gauges.js'

afterEach(() => void vi.useRealTimers())

async function read(disk: Parameters<typeof watchProgram>[1]) {
  let readings: readonly GaugeReading[] = []
  let ended: AbortSignal | undefined
  const watched: Promise<void>[] = []
  const end = watchProgram(
    {
      watch(reader, signal) {
        ended = signal
        watched.push(
          reader().then((found) => {
            readings = found
          }),
        )
      },
    },
    disk,
    { warn: () => {} },
  )
  await Promise.all(watched)
  expect(ended?.aborted).toBe(false)
  end()
  expect(ended?.aborted).toBe(true)
  return Object.fromEntries(readings.map(({ name, value }) => [name.replace('hookswitch_', ''), value]))
}

it('shows the memory and the heap below their limits, and no disk without a file', async () => {
  const values = await read(async () => undefined)
  expect(Object.keys(values).sort()).toEqual([
    'event_loop_delay_seconds',
    'heap_bytes',
    'heap_limit_bytes',
    'memory_limit_bytes',
    'resident_memory_bytes',
    'time_seconds',
  ])
  expect(Math.abs(values.time_seconds! - Date.now() / 1000)).toBeLessThan(60)
  expect(values.heap_bytes).toBeGreaterThan(1_000_000)
  expect(values.heap_bytes).toBeLessThan(values.heap_limit_bytes!)
  expect(values.resident_memory_bytes).toBeLessThan(values.memory_limit_bytes!)
  expect(values.memory_limit_bytes).toBeLessThanOrEqual(totalmem())
})

it('shows the disk of the file, and that it is full', async () => {
  const room = await read(async () => diskHealth(2 ** 30, 2 ** 31))
  expect(room).toMatchObject({ disk_free_bytes: 2 ** 30, disk_bytes: 2 ** 31, node_problem: 0 })
  const full = await read(async () => diskHealth(1_000, 2 ** 31))
  expect(full).toMatchObject({ disk_free_bytes: 1_000, node_problem: 1 })
})

it('logs by how many seconds the clock of the machine was set, once', () => {
  vi.useFakeTimers({
    toFake: ['Date', 'performance', 'setInterval', 'clearInterval'],
    now: 1_900_000_000_000,
  })
  const logged: object[] = []
  const log = { warn: (fields: object) => void logged.push(fields) }
  const end = watchProgram({ watch: () => {} }, async () => undefined, log)
  vi.advanceTimersByTime(60_000)
  expect(logged).toEqual([])
  vi.setSystemTime(Date.now() - 600_000)
  vi.advanceTimersByTime(60_000)
  expect(logged).toEqual([{ seconds: -600 }])
  end()
})
