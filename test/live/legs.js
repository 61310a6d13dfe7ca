// @ts-check
/** Compares, leg by leg, what was published with what the phones did. Pure. */

/**
 * A leg that a scenario makes.
 *
 * @typedef {object} ExpectedLeg
 * @property {string} phone the number of its phone
 * @property {'inbound' | 'outbound'} direction as the switch sees it: inbound is a leg that a phone began
 * @property {string} account
 * @property {string} other the number at the other end: dialled, or calling
 * @property {readonly string[]} hooks of its events in order, without `channel_`; `bridge:1002` names the phone it is
 *   bridged with, `bridge` any. A name that ends with `?` may be missing
 * @property {string | readonly string[]} [cause] several: versions of the switch differ
 * @property {string} [endedBy]
 * @property {number} [code] the SIP status, where the phones saw one
 * @property {boolean} [isInternal]
 * @property {readonly [number, number]} [billed] the least and the most seconds that may be billed
 */

/** @typedef {import('./service.js').Received} Received */
/** @typedef {{ callId: string, account: string, events: readonly Record<string, any>[] }} PublishedLeg */

/**
 * The received events of one source by leg.
 *
 * @param {readonly Received[]} received
 * @param {string} source
 * @returns {PublishedLeg[]}
 */
export function legsOf(received, source) {
  /** @type {Map<string, { callId: string, account: string, events: Record<string, any>[] }>} */
  const legs = new Map()
  for (const { source: from, account, event } of received) {
    if (from !== source) continue
    const callId = String(event.call_id)
    const leg = legs.get(callId) ?? { callId, account, events: [] }
    legs.set(callId, leg)
    leg.events.push(event)
  }
  for (const { events } of legs.values()) events.sort((left, right) => left.sequence - right.sequence)
  return [...legs.values()]
}

const userOf = (/** @type {unknown} */ address) => String(address ?? '').replace(/@.*$/, '')

/** Whether a leg is of one of these phones, or calls one. */
export function concerns(/** @type {PublishedLeg} */ leg, /** @type {ReadonlySet<string>} */ numbers) {
  return leg.events.some((event) => numbers.has(userOf(event.from)) || numbers.has(userOf(event.to)))
}

/** The number of a leg's phone. */
export function phoneOf(/** @type {PublishedLeg} */ { events: [first] }) {
  return userOf(first?.call_direction === 'inbound' ? first?.from : first?.to)
}

const nameOf = (/** @type {Record<string, any>} */ event) => String(event.hook_event).replace('channel_', '')
const isInternal = (/** @type {PublishedLeg} */ leg) =>
  leg.events.some((event) => event.is_internal_leg === true)
const describe = (/** @type {PublishedLeg} */ leg) =>
  `${leg.account} ${leg.events[0]?.call_direction} ${userOf(leg.events[0]?.from)}→${userOf(leg.events[0]?.to)}${isInternal(leg) ? ' (internal)' : ''}: ${leg.events.map(nameOf).join(' ')}`

/**
 * Differences between the expected and the published legs, as sentences.
 *
 * @param {readonly ExpectedLeg[]} expected
 * @param {readonly PublishedLeg[]} published
 * @returns {string[]}
 */
export function compareLegs(expected, published) {
  /** @type {string[]} */
  const problems = []
  const unclaimed = new Set(published)
  const numbers = new Map(published.map((leg) => [leg.callId, isInternal(leg) ? 'internal' : phoneOf(leg)]))
  for (const leg of expected) {
    const isCandidate = (/** @type {PublishedLeg} */ candidate) =>
      isInternal(candidate) === (leg.isInternal ?? false) &&
      candidate.events[0]?.call_direction === leg.direction &&
      (leg.isInternal || phoneOf(candidate) === leg.phone)
    const candidates = [...unclaimed].filter(isCandidate)
    // Several legs of one phone differ in the number at their other end.
    const found = candidates.find((candidate) => otherOf(candidate) === leg.other) ?? candidates[0]
    if (!found) {
      problems.push(`${leg.direction} leg of ${leg.phone}: not published`)
      continue
    }
    unclaimed.delete(found)
    for (const problem of compareLeg(leg, found, numbers))
      problems.push(`${leg.direction} leg of ${leg.phone}: ${problem}`)
  }
  for (const leg of unclaimed) problems.push(`a leg that no phone had: ${describe(leg)}`)
  return problems
}

