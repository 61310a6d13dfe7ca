// @ts-check
/** The steps that led to a violation, as readable lines. */

const MAX_LINES = 40

/** @typedef {import('./history.js').History} History */

/**
 * @param {History} history
 * @param {import('./oracle.js').Violation} violation
 * @returns {string[]}
 */
export function timelineOf(history, { call, webhook, node }) {
  const log = history.logs.get(node ?? 0) ?? []
  if (call === undefined) return log
  const isOfCall = (/** @type {{ call: string }} */ step) => step.call === call
  const requests = history.requests.filter(
    (request) => isOfCall(request) && (webhook ?? request.webhook) === request.webhook,
  )
  const steps = [
    ...history.publishes.filter(isOfCall),
    ...history.acks.filter(isOfCall),
    ...history.refusals.filter(isOfCall),
    ...requests,
  ]
  const [from, to] = [Math.min(...steps.map(({ at }) => at)), Math.max(...steps.map(({ at }) => at))]
  const isWithin = (/** @type {{ at: number }} */ { at }) => at >= from && at <= to
  const resumptions = history.stops
    .filter(({ how }) => how === 'paused')
    .map((stop) => ({ kind: /** @type {const} */ ('resumption'), node: stop.node, at: stop.until }))
  const all = [...steps, ...history.stops.filter(isWithin), ...resumptions.filter(isWithin)].sort(
    (a, b) => a.at - b.at,
  )
  const lines = all.slice(0, MAX_LINES).map((step) => `${ms(step.at - from)} ${describeStep(step)}`)
  if (all.length > MAX_LINES) lines.push(`… and ${all.length - MAX_LINES} more`)
  return [...lines, ...log]
}

const ms = (/** @type {number} */ micros) => `${(micros / 1000).toFixed(1).padStart(10)} ms`

/**
 * @param {import('./history.js').Publish | import('./history.js').Ack | import('./history.js').Refusal |
 *   import('./history.js').ReceivedRequest | import('./history.js').NodeStop | { kind: 'resumption', node: number }} step
 */
function describeStep(step) {
  const subject = `node ${step.node}`
  switch (step.kind) {
    case 'publish':
      return `${subject} publishes ${step.index}`
    case 'ack':
      return `${subject} acknowledges ${step.index}: event ${step.event}, number ${step.sequence}${step.duplicate ? ', a duplicate' : ''}`
    case 'refusal':
      return `${subject} refuses ${step.index}: ${step.code}`
    case 'request': {
      const answer = step.status === 0 ? 'no answer' : step.status
      const duration = Number.isFinite(step.doneAt)
        ? ` after ${((step.doneAt - step.at) / 1000).toFixed(1)} ms`
        : ''
      return `${subject} sends number ${step.sequence} to ${step.webhook}, attempt ${step.attempt}: ${answer}${duration} (${step.delivery})`
    }
    case 'resumption':
      return `${subject} was resumed`
    default:
      return `${subject} was ${step.how}`
  }
}
