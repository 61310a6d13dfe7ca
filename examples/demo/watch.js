// @ts-check
/** Prints one line per call and counts deliveries. */
import { until } from './replay.js'

const MAX_CALLS = 1_000

/** Events of deliveries that ended without success. */
const FAILED = /** @type {const} */ (['exhausted', 'expired', 'cancelled', 'quarantined'])

/**
 * A call whose end has not been sent yet.
 * @typedef {object} Call
 * @property {string} accountId
 * @property {string} parties caller and callee
 * @property {number} startMs
 * @property {number} endMs
 * @property {string} outcome `answered`, or why it was not
 * @property {number} delivered number of deliveries
 * @property {string[]} failures the answers to failed requests
 */

/**
 * Shows every call when its end was sent to a webhook of its account, and counts delivered and failed deliveries.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @param {(line: string) => void} show
 */
export function watch(hs, show) {
  const counts = { delivered: 0, failed: 0 }
  /** @type {Map<string, Call>} the newest calls by Call-ID */
  const calls = new Map()

  hs.events.on('event', (event) => {
    const { accountId, callId, hook, timestampMs, callerIdNumber = '?', calleeIdNumber = '?' } = event
    const call = calls.get(callId) ?? {
      accountId,
      parties: `${callerIdNumber} → ${calleeIdNumber}`,
      startMs: timestampMs,
      endMs: timestampMs,
      outcome: '',
      delivered: 0,
      failures: [],
    }
    call.endMs = timestampMs
    if (hook === 'channel_answer') call.outcome = 'answered'
    if (hook === 'channel_destroy')
      call.outcome ||= event.hangupCause?.toLowerCase().replaceAll('_', ' ') ?? ''
    calls.set(callId, call)
    const [oldest = ''] = calls.keys()
    if (calls.size > MAX_CALLS) calls.delete(oldest)
  })
  hs.events.on('attempt', ({ accountId, callId = '', result, status, clientError }) => {
    const call = calls.get(callId)
    if (call?.accountId === accountId && result !== 'success')
      call.failures.push(String(status ?? clientError))
  })
  /** @param {import('hookswitch').DeliveryEnd} end */
  const count = ({ callId = '', accountId, hook }, isDelivered = true) => {
    counts[isDelivered ? 'delivered' : 'failed'] += 1
    const call = calls.get(callId)
    // The webhook of another account: the reseller's.
    if (call?.accountId !== accountId) return
    if (isDelivered) call.delivered += 1
    if (hook !== 'channel_destroy') return
    calls.delete(callId)
    show(lineOf(call))
  }
  hs.events.on('delivered', (end) => count(end))
  for (const name of FAILED) {
    hs.events.on(name, (end) => {
      show(`✗ delivery ${end.deliveryId} failed: ${end.reason ?? name}`)
      count(end, false)
    })
  }

  return { summary: () => `${counts.delivered} delivered, ${counts.failed} failed` }
}

/** @param {Call} call */
function lineOf({ accountId, parties, startMs, endMs, outcome, delivered, failures }) {
  const seconds = `${((endMs - startMs) / 1_000).toFixed(1)} s`
  const retries = failures.length === 0 ? '' : `, after retries (${failures.join(', ')})`
  const requests = `${delivered} ${delivered === 1 ? 'event' : 'events'} delivered${retries}`
  return `${accountId.padEnd(6)} ${parties.padEnd(12)} ${outcome.padEnd(24)} ${seconds.padStart(7)}  ${requests}`
}

/**
 * Resolves when no delivery of these accounts is pending.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @param {string[]} accountIds
 * @param {AbortSignal} signal
 */
export async function haveEnded(hs, accountIds, signal) {
  while (!signal.aborted && (await isPending(hs, accountIds))) await until(Date.now() + 50, signal)
}

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {string[]} accountIds
 */
async function isPending(hs, accountIds) {
  for (const accountId of accountIds) {
    for (const { id } of await hs.webhooks.list(accountId)) {
      const open = await hs.webhooks.deliveries(accountId, id, { states: ['waiting', 'in_flight'], limit: 1 })
      if (open.length > 0) return true
    }
  }
  return false
}
