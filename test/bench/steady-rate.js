/** The highest steady rate up to a wanted one that a machine keeps: it publishes, and delivers, in time. */

/** Long enough for a backlog to show where there is one. */
const SECONDS = 2
const STEP = 0.85
const MOST_TRIES = 20

/** A load that is over late by more than this share of its time fell behind. */
const LATE_SHARE = 0.1

export const isKept = ({ behindMs, shouldMs }) => behindMs <= shouldMs * LATE_SHARE

/** @param {{ ask: (verb: string, input: object) => Promise<any> }} publisher */
export async function steadyRate(publisher, wanted) {
  let perSecond = wanted
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const run = await publisher.ask('steady', { count: perSecond * SECONDS, perSecond })
    if (isKept(run)) return perSecond
    perSecond = Math.floor((perSecond * STEP) / 50) * 50
  }
  throw new Error(`not even ${perSecond} events/s are kept`)
}

/** As people read it. */
export const rateText = (perSecond, wanted) =>
  perSecond === wanted
    ? `${perSecond.toLocaleString('en')}/s`
    : `${perSecond.toLocaleString('en')}/s (${wanted.toLocaleString('en')}/s is not kept here)`

/** What is to be said of rounds that fell behind all the same. */
export function fellBehind(runs) {
  const late = runs.filter((run) => !isKept(run)).length
  return late === 0 ? '' : `, ${late} of ${runs.length} rounds fell behind`
}
