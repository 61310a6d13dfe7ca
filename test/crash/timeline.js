// @ts-check
/** What led to a finding, as people read it. */

const MOST_LINES = 40

/** @typedef {import('./ledger.js').Ledger} Ledger */

/**
 * @param {Ledger} ledger
 * @param {import('./oracle.js').Finding} finding
 * @returns {string[]}
 */
export function timelineOf(ledger, { call, webhook, node }) {
  if (call === undefined) return ledger.logs.get(node ?? 0) ?? []
  const own = (/** @type {{ call: string }} */ thing) => thing.call === call
  const sights = ledger.sights.filter((sight) => own(sight) && (webhook ?? sight.webhook) === sight.webhook)
  const steps = [
    ...ledger.tries.filter(own),
    ...ledger.acks.filter(own),
    ...ledger.refusals.filter(own),
    ...sights,
  ]
  const [from, to] = [Math.min(...steps.map(({ at }) => at)), Math.max(...steps.map(({ at }) => at))]
  const ends = ledger.ends.filter(({ at }) => at >= from && at <= to)
  const all = [...steps, ...ends].sort((a, b) => a.at - b.at)
  const lines = all.slice(0, MOST_LINES).map((step) => `${ms(step.at - from)} ${inWords(step)}`)
  return all.length > MOST_LINES ? [...lines, `… and ${all.length - MOST_LINES} more`] : lines
}

const ms = (/** @type {number} */ micros) => `${(micros / 1000).toFixed(1).padStart(10)} ms`

/** @param {import('./ledger.js').Try | import('./ledger.js').Ack | import('./ledger.js').Refusal | import('./ledger.js').Sight | import('./ledger.js').End} step */
function inWords(step) {
  const who = `node ${step.node}`
  switch (step.kind) {
    case 'try':
      return `${who} publishes ${step.index}`
    case 'ack':
      return `${who} acknowledges ${step.index}: event ${step.event}, number ${step.sequence}${step.duplicate ? ', as known' : ''}`
    case 'no':
      return `${who} refuses ${step.index}: ${step.code}`
    case 'sight': {
      const how = step.status === 0 ? 'no answer' : step.status
      const took = Number.isFinite(step.doneAt)
        ? ` after ${((step.doneAt - step.at) / 1000).toFixed(1)} ms`
        : ''
      return `${who} sends number ${step.sequence} to ${step.webhook}, attempt ${step.attempt}: ${how}${took} (${step.delivery})`
    }
    default:
      return `${who} was ${step.how}`
  }
}
