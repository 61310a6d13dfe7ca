/** What the parts of the workload have in common: they act on random nodes, at random times. */

import type { SeededRandom } from '../testkit/random.js'
import type { Cluster, RunningNode } from './cluster.js'
import type { RunHistory } from './history.js'
import type { RunQueue } from './run-queue.js'
import type { Trace } from './trace.js'

/** What every part of the workload uses. */
export interface WorkloadDeps {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly history: RunHistory
  readonly random: SeededRandom
  readonly cluster: Cluster
}

/** A part of the workload. */
export interface Workload {
  /** Acts until `untilMs`, `rateFactor` times as often as in a run of an hour. */
  begin(untilMs: number, rateFactor: number): void
}

/**
 * A workload that runs `step` with the nodes that are up, if any.
 *
 * @param gapMs mean gap between two steps in a run of an hour; gaps are exponentially distributed
 */
export function repeatedly(
  { queue, random, cluster }: Pick<WorkloadDeps, 'queue' | 'random' | 'cluster'>,
  gapMs: number,
  step: (up: readonly RunningNode[]) => void,
): Workload {
  return {
    begin(untilMs, rateFactor) {
      const next = () => {
        const inMs = random.exponential(gapMs / rateFactor)
        if (queue.now() + inMs >= untilMs) return
        queue.after(inMs, () => {
          const up = cluster.up()
          if (up.length > 0) step(up)
          next()
        })
      }
      next()
    },
  }
}
