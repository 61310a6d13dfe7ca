import type { Disruption } from './history.js'

/** Upper bound of the length of a disruption. */
const LONGEST_MS = 1_200_000

/**
 * The disruptions that were active at some moment of an interval.
 *
 * @param disruptions in order of their begin
 */
export function* disruptionsBetween(
  disruptions: readonly Disruption[],
  fromMs: number,
  toMs: number,
): Generator<Disruption, void> {
  let low = 0
  for (let high = disruptions.length; low < high; ) {
    const middle = (low + high) >>> 1
    if (disruptions[middle]!.atMs < fromMs - LONGEST_MS) low = middle + 1
    else high = middle
  }
  for (let at = low; at < disruptions.length; at += 1) {
    const disruption = disruptions[at]!
    if (disruption.atMs > toMs) return
    if (disruption.untilMs >= fromMs) yield disruption
  }
}
