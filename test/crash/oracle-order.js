// @ts-check
/** Rules about order: the sequence numbers of events, and the order of requests in a lane. */
import { getOrCreate } from './tracked-state.js'

/**
 * @typedef {import('./tracked-state.js').TrackedState} TrackedState
 * @typedef {import('./history.js').ReceivedRequest} ReceivedRequest
 * @typedef {import('./oracle.js').Violation} Violation
 */

/**
 * An event whose publish began after another event of its call was acknowledged has a higher sequence number.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkAcceptanceOrder({ history, disturbed }) {
  /** Sequence numbers of events, by position. @type {Map<string, number>} */
  const numbers = new Map()
  for (const { call, index, sequence } of [...history.acks, ...history.requests]) {
    numbers.set(`${call}#${index}`, sequence)
  }
  /** Publishes and acknowledgements of each call, by time. */
  const steps = /** @type {Map<string, (import('./history.js').Publish | import('./history.js').Ack)[]>} */ (
    new Map()
  )
  for (const step of [...history.publishes, ...history.acks].sort((a, b) => a.at - b.at)) {
    getOrCreate(steps, step.call, () => []).push(step)
  }
  for (const [call, all] of steps) {
    if (disturbed.has(call)) continue
    /** @type {Set<number>} */
    const begun = new Set()
    let highest = 0
    for (const step of all) {
      const number = numbers.get(`${call}#${step.index}`)
      if (step.kind === 'ack') highest = Math.max(highest, step.sequence)
      else if (!begun.has(step.index)) {
        begun.add(step.index)
        if (number === undefined || number > highest) continue
        const what = `${call}, ${step.index} has number ${number}, although ${highest} was acknowledged before it was published`
        yield { rule: 'order', what, call }
      }
    }
  }
}

/**
 * The events of a lane are numbered 1, 2, … without gaps. Each is first sent after the previous one has ended, and never
 * again once the next one was sent.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkSendingOrder({ history, replays, undelivered, disturbed }) {
  /** @type {Map<string, Map<number, ReceivedRequest[]>>} */
  const lanes = new Map()
  for (const request of history.requests) {
    if (replays.has(request.delivery) || disturbed.has(request.call)) continue
    const lane = getOrCreate(lanes, `${request.webhook} ${request.call}`, () => new Map())
    getOrCreate(lane, request.sequence, () => []).push(request)
  }
  /** @type {Map<string, string>} */
  const eventOf = new Map()
  for (const { call, sequence, event } of [...history.acks, ...history.requests]) {
    eventOf.set(`${call} ${sequence}`, event)
  }
  const paused = history.stops.filter(({ how }) => how === 'paused')
  for (const [name, lane] of lanes) {
    const [webhook = '', call = ''] = name.split(' ')
    /** @type {ReceivedRequest[] | undefined} */
    let before
    for (let number = 1; number <= Math.max(...lane.keys()); number += 1) {
      const requests = lane.get(number)
      // A quarantined delivery may never have been sent.
      if (!requests && !undelivered.has(`${webhook} ${eventOf.get(`${call} ${number}`)}`)) {
        yield { rule: 'order', what: `${webhook} never received number ${number} of ${call}`, call, webhook }
      }
      const first = requests?.[0]
      const last = before?.at(-1)
      const { event = '' } = before?.[0] ?? {}
      if (first && before && last && !undelivered.has(`${webhook} ${event}`)) {
        const ended = before.find(({ status }) => status >= 200 && status < 300)
        const subject = `number ${number} of ${call} was sent to ${webhook}`
        if (!ended || ended.doneAt > first.at) {
          yield { rule: 'order', what: `${subject} before number ${number - 1} had ended`, call, webhook }
        }
        // A node that was paused between its claim and its request sends the request when it resumes.
        const isLate = last.at > first.at && !paused.some(({ node }) => node === last.node)
        if (isLate)
          yield {
            rule: 'order',
            what: `${subject}, and number ${number - 1} was sent again after it`,
            call,
            webhook,
          }
      }
      before = requests
    }
  }
}