function otherOf(/** @type {PublishedLeg} */ { events: [first] }) {
  return userOf(first?.call_direction === 'inbound' ? first?.to : first?.from)
}

/**
 * @param {ExpectedLeg} expected
 * @param {PublishedLeg} leg
 * @param {ReadonlyMap<string, string>} numbers of the phones, by call id
 * @returns {string[]}
 */
function compareLeg(expected, leg, numbers) {
  /** @type {string[]} */
  const problems = []
  const compare = (
    /** @type {string} */ what,
    /** @type {unknown} */ value,
    /** @type {unknown} */ wanted,
  ) => {
    if (value !== wanted) problems.push(`${what} is ${value}, not ${wanted}`)
  }
  const { events } = leg
  compare('the account', leg.account, expected.account)
  compare(
    'the account of the events',
    [...new Set(events.map((event) => event.account_id))].join(),
    expected.account,
  )
  if (!expected.isInternal) compare('the other number', otherOf(leg), expected.other)
  compare(
    'the sequence',
    events.map((event) => event.sequence).join(),
    events.map((_, index) => index + 1).join(),
  )
  problems.push(...compareHooks(expected.hooks, events, numbers))
  const times = events.map((event) => event.timestamp)
  if (times.some((time, index) => time < times[index - 1]))
    problems.push(`the times go back: ${times.join()}`)
  const end = events.at(-1)
  if (end && nameOf(end) === 'destroy') problems.push(...compareEnd(expected, end))
  return problems
}

/**
 * @param {readonly string[]} hooks
 * @param {readonly Record<string, any>[]} events
 * @param {ReadonlyMap<string, string>} numbers
 */
function compareHooks(hooks, events, numbers) {
  const names = events.map((event) => {
    const name = nameOf(event)
    const number = numbers.get(event.other_leg_call_id) ?? 'nobody'
    return name === 'bridge' ? `bridge:${number}` : name
  })
  return fits(hooks, names) ? [] : [`the events are ${names.join(' ')}, not ${hooks.join(' ')}`]
}

/** @param {readonly string[]} hooks @param {readonly string[]} names @returns {boolean} */
function fits([hook, ...hooks], names) {
  if (hook === undefined) return names.length === 0
  const [name, ...rest] = names
  const wanted = hook.replace(/\?$/, '')
  const isWanted = name === wanted || (wanted === 'bridge' && name?.startsWith('bridge:'))
  return (isWanted === true && fits(hooks, rest)) || (hook.endsWith('?') && fits(hooks, names))
}

/**
 * @param {ExpectedLeg} expected
 * @param {Record<string, any>} end
 */
function compareEnd({ cause, code, endedBy, billed }, end) {
  /** @type {string[]} */
  const problems = []
  const vars = end.custom_channel_vars ?? {}
  if (cause !== undefined && ![cause].flat().includes(end.hangup_cause))
    problems.push(`the cause is ${end.hangup_cause}, not ${[cause].flat().join(' or ')}`)
  if (code !== undefined && end.hangup_code !== `sip:${code}`)
    problems.push(`the code is ${end.hangup_code}, not sip:${code}`)
  if (endedBy !== undefined && vars.ended_by !== endedBy)
    problems.push(`it was ended by ${vars.ended_by}, not ${endedBy}`)
  const { billing_seconds: seconds, ringing_seconds: ringing, duration_seconds: duration } = end
  if (billed && seconds !== undefined && (seconds < billed[0] || seconds > billed[1]))
    problems.push(`${seconds} s are billed, not ${billed[0]} to ${billed[1]} s`)
  if (
    duration !== undefined &&
    ringing !== undefined &&
    seconds !== undefined &&
    duration !== ringing + seconds
  )
    problems.push(`the duration is ${duration} s, but ${ringing} s of ringing and ${seconds} s billed`)
  return problems
}
