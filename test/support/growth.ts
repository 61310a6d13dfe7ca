/**
 * How the time of an operation grows with its input, on a machine that may be busy: time of the processor, because a long
 * operation is interrupted more often than a short one.
 */
import { expect } from 'vitest'

const KIB = 1024
const LARGEST = 64 * KIB
/** For streams, whose messages may be long. */
export const LARGEST_OF_STREAM = 256 * KIB
/** For an operation that reads no more than 10,000 characters. */
export const LARGEST_OF_SHORT = 8 * KIB
/** The largest input is compared with so many runs of an input of that part of its size. */
const PARTS = 16
/**
 * What the largest input may take, in times of the others. In proportion it takes 1, and up to 3 where what an input takes no
 * longer fits into a cache or needs new pages of memory, as the stack of `JSON.parse` for `[[[[…`; with the power of 1.5 it
 * takes 4, quadratic 16.
 */
const MAX_GROWTH = 3.5
/** A largest input that takes no longer needs no comparison. */
const FAST_MS = 3
/** The first runs take long because the code is not compiled yet. */
const FIRST_RUNS = 2
const MIN_ROUNDS = 2
/** After this time the shortest runs are final: only what is not linear takes so long. */
const MAX_MS = 10_000

/**
 * Expects that an operation takes time in proportion to the size of its input: the largest input is compared with as many
 * characters in smaller inputs, for which the same collections of garbage are due. Other work of this process only ever
 * adds to a time, so the shortest of all runs counts, and further runs can only lower it.
 *
 * @param prepare returns the operation on an input of about so many characters
 */
export async function expectLinear(
  prepare: (size: number) => () => unknown,
  largest = LARGEST,
): Promise<void> {
  const whole = prepare(largest)
  for (let run = 0; run < FIRST_RUNS; run += 1) if ((await cpuTime(whole)) <= FAST_MS) return
  const part = prepare(largest / PARTS)
  const parts = async () => {
    for (let run = 0; run < PARTS; run += 1) await part()
  }
  let [wholeMs, partsMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  const isLinear = () => wholeMs <= MAX_GROWTH * Math.max(partsMs, FAST_MS / MAX_GROWTH)
  const began = performance.now()
  for (let round = 0; round < MIN_ROUNDS || (!isLinear() && performance.now() - began < MAX_MS); round += 1) {
    wholeMs = Math.min(wholeMs, await cpuTime(whole))
    partsMs = Math.min(partsMs, await cpuTime(parts))
  }
  const [size, inParts] = [`${largest / KIB} KiB`, `in ${PARTS} parts`]
  expect(isLinear(), `${size}: ${wholeMs.toFixed(2)} ms, ${inParts}: ${partsMs.toFixed(2)} ms`).toBe(true)
}

async function cpuTime(operation: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await operation()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
