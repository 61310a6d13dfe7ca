/** Explains in one sentence why a delivery is not finished, or how it ended. */
import { isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { StoredDelivery } from './delivery-queries.js'
import type { Caps } from './scheduler/fair-queue.js'

export interface ExplainContext {
  readonly webhook: Webhook | undefined
  /** Store time, ms. */
  readonly now: number
  /** The limit that holds the endpoint back; `undefined`: none. */
  readonly limitReached: 'endpoint' | 'account' | 'origin' | 'priority' | 'total' | undefined
  readonly caps: Caps
}

function inSeconds(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  return seconds === 1 ? '1 second' : `${seconds} seconds`
}

function withReason(delivery: StoredDelivery): string {
  return delivery.reason === undefined ? '' : `: ${delivery.reason}`
}

const requests = (count: number) => (count === 1 ? '1 request' : `${count} requests`)
const attempts = (count: number) => (count === 1 ? '1 attempt' : `${count} attempts`)

function explainWaiting(
  delivery: StoredDelivery,
  { webhook, now, limitReached, caps }: ExplainContext,
): string {
  if (delivery.ahead > 0) {
    const earlier = delivery.ahead === 1 ? '1 earlier delivery' : `${delivery.ahead} earlier deliveries`
    return `Waits for call order: ${earlier} of this call must end first.`
  }
  const pausedUntilMs = webhook?.health?.pausedUntilMs ?? 0
  if (pausedUntilMs > now && isProbed(webhook?.health)) {
    const failures = webhook?.health?.failuresInRow
    return `The breaker is open for ${inSeconds(pausedUntilMs - now)}, after ${failures} failures in a row.`
  }
  if (pausedUntilMs > now)
    return `Waits ${inSeconds(pausedUntilMs - now)}: the receiver asked for fewer requests.`
  const dueMs = delivery.dueMs ?? now
  if (dueMs > now)
    return `Retry in ${inSeconds(dueMs - now)}, after ${attempts(delivery.attempts)}${withReason(delivery)}.`
  switch (limitReached) {
    case 'endpoint':
      return isProbed(webhook?.health)
        ? 'Waits for a probe: the breaker lets one request at a time through.'
        : `Waits for capacity: the endpoint is at its cap of ${requests(caps.perEndpoint)} in flight.`
    case 'account':
      return `Waits for capacity: the account is at its cap of ${requests(caps.perAccount)} in flight.`
    case 'origin':
      return `Waits for capacity: the origin of the uri is at its cap of ${requests(caps.perOrigin)} in flight.`
    case 'priority':
      return 'Waits for capacity: receivers that were never tried, or do not answer fast, share a part of all requests in flight.'
    case 'total':
      return `Waits for capacity: the service is at its cap of ${requests(caps.total)} in flight.`
    default:
      return 'Is due now.'
  }
}

/** One sentence: why a delivery is not finished, or how it ended. */
export function explainDelivery(delivery: StoredDelivery, context: ExplainContext): string {
  switch (delivery.state) {
    case 'waiting':
      return explainWaiting(delivery, context)
    case 'in_flight':
      return `Is being sent: attempt ${delivery.attempts + 1}.`
    case 'delivered':
      return `Delivered after ${attempts(delivery.attempts)}.`
    case 'exhausted':
      return `Gave up after ${attempts(delivery.attempts)}${withReason(delivery)}.`
    case 'expired':
      return 'Not sent: the event was older than max_age_seconds when it was due.'
    case 'cancelled':
      return delivery.reason === 'gone'
        ? 'Cancelled: the receiver answered 410 Gone, and the webhook was disabled.'
        : 'Cancelled: the webhook was disabled or deleted.'
    case 'quarantined':
      return 'Quarantined: the node crashed three times in a row while sending it.'
  }
}
