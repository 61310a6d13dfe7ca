/** The health of one webhook: what is wrong since when, what its receiver answered, and what happens next. */
import type { StoredAttempt } from '../delivery/attempt-record.js'
import { type StoredDelivery, TEST_LANE } from '../delivery/delivery-queries.js'
import type { DeliveryReads } from '../delivery/delivery-store.js'
import { autoDisableMsOf, type HealthRules } from '../webhooks/health.js'
import { findWebhook } from '../webhooks/manage.js'
import type { Webhook } from '../webhooks/webhook.js'
import { type EndpointListDeps, type ListedEndpoint, toEndpoint } from './endpoint-list.js'

/** The health of a webhook. Times in Unix milliseconds. */
export interface WebhookHealth extends ListedEndpoint {
  /** The newest of the stored attempts. Absent: there is none among the newest 100 records. */
  readonly lastAttempt?: StoredAttempt
  /**
   * Latest attempts in a row with the same answer as the last one: its status, or the cause of its failure; of at most 100
   * records.
   */
  readonly sameAnswers: number
  /** True: all of these records have the same answer, and there may be more. */
  readonly isSameAnswersCapped: boolean
  /**
   * Deliveries accepted since `notDeliveredSinceMs` that were given up or became too old, without those that a replay has
   * recovered; at most 1,000.
   */
  readonly notDelivered: number
  /** True: there are more than those that were counted. */
  readonly isNotDeliveredCapped: boolean
  /** From when on deliveries count: shortly before the first failure since the last success, or 24 hours ago. */
  readonly notDeliveredSinceMs: number
  /** When the first delivery that waits becomes too old. Absent: none waits. */
  readonly oldestExpiresMs?: number
  /** The maximum age in force, in seconds. */
  readonly maxAgeSeconds: number
  /** When the webhook was disabled. Absent: it is enabled. */
  readonly disabledMs?: number
  /** From when on the service disables the webhook if it still fails, and 20 deliveries were given up. Absent: it does not. */
  readonly autoDisableMs?: number
}

export interface EndpointHealthDeps extends EndpointListDeps {
  readonly deliveries: Pick<DeliveryReads, 'activity' | 'attempts' | 'deliveries' | 'listPart'>
  readonly healthRules: HealthRules
  /** Time limit of an attempt, ms. */
  readonly attemptTimeoutMs: number
  /** How old a delivery of a webhook may become, ms. */
  maxAgeMsOf(webhook: Webhook): number
}

/** Records of attempts that are read first, and at most: they have bodies. */
const FIRST_RECORDS = 10
const MAX_RECORDS = 100
/** Deliveries that are counted. */
const MAX_NOT_DELIVERED = 1_000
/** Parts of the list of deliveries that are examined for them. */
const MAX_PARTS = 10
const DAY_MS = 86_400_000

/** @throws `NotFound` */
export async function readWebhookHealth(
  deps: EndpointHealthDeps,
  accountId: string,
  webhookId: string,
): Promise<WebhookHealth> {
  const webhook = await findWebhook(deps, accountId, webhookId)
  const [endpoint, answers, notDelivered] = await Promise.all([
    toEndpoint(deps, webhook),
    readAnswers(deps, webhook),
    countNotDelivered(deps, webhook),
  ])
  const maxAgeMs = deps.maxAgeMsOf(webhook)
  const { oldestAcceptedMs } = endpoint
  const { settings, disabledMs } = webhook
  const autoDisableMs = settings.enabled ? autoDisableMsOf(webhook.health, deps.healthRules) : undefined
  return {
    ...endpoint,
    ...answers,
    ...notDelivered,
    ...(oldestAcceptedMs !== undefined && { oldestExpiresMs: oldestAcceptedMs + maxAgeMs }),
    maxAgeSeconds: maxAgeMs / 1_000,
    ...(!settings.enabled && disabledMs !== undefined && { disabledMs }),
    ...(autoDisableMs !== undefined && { autoDisableMs }),
  }
}

/** Two attempts with the same text had the same answer. */
const answerOf = ({ status, cause, clientError, reason, result }: StoredAttempt): string =>
  String(status ?? cause ?? clientError ?? reason ?? result)

type Answers = Pick<WebhookHealth, 'lastAttempt' | 'sameAnswers' | 'isSameAnswersCapped'>

async function readAnswers({ deliveries }: EndpointHealthDeps, { accountId, id }: Webhook): Promise<Answers> {
  const read = async (limit: number, cursor?: number) =>
    deliveries.attempts({ accountId, webhookId: id, limit, ...(cursor !== undefined && { cursor }) })
  const isSame = (attempt: StoredAttempt, first: StoredAttempt) => answerOf(attempt) === answerOf(first)
  let records = await read(FIRST_RECORDS)
  let attempts = records.filter(({ attempt }) => attempt !== undefined)
  if (records.length === FIRST_RECORDS && attempts.every((attempt) => isSame(attempt, attempts[0]!))) {
    records = [...records, ...(await read(MAX_RECORDS - FIRST_RECORDS, records.at(-1)!.position))]
    attempts = records.filter(({ attempt }) => attempt !== undefined)
  }
  const [lastAttempt] = attempts
  if (!lastAttempt) return { sameAnswers: 0, isSameAnswersCapped: false }
  const other = attempts.findIndex((attempt) => !isSame(attempt, lastAttempt))
  return {
    lastAttempt,
    sameAnswers: other < 0 ? attempts.length : other,
    isSameAnswersCapped: other < 0 && records.length === MAX_RECORDS,
  }
}

type NotDelivered = Pick<WebhookHealth, 'notDelivered' | 'isNotDeliveredCapped' | 'notDeliveredSinceMs'>

async function countNotDelivered(
  { deliveries, clock, attemptTimeoutMs }: EndpointHealthDeps,
  { accountId, id, health }: Webhook,
): Promise<NotDelivered> {
  const { failingSinceMs } = health ?? {}
  // What failed first was accepted before its attempt failed.
  const sinceMs = failingSinceMs === undefined ? clock.now() - DAY_MS : failingSinceMs - attemptTimeoutMs
  const notDeliveredSinceMs = Math.floor(sinceMs / 1_000) * 1_000
  const states = ['exhausted', 'expired'] as const
  const list = { accountId, webhookId: id, states, fromMs: notDeliveredSinceMs }
  const found: StoredDelivery[] = []
  // Before a lost one there may be very many that were delivered, or replays.
  let hasMore = true
  let cursor: number | undefined
  for (let parts = 0; hasMore && parts < MAX_PARTS && found.length <= MAX_NOT_DELIVERED; parts += 1) {
    if (parts > 0) await clock.yield()
    const from = cursor === undefined ? {} : { cursor }
    const { hasMore: isFollowed, ...bounds } = await deliveries.listPart({
      list: 'deliveries',
      ...list,
      ...from,
    })
    const limit = MAX_NOT_DELIVERED + 1 - found.length
    found.push(...(await deliveries.deliveries({ ...list, ...bounds, onlyOriginals: true, limit })))
    hasMore = isFollowed
    cursor = bounds.end
  }
  const counted = found.slice(0, MAX_NOT_DELIVERED)
  return {
    notDelivered: counted.filter(({ lane, replays }) => !lane.startsWith(TEST_LANE) && !replays?.hasRecovered)
      .length,
    isNotDeliveredCapped: hasMore || found.length > MAX_NOT_DELIVERED,
    notDeliveredSinceMs,
  }
}
