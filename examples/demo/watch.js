// @ts-check
import { until } from './replay.js'

const MAX_CALLS = 1_000

/** Ways in which a delivery may end without having arrived. */
const FAILED = /** @type {const} */ (['exhausted', 'expired', 'cancelled', 'quarantined'])

/**
 * Shows every attempt and counts how deliveries end.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @param {(line: string) => void} show
 */
export function watch(hs, show) {
  const tally = { delivered: 0, failed: 0 }
  /** @type {Map<string, string>} who talks to whom in the newest calls */
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
    const answer = status ?? clientError ?? attempt.reason ?? '?'
    const isLast = attempt.result === 'success' || retriesLeft === 0
    const note = isLast ? (number > 1 ? `  (try ${number})` : '') : `  ↻ will be tried again`
    const path = new URL(attempt.uri).pathname
    const who = `${attempt.accountId.padEnd(8)}  ${(parties.get(callId) ?? '').padEnd(11)}`
    const what = `${hook.padEnd(15)}  ${attempt.method.toUpperCase()} ${path.padEnd(9)}`
    show(`${who}  ${what} → ${answer} in ${durationMs} ms  ${callId}${note}`)
  })
  hs.events.on('delivered', () => {
    tally.delivered += 1
  })
  for (const name of FAILED) {
    hs.events.on(name, ({ deliveryId, reason = name }) => {
      tally.failed += 1
      show(`✗ delivery ${deliveryId} has failed for good: ${reason}`)
    })
  }

  return { summary: () => `${tally.delivered} delivered, ${tally.failed} failed` }
}

/**
 * Resolves when no delivery of these accounts is under way any more.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @param {string[]} accountIds
 * @param {AbortSignal} signal
 */
export async function haveEnded(hs, accountIds, signal) {
  while (!signal.aborted && (await isUnderWay(hs, accountIds))) await until(Date.now() + 50, signal)
}

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {string[]} accountIds
 */
async function isUnderWay(hs, accountIds) {
  for (const accountId of accountIds) {
    for (const { id } of await hs.webhooks.list(accountId)) {
      const open = await hs.webhooks.deliveries(accountId, id, { states: ['waiting', 'in_flight'], limit: 1 })
      if (open.length > 0) return true
    }
  }
  return false
}
