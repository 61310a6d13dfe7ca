import type { SeededRandom } from '../random.js'
import type { RunQueue } from './run-queue.js'

/** Does something again and again, at drawn gaps of so long on the average, until then. */
export function paced(
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
