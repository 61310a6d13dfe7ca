// @ts-check
/**
 * The steps of a phone, as parts of a SIPp scenario. A step writes its name to the phone's log, with the value that the
 * test needs. Steps never wait for a duration: `waitForGo` waits for a request of the test.
 *
 * SIPp runs a `nop` in its next round and aborts a call that receives a message in between. So a `nop` never follows a
 * message that the other end may answer at once: such a step is logged where the answer is received.
 */
import { capture, confirm, learn, log, note, receive, request, SDP, send, speak } from './sipp-xml.js'

/** @typedef {import('./sipp-xml.js').Role} Role */
/** @typedef {import('./sipp-xml.js').Dialog} Dialog */
/** @typedef {import('./sipp-xml.js').Step} Step */

/**
 * A caller's INVITE.
 *
 * @param {{ from: string, to: string, name?: string, headers?: readonly string[] }} parties
 * @returns {Step}
 */
export const invite = ({ from, to, name = `Phone ${from}`, headers = [] }) => {
  const target = `sip:${to}@[remote_ip]:[remote_port]`
  const lines = [
    `INVITE ${target} SIP/2.0`,
    INVITE_VIA,
    `From: "${name}" <sip:${from}@[local_ip]>;tag=[pid]-[call_number]`,
    `To: <${target}>`,
    'Call-ID: [call_id]',
    'CSeq: 1 INVITE',
    'Contact: <sip:phone@[local_ip]:[local_port]>',
    'Max-Forwards: 70',
    ...headers,
  ]
  return (dialog) => {
    dialog.cseq = 1
    return send(lines, { sdp: SDP('sendrecv', dialog.audio), retransmits: true })
  }
}

/** A CANCEL has the branch of its INVITE. */
const INVITE_VIA =
  'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=z9hG4bK-[pid]-[call_number]-invite'

/** The provisional responses that may come before a final one. */
const provisional = ['100', '180', '181', '183']
  .map((code) => receive(`response="${code}"`, '', ' optional="true"'))
  .join('')

/** The switch reports ringing. @type {Step} */
export const hearsRinging = () =>
  receive('response="100"', '', ' optional="true"') +
  receive('response="183"', '', ' optional="true"') +
  receive('response="180"', log('ringing'))

/** The switch sends early media. @type {Step} */
export const hearsEarlyMedia = () =>
  receive('response="100"', '', ' optional="true"') +
  receive('response="180"', '', ' optional="true"') +
  receive('response="183"', log('early media'))

/** The call is answered. @type {Step} */
export const isAnswered = (dialog) =>
  provisional +
  receive('response="200"', learn('To', 'From') + speak(dialog) + log('answered [$remote]')) +
  request(dialog, 'ACK')

/** The switch refuses the call. @param {number} code @returns {Step} */
export const isRefused = (code) => () => {
  const ack = [
    'ACK sip:refused@[remote_ip]:[remote_port] SIP/2.0',
    '[last_Via:]',
    '[last_From:]',
    '[last_To:]',
    '[last_Call-ID:]',
    'CSeq: 1 ACK',
    'Max-Forwards: 70',
  ]
  return provisional + receive(`response="${code}"`, log(`refused ${code}`)) + send(ack)
}

/** Cancels the INVITE to this number. @param {{ from: string, to: string, name?: string }} parties @returns {Step} */
export const cancel = ({ from, to, name = `Phone ${from}` }) => {
  const target = `sip:${to}@[remote_ip]:[remote_port]`
  const lines = [
    `CANCEL ${target} SIP/2.0`,
    INVITE_VIA,
    `From: "${name}" <sip:${from}@[local_ip]>;tag=[pid]-[call_number]`,
    `To: <${target}>`,
    'Call-ID: [call_id]',
    'CSeq: 1 CANCEL',
    'Max-Forwards: 70',
  ]
  return (dialog) => note('cancelled') + send(lines) + receive('response="200"') + isRefused(487)(dialog)
}

/** A callee's first step: the switch calls it. @type {Step} */
export const isInvited = () =>
  receive(
    'request="INVITE"',
    learn('From', 'To') + capture('Via', 'via') + capture('CSeq', 'cseq') + log('invited [call_id]'),
  )

/**
 * A response to the INVITE, which need not be the last request.
 *
 * @param {string} status code and reason phrase
 * @param {{ headers?: readonly string[], sdp?: string, retransmits?: boolean }} [options]
 */
function respondToInvite(status, { headers = [], ...options } = {}) {
  const contact = 'Contact: <sip:phone@[local_ip]:[local_port]>'
  const lines = [
    `SIP/2.0 ${status}`,
    'Via: [$via]',
    'From: [$remote]',
    'To: [$local];tag=[pid]-[call_number]',
    'Call-ID: [call_id]',
    'CSeq: [$cseq]',
    ...(headers.some((header) => header.startsWith('Contact:')) ? [] : [contact]),
    ...headers,
  ]
  return send(lines, options)
}

