// @ts-check
/** The parts of a SIPp scenario: messages that a phone sends or waits for, and entries of its log. */

/** @typedef {'caller' | 'callee'} Role */
/**
 * What the steps of one phone share.
 *
 * @typedef {object} Dialog
 * @property {Role} role
 * @property {number} cseq of the last request of this phone
 * @property {number} labels the number of labels given
 * @property {string} [audio] a file that the phone plays for ever, once the call is answered
 */
/** @typedef {(dialog: Dialog) => string} Step */

export const SDP = (/** @type {string} */ direction, /** @type {string | undefined} */ audio) => `v=0
o=- 1 1 IN IP[local_ip_type] [local_ip]
s=-
c=IN IP[media_ip_type] [media_ip]
t=0 0
m=audio [${audio === undefined ? 'media_port' : 'rtpstream_audio_port'}] RTP/AVP 0
a=rtpmap:0 PCMU/8000
a=${direction}`

/**
 * @param {readonly string[]} lines the first line and the headers
 * @param {{ sdp?: string, keys?: string, retransmits?: boolean }} [options]
 */
export function send(lines, { sdp, keys, retransmits = false } = {}) {
  const body = sdp ?? keys
  const type = sdp === undefined ? 'dtmf-relay' : 'sdp'
  const head = [
    ...lines,
    ...(body === undefined ? [] : [`Content-Type: application/${type}`]),
    'Content-Length: [len]',
  ].join('\n')
  return `<send${retransmits ? ' retrans="500"' : ''}><![CDATA[\n\n${head}\n\n${body === undefined ? '' : `${body}\n`}]]></send>`
}

/** Begins to send audio, if the phone has any. @param {Dialog} dialog */
export const speak = ({ audio }) => (audio === undefined ? '' : `<exec rtp_stream="${audio},-1,0"/>`)

export const log = (/** @type {string} */ text) => `<log message="${text}"/>`
export const note = (/** @type {string} */ text) => `<nop><action>${log(text)}</action></nop>`
export const capture = (
  /** @type {string} */ header,
  /** @type {string} */ name,
  pattern = '[^[:space:]].*',
) => `<ereg regexp="${pattern}" search_in="hdr" header="${header}:" assign_to="${name}"/>`

/** The parties and the target of the dialog, from the message that completes it. */
export const learn = (/** @type {string} */ remote, /** @type {string} */ local) =>
  capture(remote, 'remote') + capture(local, 'local') + capture('Contact', 'target', 'sip:[^>;]*')

/**
 * A request inside the dialog.
 *
 * @param {Dialog} dialog
 * @param {string} method
 * @param {{ headers?: readonly string[], sdp?: string, keys?: string }} [options]
 */
export function request(dialog, method, { headers = [], ...body } = {}) {
  if (method !== 'ACK') dialog.cseq += 1
  const lines = [
    `${method} [$target] SIP/2.0`,
    'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]',
    'From: [$local]',
    'To: [$remote]',
    'Call-ID: [call_id]',
    `CSeq: ${dialog.cseq} ${method}`,
    'Contact: <sip:phone@[local_ip]:[local_port]>',
    'Max-Forwards: 70',
    ...headers,
  ]
  return send(lines, { ...body, retransmits: method !== 'ACK' })
}

/** The response to the last request. @param {string} [next] the label to continue at */
export function confirm(next) {
  const lines = [
    ...['SIP/2.0 200 OK', '[last_Via:]', '[last_From:]', '[last_To:]', '[last_Call-ID:]', '[last_CSeq:]'],
    'Contact: <sip:phone@[local_ip]:[local_port]>',
  ]
  const sent = send(lines)
  return next === undefined ? sent : sent.replace('<send>', `<send next="${next}">`)
}

export const receive = (/** @type {string} */ what, actions = '', options = '') =>
  `<recv ${what}${options}>${actions === '' ? '' : `<action>${actions}</action>`}</recv>`
