// @ts-check
/** Prints attempts and counts deliveries. */
import { until } from './replay.js'

const MAX_CALLS = 1_000

/** Events of deliveries that ended without success. */
const FAILED = /** @type {const} */ (['exhausted', 'expired', 'cancelled', 'quarantined'])

/**
 * Shows every attempt, and counts delivered and failed deliveries.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @param {(line: string) => void} show
 */
export function watch(hs, show) {
  const counts = { delivered: 0, failed: 0 }
  /** @type {Map<string, string>} caller and callee of the newest calls, by Call-ID */
  const parties = new Map()

  hs.events.on('event', ({ callId, callerIdNumber, calleeIdNumber }) => {
    parties.set(callId, `${callerIdNumber ?? '?'} → ${calleeIdNumber ?? '?'}`)
    const [oldest = ''] = parties.keys()
    if (parties.size > MAX_CALLS) parties.delete(oldest)
  })
  hs.events.on('attempt', (attempt) => {
    const {
      callId = '',
      hook,
      status,
      clientError,
      attempt: number = 0,
      retriesLeft,
      durationMs = 0,
    } = attempt
    const result = status ?? clientError ?? attempt.reason ?? '?'
    const isLast = attempt.result === 'success' || retriesLeft === 0
    const note = isLast ? (number > 1 ? `  (attempt ${number})` : '') : '  ↻ will be retried'
    const path = new URL(attempt.uri).pathname
    const call = `${attempt.accountId.padEnd(8)}  ${(parties.get(callId) ?? '').padEnd(11)}`
    const request = `${hook.padEnd(15)}  ${attempt.method.toUpperCase()} ${path.padEnd(9)}`
    show(`${call}  ${request} → ${result} in ${durationMs} ms  ${callId}${note}`)
  })
  hs.events.on('delivered', () => {
    counts.delivered += 1
  })
  for (const name of FAILED) {
    hs.events.on(name, ({ deliveryId, reason = name }) => {
      counts.failed += 1
      show(`✗ delivery ${deliveryId} failed: ${reason}`)
    })
  }

  return { summary: () => `${counts.delivered} delivered, ${counts.failed} failed` }
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
