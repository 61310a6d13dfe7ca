/** Explains why a delivery is not finished, or how it ended: as data, and as a sentence. */
import { FAILURE_CAUSES, isFailureCause } from '../values/failure-cause.js'
import { isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { AttemptRecord } from './attempt-record.js'
import type { StoredDelivery } from './delivery-queries.js'
import { QUEUE_FULL } from './retry.js'
import type { Caps } from './scheduler/fair-queue.js'

/** @internal */
export interface ExplainContext {
  readonly webhook: Webhook | undefined
  /** Store time, ms. */
  readonly now: number
  /** The limit that holds the endpoint back; `undefined`: none. */
  readonly limitReached:
    | 'hold'
    | 'endpoint'
    | 'account'
    | 'origin'
    | 'share'
    | 'priority'
    | 'rate'
    | 'total'
    | undefined
  readonly caps: Caps
  /**
   * The newest attempt: of the delivery, or of its webhook if the delivery has none and waits. `undefined`: there is none, or
   * it was not read.
   */
  readonly newest?: AttemptRecord | undefined
  /** Time limit of an attempt, ms. */
  readonly attemptTimeoutMs: number
}

/** What explains a delivery; `sentenceOf` says what each code means. */
export const EXPLANATION_CODES = [
  'held',
  'call_order',
  'paused',
  'receiver_pause',
  'retry',
  'probe',
  'endpoint_cap',
  'account_cap',
  'origin_cap',
  'total_cap',
  'account_share',
  'priority',
  'rate_limit',
  'due',
  'in_flight',
  'delivered',
  'exhausted',
  'expired',
  'queue_full',
  'gone',
  'cancelled',
  'quarantined',
] as const
type ExplanationCode = (typeof EXPLANATION_CODES)[number]

export interface Explanation {
  readonly code: ExplanationCode
  /** Earlier deliveries of the call (`call_order`). */
  readonly ahead?: number
  /** Until it may be sent (`paused`, `receiver_pause`, `retry`); at least 1. */
  readonly seconds?: number
  /** Failures of the webhook in a row (`paused`). */
  readonly failures?: number
  /** Attempts made (`retry`, `delivered`, `exhausted`, `expired`), or the number of the current one (`in_flight`). */
  readonly attempts?: number
  /** Requests in flight that are allowed (`endpoint_cap`, `account_cap`, `origin_cap`, `total_cap`). */
  readonly limit?: number
  /** Why the last attempt failed: `status 500`, or a cause such as `refused`. Absent where it is unknown. */
  readonly reason?: string
  /** What was observed at the last attempt, in one line. */
  readonly detail?: string
  /** The last answer came after the time limit: after this many seconds. */
  readonly took?: number
  /** The time limit of an attempt, in seconds (with `took`). */
  readonly timeout?: number
}

const secondsOf = (ms: number) => Math.max(1, Math.ceil(ms / 1000))

const withReason = ({ reason }: StoredDelivery) => (reason === undefined ? {} : { reason })

/** Why an attempt failed, in the words of `Delivery.reason`; `undefined`: it did not, or its receiver had no part in it. */
function reasonOf({ result, status, cause, clientError }: AttemptRecord): string | undefined {
  if (result === 'success' || clientError === 'own_fault') return undefined
  return status === undefined ? (cause ?? clientError) : `status ${status}`
}

/** What the newest attempt of a delivery adds to its explanation. */
function explainAttempt({ newest, attemptTimeoutMs }: ExplainContext): Partial<Explanation> {
  if (!newest) return {}
  const { detail, late, durationMs } = newest
  const reason = reasonOf(newest)
  return {
    ...(reason !== undefined && { reason }),
    ...(detail !== undefined && { detail }),
    ...(late && durationMs !== undefined && latenessOf(durationMs, attemptTimeoutMs)),
  }
}

/** Codes of deliveries that wait because attempts of their webhook have failed. */
const PAUSED: ReadonlySet<ExplanationCode> = new Set(['paused', 'receiver_pause', 'probe'])

/** What the newest attempt of a webhook adds to the explanation of a delivery that has none. */
function explainWebhook(code: ExplanationCode, context: ExplainContext): Partial<Explanation> {
  const { reason, detail, ...lateness } = explainAttempt(context)
  if (reason === undefined || !PAUSED.has(code)) return lateness
  return { reason, ...(detail !== undefined && { detail }), ...lateness }
}

/** That the answers of a receiver are late at present. */
function explainLateness({ webhook, attemptTimeoutMs }: ExplainContext): Partial<Explanation> {
  const { lateMs } = webhook?.health ?? {}
  return lateMs === undefined ? {} : latenessOf(lateMs, attemptTimeoutMs)
}

/** In tenths of a second, and never as if the answer had been in time. */
function latenessOf(durationMs: number, attemptTimeoutMs: number): Partial<Explanation> {
  const timeout = attemptTimeoutMs / 1000
  return { took: Math.max(Math.round(durationMs / 100) / 10, Math.ceil(10 * timeout + 1) / 10), timeout }
}

function explainWaiting(delivery: StoredDelivery, context: ExplainContext): Explanation {
  const { webhook, now, limitReached, caps } = context
  if (limitReached === 'hold') return { code: 'held' }
  if (delivery.ahead > 0) return { code: 'call_order', ahead: delivery.ahead }
  const pausedUntilMs = webhook?.health?.pausedUntilMs ?? 0
  if (pausedUntilMs > now) {
    const seconds = secondsOf(pausedUntilMs - now)
    const failures = webhook?.health?.failuresInRow ?? 0
    return isProbed(webhook?.health)
      ? { code: 'paused', seconds, failures }
      : { code: 'receiver_pause', seconds }
  }
  const dueMs = delivery.dueMs ?? now
  if (dueMs > now) {
    const { attempts } = delivery
    return { code: 'retry', seconds: secondsOf(dueMs - now), attempts }
  }
  switch (limitReached) {
    case 'endpoint':
      if (isProbed(webhook?.health)) return { code: 'probe' }
      return { code: 'endpoint_cap', limit: webhook?.health?.lateMs === undefined ? caps.perEndpoint : 1 }
    case 'account':
      return { code: 'account_cap', limit: caps.perAccount }
    case 'origin':
      return { code: 'origin_cap', limit: caps.perOrigin }
    case 'total':
      return { code: 'total_cap', limit: caps.total }
    case 'share':
      return { code: 'account_share' }
    case 'priority':
      return { code: 'priority' }
    case 'rate':
      return { code: 'rate_limit' }
    default:
      return { code: 'due' }
  }
}

export function explainDelivery(delivery: StoredDelivery, context: ExplainContext): Explanation {
  const { attempts } = delivery
  switch (delivery.state) {
    case 'waiting': {
      const waiting = { ...explainWaiting(delivery, context), ...explainLateness(context) }
      if (attempts === 0) return { ...waiting, ...explainWebhook(waiting.code, context) }
      return { ...waiting, ...withReason(delivery), ...explainAttempt(context) }
    }
    case 'in_flight':
      return { code: 'in_flight', attempts: attempts + 1, ...explainLateness(context) }
    case 'delivered':
      return { code: 'delivered', attempts, ...explainAttempt(context) }
    case 'exhausted':
      return { code: 'exhausted', attempts, ...withReason(delivery), ...explainAttempt(context) }
    case 'expired':
      if (delivery.reason === QUEUE_FULL) return { code: 'queue_full' }
      return attempts === 0 ? { code: 'expired' } : { code: 'expired', attempts, ...explainAttempt(context) }
    case 'cancelled':
      return { code: delivery.reason === 'gone' ? 'gone' : 'cancelled' }
    default:
      return { code: delivery.state }
  }
}

const count = (number: number | undefined, singular: string, plural = `${singular}s`) =>
  number === 1 ? `1 ${singular}` : `${number} ${plural}`

/** An explanation in English: one sentence, and what was observed at the last attempt. */
export function sentenceOf(explanation: Explanation): string {
  const { reason, detail, took, timeout } = explanation
  const hasReason = SAYS_REASON.has(explanation.code)
  const parts = [
    stateSentence(explanation),
    reason === undefined || hasReason ? '' : `The last attempt failed: ${reason}.`,
    took === undefined ? '' : `Your server answers after ${took} s, the limit is ${timeout} s.`,
    detail === undefined ? (isFailureCause(reason) ? FAILURE_CAUSES[reason] : '') : asSentence(detail),
  ]
  return parts.filter(Boolean).join(' ')
}

const asSentence = (text: string) => (/[.…!?]$/.test(text) ? text : `${text}.`)

/** Codes whose sentence contains the reason. */
const SAYS_REASON: ReadonlySet<ExplanationCode> = new Set(['retry', 'exhausted'])

function stateSentence(explanation: Explanation): string {
  const { code, ahead, failures, limit } = explanation
  const seconds = count(explanation.seconds, 'second')
  const attempts = count(explanation.attempts, 'attempt')
  const reason = explanation.reason === undefined ? '' : `: ${explanation.reason}`
  const cap = (what: string) =>
    `Waits for capacity: ${what} is at its cap of ${count(limit, 'request')} in flight.`
  switch (code) {
    case 'call_order':
      return `Waits for call order: ${count(ahead, 'earlier delivery', 'earlier deliveries')} of this call must end first.`
    case 'paused':
      return `Paused: next try in ${seconds}, after ${count(failures, 'failure')} in a row.`
    case 'receiver_pause':
      return `Waits ${seconds}: the receiver asked for fewer requests.`
    case 'retry':
      return `Retry in ${seconds}, after ${attempts}${reason}.`
    case 'held':
      return 'Waits: an operator holds all deliveries of the account.'
    case 'probe':
      return 'Paused: one request at a time is sent until the receiver takes it.'
    case 'endpoint_cap':
      return cap('the endpoint')
    case 'account_cap':
      return cap('the account')
    case 'origin_cap':
      return cap('the origin of the uri')
    case 'total_cap':
      return cap('the service')
    case 'account_share':
      return 'Waits for capacity: the requests in flight that are left are for accounts that have fewer of them.'
    case 'priority':
      return 'Waits for capacity: receivers that were never tried, or do not answer fast, share a part of all requests in flight.'
    case 'rate_limit':
      return 'Waits for its turn: the receiver, or `rate_limit`, allows a limited number of requests per second.'
    case 'due':
      return 'Is due now.'
    case 'in_flight':
      return `Is being sent: attempt ${explanation.attempts}.`
    case 'delivered':
      return `Delivered after ${attempts}.`
    case 'exhausted':
      return `Gave up after ${attempts}${reason}.`
    case 'expired':
      if (explanation.attempts !== undefined) return `Gave up after ${attempts}: older than max_age_seconds.`
      return 'Not sent: the event was older than max_age_seconds when it was due.'
    case 'queue_full':
      return 'Not sent: too many deliveries waited, and this was one of the oldest. It can be replayed.'
    case 'gone':
      return 'Cancelled: the receiver answered 410 Gone, and the webhook was disabled.'
    case 'cancelled':
      return 'Cancelled: the webhook was disabled or deleted.'
    case 'quarantined':
      return 'Quarantined: the node crashed three times in a row while sending it.'
  }
}
