/** Finds the highest steady rate, up to a target, at which publishing and delivering do not fall behind. */

/** Long enough for a growing backlog to become visible. */
const SECONDS = 2
const STEP = 0.85
const MAX_TRIES = 20

/** A run fell behind if it ends late by more than this share of its planned duration. */
const LATE_SHARE = 0.1

export const keptUp = ({ lateMs, plannedMs }) => lateMs <= plannedMs * LATE_SHARE

/** @param {{ request: (method: string, input: object) => Promise<any> }} publisher */
export async function findSteadyRate(publisher, target) {
  let perSecond = target
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const run = await publisher.request('steady', { count: perSecond * SECONDS, perSecond })
    if (keptUp(run)) return perSecond
    perSecond = Math.floor((perSecond * STEP) / 50) * 50
  }
  throw new Error(`falls behind at ${perSecond} events/s too`)
}

/** The rate as text. */
export const formatRate = (perSecond, target) =>
  perSecond === target
    ? `${perSecond.toLocaleString('en')}/s`
    : `${perSecond.toLocaleString('en')}/s (this machine falls behind at ${target.toLocaleString('en')}/s)`

/** A note on rounds that fell behind all the same; empty if there are none. */
export function lateRoundsNote(runs) {
  const late = runs.filter((run) => !keptUp(run)).length
  return late === 0 ? '' : `, ${late} of ${runs.length} rounds fell behind`
}
