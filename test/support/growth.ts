/**
 * How the time of an operation grows with its input, on a machine that may be busy: time of the processor, because a long
 * operation is interrupted more often than a short one.
 */
import { expect } from 'vitest'

const KIB = 1024
const SIZES = [8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB]
/** For streams, whose messages may be long. */
export const LARGE_SIZES = SIZES.map((size) => size * 4)
/** For an operation that reads no more than 10,000 characters. */
export const SMALL_SIZES = SIZES.map((size) => size / 8)
/** Twice the input may take 2.5 times the time, on average over all sizes: a garbage collection may fall into any of them. */
const MAX_GROWTH = 2.5
/** A shorter time of the smallest input counts as this: it is mostly that of the timer. */
const FLOOR_MS = 0.2
/** The first runs take long because the code is not compiled yet. */
const FIRST_RUNS = 2
const MIN_ROUNDS = 2
const MAX_ROUNDS = 60
/** After this time the shortest runs are final: only what is not linear takes so long. */
const MAX_MS = 20_000

/**
 * Expects that an operation takes time in proportion to the size of its input. Other work of this process only ever adds to
 * a time, so each size counts with its shortest run, and further rounds can only lower it. A largest input that takes no
 * longer than `FLOOR_MS` allows needs no other run.
 *
 * @param prepare returns the operation on an input of about so many characters
 * @param sizes each twice the one before
 */
export async function expectLinear(
  prepare: (size: number) => () => unknown,
  sizes: readonly number[] = SIZES,
): Promise<void> {
  const largest = prepare(sizes.at(-1)!)
  for (let run = 0; run < FIRST_RUNS; run += 1) if ((await cpuTime(largest)) <= limitOf(0, sizes)) return
  const operations = [...sizes.slice(0, -1).map(prepare), largest]
  const shortest = sizes.map(() => Number.POSITIVE_INFINITY)
  const began = performance.now()
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (const [index, operation] of operations.entries()) {
      shortest[index] = Math.min(shortest[index]!, await cpuTime(operation))
    }
    if (round + 1 < MIN_ROUNDS) continue
    if (isLinear(shortest) || performance.now() - began > MAX_MS) break
  }
  expect(
    isLinear(shortest),
    sizes.map((size, index) => `${size / KIB} KiB: ${shortest[index]!.toFixed(2)} ms`).join(', '),
  ).toBe(true)
}

/** Milliseconds that the largest input may take. */
function limitOf(smallestMs: number, sizes: readonly unknown[]): number {
  return MAX_GROWTH ** (sizes.length - 1) * Math.max(smallestMs, FLOOR_MS)
}

function isLinear(times: readonly number[]): boolean {
  return times.at(-1)! <= limitOf(times[0]!, times)
}

async function cpuTime(operation: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await operation()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
