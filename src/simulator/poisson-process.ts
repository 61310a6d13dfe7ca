import type { SeededRandom } from '../testkit/random.js'
import type { RunQueue } from './run-queue.js'

/** Runs `step` repeatedly until `untilMs`, with exponentially distributed gaps of `gapMs` on average. */
export function poissonProcess(
  queue: Pick<RunQueue, 'now' | 'after'>,
  random: Pick<SeededRandom, 'exponential'>,
  { gapMs, untilMs }: { readonly gapMs: number; readonly untilMs: number },
  step: () => void,
): void {
  const next = () => {
    const inMs = random.exponential(gapMs)
    if (queue.now() + inMs >= untilMs) return
    queue.after(inMs, () => {
      step()
      next()
    })
  }
  next()
}