/** Rings. @type {Step} */
export const ring = () => respondToInvite('180 Ringing') + note('ringing')

/** Sends early media. @type {Step} */
export const sendEarlyMedia = ({ audio }) =>
  respondToInvite('183 Session Progress', { sdp: SDP('sendrecv', audio) }) + note('early media')

/**
 * Answers the call. The phone's own address in later requests is that of the response, with its tag.
 *
 * @type {Step}
 */
export const answer = (dialog) => {
  dialog.cseq = 1
  return (
    respondToInvite('200 OK', { sdp: SDP('sendrecv', dialog.audio), retransmits: true }) +
    receive('request="ACK"', capture('To', 'local') + speak(dialog) + log('answered'))
  )
}

/**
 * Refuses the call.
 *
 * @param {string} status code and reason phrase
 * @param {readonly string[]} [headers]
 * @returns {Step}
 */
export const refuse =
  (status, headers = []) =>
  () =>
    respondToInvite(status, { headers, retransmits: true }) +
    receive('request="ACK"', log(`refused ${status}`))

/** The switch cancels its INVITE. @type {Step} */
export const isCancelled = () =>
  receive('request="CANCEL"', log('cancelled')) +
  confirm() +
  respondToInvite('487 Request Terminated', { retransmits: true }) +
  receive('request="ACK"')

/** Waits for a message of the test; its value is in `[$value]`. @type {Step} */
export const waitForGo = () => receive('request="INFO"', capture('X-Value', 'value') + log('going'))

/** Talks for this long: only where many calls run at once. @param {number} ms @returns {Step} */
export const talk = (ms) => () => `<pause milliseconds="${ms}"/>`

/** Puts the other end on hold. @type {Step} */
export const hold = (dialog) => reinvite(dialog, 'sendonly', 'held')

/** Takes it back. @type {Step} */
export const resume = (dialog) => reinvite(dialog, 'sendrecv', 'resumed')

const reinvite = (
  /** @type {Dialog} */ dialog,
  /** @type {string} */ direction,
  /** @type {string} */ name,
) =>
  request(dialog, 'INVITE', { sdp: SDP(direction, dialog.audio) }) +
  receive('response="100"', '', ' optional="true"') +
  receive('response="200"', log(name)) +
  request(dialog, 'ACK')

/** Presses a key. @param {string} key @returns {Step} */
export const press = (key) => (dialog) =>
  request(dialog, 'INFO', { keys: `Signal=${key}\nDuration=100` }) +
  receive('response="200"', log(`pressed ${key}`))

/** Hangs up. @type {Step} */
export const hangUp = (dialog) => request(dialog, 'BYE') + receive('response="200"', log('hung up'))

/** The switch hangs up. @type {Step} */
export const isHungUp = () => receive('request="BYE"', log('was hung up')) + confirm()

/**
 * Asks the switch to transfer the other end, and answers its reports.
 *
 * @param {string} target the value of Refer-To
 * @param {'hangs up' | 'is hung up'} then what the phone does after the last report
 * @returns {Step}
 */
export const refer = (target, then) => (dialog) => {
  const first = dialog.labels + 1
  dialog.labels += 3
  const [again, final, done] = [first, first + 1, first + 2]
  const reports = capture('Subscription-State', 'over', 'terminated')
  const waits =
    then === 'hangs up'
      ? receive('request="NOTIFY"', reports, ` next="${final}" test="over"`)
      : receive('request="BYE"', log('was hung up'), ` optional="true" next="${done}"`) +
        receive('request="NOTIFY"')
  return (
    request(dialog, 'REFER', { headers: [`Refer-To: ${target}`, 'Referred-By: [$local]'] }) +
    receive('response="202"', log('referred')) +
    `<label id="${again}"/>` +
    waits +
    confirm(String(again)) +
    (then === 'hangs up'
      ? `<label id="${final}"/>${confirm()}${hangUp(dialog)}`
      : `<label id="${done}"/>${confirm()}`)
  )
}

/**
 * A SIPp scenario.
 *
 * @param {Role} role
 * @param {readonly Step[]} steps
 * @param {string} [audio] a file that the phone plays for ever
 */
export function scenarioXml(role, steps, audio) {
  const dialog = { role, cseq: 0, labels: 0, ...(audio === undefined ? {} : { audio }) }
  const body = steps.map((step) => step(dialog)).join('\n')
  const used = ['remote', 'local', 'target', 'value', 'via', 'cseq', 'over'].filter((name) =>
    body.includes(`assign_to="${name}"`),
  )
  // SIPp refuses a variable that is captured and never used.
  const reference = used.length === 0 ? '' : `<Reference variables="${used.join(',')}"/>\n`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="${role}">\n${body}\n${reference}</scenario>\n`
}
