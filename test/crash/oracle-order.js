// @ts-check
/** The rules of order: how events were numbered, and how they were sent. */
import { listed } from './book.js'

/**
 * @typedef {import('./book.js').Book} Book
 * @typedef {import('./ledger.js').Sight} Sight
 * @typedef {import('./oracle.js').Finding} Finding
 */

/**
 * An event whose publishing began after another one of its call was acknowledged has a higher number.
 *
 * @param {Book} book
 * @returns {Iterable<Finding>}
 */
export function* acceptanceOrder({ ledger }) {
  /** The numbers of events, by place. @type {Map<string, number>} */
  const numbers = new Map()
  for (const { call, index, sequence } of [...ledger.acks, ...ledger.sights]) {
    numbers.set(`${call}#${index}`, sequence)
  }
  /** Calls with what happened to them: tries first seen, and acknowledgements first told. */
  const steps = /** @type {Map<string, (import('./ledger.js').Try | import('./ledger.js').Ack)[]>} */ (
    new Map()
  )
  for (const step of [...ledger.tries, ...ledger.acks].sort((a, b) => a.at - b.at)) {
    listed(steps, step.call, () => []).push(step)
  }
  for (const [call, all] of steps) {
    /** @type {Set<number>} */
    const begun = new Set()
    let highest = 0
    for (const step of all) {
      const number = numbers.get(`${call}#${step.index}`)
      if (step.kind === 'ack') highest = Math.max(highest, step.sequence)
      else if (!begun.has(step.index)) {
        begun.add(step.index)
        if (number === undefined || number > highest) continue
        const what = `${call}, ${step.index} is number ${number}, yet ${highest} had been acknowledged before it was published`
        yield { rule: 'order', what, call }
      }
    }
  }
}

/**
 * In each lane the events are numbered 1, 2, … without a gap; each is first sent when the one before it has ended, and
 * never again once the next one was sent.
 *
 * @param {Book} book
 * @returns {Iterable<Finding>}
 */
export function* sendingOrder({ ledger, replays, givenUp }) {
  /** @type {Map<string, Map<number, Sight[]>>} */
  const lanes = new Map()
  for (const sight of ledger.sights) {
    if (replays.has(sight.delivery)) continue
    const lane = listed(lanes, `${sight.webhook} ${sight.call}`, () => new Map())
    listed(lane, sight.sequence, () => []).push(sight)
  }
  /** @type {Map<string, string>} */
  const eventOf = new Map()
  for (const { call, sequence, event } of [...ledger.acks, ...ledger.sights]) {
    eventOf.set(`${call} ${sequence}`, event)
  }
  const paused = ledger.ends.filter(({ how }) => how === 'paused')
  for (const [name, lane] of lanes) {
    const [webhook = '', call = ''] = name.split(' ')
    /** @type {Sight[] | undefined} */
    let before
    for (let number = 1; number <= Math.max(...lane.keys()); number += 1) {
      const sights = lane.get(number)
      // What was set aside need not have been seen.
      if (!sights && !givenUp.has(`${webhook} ${eventOf.get(`${call} ${number}`)}`)) {
        yield { rule: 'order', what: `${webhook} never saw number ${number} of ${call}`, call, webhook }
      }
      const first = sights?.[0]
      const last = before?.at(-1)
      const { event = '' } = before?.[0] ?? {}
      if (first && before && last && !givenUp.has(`${webhook} ${event}`)) {
        const ended = before.find(({ status }) => status >= 200 && status < 300)
        const who = `number ${number} of ${call} was sent to ${webhook}`
        if (!ended || ended.doneAt > first.at) {
          yield { rule: 'order', what: `${who} before number ${number - 1} had ended`, call, webhook }
        }
        // A node that was stopped between its claim and its request sends it when it goes on.
        const isLate = last.at > first.at && !paused.some(({ node }) => node === last.node)
        if (isLate)
          yield { rule: 'order', what: `${who}, and number ${number - 1} once more after it`, call, webhook }
      }
      before = sights
    }
  }
}
