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
 * @property {readonly string[]} hooks of its events in the order of their arrival, without `channel_`; `bridge:1002` names
 *   the phone it is bridged with, `bridge` any, and `queue_leave:timeout` a field of `DETAILS`. A name that ends with `?`
 *   may be missing
 * @property {string | readonly string[]} [cause] several: versions of the switch differ
 * @property {string} [endedBy]
 * @property {number} [code] the SIP status, where the phones saw one
 * @property {boolean} [isInternal]
 * @property {readonly [number, number]} [billed] the least and the most seconds that may be billed
 * @property {string} [answeredBy] the number of who answered
 * @property {{ kind: string, name: string }} [endpoint]
 * @property {string} [group] legs of one name have one `call_group_id`, other legs have another. Default: one name for all
 * @property {boolean} [joins] whether the leg changes to the `call_group_id` of another call
 */

/** The field that an expected event may name behind a colon. */
const DETAILS = /** @type {Readonly<Record<string, string>>} */ ({
  queue_leave: 'queue_leave_reason',
  queue_agent_offer: 'agent_number',
  queue_agent_answer: 'agent_number',
  queue_agent_no_answer: 'agent_number',
  queue_agent_complete: 'agent_number',
  parking: 'event_name',
  voicemail_new: 'voicemail_box',
  recording_ready: 'reason',
  conference_join: 'members',
  conference_leave: 'members',
  dtmf: 'dtmf_digit',
})

/** What an interface of a switch does not report, as `docs/switches` says. */
const UNREPORTED = { ari: /^(queue_|parking|recording_)/ }

/** Whether an interface of the switch reports this kind of event. @param {string} hook @param {string} source */
export const isReported = (hook, source) => !(source.startsWith('ari') && UNREPORTED.ari.test(hook))

/** @typedef {import('./service.js').Received} Received */
/** @typedef {{ callId: string, account: string, events: readonly Record<string, any>[] }} PublishedLeg */

/**
 * The received events of one source by leg, in the order of their arrival.
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
 * @param {string} [source] which published them
 * @returns {string[]}
 */
export function compareLegs(expected, published, source = '') {
  /** @type {string[]} */
  const problems = []
  const unclaimed = new Set(published)
  const numbers = new Map(published.map((leg) => [leg.callId, isInternal(leg) ? 'internal' : phoneOf(leg)]))
  /** @type {Map<string, Set<unknown>>} */
  const groups = new Map()
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
    const { group = '' } = leg
    groups.set(group, (groups.get(group) ?? new Set()).add(found.events.at(-1)?.call_group_id))
    const hooks = leg.hooks.filter((hook) => isReported(hook, source))
    for (const problem of compareLeg({ ...leg, hooks }, found, numbers))
      problems.push(`${leg.direction} leg of ${leg.phone}: ${problem}`)
  }
  for (const leg of unclaimed) problems.push(`a leg that no phone had: ${describe(leg)}`)
  for (const ids of groups.values())
    if (ids.size > 1) problems.push(`one call has several ids: ${[...ids].join()}`)
  const ids = [...groups.values()].map((group) => [...group][0])
  if (new Set(ids).size < ids.length) problems.push(`several calls have one id: ${ids.join()}`)
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
  const groups = [...new Set(events.map((event) => event.call_group_id))]
  if (groups.includes(undefined) || groups.length > (expected.joins ? 2 : 1))
    problems.push(`the ids of the call are ${groups.join()}`)
  if (expected.answeredBy !== undefined)
    compare('who answered', events.at(-1)?.answered_by?.number, expected.answeredBy)
  if (expected.endpoint)
    compare('the endpoint', endpointOf(events.at(-1)?.endpoint), endpointOf(expected.endpoint))
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
    const detail = DETAILS[name]
    if (detail !== undefined && event[detail] !== undefined) return `${name}:${event[detail]}`
    return name === 'bridge' ? `bridge:${number}` : name
  })
  return fits(hooks, names) ? [] : [`the events are ${names.join(' ')}, not ${hooks.join(' ')}`]
}

/** @param {readonly string[]} hooks @param {readonly string[]} names @returns {boolean} */
function fits([hook, ...hooks], names) {
  if (hook === undefined) return names.length === 0
  const [name, ...rest] = names
  const wanted = hook.replace(/\?$/, '')
  const isWanted = name === wanted || name?.startsWith(`${wanted}:`)
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
  const { billing_seconds: seconds } = end
  if (billed && seconds !== undefined && (seconds < billed[0] || seconds > billed[1]))
    problems.push(`${seconds} s are billed, not ${billed[0]} to ${billed[1]} s`)
  for (const [unit, sign] of [
    ['seconds', 's'],
    ['ms', 'ms'],
  ]) {
    const [duration, ringing, talk] = ['duration', 'ringing', 'billing'].map((name) => end[`${name}_${unit}`])
    if ([duration, ringing, talk].every((time) => time !== undefined) && duration !== ringing + talk)
      problems.push(
        `the duration is ${duration} ${sign}, but ${ringing} ${sign} of ringing and ${talk} ${sign} billed`,
      )
  }
  for (const name of ['duration', 'billing']) {
    const [ms, whole] = [end[`${name}_ms`], end[`${name}_seconds`]]
    if (ms !== undefined && whole !== Math.floor(ms / 1_000))
      problems.push(`${name}_seconds is ${whole}, but ${name}_ms is ${ms}`)
  }
  return problems
}

const endpointOf = (/** @type {{ kind?: string, name?: string } | undefined} */ endpoint) =>
  `${endpoint?.kind} ${endpoint?.name}`
