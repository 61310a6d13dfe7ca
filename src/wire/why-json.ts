/** JSON of what became of a call, number, event, delivery or webhook. */

import {
  type UnmatchedReason,
  unmatchedSentence,
  type WhyCall,
  type WhyDelivery,
  type WhyEvent,
  type WhyReport,
  type WhyWebhook,
} from '../delivery/why.js'
import { toIsoTime } from '../values/iso-time.js'
import { foundDeliveryJson } from './delivery-json.js'
import type { JsonObject } from './webhook-json.js'

interface Reader {
  /** Of accounts by id; those that were removed are missing. */
  readonly names: ReadonlyMap<string, string>
  /** Shows from which source an event came: its address is one inside the platform. */
  readonly isOperator: boolean
}

const reasonJson = (why: UnmatchedReason): JsonObject => ({ why, explain: unmatchedSentence(why) })

const whyDeliveryJson = ({ delivery, webhookName, explanation }: WhyDelivery): JsonObject => ({
  ...foundDeliveryJson(delivery, explanation),
  hook_name: webhookName,
})

const eventJson = (event: WhyEvent, { isOperator }: Reader): JsonObject => ({
  id: event.id,
  call_id: event.callId,
  hook: event.hook,
  sequence: event.sequence,
  happened_at: toIsoTime(event.timestampMs),
  accepted_at: toIsoTime(event.acceptedMs),
  source: isOperator ? event.source : undefined,
  wanted: event.isWanted,
  deliveries: event.deliveries.map(whyDeliveryJson),
  unmatched: event.unmatched.map(({ why, count, webhooks }) => ({
    ...reasonJson(why),
    count,
    webhooks: webhooks.map(({ id, name, accountId }) => ({ id, name, account_id: accountId })),
  })),
})

const whyCallJson = ({ accountId, callId, events, isTruncated }: WhyCall, reader: Reader): JsonObject => ({
  account_id: accountId,
  account_name: reader.names.get(accountId),
  call_id: callId,
  events: events.map((event) => eventJson(event, reader)),
  truncated: isTruncated,
})

function whyWebhookJson(
  { webhook, deliveries, unwanted }: WhyWebhook,
  { names, isOperator }: Reader,
): JsonObject {
  const { id, accountId, settings, disableReason, deletedMs } = webhook
  return {
    id,
    account_id: accountId,
    account_name: names.get(accountId),
    name: settings.name,
    hook: settings.hook,
    enabled: settings.enabled,
    disable_reason: disableReason,
    deleted: deletedMs === undefined ? undefined : true,
    deliveries: deliveries.map(whyDeliveryJson),
    unmatched: unwanted.map(({ event, why }) => ({
      ...reasonJson(why),
      id: event.id,
      call_id: event.callId,
      hook: event.hook,
      sequence: event.sequence,
      happened_at: toIsoTime(event.timestampMs),
      accepted_at: toIsoTime(event.acceptedMs),
      source: isOperator ? event.source : undefined,
    })),
  }
}

/** The accounts that a report names. */
export const accountsOfReport = ({ calls, otherCalls, webhook }: WhyReport): readonly string[] => [
  ...[...calls, ...otherCalls].map(({ accountId }) => accountId),
  ...(webhook ? [webhook.webhook.accountId] : []),
]

/** Returns the JSON of a report. */
export const whyJson = (
  { calls, otherCalls, delivery, webhook, isTruncated }: WhyReport,
  reader: Reader,
): JsonObject => ({
  calls: calls.map((call) => whyCallJson(call, reader)),
  other_calls: otherCalls.map(({ accountId, callId, acceptedMs }) => ({
    account_id: accountId,
    account_name: reader.names.get(accountId),
    call_id: callId,
    accepted_at: toIsoTime(acceptedMs),
  })),
  delivery: delivery && whyDeliveryJson(delivery),
  webhook: webhook && whyWebhookJson(webhook, reader),
  truncated: isTruncated,
})
